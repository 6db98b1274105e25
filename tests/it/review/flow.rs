//! Work on pull requests as functions: what options may say, what a second call does, and what a dropped future leaves.

use std::time::Duration;

use sandcastle::review::{PostingState, PullRequestRun};
use sandcastle::sandbox::Isolated;
use sandcastle::testing::{ScratchRepo, Script, Scripted, Turn};
use sandcastle::{BranchStrategy, CancellationToken, ErrorKind, Logging, NoSandbox, RunOptions};
use tempfile::TempDir;

use crate::sandboxes::isolated::Machine;
use crate::support::desk::wait_for;
use crate::support::github::{GitHubServer, Reply, Scene};
use crate::support::tower::{Tower, lines};

struct Bench {
    repository: ScratchRepo,
    home: TempDir,
    server: GitHubServer,
    tower: Tower,
}

impl Bench {
    async fn new() -> Self {
        Self::with_base(&[]).await
    }

    /// As [`Bench::new`], where these lines have changed in the base since the pull request was begun.
    async fn with_base(changed: &[(usize, &str)]) -> Self {
        let (repository, home) = (ScratchRepo::new().await.unwrap(), TempDir::new().unwrap());
        let tower = Tower::build(&repository, &home.path().join("remote.git"), changed).await;
        let server = GitHubServer::start(Scene::new(&tower.head, &tower.base));
        Self { repository, home, server, tower }
    }

    fn options(&self, turns: impl IntoIterator<Item = Turn>) -> RunOptions {
        let script = turns.into_iter().fold(Script::new(), Script::turn);
        RunOptions::new(Scripted::new(script).state_dir(self.home.path().join("sessions")), NoSandbox::new())
            .cwd(self.repository.path())
            .logging(Logging::off())
    }

    fn run(&self, options: RunOptions) -> PullRequestRun {
        PullRequestRun::new(self.server.client(), 12, options)
    }
}

fn work() -> Turn {
    Turn::new()
        .write_file("src/lib.rs", lines(&[(2, "a wall"), (15, "a thicker wall")]))
        .commit("Make the wall thicker")
        .say("Done.")
}

fn report(json: &str) -> Turn {
    Turn::new().say(format!("<output>{json}</output>"))
}

#[tokio::test]
async fn what_is_set_by_the_work_is_refused_by_name_in_the_options() {
    let bench = Bench::new().await;
    for (options, named) in [
        (bench.options([work()]).prompt("Do."), "`prompt`"),
        (bench.options([work()]).branch_strategy(BranchStrategy::head()), "`branch_strategy`"),
        (bench.options([work()]).resume_session("a").prompt_file("b"), "`prompt`, `resume_session`"),
    ] {
        let error = bench.run(options).review().await.unwrap_err();
        assert!(error.is_entry_check() && error.to_string().contains(named), "{named}: {error:#}");
    }
    let cannot = Scripted::new(Script::new().turn(work())).without_resume();
    let options = RunOptions::new(cannot, NoSandbox::new()).cwd(bench.repository.path());
    let error = bench.run(options).explore().await.unwrap_err();
    assert!(error.is_entry_check() && error.to_string().contains("`scripted`"), "{error:#}");
    assert_eq!(bench.server.requests().len(), 0);
}

#[tokio::test]
async fn a_second_call_goes_on_behind_what_failed() {
    let bench = Bench::new().await;
    let said = r#"{"threadReplies": [{"commentId": "PRRC_moat_1", "body": "Yes."}],
        "newInlineComments": [{"path": "src/lib.rs", "line": 2, "body": "Here."}], "topLevelComments": [{"body": "All done."}]}"#;
    let looked = Turn::new().say("I looked.");
    let mut done = bench.run(bench.options([looked, report(said)])).implement().await.unwrap();
    bench.server.on("POST", "/reviews", |_| Reply::refusal(500, "Oops"));
    let error = done.post().await.unwrap_err();
    assert_eq!((error.kind(), error.work().is_some()), (ErrorKind::Forge, true), "{error:#}");
    let states = |done: &[sandcastle::review::Posting]| {
        done.iter().map(|posting| matches!(posting.state, PostingState::Posted(_))).collect::<Vec<_>>()
    };
    assert_eq!(states(done.postings()), [true, false, false]);
    assert_eq!(states(done.post().await.unwrap()), [true, false, true]);
    assert_eq!(done.postings()[1].state, PostingState::Failed);
    assert_eq!(bench.server.posted().len(), 2);
}

#[tokio::test]
async fn what_was_cancelled_before_it_began_asks_nobody() {
    let bench = Bench::new().await;
    let token = CancellationToken::new();
    token.cancel();
    let options = bench.options([work()]).cancel(token);
    let error = bench.run(options).review().await.unwrap_err();
    assert!(error.is_cancelled(), "{error:#}");
    assert!(bench.repository.git(["rev-parse", "--verify", "-q", "refs/heads/tower"]).await.is_err());
}

#[tokio::test]
async fn a_dropped_future_ends_the_agent_and_leaves_its_commits() {
    let bench = Bench::new().await;
    let marker = bench.home.path().join("at-work");
    let hangs = work().shell(format!("touch '{}'", marker.display())).hang();
    let run = bench.run(bench.options([hangs])).review();
    tokio::select! {
        done = run => panic!("{done:?}"),
        () = wait_for(&marker) => {}
    }
    let subject = bench.repository.git(["log", "-1", "--format=%s", "tower"]).await.unwrap();
    assert_eq!(subject.trim(), "Make the wall thicker");
    let remote = bench.repository.git(["ls-remote", "origin", "refs/heads/tower"]).await.unwrap();
    assert!(remote.starts_with(&bench.tower.head));
    // The branch is nobody's again: another run works on it.
    let looked = Turn::new().say("I looked.");
    let options =
        bench.options([looked, report(r#"{"comment": "Fine."}"#)]).total_timeout(Duration::from_secs(60));
    let done = bench.run(options).explore().await.unwrap();
    assert_eq!((done.output.comment.as_str(), done.counts.commits), ("Fine.", 0));
}

#[tokio::test]
async fn a_template_can_be_a_text_and_the_files_are_those_of_the_command() {
    let bench = Bench::new().await;
    let said = r#"{"summary": "Fine.", "inlineComments": [], "replies": []}"#;
    let run = bench.run(bench.options([work(), report(said)]).prompt_arg("WHO", "me"));
    let done = run.prompt("Review {{PR_NUMBER}} for {{WHO}}.").branch("mine").review().await.unwrap();
    assert_eq!(done.checkout.branch().as_str(), "mine");
    let session = done.run.as_ref().unwrap().session_id().unwrap();
    let prompts = Scripted::prompts(&bench.home.path().join("sessions"), session).unwrap();
    assert_eq!(prompts[0], "Review 12 for me.");
    let folder = bench.home.path().join("results");
    done.write_files(&folder).unwrap();
    assert_eq!(std::fs::read_to_string(folder.join("verdict.txt")).unwrap(), "improved");
    assert!(done.has_unpushed() && done.postings().is_empty());
}

#[tokio::test]
async fn a_conflict_is_resolved_where_no_files_are_shared() {
    let bench = Bench::with_base(&[(2, "a fence")]).await;
    let base = &bench.tower.base;
    let resolved = Turn::new()
        .shell("test -z \"$(git remote)\"")
        .shell(format!("git merge --no-edit {base} >merging; grep -q CONFLICT merging && rm merging"))
        .write_file("src/lib.rs", lines(&[(2, "a wall and a fence")]))
        .shell("git add -A && git commit -q -m 'Merge release'")
        .say("Merged.");
    let script = Script::new().turn(resolved).turn(report(r#"{"comment": "Both are kept."}"#));
    let agent = Scripted::new(script).state_dir(bench.home.path().join("sessions"));
    let options = RunOptions::new(agent, Isolated::new(Machine::new()));
    let run = bench.run(options.cwd(bench.repository.path()).logging(Logging::off()));
    let mut done = run.update_branch().await.unwrap();
    assert_eq!((done.output.comment.as_str(), done.counts.commits), ("Both are kept.", 1));
    let parents = bench.repository.git(["rev-parse", "tower^1", "tower^2"]).await.unwrap();
    assert_eq!(parents.lines().collect::<Vec<_>>(), [&bench.tower.head, base]);
    done.push().await.unwrap();
    let remote = bench.repository.git(["ls-remote", "origin", "refs/heads/tower"]).await.unwrap();
    assert!(remote.starts_with(done.tip.as_str()), "{remote}");
}
