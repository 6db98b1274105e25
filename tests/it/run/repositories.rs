//! Runs in repositories that are odd, hostile, or broken by the agent.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use sandcastle::testing::{ScratchRepo, Scripted, Turn};
use sandcastle::{BranchStrategy, ErrorKind, Logging, NoSandbox, RunOptions};

use super::strategies::work;
use super::{Bench, say};

#[tokio::test]
async fn a_path_may_hold_any_bytes() {
    for name in [&b"line feed\n"[..], b"\r", b"not utf-8 \xff"] {
        let outer = ScratchRepo::new().await.unwrap();
        let folder = outer.path().join(OsStr::from_bytes(name));
        std::fs::create_dir(&folder).unwrap();
        outer.git([OsStr::new("init"), OsStr::new("--quiet"), folder.as_os_str()]).await.unwrap();
        let state = tempfile::TempDir::new().unwrap();
        let agent = Scripted::answering("ok").state_dir(state.path());
        let options =
            RunOptions::new(agent, NoSandbox::new()).cwd(&folder).logging(Logging::off()).prompt("x");
        let result = sandcastle::run(options).await.unwrap_or_else(|error| panic!("{folder:?}: {error:#}"));
        assert_eq!(result.warnings, Vec::<String>::new(), "{folder:?}");
    }
}

#[tokio::test]
async fn a_partial_clone_fetches_nothing_for_us() {
    let bench = Bench::new().await;
    let mark = bench.repository.path().join(".git/mark");
    let script =
        bench.repository.write(".git/evil", format!("#!/bin/sh\necho >'{}'\n", mark.display())).unwrap();
    make_executable(&script);
    let config = format!(
        "git config core.repositoryformatversion 1; git config extensions.partialClone origin; \
         git config remote.origin.promisor true; git config remote.origin.url ssh://host/path; \
         git config core.sshCommand '{}'; echo 1234567890123456789012345678901234567890 >.git/refs/heads/main",
        script.display()
    );
    let error = sandcastle::run(bench.options([Turn::new().shell(config).say("ok")])).await.unwrap_err();
    assert!(!mark.exists(), "git ran a program that the agent named");
    assert_eq!(error.kind(), ErrorKind::RepositoryChanged, "{error:#}");
    let warnings = &error.work().unwrap().warnings;
    assert!(warnings.iter().any(|warning| warning.contains("could not be listed")), "{warnings:?}");
}

#[tokio::test]
async fn a_repository_that_the_agent_broke_is_told() {
    for damage in
        ["rm -r .git", "echo garbage >.git/HEAD", "git commit -q --allow-empty -m x; rm -r .git/objects/??"]
    {
        let bench = Bench::new().await;
        let warnings = match sandcastle::run(bench.options([Turn::new().shell(damage).say("ok")])).await {
            Ok(result) => result.warnings,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::RepositoryChanged, "{damage}: {error:#}");
                error.work().unwrap().warnings.clone()
            }
        };
        assert!(
            warnings.iter().any(|warning| warning.contains("could not be listed")),
            "{damage}: {warnings:?}"
        );
    }
}

#[tokio::test]
async fn a_subject_is_read_as_it_was_written() {
    let bench = Bench::new().await;
    bench.repository.git(["config", "i18n.logOutputEncoding", "ISO-8859-1"]).await.unwrap();
    let turn = say("ok").write_file("x", "1").commit("Größe");
    let result = sandcastle::run(bench.options([turn])).await.unwrap();
    assert_eq!(result.commits[0].subject, "Größe");
}

#[tokio::test]
async fn files_land_where_core_worktree_says_that_they_are() {
    let bench = Bench::new().await;
    let files = tempfile::TempDir::new().unwrap();
    std::fs::copy(bench.repository.path().join("README.md"), files.path().join("README.md")).unwrap();
    bench.git(["config", "core.worktree", files.path().to_str().unwrap()]).await;
    let options = bench.options([work().say("ok")]).branch_strategy(BranchStrategy::merge_to_head());
    sandcastle::run(options).await.unwrap();
    assert!(files.path().join("made.txt").exists());
    assert!(!bench.exists("made.txt"), "the folder of the repository is not where its files are");
    assert_eq!(bench.git(["status", "--porcelain"]).await, "");
}

#[tokio::test]
async fn a_pipe_in_the_state_of_a_worktree_is_named_and_not_waited_for() {
    for file in ["HEAD", "commondir", "index"] {
        let bench = Bench::new().await;
        let pipe = format!("cd \"$(git rev-parse --git-dir)\" && rm {file} && mkfifo {file}");
        let options = bench.options([work().shell(pipe).say("ok")]);
        let run = sandcastle::run(options.branch_strategy(BranchStrategy::branch("agent/pipe")));
        let run = tokio::time::timeout(Duration::from_secs(20), run).await.expect(file);
        let warnings = match &run {
            Ok(result) => &result.warnings,
            Err(error) => &error.work().unwrap().warnings,
        };
        let named = format!("{file}` is no plain file");
        assert!(warnings.iter().any(|warning| warning.contains(&named)), "{warnings:?}");
        if file == "index" {
            continue;
        }
        let next = bench.options([say("ok")]).branch_strategy(BranchStrategy::branch("agent/next"));
        let next = tokio::time::timeout(Duration::from_secs(20), sandcastle::run(next)).await.expect(file);
        let error = next.unwrap_err();
        assert!(error.to_string().contains(&named), "{error:#}");
    }
}

#[tokio::test]
async fn commits_on_another_line_are_not_said_to_have_landed() {
    let bench = Bench::new().await;
    let turn =
        Turn::new().shell("git checkout -q --orphan other").write_file("x", "1").commit("Work").say("ok");
    let merged = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let tell = std::sync::Arc::clone(&merged);
    let options =
        bench.options([turn]).branch_strategy(BranchStrategy::merge_to_head()).on_event(move |event| {
            if matches!(event, sandcastle::RunEvent::Merged { .. }) {
                tell.store(true, std::sync::atomic::Ordering::SeqCst);
            }
        });
    let result = sandcastle::run(options).await.unwrap();
    assert_eq!((result.branch.as_str(), result.commits.len()), ("other", 1));
    assert!(!merged.load(std::sync::atomic::Ordering::SeqCst), "nothing was");
    assert!(result.warnings.iter().any(|warning| warning.contains("not in `main`")), "{:?}", result.warnings);
    assert_eq!(bench.subjects("main").await, ["begin"]);
}

fn make_executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}
