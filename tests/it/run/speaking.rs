//! A turn in which the agent may only speak, and does more: every change is undone, kept and told, and the output is valid.
//!
//! The scripted agent obeys no mode, so what it does in its second turn stands for whatever a real one might.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sandcastle::testing::Turn;
use sandcastle::{
    BranchStrategy, CancellationToken, ErrorKind, RunEvent, RunOptions, RunResult, SandboxProvider,
};

use super::{Bench, N, say};
use crate::support::process::{Finished, Invocation};

const QUESTION: &str = "Report as <result>JSON</result>.";
const GOOD: &str = r#"<result>{"n":5}</result>"#;

/// What was undone: paths, refs, and the branch that has it.
type Undone = (Vec<PathBuf>, Vec<String>, Option<String>);

/// A run whose agent works, and then does `mischief` when it is asked for the output.
struct Case {
    bench: Bench,
    work: Turn,
    strategy: BranchStrategy,
    undone: Arc<Mutex<Vec<Undone>>>,
}

impl Case {
    /// In the user's own checkout, after work that left something in every state that there is.
    async fn in_place() -> Self {
        Self::new(BranchStrategy::head()).await
    }

    async fn new(strategy: BranchStrategy) -> Self {
        let bench = Bench::new().await;
        bench.repository.write("kept.txt", "kept\n").unwrap();
        bench.repository.write("edited.txt", "as committed\n").unwrap();
        bench.repository.write("gone.txt", "gone\n").unwrap();
        bench.repository.git(["add", "."]).await.unwrap();
        bench.repository.git(["commit", "-qm", "Base"]).await.unwrap();
        let work = Turn::new()
            .write_file("made.txt", "made\n")
            .commit("Work")
            .shell(
                "printf 'staged\\n' > edited.txt && git add edited.txt && printf 'not staged' >> edited.txt",
            )
            .shell("git rm -q --cached gone.txt && printf 'x\\0y' > untracked.bin && chmod 755 untracked.bin")
            .shell("ln -s kept.txt link")
            .say("The work.");
        Self { bench, work, strategy, undone: Arc::default() }
    }

    fn options(&self, mischief: Turn) -> RunOptions {
        self.options_in(mischief, sandcastle::NoSandbox::new())
    }

    fn options_in(&self, mischief: Turn, sandbox: impl SandboxProvider) -> RunOptions {
        let undone = Arc::clone(&self.undone);
        let agent = self.bench.agent([self.work.clone(), mischief]);
        RunOptions::new(agent, sandbox)
            .cwd(self.bench.repository.path())
            .prompt("Do it.")
            .branch_strategy(self.strategy.clone())
            .logging(sandcastle::Logging::file(self.bench.log()))
            .on_event(move |event| {
                if let RunEvent::ChangeUndone { paths, refs, rescue } = event {
                    let rescue = rescue.as_ref().map(ToString::to_string);
                    undone.lock().unwrap().push((paths.clone(), refs.clone(), rescue));
                }
            })
    }

    /// Plays both turns and checks that the output came and that everything is as the work has left it.
    async fn undoes(&self, mischief: Turn) -> (RunResult<N>, Undone) {
        let expected = self.after_the_work().await;
        let mischief = mischief.say(GOOD);
        let result = sandcastle::run_with_extraction::<N>(self.options(mischief), QUESTION).await.unwrap();
        assert_eq!((result.output.n, result.commits.len()), (5, 1));
        let top = result.preserved_worktree.as_deref().unwrap_or(self.bench.repository.path());
        assert_eq!(state_of(top), expected);
        let mut undone = std::mem::take(&mut *self.undone.lock().unwrap());
        assert_eq!(undone.len(), 1, "{undone:?}");
        let undone = undone.remove(0);
        let warned = |warning: &&String| warning.contains("may only speak was undone");
        assert_eq!(result.warnings.iter().filter(warned).count(), 1, "{:?}", result.warnings);
        assert!(self.bench.logged().contains("undone, because"), "{}", self.bench.logged());
        (result, undone)
    }

    /// What a repository is like that had the same work done and nothing else.
    async fn after_the_work(&self) -> String {
        let other = Self::new_boxed(self.strategy.clone()).await;
        let mut options = other.options(say(GOOD));
        options = options.logging(sandcastle::Logging::off());
        let result = sandcastle::run_with_extraction::<N>(options, QUESTION).await.unwrap();
        assert_eq!(other.undone.lock().unwrap().len(), 0);
        assert_eq!(result.warnings.iter().filter(|warning| warning.contains("speak")).count(), 0);
        let top = result.preserved_worktree.clone().unwrap_or_else(|| other.bench.repository.path().into());
        state_of(&top)
    }

    fn new_boxed(strategy: BranchStrategy) -> std::pin::Pin<Box<dyn Future<Output = Self>>> {
        Box::pin(Self::new(strategy))
    }

    async fn git<const K: usize>(&self, args: [&str; K]) -> String {
        self.bench.repository.git(args).await.unwrap()
    }
}

/// Words everything about a work tree that its owner would notice: trees and not commits, whose times differ.
fn state_of(top: &Path) -> String {
    let script = "git rev-parse HEAD^{tree}; git symbolic-ref HEAD | sed 's/2[0-9-]*-[0-9a-f]*//'; git ls-files --stage; \
                  git status --porcelain=v2 -uall; git log --format=%s; git stash list; \
                  find . -path ./.git -prune -o -path ./.sandcastle -prune -o -type f -print | sort | xargs ls -l --time-style=+ ; \
                  find . -path ./.git -prune -o -path ./.sandcastle -prune -o -type f -print | sort | xargs sha1sum; \
                  find . -path ./.git -prune -o -type l -printf '%p %l\\n'; ls .git/rebase-merge .git/MERGE_HEAD 2>/dev/null; true";
    sh(top, script).stdout
}

fn sh(folder: &Path, script: &str) -> Finished {
    let path = std::env::vars().filter(|(key, _)| key == "PATH");
    Invocation::new("sh", folder).arguments(["-c", script]).environment(path).run()
}

fn paths(names: &[&str]) -> Vec<PathBuf> {
    names.iter().map(PathBuf::from).collect()
}

#[tokio::test]
async fn an_edit_a_new_file_and_a_deletion() {
    let case = Case::in_place().await;
    let mischief = Turn::new()
        .shell("printf 'changed' > kept.txt && printf 'more' >> edited.txt && rm untracked.bin made.txt")
        .write_file("new/one.txt", "new\n")
        .shell("rm link && ln -s elsewhere link");
    let (result, (undone, refs, rescue)) = case.undoes(mischief).await;
    let expected = ["edited.txt", "kept.txt", "link", "made.txt", "new/one.txt", "untracked.bin"];
    assert_eq!((undone, refs), (paths(&expected), Vec::new()));
    assert!(!case.bench.repository.path().join("new").exists());
    let rescue = rescue.unwrap();
    assert_eq!(rescue, format!("sandcastle-rescue/{}", result.run_id));
    assert_eq!(case.git(["show", &format!("{rescue}:kept.txt")]).await, "changed");
    assert_eq!(case.git(["show", &format!("{rescue}:new/one.txt")]).await, "new");
    assert_eq!(case.git(["show", &format!("{rescue}:edited.txt")]).await, "staged\nnot stagedmore");
}

#[tokio::test]
async fn a_commit_and_what_it_swallowed() {
    let case = Case::in_place().await;
    let (result, (undone, refs, rescue)) =
        case.undoes(Turn::new().write_file("late.txt", "late\n").commit("Too late")).await;
    assert_eq!(undone, paths(&["late.txt"]));
    assert_eq!(refs, ["refs/heads/main", "index"]);
    let log = case.git(["log", "--format=%s", &rescue.unwrap()]).await;
    assert!(log.contains("Too late"), "{log}");
    assert_eq!(result.commits[0].subject, "Work");
}

#[tokio::test]
async fn new_branches_and_another_one_checked_out() {
    let case = Case::in_place().await;
    let mischief =
        Turn::new().shell("git branch plain && git checkout -q -b other && git tag v1 && git tag -a -m x v2");
    let (_, (undone, refs, rescue)) = case.undoes(mischief).await;
    assert_eq!(undone, paths(&[]));
    assert_eq!(refs, ["HEAD", "refs/heads/other", "refs/heads/plain", "refs/tags/v1", "refs/tags/v2"]);
    assert_eq!(rescue, None, "they led to nothing else");
    assert_eq!(case.git(["for-each-ref", "--format=%(refname)"]).await, "refs/heads/main");
}

#[tokio::test]
async fn what_is_staged_and_unstaged() {
    let case = Case::in_place().await;
    let (_, (undone, refs, rescue)) =
        case.undoes(Turn::new().shell("git add -A && git rm -q --cached kept.txt")).await;
    assert_eq!((undone, refs), (paths(&[]), vec!["index".to_owned()]));
    let staged = case.git(["log", "--format=%s", &rescue.unwrap()]).await;
    assert!(staged.contains("staged while"), "{staged}");
}

#[tokio::test]
async fn a_hard_reset() {
    let case = Case::in_place().await;
    let (_, (undone, refs, _)) =
        case.undoes(Turn::new().shell("git reset -q --hard HEAD~1 && git clean -fdqx")).await;
    assert_eq!(undone, paths(&["edited.txt", "link", "made.txt", "untracked.bin"]));
    assert_eq!(refs, ["refs/heads/main", "index"]);
}

#[tokio::test]
async fn a_stash_and_what_was_put_aside_before() {
    let case = Case::in_place().await;
    let (_, (undone, refs, rescue)) = case.undoes(Turn::new().shell("git stash push -q -u")).await;
    assert_eq!(undone, paths(&["edited.txt", "link", "untracked.bin"]));
    assert!(refs.contains(&"refs/stash".to_owned()), "{refs:?}");
    assert!(case.git(["log", "--format=%s", &rescue.unwrap()]).await.contains("WIP on main"));

    let mut case = Case::in_place().await;
    case.work = case
        .work
        .shell("git stash push -q -m one -- kept.txt edited.txt; git stash store -m two $(git stash create)");
    let mischief = Turn::new().shell("git stash pop -q 2>/dev/null; git stash clear").say(GOOD);
    sandcastle::run_with_extraction::<N>(case.options(mischief), QUESTION).await.unwrap();
    let listed = case.git(["stash", "list", "--format=%gd %gs"]).await;
    assert_eq!(listed, "stash@{0} two\nstash@{1} On main: one");
}

#[tokio::test]
async fn a_merge_that_is_begun_is_ended() {
    let case = Case::in_place().await;
    let mischief = Turn::new().shell(
        "git stash push -q -u && git checkout -q -b side HEAD~1 && printf side > made.txt && git add . && git commit -qm Side && \
         git checkout -q main && ! git merge -q side >/dev/null 2>&1",
    );
    let (_, (_, refs, _)) = case.undoes(mischief).await;
    assert_eq!(refs, ["refs/heads/side", "refs/stash", "index"]);
}

#[tokio::test]
async fn files_that_a_changed_rule_hides() {
    let case = Case::in_place().await;
    let mischief = Turn::new().write_file(".gitignore", "hidden\n").write_file("hidden", "x");
    let (_, (undone, _, rescue)) = case.undoes(mischief).await;
    assert_eq!(undone, paths(&[".gitignore", "hidden"]));
    let rescue = rescue.unwrap();
    assert_eq!(case.git(["show", &format!("{rescue}:hidden")]).await, "x");
    assert_eq!(case.git(["show", &format!("{rescue}^2:.gitignore")]).await, "hidden");
}

#[tokio::test]
async fn what_is_ignored_is_left_and_told() {
    let mut case = Case::in_place().await;
    case.work = case.work.write_file(".gitignore", ".env\n").write_file(".env", "KEY=a").say("The work.");
    let mischief = Turn::new().write_file(".env", "KEY=another").say(GOOD);
    let result = sandcastle::run_with_extraction::<N>(case.options(mischief), QUESTION).await.unwrap();
    assert_eq!((result.output.n, case.undone.lock().unwrap().len()), (5, 0));
    let told = result.warnings.iter().filter(|warning| warning.contains("`.env` has changed"));
    assert_eq!(told.count(), 1, "{:?}", result.warnings);
    let file = std::fs::read_to_string(case.bench.repository.path().join(".env")).unwrap();
    assert_eq!(file, "KEY=another");
}

#[tokio::test]
async fn bytes_that_attributes_would_change() {
    let mut case = Case::in_place().await;
    case.work = case
        .work
        .shell("printf '*.crlf text eol=crlf\\n*.auto text=auto\\n*.f filter=x\\n*.id ident\\n' > .gitattributes")
        .shell("printf 'a\\r\\nb\\n' > mixed.crlf; printf 'a\\r\\nb\\r\\n' > dos.auto; printf 'raw' > f.f; printf '$Id$\\n' > i.id")
        .shell("git add -A 2>/dev/null; git commit -qm Odd; printf 'a\\nb\\n' > unix.auto");
    let before = "cat mixed.crlf dos.auto f.f i.id unix.auto | sha1sum > ../sum";
    case.work = case.work.shell(before).say("The work.");
    let mischief = Turn::new()
        .shell("for f in mixed.crlf dos.auto f.f i.id; do printf z > $f; done; printf 'a\\r\\nb\\r\\n' > unix.auto")
        .say(GOOD);
    sandcastle::run_with_extraction::<N>(case.options(mischief), QUESTION).await.unwrap();
    assert_eq!(case.undone.lock().unwrap()[0].0.len(), 5);
    let top = case.bench.repository.path();
    let script = "cat mixed.crlf dos.auto f.f i.id unix.auto | sha1sum | cmp - ../sum";
    assert_eq!(sh(top, script).code(), Some(0));
}

#[tokio::test]
async fn a_folder_that_became_a_link_leads_nowhere() {
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("a.txt"), "outside").unwrap();
    let mut case = Case::in_place().await;
    case.work = case.work.write_file("d/a.txt", "inside");
    let place = outside.path().display();
    let (_, (undone, ..)) = {
        let mischief = Turn::new().shell(format!("rm -r d && ln -s {place} d")).say(GOOD);
        let result = sandcastle::run_with_extraction::<N>(case.options(mischief), QUESTION).await.unwrap();
        let undone = case.undone.lock().unwrap().remove(0);
        (result, undone)
    };
    assert_eq!(undone, paths(&["d", "d/a.txt"]));
    assert_eq!(std::fs::read_to_string(outside.path().join("a.txt")).unwrap(), "outside");
    let inside = case.bench.repository.path().join("d");
    assert!(!inside.is_symlink());
    assert_eq!(std::fs::read_to_string(inside.join("a.txt")).unwrap(), "inside");
}

#[tokio::test]
async fn what_others_do_meanwhile_is_left_alone() {
    let case = Case::new(BranchStrategy::branch("agent/one")).await;
    let home = case.bench.repository.path().display().to_string();
    // Somebody commits in the main work tree, and makes a branch of it.
    let others = format!(
        "unset GIT_DIR; cd {home} && printf theirs > theirs.txt && git add theirs.txt && git commit -qm Theirs && git branch theirs"
    );
    let mischief = Turn::new().shell(others).write_file("late.txt", "late\n").commit("Too late");
    let (result, (undone, refs, _)) = case.undoes(mischief).await;
    assert_eq!(undone, paths(&["late.txt"]));
    assert_eq!(refs, ["refs/heads/agent/one", "index"]);
    assert_eq!(case.git(["log", "-1", "--format=%s", "main"]).await, "Theirs");
    assert_eq!(case.git(["log", "-1", "--format=%s", "theirs"]).await, "Theirs");
    assert!(result.preserved_worktree.is_some(), "the work left files that are in no commit");
}

#[tokio::test]
async fn a_change_in_a_correction_is_undone_too_and_does_not_land() {
    let bench = Bench::new().await;
    let work = Turn::new().write_file("x", "1").commit("Work").say("ok");
    let bad = Turn::new().write_file("y", "1").commit("One").say("<result>{\"n\":\"x\"}</result>");
    let good = Turn::new().write_file("z", "1").commit("Two").say(GOOD);
    let options = bench.options([work, bad, good]).branch_strategy(BranchStrategy::merge_to_head());
    let result = sandcastle::run_with_extraction::<N>(options, QUESTION).await.unwrap();
    assert_eq!(result.commits.len(), 1);
    let log = bench.repository.git(["log", "--format=%s", "-2", "main"]).await.unwrap();
    assert_eq!(log.lines().next(), Some("Work"));
    let rescued = bench.repository.git(["branch", "--list", "sandcastle-rescue/*"]).await.unwrap();
    assert_eq!(rescued.lines().count(), 2, "{rescued}");
    let held = bench.repository.git(["log", "--format=%s", "--branches=sandcastle-rescue/*"]).await.unwrap();
    assert!(held.contains("One") && held.contains("Two"), "{held}");
}

#[tokio::test]
async fn a_cancelled_question_is_undone_before_the_run_ends() {
    let case = Case::in_place().await;
    let expected = case.after_the_work().await;
    let token = CancellationToken::new();
    let cancel = token.clone();
    let mischief = Turn::new().write_file("late.txt", "late\n").say("now").hang();
    let options = case.options(mischief).cancel(token);
    let run = sandcastle::run_with_extraction::<N>(options, QUESTION);
    let path = case.bench.repository.path().join("late.txt");
    let watch = async {
        while !path.exists() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        cancel.cancel();
    };
    let (ended, ()) = tokio::join!(run, watch);
    let error = ended.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cancelled);
    assert_eq!(state_of(case.bench.repository.path()), expected);
    let work = error.work().unwrap();
    assert_eq!((work.text.as_str(), work.commits.len()), ("The work.", 1));
}

#[tokio::test]
async fn a_dropped_question_leaves_everything_as_it_is() {
    let case = Case::in_place().await;
    let mischief = Turn::new().write_file("late.txt", "late\n").hang();
    let mut run = sandcastle::run_with_extraction::<N>(case.options(mischief), QUESTION);
    let path = case.bench.repository.path().join("late.txt");
    let watch = async {
        while !path.exists() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::select! {
        _ = &mut run => panic!("it hangs"),
        () = watch => {}
    }
    drop(run);
    assert!(path.exists());
    assert_eq!(case.git(["log", "-1", "--format=%s"]).await, "Work");
    let files = std::fs::read_to_string(case.bench.repository.path().join("edited.txt")).unwrap();
    assert_eq!(files, "staged\nnot staged");
}

#[tokio::test]
async fn the_budget_is_that_of_both_phases() {
    let bench = Bench::new().await;
    let turns = [say("ok").usage(100, 10), say(GOOD).usage(100, 10)];
    let options = bench.options(turns).max_tokens(50);
    let error = sandcastle::run_with_extraction::<N>(options, QUESTION).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Budget);
    assert_eq!(error.work().unwrap().text, "ok");

    let turns = [say("ok").usage(100, 10), say("<result>{}</result>").usage(100, 10), say(GOOD)];
    let options = bench.options(turns).max_tokens(200);
    let error = sandcastle::run_with_extraction::<N>(options, QUESTION).await.unwrap_err();
    let output = error.structured_output().unwrap();
    assert!(output.spent.is_some());
    assert_eq!((output.attempts.len(), output.usage.total_tokens()), (1, 220));
}
