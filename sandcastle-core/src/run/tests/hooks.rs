//! Hooks.

use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use super::{Bench, hanging};
use crate::error::{Error, ErrorKind, Result};
use crate::run::event::RunEvent;
use crate::run::hooks::{Hook, Hooks};
use crate::run::setup::{Notice, Teller};
use crate::sandbox::NoSandbox;

/// Runs the hooks of the worktree, and returns what was told.
async fn worktree_ready(bench: &Bench, hooks: &Hooks) -> Result<Vec<Notice>> {
    let mut told = Vec::new();
    let mut listener = |notice| told.push(notice);
    let teller = Teller::new(&mut listener);
    hooks.run_worktree_ready(&bench.host(), &bench.bounds(), &teller).await?;
    Ok(told)
}

async fn sandbox_ready(bench: &Bench, hooks: &Hooks) -> Result<Vec<Notice>> {
    let mut told = Vec::new();
    let mut listener = |notice| told.push(notice);
    let teller = Teller::new(&mut listener);
    hooks.run_sandbox_ready(&bench.host(), &bench.inside(), &bench.bounds(), &teller).await?;
    Ok(told)
}

#[tokio::test]
async fn hooks_of_the_worktree_run_in_order_in_its_folder() {
    let mut bench = Bench::new().await;
    bench.env.push(("GREETING".into(), "hi".into()));
    let hooks = Hooks::new()
        .host_worktree_ready("sleep 0.1; echo one $GREETING >> log")
        .host_worktree_ready("echo two >> log; pwd -P >> log")
        .sandbox_ready("echo never >> log");
    let told = worktree_ready(&bench, &hooks).await.unwrap();
    let cwd = bench.folder.path().canonicalize().unwrap();
    assert_eq!(bench.text("log"), format!("one hi\ntwo\n{}\n", cwd.display()));
    let ended = told.iter().filter_map(|notice| match notice {
        Notice::Event(RunEvent::HookEnded { hook, command, .. }) => Some((hook.as_str(), command.as_str())),
        _ => None,
    });
    let hook = "host_worktree_ready";
    let expected = [(hook, "sleep 0.1; echo one $GREETING >> log"), (hook, "echo two >> log; pwd -P >> log")];
    assert_eq!(ended.collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn host_hooks_inherit_the_environment_and_sandbox_hooks_see_that_of_the_sandbox() {
    let bench =
        Bench::with(NoSandbox::new().clear_env().env("PATH", "/usr/bin:/bin").env("INSIDE", "yes")).await;
    let print = |file: &str| format!("echo \"${{CARGO_MANIFEST_DIR:-none}} ${{INSIDE:-no}}\" > {file}");
    let hooks = Hooks::new().host_sandbox_ready(print("host")).sandbox_ready(print("inside"));
    sandbox_ready(&bench, &hooks).await.unwrap();
    assert_eq!(bench.text("host").trim_end(), format!("{} no", env!("CARGO_MANIFEST_DIR")));
    assert_eq!(bench.text("inside").trim_end(), "none yes");
}

#[tokio::test]
async fn the_first_that_fails_is_the_last_that_runs() {
    let bench = Bench::new().await;
    let hooks =
        Hooks::new().host_worktree_ready("echo it is broken >&2; exit 9").host_worktree_ready("touch later");
    let error = worktree_ready(&bench, &hooks).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Hook);
    let said = error.to_string();
    assert!(
        said.starts_with(
            "run a hook for `host_worktree_ready`: `echo it is broken >&2; exit 9` ended with exit code 9"
        ),
        "{said}"
    );
    assert!(said.ends_with(": it is broken"), "{said}");
    assert!(!bench.path("later").exists());
}

#[tokio::test]
async fn what_a_hook_says_on_its_output_is_told_if_it_says_nothing_else() {
    let bench = Bench::new().await;
    let error =
        worktree_ready(&bench, &Hooks::new().host_worktree_ready("echo 3 tests failed; exit 1")).await;
    assert!(error.unwrap_err().to_string().ends_with(": 3 tests failed"));
}

#[tokio::test]
async fn hooks_of_both_sides_run_side_by_side() {
    let bench = Bench::new().await;
    // Each waits for the others: one after the other they would never end.
    let meet = "touch me.$1; until test $(ls me.* | wc -l) = 4; do sleep 0.01; done";
    let hook = |name: &str| format!("set -- {name}; {meet}");
    let hooks = Hooks::new()
        .host_sandbox_ready(hook("a"))
        .host_sandbox_ready(hook("b"))
        .sandbox_ready(hook("c"))
        .sandbox_ready(hook("d"));
    // Each tells that it has begun, and that it is over.
    assert_eq!(sandbox_ready(&bench, &hooks).await.unwrap().len(), 8);
}

#[tokio::test]
async fn w_13_ready_hooks_are_checked_and_limited_on_both_sides() {
    let mut bench = Bench::new().await;
    for hooks in [Hooks::new().sandbox_ready("exit 4"), Hooks::new().host_sandbox_ready("exit 4")] {
        let error = sandbox_ready(&bench, &hooks).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Hook);
        assert!(error.to_string().contains("exit code 4"), "{error}");
    }
    bench.timeouts = bench.timeouts.hook(Duration::from_millis(200));
    for hooks in [Hooks::new().sandbox_ready("sleep 100"), Hooks::new().host_sandbox_ready("sleep 100")] {
        let error = sandbox_ready(&bench, &hooks).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::StepTimeout);
        assert!(error.hints()[0].contains("Hook::timeout"));
    }
}

#[tokio::test]
async fn case_171_a_hook_with_its_own_limit_that_hangs_is_ended_with_its_child() {
    let mut bench = Bench::new().await;
    // Its own limit counts, the shorter default does not.
    bench.timeouts = bench.timeouts.hook(Duration::from_millis(1));
    let hooks = Hooks::new().host_worktree_ready(Hook::new(hanging("a")).timeout(Duration::from_millis(500)));
    let begun = Instant::now();
    let error = worktree_ready(&bench, &hooks).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StepTimeout);
    assert!(error.to_string().contains("took longer than 500ms"), "{error}");
    assert!(begun.elapsed() >= Duration::from_millis(500) && begun.elapsed() < Duration::from_secs(10));
    bench.assert_gone(&["a.own", "a.child"]);
}

#[tokio::test]
async fn case_171_a_hook_that_ignores_the_request_to_stop_is_killed() {
    let mut bench = Bench::new().await;
    bench.timeouts = bench.timeouts.hook(Duration::from_millis(500));
    let deaf = format!("trap '' TERM; (trap '' TERM; {}) & {}; sleep 1000", hanging("a"), "wait");
    let error = sandbox_ready(&bench, &Hooks::new().sandbox_ready(deaf)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StepTimeout);
    bench.assert_gone(&["a.child"]);
}

#[tokio::test]
async fn w_37_cancelling_ends_the_hooks_on_both_sides() {
    let bench = Bench::new().await;
    let hooks = Hooks::new().host_sandbox_ready(hanging("a")).sandbox_ready(hanging("b"));
    let files = ["a.own", "a.child", "b.own", "b.child"];
    let cancel = async {
        bench.wait_for(&files).await;
        bench.cancel.cancel();
    };
    let (result, ()) = tokio::join!(sandbox_ready(&bench, &hooks), cancel);
    assert!(result.unwrap_err().is_cancelled());
    bench.assert_gone(&files);
}

#[tokio::test]
async fn a_dropped_future_ends_the_hooks() {
    let bench = Bench::new().await;
    let hooks = Hooks::new().host_worktree_ready(hanging("a"));
    tokio::select! {
        result = worktree_ready(&bench, &hooks) => panic!("{result:?}"),
        () = bench.wait_for(&["a.own", "a.child"]) => {}
    }
    bench.assert_gone(&["a.own", "a.child"]);
}

#[tokio::test]
async fn what_a_hook_leaves_in_the_background_is_ended_and_told() {
    let bench = Bench::new().await;
    let hooks = Hooks::new().host_worktree_ready("sleep 1000 >&- 2>&- & echo $! > a.child");
    let told = worktree_ready(&bench, &hooks).await.unwrap();
    let warned =
        |notice: &Notice| matches!(notice, Notice::Warning(text) if text.ends_with("left running was ended"));
    assert!(told.iter().any(warned), "{told:?}");
    bench.assert_gone(&["a.child"]);
}

#[tokio::test]
async fn w_39_sudo_wraps_the_whole_command() {
    let folder = tempfile::tempdir().unwrap();
    let sudo = folder.path().join("sudo");
    std::fs::write(
        &sudo,
        "#!/bin/sh\nfor word; do echo \"<$word>\"; done > \"$LOG\"\nshift 2\nROOT=1 exec \"$@\"\n",
    )
    .unwrap();
    std::fs::set_permissions(&sudo, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", folder.path().display());
    let bench = Bench::with(NoSandbox::new().env("PATH", path).env("LOG", folder.path().join("log"))).await;
    let hooks = Hooks::new().sandbox_ready(Hook::new("echo $ROOT > a && echo $ROOT > b").sudo());
    sandbox_ready(&bench, &hooks).await.unwrap();
    let called = std::fs::read_to_string(folder.path().join("log")).unwrap();
    assert_eq!(called, "<-n>\n<-->\n<sh>\n<-c>\n<echo $ROOT > a && echo $ROOT > b>\n");
    assert_eq!((bench.text("a"), bench.text("b")), ("1\n".to_owned(), "1\n".to_owned()));
}

#[test]
fn hooks_that_cannot_be_run_are_refused() {
    let zero = Hook::new("true").timeout(Duration::ZERO);
    let sudo = || Hook::new("true").sudo();
    let said = |hooks: Hooks| {
        let error: Error = hooks.check().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidOptions);
        error.to_string()
    };
    assert!(said(Hooks::new().host_worktree_ready(" ")).contains("`host_worktree_ready`: it is blank"));
    assert!(said(Hooks::new().host_sandbox_ready("a\0b")).contains("NUL"));
    assert!(said(Hooks::new().sandbox_ready("true").sandbox_ready(zero)).contains("zero"));
    assert!(said(Hooks::new().host_worktree_ready(sudo())).contains("`sudo` is for the sandbox only"));
    assert!(said(Hooks::new().host_sandbox_ready(sudo())).contains("`sudo`"));
    Hooks::new().sandbox_ready(sudo()).host_worktree_ready("true").check().unwrap();
}

#[test]
fn the_futures_can_cross_threads() {
    fn assert_send<T: Send>(future: T) -> T {
        future
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(assert_send(async {
        let bench = Bench::new().await;
        let hooks = Hooks::new().sandbox_ready("true");
        assert_send(sandbox_ready(&bench, &hooks)).await.unwrap();
    }));
}
