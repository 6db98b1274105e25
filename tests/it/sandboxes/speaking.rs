//! A turn in which the agent may only speak, in every kind of sandbox: what it changes inside is undone on both sides.

use std::sync::{Arc, Mutex};

use sandcastle::sandbox::Isolated;
use sandcastle::testing::{ScratchRepo, Script, Scripted, Turn};
use sandcastle::{BranchStrategy, Logging, RunEvent, RunOptions, SandboxOptions, create_sandbox};

use super::every::{Kind, kind, kinds};
use super::isolated::Machine;
use crate::run::N;

const QUESTION: &str = "Report as <result>JSON</result>.";

/// Whether everything inside is as the work has left it.
const AS_LEFT: &str = "test \"$(git log -1 --format=%s)\" = Work && test ! -e late.txt && test \"$(cat loose.txt)\" = loose && \
                       test \"$(git diff --cached --name-only)\" = staged.txt && git symbolic-ref -q HEAD >/dev/null";

fn everywhere() -> Vec<Kind> {
    let mut kinds = kinds();
    kinds.push(kind("machine", Isolated::new(Machine::new())));
    kinds
}

fn script() -> Script {
    let work = Turn::new()
        .write_file("made.txt", "made\n")
        .commit("Work")
        .write_file("loose.txt", "loose")
        .shell("printf staged > staged.txt && git add staged.txt")
        .say("ok");
    let committed = Turn::new()
        .shell(AS_LEFT)
        .write_file("loose.txt", "other")
        .write_file("late.txt", "late\n")
        .commit("Too late")
        .say("<result>{}</result>");
    let staged = Turn::new()
        .shell(AS_LEFT)
        .shell("git rm -q --cached staged.txt && git add loose.txt")
        .say("<result>{}</result>");
    let elsewhere = Turn::new()
        .shell(AS_LEFT)
        .shell("git checkout -q -b other && git commit -qm Elsewhere --allow-empty && rm made.txt")
        .say("<result>{\"n\":5}</result>");
    Script::new().turn(work).turn(committed).turn(staged).turn(elsewhere)
}

/// What was undone, process by process: paths and refs, as text.
fn heard(options: RunOptions) -> (RunOptions, Arc<Mutex<Vec<String>>>) {
    let told = Arc::new(Mutex::new(Vec::new()));
    let listener = Arc::clone(&told);
    let options = options.on_event(move |event| {
        if let RunEvent::ChangeUndone { paths, refs, rescue } = event {
            let paths: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
            let kept = if rescue.is_some() { "kept" } else { "nothing to keep" };
            listener.lock().unwrap().push(format!("{} {} {kept}", paths.join(","), refs.join(",")));
        }
    });
    (options, told)
}

const EXPECTED: [&str; 3] =
    ["late.txt,loose.txt refs/heads/task,index kept", " index kept", "made.txt HEAD,refs/heads/other kept"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_agent_changes_while_it_may_only_speak_is_undone_in_each() {
    for kind in everywhere() {
        let repository = ScratchRepo::new().await.unwrap();
        let options = RunOptions::new(Scripted::new(script()), Arc::clone(&kind.provider))
            .cwd(repository.path())
            .branch_strategy(BranchStrategy::branch("task"))
            .prompt("go")
            .logging(Logging::off());
        let (options, told) = heard(options);
        let result = sandcastle::run_with_extraction::<N>(options, QUESTION).await;
        let result = result.unwrap_or_else(|error| panic!("{}: {error:#}\n{:?}", kind.name, error.work()));
        assert_eq!(*told.lock().unwrap(), EXPECTED, "{}: {:?}", kind.name, result.warnings);
        let subjects: Vec<&str> = result.commits.iter().map(|commit| commit.subject.as_str()).collect();
        assert_eq!((subjects, result.branch.as_str()), (vec!["Work"], "task"), "{}", kind.name);
        assert_eq!(
            repository.git(["log", "-1", "--format=%s", "task"]).await.unwrap(),
            "Work",
            "{}",
            kind.name
        );
        let kept = result.preserved_worktree.unwrap_or_else(|| panic!("{}: loose files", kind.name));
        assert_eq!(std::fs::read_to_string(kept.join("loose.txt")).unwrap(), "loose", "{}", kind.name);
        assert!(kept.join("made.txt").exists() && !kept.join("late.txt").exists(), "{}", kind.name);
        let branches = repository.git(["for-each-ref", "--format=%(refname)", "refs/heads"]).await.unwrap();
        assert!(!branches.contains("other"), "{}: {branches}", kind.name);
        let held = ["log", "--format=%s", "--branches=sandcastle-rescue/*"];
        let held = repository.git(held).await.unwrap();
        assert!(held.contains("Too late") && held.contains("Elsewhere"), "{}: {held}", kind.name);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shared_one_is_as_the_work_has_left_it() {
    for kind in everywhere() {
        let repository = ScratchRepo::new().await.unwrap();
        let options = SandboxOptions::shared(Arc::clone(&kind.provider))
            .cwd(repository.path())
            .branch_strategy(BranchStrategy::branch("task"));
        let sandbox = create_sandbox(options).await.unwrap();
        let options = sandbox.options(Scripted::new(script())).prompt("go").logging(Logging::off());
        let (options, told) = heard(options);
        let result = sandcastle::run_with_extraction::<N>(options, QUESTION).await;
        result.unwrap_or_else(|error| panic!("{}: {error:#}", kind.name));
        assert_eq!(*told.lock().unwrap(), EXPECTED, "{}", kind.name);
        let next = Turn::new().shell(AS_LEFT).write_file("next.txt", "1").commit("Next").say("ok");
        let options = sandbox.options(Scripted::new(Script::new().turn(next))).prompt("go");
        let result =
            options.logging(Logging::off()).await.unwrap_or_else(|error| panic!("{}: {error:#}", kind.name));
        assert_eq!(result.commits.len(), 1, "{}: {:?}", kind.name, result.commits);
        sandbox.close().await.unwrap();
    }
}
