//! Worktrees and sandboxes that several runs share: who makes them, who puts them away, what each run reports.

use std::path::{Path, PathBuf};

use sandcastle::sandbox::{self, Program};
use sandcastle::testing::Turn;
use sandcastle::{
    BranchStrategy, CancellationToken, ErrorKind, Hooks, Logging, NoSandbox, RunOptions, SandboxOptions,
    WorktreeOptions, create_sandbox, create_worktree,
};

use super::{Bench, N, say};
use crate::support::processes::UniqueSleep;

fn commit(name: &str) -> Turn {
    Turn::new().write_file(name, "1").commit(name).say("ok")
}

impl Bench {
    fn run_of(&self, turn: Turn) -> RunOptions {
        RunOptions::new(self.agent([turn]), NoSandbox::new()).prompt("in <result>").logging(Logging::off())
    }

    async fn on(&self, rev: &str) -> Vec<String> {
        let subjects = self.repository.git(["log", "--format=%s", rev]).await.unwrap();
        subjects.lines().map(str::to_owned).collect()
    }
}

#[tokio::test]
async fn a_worktree_outlives_its_runs_and_each_tells_its_own_commits() {
    let bench = Bench::new().await;
    let options = WorktreeOptions::new().cwd(bench.repository.path());
    let worktree = create_worktree(options.branch_strategy(BranchStrategy::branch("agent/x"))).await.unwrap();
    assert_eq!(worktree.branch(), "agent/x");
    assert!(format!("{worktree:?}").len() < 300, "what is in the repository is not shown");
    let first = worktree.run(bench.run_of(commit("one"))).await.unwrap();
    let second = worktree.run(bench.run_of(commit("two"))).await.unwrap();
    assert_eq!((first.commits.len(), second.commits.len()), (1, 1));
    assert_eq!(second.branch, "agent/x");
    assert!(worktree.path().join("one").exists() && worktree.path().join("two").exists());
    let path = worktree.path().to_path_buf();
    let closed = worktree.close().await.unwrap();
    assert_eq!((closed.preserved_worktree, path.exists()), (None, false));
    assert_eq!(bench.on("agent/x").await, ["two", "one", "begin"]);
    let again = worktree.close().await.unwrap();
    assert_eq!(again.preserved_worktree, None, "closing twice is closing once");
    let error = worktree.run(bench.run_of(say("x"))).await.unwrap_err();
    assert!(error.to_string().contains("closed"), "{error}");
}

#[tokio::test]
async fn case_141_merge_to_head_through_a_worktree_lands_after_each_run_and_keeps_its_branch() {
    let bench = Bench::new().await;
    let options = WorktreeOptions::new().cwd(bench.repository.path());
    let worktree = create_worktree(options.branch_strategy(BranchStrategy::merge_to_head())).await.unwrap();
    let own = worktree.branch().clone();
    let first = worktree.run(bench.run_of(commit("one"))).await.unwrap();
    assert_eq!((first.branch.as_str(), first.commits.len()), ("main", 1));
    assert_eq!(bench.on("main").await, ["one", "begin"]);
    let second = worktree.run(bench.run_of(commit("two"))).await.unwrap();
    assert_eq!(second.commits.len(), 1);
    assert_eq!(bench.on("main").await, ["two", "one", "begin"]);
    worktree.close().await.unwrap();
    let branches = bench.repository.git(["branch", "--format=%(refname:short)"]).await.unwrap();
    assert!(!branches.contains(own.as_str()), "the temporary branch has landed: {branches}");
}

#[tokio::test]
async fn case_147_a_worktree_with_uncommitted_work_is_kept_when_it_is_closed() {
    let bench = Bench::new().await;
    let options = WorktreeOptions::new().cwd(bench.repository.path());
    let worktree = create_worktree(options.branch_strategy(BranchStrategy::branch("agent/x"))).await.unwrap();
    let result = worktree.run(bench.run_of(Turn::new().write_file("half", "1").say("ok"))).await.unwrap();
    assert_eq!(result.preserved_worktree, None, "the handle owns it");
    let closed = worktree.close().await.unwrap();
    assert_eq!(closed.preserved_worktree.as_deref(), Some(worktree.path()));
    assert!(worktree.path().join("half").exists());
}

#[tokio::test]
async fn a_worktree_cannot_be_the_users_own() {
    let bench = Bench::new().await;
    let options = WorktreeOptions::new().cwd(bench.repository.path()).branch_strategy(BranchStrategy::head());
    let error = create_worktree(options).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidOptions, "{error}");
}

#[tokio::test]
async fn w_37_options_that_cannot_apply_are_refused_by_name() {
    let bench = Bench::new().await;
    let options = WorktreeOptions::new().cwd(bench.repository.path());
    let worktree = create_worktree(options.branch_strategy(BranchStrategy::branch("agent/x"))).await.unwrap();
    let refused = [
        (bench.run_of(say("x")).branch_strategy(BranchStrategy::head()), "branch_strategy"),
        (bench.run_of(say("x")).copy_to_worktree(["a"]), "copy_to_worktree"),
        (bench.run_of(say("x")).hooks(Hooks::new().host_worktree_ready("true")), "host_worktree_ready"),
        (bench.run_of(say("x")).cwd("/tmp"), "/tmp"),
    ];
    for (options, name) in refused {
        let error = worktree.run(options).await.unwrap_err();
        assert!(error.to_string().contains(name), "{name}: {error}");
        assert!(error.is_entry_check(), "{name}: {error}");
    }
}

#[tokio::test]
async fn case_119_a_sandbox_on_a_branch_is_warm_for_many_runs() {
    let bench = Bench::new().await;
    let ready = bench.state.path().join("ready");
    let options = SandboxOptions::new(NoSandbox::new())
        .cwd(bench.repository.path())
        .branch_strategy(BranchStrategy::branch("agent/x"))
        .hooks(Hooks::new().sandbox_ready(format!("echo ready >>'{}'", ready.display())));
    let sandbox = create_sandbox(options).await.unwrap();
    for name in ["one", "two"] {
        let turn = Turn::new().write_file(name, "1").commit(name).say(r#"<result>{"n":5}</result>"#);
        let result = sandbox.run_with::<N>(bench.run_of(turn)).await.unwrap();
        assert_eq!((result.commits.len(), result.branch.as_str()), (1, "agent/x"));
    }
    assert_eq!(std::fs::read_to_string(&ready).unwrap(), "ready\n", "the hook ran once");
    let listed = sandbox.exec(Program::new("ls")).await.unwrap();
    assert_eq!(listed.stdout, b"README.md\none\ntwo\n");
    let closed = sandbox.close().await.unwrap();
    assert_eq!(closed.preserved_worktree, None);
    assert_eq!(bench.on("agent/x").await, ["two", "one", "begin"]);
}

#[tokio::test]
async fn a_sandbox_of_a_worktree_leaves_the_worktree_to_it() {
    let bench = Bench::new().await;
    let options = WorktreeOptions::new().cwd(bench.repository.path());
    let worktree = create_worktree(options.branch_strategy(BranchStrategy::branch("agent/x"))).await.unwrap();
    let sandbox = worktree.create_sandbox(SandboxOptions::new(NoSandbox::new())).await.unwrap();
    let result = sandbox.run(bench.run_of(commit("one"))).await.unwrap();
    assert_eq!(result.commits.len(), 1);
    let early = worktree.close().await.unwrap_err();
    assert!(early.to_string().contains("still"), "{early}");
    sandbox.close().await.unwrap();
    drop(sandbox);
    assert!(worktree.path().join("one").exists());
    worktree.close().await.unwrap();
    assert!(!worktree.path().exists());
}

#[tokio::test]
async fn w_3_a_worktree_is_usable_after_a_cancelled_run() {
    let bench = Bench::new().await;
    let options = WorktreeOptions::new().cwd(bench.repository.path());
    let worktree = create_worktree(options.branch_strategy(BranchStrategy::branch("agent/x"))).await.unwrap();
    let sleep = UniqueSleep::new();
    let token = CancellationToken::new();
    let stuck = bench.run_of(Turn::new().say("x").shell(format!("sleep {}", sleep.seconds())));
    let run = tokio::spawn(worktree.run(stuck.cancel(token.clone())));
    sleep.wait_for(1).await;
    token.cancel();
    assert!(run.await.unwrap().unwrap_err().is_cancelled());
    assert_eq!(sleep.alive(), 0);
    assert_eq!(worktree.run(bench.run_of(say("again"))).await.unwrap().text, "again");
    worktree.close().await.unwrap();
}

#[tokio::test]
async fn a_result_goes_on_in_the_same_warm_sandbox() {
    let bench = Bench::new().await;
    let options = SandboxOptions::new(NoSandbox::new())
        .cwd(bench.repository.path())
        .branch_strategy(BranchStrategy::branch("agent/x"));
    let sandbox = create_sandbox(options).await.unwrap();
    let turns = [Turn::new().write_file("left", "1").say("one"), Turn::new().shell("cat left").say("two")];
    let agent = bench.agent(turns);
    let options = RunOptions::new(agent, NoSandbox::new()).prompt("x").logging(Logging::off());
    let first = sandbox.run(options).await.unwrap();
    let second = first.resume("go on").await.unwrap();
    assert_eq!((second.text.as_str(), second.session_id()), ("two", first.session_id()));
    drop((first, second));
    assert!(sandbox.close().await.unwrap().preserved_worktree.is_some());
}

#[tokio::test]
async fn w_27_two_runs_are_not_at_work_in_one_worktree_at_once() {
    let bench = Bench::new().await;
    let options = WorktreeOptions::new().cwd(bench.repository.path());
    let worktree = create_worktree(options.branch_strategy(BranchStrategy::branch("agent/x"))).await.unwrap();
    let sandbox = worktree.create_sandbox(SandboxOptions::new(NoSandbox::new())).await.unwrap();
    let sleep = UniqueSleep::new();
    let token = CancellationToken::new();
    let slow = bench.run_of(Turn::new().say("x").shell(format!("sleep {}", sleep.seconds())));
    let first = tokio::spawn(worktree.run(slow.cancel(token.clone())));
    sleep.wait_for(1).await;
    for second in [worktree.run(bench.run_of(say("ok"))), sandbox.run(bench.run_of(say("ok")))] {
        let error = second.await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BranchBusy, "{error:#}");
    }
    token.cancel();
    assert!(first.await.unwrap().unwrap_err().is_cancelled());
    assert_eq!(sandbox.run(bench.run_of(say("ok"))).await.unwrap().text, "ok");
}

#[tokio::test]
async fn a_result_keeps_nobody_from_the_branch_of_a_dropped_handle() {
    let bench = Bench::new().await;
    let make = || {
        let options = WorktreeOptions::new().cwd(bench.repository.path());
        create_worktree(options.branch_strategy(BranchStrategy::branch("agent/x")))
    };
    let worktree = make().await.unwrap();
    let result = worktree.run(bench.run_of(commit("one"))).await.unwrap();
    drop(worktree);
    let again = make().await.unwrap();
    let error = result.resume("go on").await.unwrap_err();
    assert!(error.is_entry_check() && error.to_string().contains("dropped"), "{error:#}");
    again.close().await.unwrap();
}

#[tokio::test]
async fn w_8_every_iteration_in_a_lent_worktree_is_told_its_branch() {
    let bench = Bench::new().await;
    let template = bench.repository.write("prompt.md", "on {{SOURCE_BRANCH}}").unwrap();
    let worktree = create_worktree(WorktreeOptions::new().cwd(bench.repository.path())).await.unwrap();
    let agent = bench.agent([say("one")]);
    let options = RunOptions::new(agent, NoSandbox::new()).prompt_file(template).max_iterations(2);
    let result = worktree.run(options.logging(Logging::off())).await.unwrap();
    let sessions = result.iterations.iter().map(|iteration| iteration.session_id.as_ref().unwrap());
    let prompts: Vec<String> = sessions.flat_map(|session| bench.prompts(session)).collect();
    assert_eq!(prompts, vec![format!("on {}", worktree.branch()); 2]);
}

/// A sandbox that cannot be ended.
#[derive(Debug)]
struct Stubborn(std::sync::Arc<dyn sandbox::SandboxHandle>);

impl sandbox::SandboxHandle for Stubborn {
    fn worktree(&self) -> &Path {
        self.0.worktree()
    }

    fn home(&self) -> Option<PathBuf> {
        self.0.home()
    }

    fn start(&self, program: Program) -> sandbox::BoxFuture<'_, std::io::Result<sandbox::Running>> {
        self.0.start(program)
    }

    fn close(&self) -> sandbox::BoxFuture<'_, sandcastle::Result<()>> {
        Box::pin(std::future::pending())
    }
}

#[derive(Debug)]
struct StubbornProvider;

impl sandbox::SandboxProvider for StubbornProvider {
    fn name(&self) -> &str {
        "stubborn"
    }

    fn sharing(&self) -> sandbox::Sharing {
        sandbox::Sharing::Host
    }

    fn create(
        &self,
        request: sandbox::SandboxRequest,
    ) -> sandbox::BoxFuture<'_, sandcastle::Result<std::sync::Arc<dyn sandbox::SandboxHandle>>> {
        Box::pin(async move {
            let inner = sandbox::SandboxProvider::create(&NoSandbox::new(), request).await?;
            Ok(std::sync::Arc::new(Stubborn(inner)) as std::sync::Arc<dyn sandbox::SandboxHandle>)
        })
    }
}

#[tokio::test]
async fn w_48_a_sandbox_that_does_not_end_is_given_up_and_its_worktree_is_named() {
    let bench = Bench::new().await;
    let options = SandboxOptions::new(StubbornProvider)
        .cwd(bench.repository.path())
        .branch_strategy(BranchStrategy::branch("agent/x"))
        .timeouts(sandcastle::Timeouts::default().sandbox_close(std::time::Duration::from_millis(50)));
    let sandbox = create_sandbox(options).await.unwrap();
    let error = sandbox.close().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StepTimeout);
    assert!(error.to_string().contains("`stubborn`"), "{error}");
    let kept = error.work().unwrap().preserved_worktree.clone().unwrap();
    assert_eq!((kept.as_path(), kept.exists()), (sandbox.worktree(), true));
}
