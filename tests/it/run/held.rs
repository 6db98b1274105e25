//! Sessions that a person holds in a worktree or a sandbox that is there already, and forks in a warm one.

use sandcastle::agent::{AgentCommand, AgentRequest, Capabilities, Decoder};
use sandcastle::testing::Turn;
use sandcastle::{
    Agent, AgentEvent, BranchStrategy, Logging, NoSandbox, RunOptions, SandboxOptions, WorktreeOptions,
    create_sandbox, create_worktree,
};

use super::{Bench, say};

/// A program for a person: it commits, and leaves with a code of its own.
#[derive(Debug)]
struct Shell(&'static str);

impl Agent for Shell {
    fn name(&self) -> &str {
        "shell"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::none().with_interactive()
    }

    fn command(&self, _: &AgentRequest<'_>) -> sandcastle::Result<AgentCommand> {
        Ok(AgentCommand::new("true"))
    }

    fn interactive_command(&self, _: &AgentRequest<'_>) -> sandcastle::Result<Option<AgentCommand>> {
        Ok(Some(AgentCommand::new("sh").arg("-c").arg(self.0)))
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(Silent)
    }
}

struct Silent;

impl Decoder for Silent {
    fn line(&mut self, _: &[u8], _: &mut Vec<AgentEvent>) {}
}

const TYPED: &str = "echo 1 >typed && git add typed && git commit -qm Typed; exit 4";

fn typed() -> RunOptions {
    RunOptions::new(Shell(TYPED), NoSandbox::new()).logging(Logging::off())
}

#[tokio::test]
async fn row_165_a_person_works_in_a_sandbox_that_is_there() {
    let bench = Bench::new().await;
    let options = SandboxOptions::new(NoSandbox::new()).cwd(bench.repository.path());
    let sandbox = create_sandbox(options.branch_strategy(BranchStrategy::branch("agent/x"))).await.unwrap();
    let held = sandbox.interactive(typed()).await.unwrap();
    assert_eq!((held.exit_code, held.branch.as_str()), (Some(4), "agent/x"));
    assert_eq!(held.commits[0].subject, "Typed");
    assert_eq!(held.preserved_worktree, None, "the handle owns it");
    let run = RunOptions::new(bench.agent([Turn::new().shell("test -f typed").say("ok")]), NoSandbox::new());
    assert_eq!(sandbox.run(run.prompt("x").logging(Logging::off())).await.unwrap().commits.len(), 0);
    sandbox.close().await.unwrap();
}

#[tokio::test]
async fn a_person_works_in_a_worktree_and_what_they_commit_lands() {
    let bench = Bench::new().await;
    let options = WorktreeOptions::new().cwd(bench.repository.path());
    let worktree = create_worktree(options.branch_strategy(BranchStrategy::merge_to_head())).await.unwrap();
    let held = worktree.interactive(typed()).await.unwrap();
    assert_eq!((held.exit_code, held.branch.as_str(), held.commits.len()), (Some(4), "main", 1));
    assert!(bench.repository.path().join("typed").exists());
    worktree.close().await.unwrap();
    assert!(!worktree.path().exists());
}

#[tokio::test]
async fn w_15_a_session_that_cannot_land_keeps_its_work() {
    let bench = Bench::new().await;
    bench.repository.write("typed", "in the way").unwrap();
    let options = typed().cwd(bench.repository.path()).branch_strategy(BranchStrategy::merge_to_head());
    let error = sandcastle::interactive(options).await.unwrap_err();
    let work = error.work().expect("what was done");
    let branch = work.branch.as_ref().expect("its branch");
    let subjects = bench.repository.git(["log", "--format=%s", branch.as_str()]).await.unwrap();
    assert_eq!(subjects, "Typed\nbegin");
    let unfinished = "echo 1 >half; exit 0";
    let options = RunOptions::new(Shell(unfinished), NoSandbox::new()).cwd(bench.repository.path());
    let held =
        sandcastle::interactive(options.branch_strategy(BranchStrategy::merge_to_head())).await.unwrap();
    assert!(held.preserved_worktree.expect("the worktree").join("half").exists());
}

#[tokio::test]
async fn row_166_a_fork_goes_on_in_the_same_warm_sandbox() {
    let bench = Bench::new().await;
    let options = SandboxOptions::new(NoSandbox::new()).cwd(bench.repository.path());
    let sandbox = create_sandbox(options.branch_strategy(BranchStrategy::branch("agent/x"))).await.unwrap();
    let turns = [
        Turn::new().write_file("left", "1").say("one"),
        Turn::new().shell("cat left").say("two"),
        say("three"),
    ];
    let options = RunOptions::new(bench.agent(turns), NoSandbox::new()).prompt("x").logging(Logging::off());
    let first = sandbox.run(options).await.unwrap();
    let fork = first.fork("another way").await.unwrap();
    assert_eq!(fork.text, "two");
    assert_ne!(fork.session_id(), first.session_id());
    let parent = first.resume("go on").await.unwrap();
    assert_eq!((parent.text.as_str(), parent.session_id()), ("two", first.session_id()), "it is as it was");
}

#[tokio::test]
async fn w_57_a_worktree_of_a_handle_is_found_when_nobody_closes_it() {
    let bench = Bench::new().await;
    let options = WorktreeOptions::new().cwd(bench.repository.path()).name("kept");
    let worktree = create_worktree(options.branch_strategy(BranchStrategy::branch("agent/x"))).await.unwrap();
    let runs = sandcastle::journal::Runs::of(bench.repository.path()).await.unwrap();
    let open = runs.list().await.unwrap();
    assert_eq!((open.len(), open[0].name.as_deref()), (1, Some("kept")));
    std::fs::write(worktree.path().join("half"), "1").unwrap();
    let path = worktree.path().to_path_buf();
    drop(worktree);
    let left = runs.show(&open[0].id).await.unwrap();
    assert_eq!(left.worktrees[0].path, path, "{left:?}");
    assert_eq!(left.left(), ["a worktree with 1 changed file"], "nothing of what the branch began with");
    assert!(path.join("half").exists());

    let options = WorktreeOptions::new().cwd(bench.repository.path());
    let closed = create_worktree(options.branch_strategy(BranchStrategy::branch("agent/y"))).await.unwrap();
    closed.close().await.unwrap();
    let finished = runs.list().await.unwrap().into_iter().find(|run| run.id != open[0].id).unwrap();
    assert!(finished.worktrees.is_empty(), "{finished:?}");
}

#[tokio::test]
async fn w_37_what_is_about_an_agent_alone_is_refused_by_name() {
    let bench = Bench::new().await;
    let second = std::time::Duration::from_secs(1);
    let refused = [
        ("max_iterations", typed().max_iterations(2)),
        ("completion_signal", typed().completion_signal("DONE")),
        ("idle_timeout", typed().idle_timeout(second)),
        ("completion_timeout", typed().completion_timeout(second)),
        ("liveness", typed().liveness(sandcastle::Liveness::Processor)),
        ("total_timeout", typed().total_timeout(std::time::Duration::ZERO)),
    ];
    for (name, options) in refused {
        let error = sandcastle::interactive(options.cwd(bench.repository.path())).await.unwrap_err();
        assert_eq!(error.kind(), sandcastle::ErrorKind::InvalidOptions);
        assert!(error.to_string().contains(&format!("`{name}`")), "{error}");
    }
}

#[tokio::test]
async fn w_43_a_program_for_a_person_is_not_started_with_a_declared_secret() {
    let bench = Bench::new().await;
    let options = typed().cwd(bench.repository.path()).secret("Typed");
    let error = sandcastle::interactive(options).await.unwrap_err();
    assert_eq!(error.kind(), sandcastle::ErrorKind::InvalidOptions);
    assert!(!format!("{error:#?}").contains("Typed"), "{error:#?}");
    assert!(!bench.repository.path().join(".sandcastle").exists(), "nothing was begun");
}
