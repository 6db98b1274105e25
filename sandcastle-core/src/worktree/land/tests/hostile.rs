//! Landing in a repository that is full of traps.

use std::time::Duration;

use super::place::{Place, land};
use crate::error::ErrorKind;
use crate::git::Repository;
use crate::git::tests::{TRAPS, Trapped};
use crate::id::BranchName;
use crate::worktree::Landed;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn w_1_no_landing_springs_a_trap() {
    let (mut sprung, mut landed) = (Vec::new(), 0);
    for trap in TRAPS {
        let place = Trapped::repository().await;
        let Ok(repository) = Repository::discover(place.scratch.path()).await else { continue };
        let mut tips = Vec::new();
        for source in ["side", "clash", "agent"] {
            tips.push((source, repository.tip(&BranchName::from_git(source)).await.unwrap().unwrap()));
        }
        // One fast-forwards, one conflicts, one is a merge by then or the same again. Before the trap is set: the gc that
        // a commit starts goes on in the background.
        let (is_success, said) = place.script("git commit -q --allow-empty -m 'the host goes on'").await;
        assert!(is_success, "{said}");
        place.plant(trap).await;
        for (source, tip) in &tips {
            let result = land(&repository, source, tip, "main", Duration::from_secs(30)).await;
            landed += usize::from(result.is_ok());
            if let Err(error) = result {
                assert!(
                    matches!(error.kind(), ErrorKind::Merge | ErrorKind::Git),
                    "{}: {error:?}",
                    trap.name
                );
            }
        }
        if place.is_sprung() {
            sprung.push(trap.name);
        }
    }
    assert!(sprung.is_empty(), "{sprung:?}");
    assert!(landed > TRAPS.len(), "only {landed} landed, so little was tried");
}

#[tokio::test]
async fn files_of_a_filter_that_is_not_run_are_not_written_raw() {
    let place = Place::new().await;
    place.host_commits(".gitattributes", "*.lock filter=crypt\n").await;
    place.agent_git(&["merge", "--quiet", "main"]).await;
    place.git(&["config", "filter.crypt.smudge", "false"]).await;
    place.agent_commits("a.txt", "a\n").await;
    assert!(matches!(place.land().await.unwrap(), Landed::FastForward { .. }));
    std::fs::write(place.agent.join("b.lock"), "b\n").unwrap();
    place.agent_git(&["-c", "filter.crypt.smudge=", "add", "b.lock"]).await;
    place.agent_git(&["commit", "--quiet", "-m", "b"]).await;
    let error = place.land().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Merge);
    assert!(error.to_string().contains("need a filter") && error.to_string().contains("`b.lock`"), "{error}");
    assert_eq!((place.read("b.lock"), place.status().await.as_str()), (None, ""));
}

#[tokio::test]
async fn the_host_writes_no_files_where_an_agent_points() {
    let place = Place::new().await;
    place.git(&["switch", "--quiet", "--detach"]).await;
    place.agent_commits("a.txt", "a\n").await;
    let tip = place.tip("agent").await;
    place.agent_git(&["checkout", "--quiet", "main"]).await;
    let elsewhere = tempfile::tempdir().unwrap();
    let admin = place.repository.common_dir().join("worktrees/agent");
    // The folder in the repository is the agent's to write; the other place is not.
    std::fs::write(admin.join("gitdir"), format!("{}/.git\n", elsewhere.path().display())).unwrap();
    let error = land(&place.repository, "agent", &tip, "main", Duration::from_secs(30)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Merge, "{error:?}");
    assert_eq!(std::fs::read_dir(elsewhere.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn w_2_names_of_branches_are_arguments_and_quoted_in_hints() {
    let place = Place::new().await;
    let odd = "x$(touch${IFS}sprung)`date`;'q";
    place.agent_git(&["switch", "--quiet", "-c", odd]).await;
    place.agent_commits("README.md", "agent\n").await;
    place.host_commits("README.md", "host\n").await;
    let tip = place.tip(odd).await;
    let limit = Duration::from_secs(30);
    let error = land(&place.repository, odd, &tip, "main", limit).await.unwrap_err();
    assert!(error.hints().concat().contains(r"git merge 'x$(touch${IFS}sprung)`date`;'\''q'"), "{error:#}");
    assert_eq!(place.read("sprung"), None);
}

#[tokio::test]
async fn a_pipe_or_a_link_in_the_place_of_the_lock_is_refused_and_not_followed() {
    let place = Place::new().await;
    place.agent_commits("a.txt", "a\n").await;
    let locks = place.host().join(".sandcastle/locks");
    std::fs::create_dir_all(&locks).unwrap();
    let elsewhere = place.scratch.write("elsewhere", "mine\n").unwrap();
    std::os::unix::fs::symlink(&elsewhere, locks.join("landing.lock")).unwrap();
    assert_eq!(place.land().await.unwrap_err().kind(), ErrorKind::Io);
    assert_eq!(place.read("elsewhere").as_deref(), Some("mine\n"));
}

#[tokio::test]
async fn w_14_no_configuration_is_written() {
    let place = Place::new().await;
    place.agent_commits("a.txt", "a\n").await;
    place.host_commits("h.txt", "h\n").await;
    let before = std::fs::read(place.repository.common_dir().join("config")).unwrap();
    let all = place.git(&["config", "--list", "--show-origin"]).await;
    place.land().await.unwrap();
    assert_eq!(std::fs::read(place.repository.common_dir().join("config")).unwrap(), before);
    assert_eq!(place.git(&["config", "--list", "--show-origin"]).await, all);
}
