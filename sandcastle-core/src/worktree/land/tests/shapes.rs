//! What lands, whatever it is, and what is left of it.

use std::os::unix::fs::{PermissionsExt, symlink};

use super::place::Place;
use crate::worktree::Landed;

#[tokio::test]
async fn commits_on_top_of_the_target_fast_forward() {
    let place = Place::new().await;
    assert_eq!(place.land().await.unwrap(), Landed::Nothing);
    place.agent_commits("a.txt", "a\n").await;
    let tip = place.tip("agent").await;
    assert_eq!(place.land().await.unwrap(), Landed::FastForward { to: tip.clone() });
    assert_eq!(place.tip("main").await, tip);
    assert_eq!(place.read("a.txt").as_deref(), Some("a\n"));
    assert_eq!(place.status().await, "");
    assert_eq!(place.land().await.unwrap(), Landed::Nothing);
}

#[tokio::test]
async fn case_142_a_host_that_moved_ahead_is_merged() {
    let place = Place::new().await;
    place.agent_commits("a.txt", "a\n").await;
    place.host_commits("host.txt", "h\n").await;
    let (old, tip) = (place.tip("main").await, place.tip("agent").await);
    let Landed::Merged { commit } = place.land().await.unwrap() else { panic!("no merge") };
    assert_eq!(place.tip("main").await, commit);
    assert_eq!(place.git(&["log", "-1", "--format=%P"]).await, format!("{old} {tip}"));
    let shown = place.git(&["log", "-1", "--format=%s|%an|%ce"]).await;
    assert_eq!(shown, "Merge branch 'agent' into main|Scratch|scratch@example.invalid");
    assert_eq!(
        (place.read("a.txt").as_deref(), place.read("host.txt").as_deref()),
        (Some("a\n"), Some("h\n"))
    );
    assert_eq!(place.status().await, "");
}

#[tokio::test]
async fn every_kind_of_change_lands() {
    let place = Place::new().await;
    place.host_commits("run.sh", "#!/bin/sh\n").await;
    place.host_commits("lines.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n").await;
    place.host_commits("gone.txt", "x\n").await;
    place.agent_git(&["merge", "--quiet", "main"]).await;
    place.agent_git(&["switch", "--quiet", "-c", "side"]).await;
    place.agent_commits("side.txt", "s\n").await;
    place.agent_git(&["switch", "--quiet", "agent"]).await;
    let write = |name: &str, content: &[u8]| std::fs::write(place.agent.join(name), content).unwrap();
    write("lines.txt", b"one\n2\n3\n4\n5\n6\n7\n8\n9\n");
    write("größe – 大.txt", b"umlaut\n");
    write("line\nfeed \"q\".txt", b"odd\n");
    write("binary", &[0, 159, 146, 150, 0]);
    symlink("run.sh", place.agent.join("link")).unwrap();
    std::fs::remove_file(place.agent.join("gone.txt")).unwrap();
    std::fs::set_permissions(place.agent.join("run.sh"), PermissionsExt::from_mode(0o755)).unwrap();
    place.agent_commits("new/deep/file.txt", "d\n").await;
    place.agent_git(&["merge", "--quiet", "--no-ff", "-m", "a merge within", "side"]).await;
    place.host_commits("lines.txt", "1\n2\n3\n4\n5\n6\n7\n8\nnine\n").await;

    assert!(matches!(place.land().await.unwrap(), Landed::Merged { .. }));
    assert_eq!(place.read("lines.txt").as_deref(), Some("one\n2\n3\n4\n5\n6\n7\n8\nnine\n"));
    for (name, content) in
        [("größe – 大.txt", "umlaut\n"), ("line\nfeed \"q\".txt", "odd\n"), ("side.txt", "s\n")]
    {
        assert_eq!(place.read(name).as_deref(), Some(content), "{name}");
    }
    assert_eq!(std::fs::read(place.host().join("binary")).unwrap(), [0, 159, 146, 150, 0]);
    assert_eq!(std::fs::read_link(place.host().join("link")).unwrap().to_str(), Some("run.sh"));
    let mode = std::fs::metadata(place.host().join("run.sh")).unwrap().permissions().mode();
    assert_eq!(mode & 0o111, 0o111);
    assert_eq!(place.read("gone.txt"), None);
    assert_eq!(place.status().await, "");
    assert!(place.git(&["log", "--format=%s"]).await.contains("a merge within"));
}

#[tokio::test]
async fn drivers_that_are_built_into_git_are_honoured() {
    let place = Place::new().await;
    place.host_commits(".gitattributes", "log.md merge=union\n").await;
    place.host_commits("log.md", "begin\n").await;
    place.agent_git(&["merge", "--quiet", "main"]).await;
    place.agent_commits("log.md", "begin\nagent\n").await;
    place.host_commits("log.md", "begin\nhost\n").await;
    place.land().await.unwrap();
    let log = place.read("log.md").unwrap();
    assert!(log.contains("agent") && log.contains("host") && !log.contains("<<<"), "{log}");
}

#[tokio::test]
async fn sha256_and_the_other_store_of_references_work() {
    for option in ["--object-format=sha256", "--ref-format=reftable"] {
        let folder = tempfile::tempdir().unwrap();
        let git = |args: &'static [&'static str]| crate::git::print(folder.path(), args);
        if crate::git::print(folder.path(), ["init", "--quiet", "-b", "main", option]).await.is_err() {
            // A git that is older than the store.
            assert!(option.contains("reftable"));
            continue;
        }
        git(&["config", "user.name", "S"]).await.unwrap();
        git(&["config", "user.email", "s@example.invalid"]).await.unwrap();
        super::place::commit(folder.path(), "base.txt", "b\n").await;
        git(&["switch", "--quiet", "-c", "agent"]).await.unwrap();
        super::place::commit(folder.path(), "a.txt", "a\n").await;
        let tip = git(&["rev-parse", "agent"]).await.unwrap();
        git(&["switch", "--quiet", "main"]).await.unwrap();
        super::place::commit(folder.path(), "h.txt", "h\n").await;
        let repository = crate::git::Repository::discover(folder.path()).await.unwrap();
        let tip = crate::id::CommitId::from_git(tip);
        let limit = std::time::Duration::from_secs(60);
        let landed = super::place::land(&repository, "agent", &tip, "main", limit).await.unwrap();
        assert!(matches!(landed, Landed::Merged { .. }), "{option}");
        assert!(folder.path().join("a.txt").exists(), "{option}");
    }
}
