//! Agents that leave a checkout of the user's in another state than it seems to be in: a branch that was moved beneath it, an
//! operation that was not ended. It is told, with commands that put it right.

use std::path::Path;
use std::sync::{Arc, Mutex};

use sandcastle::testing::Turn;
use sandcastle::{BranchStrategy, Error, ErrorKind, RunEvent, RunOptions};

use super::Bench;
use super::strategies::work;
use crate::support::process::Invocation;
use crate::support::real_agent::search_path;

/// A turn that commits, and has a branch of the user's lead to that.
fn moves(branch: &str) -> Turn {
    work().shell(format!("git update-ref refs/heads/{branch} HEAD"))
}

/// The commands that a warning names: one brings the files up, one moves the branch back.
fn commands(warning: &str) -> [String; 2] {
    let quoted: Vec<&str> = warning.split('`').collect();
    let commands: Vec<String> =
        quoted.iter().filter(|text| text.starts_with("git -C ")).map(|text| (*text).to_owned()).collect();
    commands.try_into().unwrap_or_else(|_| panic!("two commands: {warning}"))
}

/// Runs a command in a shell, and tells whether git did it.
fn does(command: &str) -> bool {
    let shell = Invocation::new("sh", Path::new("/")).arguments(["-c", command]);
    shell.environment([("PATH".to_owned(), search_path())]).run().code() == Some(0)
}

fn lags(warnings: &[String]) -> Vec<&String> {
    warnings.iter().filter(|warning| warning.contains("lag behind")).collect()
}

impl Bench {
    async fn status(&self) -> String {
        self.git(["status", "--porcelain"]).await
    }

    /// The warning of a run that is done, of which nothing is told as merged.
    async fn the_warning(&self, options: RunOptions) -> String {
        let merged = Arc::new(Mutex::new(0));
        let count = Arc::clone(&merged);
        let options = options.on_event(move |event| {
            *count.lock().unwrap() += u32::from(matches!(event, RunEvent::Merged { .. }));
        });
        let result = sandcastle::run(options).await.unwrap();
        assert_eq!(*merged.lock().unwrap(), 0, "nothing was merged");
        let [warning] = lags(&result.warnings)[..] else { panic!("one warning: {:?}", result.warnings) };
        let shown = self.repository.path().canonicalize().unwrap();
        assert!(warning.contains("something else than this run"), "{warning}");
        assert!(warning.contains(shown.parent().unwrap().to_str().unwrap()), "{warning}");
        warning.clone()
    }

    fn merging(&self, turn: Turn) -> RunOptions {
        self.options([turn.say("ok")]).branch_strategy(BranchStrategy::merge_to_head())
    }
}

#[tokio::test]
async fn a_branch_that_is_moved_under_a_clean_checkout_is_told_and_can_be_caught_up_with() {
    for strategy in [BranchStrategy::merge_to_head(), BranchStrategy::branch("agent/x")] {
        let bench = Bench::new().await;
        let options = bench.options([moves("main").say("ok")]).branch_strategy(strategy);
        let warning = bench.the_warning(options).await;
        assert!(warning.contains("the branch `main`"), "{warning}");
        assert_eq!(bench.status().await, "D  made.txt", "as the warning says");
        let [catch_up, _] = commands(&warning);
        assert!(does(&catch_up), "{catch_up}");
        assert_eq!((bench.status().await.as_str(), bench.exists("made.txt")), ("", true));
        assert_eq!(bench.subjects("main").await, ["Work", "begin"]);
        // Nobody is told of it again, and the next one lands.
        let next = bench.merging(Turn::new().write_file("next", "1").commit("Next"));
        let result = sandcastle::run(next).await.unwrap();
        assert_eq!(result.warnings, Vec::<String>::new());
        assert_eq!((bench.status().await.as_str(), bench.exists("next")), ("", true));
    }
}

#[tokio::test]
async fn uncommitted_work_of_the_user_outlives_the_commands() {
    let bench = Bench::new().await;
    bench.repository.write("README.md", "edited\n").unwrap();
    bench.repository.write("staged", "1\n").unwrap();
    bench.git(["add", "staged"]).await;
    bench.repository.write("untracked", "1\n").unwrap();
    let before = bench.status().await;
    let [catch_up, _] = commands(&bench.the_warning(bench.merging(moves("main"))).await);
    assert!(does(&catch_up), "{catch_up}");
    assert_eq!((bench.status().await, bench.exists("made.txt")), (before, true));
    assert_eq!(std::fs::read_to_string(bench.repository.path().join("README.md")).unwrap(), "edited\n");
    // What is staged does not look like a checkout that lags.
    let next = bench.merging(Turn::new().write_file("next", "1").commit("Next"));
    assert_eq!(sandcastle::run(next).await.unwrap().warnings, Vec::<String>::new());
}

#[tokio::test]
async fn work_in_the_way_is_left_alone_and_the_branch_can_be_moved_back() {
    let bench = Bench::new().await;
    bench.repository.write("made.txt", "mine\n").unwrap();
    let before = bench.status().await;
    let [catch_up, back] = commands(&bench.the_warning(bench.merging(moves("main"))).await);
    assert!(!does(&catch_up), "it would lose `made.txt`");
    let mine = || std::fs::read_to_string(bench.repository.path().join("made.txt")).unwrap();
    assert_eq!(mine(), "mine\n");
    assert!(does(&back), "{back}");
    assert_eq!((bench.status().await, mine().as_str()), (before, "mine\n"));
    assert_eq!(bench.subjects("main").await, ["begin"]);
}

#[tokio::test]
async fn nothing_is_merged_into_a_branch_whose_checkout_lags() {
    let bench = Bench::new().await;
    let turn = moves("main").write_file("more", "1").commit("More");
    let error: Error = sandcastle::run(bench.merging(turn)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Merge, "{error:#}");
    assert!(error.to_string().contains("lag behind"), "{error}");
    let done = error.work().unwrap();
    assert_eq!(lags(&done.warnings).len(), 1, "{:?}", done.warnings);
    assert_eq!((done.commits.len(), bench.exists("more")), (2, false));
    // The hints finish it, one after the other.
    let hint = error.hints().iter().find(|hint| hint.contains("read-tree")).unwrap();
    assert!(does(&commands(hint)[0]), "{hint}");
    let finish = error.hints().iter().find_map(|hint| hint.split_once("by hand: ")).unwrap().1;
    assert!(does(finish), "{finish}");
    assert_eq!((bench.status().await.as_str(), bench.exists("more")), ("", true));
}

#[tokio::test]
async fn another_worktree_of_the_user_is_looked_at_too() {
    for strategy in [BranchStrategy::head(), BranchStrategy::merge_to_head()] {
        let bench = Bench::new().await;
        let elsewhere = bench.state.path().join("else where");
        bench.git(["worktree", "add", "-q", "-b", "feature", elsewhere.to_str().unwrap()]).await;
        let options = bench.options([moves("feature").say("ok")]).branch_strategy(strategy);
        let result = sandcastle::run(options).await.unwrap();
        let [warning] = lags(&result.warnings)[..] else { panic!("one warning: {:?}", result.warnings) };
        let [catch_up, _] = commands(warning);
        assert!(warning.contains("the branch `feature`") && catch_up.contains("else where"), "{warning}");
        let has = |path: &Path| path.join("made.txt").exists();
        assert!(!has(&elsewhere) && does(&catch_up) && has(&elsewhere), "{catch_up}");
        assert_eq!(bench.status().await, "", "the other checkout is as it was");
    }
}

#[tokio::test]
async fn what_is_moved_together_with_its_checkout_is_nobodys_trouble() {
    let bench = Bench::new().await;
    let root = bench.repository.path().display();
    // As the user would: a commit, a merge of what the agent did, a branch that nobody has checked out.
    let turn = work().shell(format!(
        "here=$(git rev-parse HEAD); git branch free; cd '{root}' && git commit -q --allow-empty -m Mine && \
         git merge -q --no-edit $here && git update-ref refs/heads/free HEAD"
    ));
    let result = sandcastle::run(bench.merging(turn)).await.unwrap();
    assert_eq!(result.warnings, Vec::<String>::new());
    assert_eq!((bench.status().await.as_str(), bench.exists("made.txt")), ("", true));
    // Without a log of what was checked out nothing is suspected.
    let bench = Bench::new().await;
    std::fs::remove_file(bench.repository.path().join(".git/logs/HEAD")).unwrap();
    let result = sandcastle::run(bench.merging(work())).await.unwrap();
    assert_eq!((result.warnings, bench.exists("made.txt")), (Vec::new(), true));
}

#[tokio::test]
async fn what_an_agent_began_in_the_users_own_checkout_and_did_not_end_is_told_once() {
    let bench = Bench::new().await;
    let turn = || {
        let on_a_branch =
            work().shell("git checkout -q -b other HEAD~1").write_file("made.txt", "another").commit("Other");
        on_a_branch.shell("git checkout -q main").shell("git merge -q other || true").say("ok")
    };
    let options = bench.options([turn()]).branch_strategy(BranchStrategy::head());
    let result = sandcastle::run(options).await.unwrap();
    let [warning] = &result.warnings[..] else { panic!("one warning: {:?}", result.warnings) };
    assert!(warning.starts_with("the agent began a merge and did not end it"), "{warning}");
    let [status, back] = commands(warning);
    assert!(does(&status), "{status}");
    // What was there when the next one began is not its doing.
    let options = bench.options([Turn::new().say("ok")]).branch_strategy(BranchStrategy::head());
    assert_eq!(sandcastle::run(options).await.unwrap().warnings, Vec::<String>::new());
    assert!(does(&back), "{back}");
    assert_eq!(bench.status().await, "");
    assert_eq!(bench.subjects("main").await, ["Work", "begin"]);
}
