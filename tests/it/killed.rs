//! `kill -9` of the command at named moments of a run, and what `sandcastle runs` finds afterwards.
//!
//! The agent says by a marker file that the moment has come; the kill hits the command alone, as the out-of-memory killer
//! does. Whatever happens, the checkout of the user is whole, and the next run works.

mod in_place;

use std::path::PathBuf;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::desk::{Desk, json_of, one_turn, wait_for};
use crate::support::engines::{self, Engine};
use crate::support::process::Finished;
use crate::support::processes::UniqueSleep;

/// A run that lands, with an output.
const ARGS: [&str; 6] =
    ["--prompt", "Answer in <result>.", "--tag", "result", "--branch-strategy", "merge-to-head"];

/// Holds git at the step in which the branch of the user and its checkout are moved, until its parent is gone.
const HOLD: &str = "while kill -0 $PPID 2>/dev/null; do sleep 0.02; done; exit 1";

struct Scene {
    desk: Desk,
    marker: PathBuf,
    /// What the agent, or a hook, is at when the command is killed.
    sleep: UniqueSleep,
}

impl Scene {
    async fn new() -> Self {
        let desk = Desk::new().await;
        Self { marker: desk.home.path().join("marker"), desk, sleep: UniqueSleep::new() }
    }

    /// Says that the moment has come, and waits for the kill.
    fn moment(&self) -> String {
        format!("touch '{}'; sleep {}", self.marker.display(), self.sleep.seconds())
    }

    /// The same, once the run has written down which session it is: it reads that a moment after the agent has said it.
    fn moment_of_a_session(&self) -> String {
        let journals = self.desk.repository.path().join(".sandcastle/runs");
        let journals = journals.display();
        format!(
            "until grep -q '\"note\":\"session\"' '{journals}'/*/journal.jsonl; do sleep 0.01; done; {}",
            self.moment()
        )
    }

    /// Kills a run when its moment has come, and gives what is shown of it.
    async fn kill(&self, steps: &Value, args: &[&str]) -> Value {
        let command = self.desk.play(&one_turn(steps), args);
        let running = self.desk.with_programs(command).start();
        wait_for(&self.marker).await;
        running.signal(Signal::KILL);
        let ended = running.finish();
        assert_eq!(ended.signal(), Some(9), "{ended:?}");
        self.the_only_run()
    }

    fn the_only_run(&self) -> Value {
        let listed = self.desk.runs(&["list"]);
        let runs = listed["runs"].as_array().expect("a list");
        assert_eq!((runs.len(), &runs[0]["state"]), (1, &json!("died")), "{listed}");
        self.desk.runs(&["show", runs[0]["id"].as_str().expect("an id")])
    }

    /// Recovers the run, twice: the second time there is nothing to do.
    async fn recover(&self) -> Value {
        self.desk.assert_whole().await;
        let recovered = self.desk.runs(&["recover"]);
        let recovered = &recovered["recovered"][0];
        assert_eq!(self.sleep.alive(), 0, "{recovered}");
        let id = recovered["run"]["id"].as_str().expect("an id");
        let again = &self.desk.runs(&["recover", id])["recovered"][0];
        assert_eq!(again["ended_processes"], 0, "{again}");
        assert_eq!(self.desk.runs(&["recover"])["recovered"], json!([]), "it was recovered");
        self.desk.assert_whole().await;
        recovered.clone()
    }

    /// Runs once more, as if nothing had happened.
    async fn run_again(&self, args: &[&str]) -> Finished {
        let script = json!([
            { "write-file": { "path": "again", "content": "1" } },
            { "commit": "Again" },
            { "say": "<result>{\"n\":6}</result>" }
        ]);
        let ended = self.desk.play(&one_turn(&script), args).run();
        assert_eq!(ended.code(), Some(0), "{}{}", ended.stdout, ended.stderr);
        self.desk.assert_whole().await;
        ended
    }

    /// Removes everything that the run left, and checks that nothing of it is there.
    async fn clean(&self, run: &Value) {
        self.desk.runs(&["clean", run["id"].as_str().expect("an id"), "--force"]);
        assert_eq!(self.desk.worktrees().await.len(), 0);
        let left = self.desk.branches().await;
        assert!(left.iter().all(|name| name.starts_with("sandcastle-rescue/")), "{left:?}");
    }
}

#[tokio::test]
async fn w_28_a_kill_before_the_agent_begins_leaves_a_worktree_that_is_clean() {
    let scene = Scene::new().await;
    let hook = scene.moment();
    let run = scene.kill(&json!([]), &[&ARGS[..], &["--host-worktree-ready", &hook]].concat()).await;
    assert_eq!(run["worktrees"][0]["changed"], json!([]), "{run}");
    let recovered = scene.recover().await;
    assert!(recovered["ended_processes"].as_u64() >= Some(1), "{recovered}");
    assert_eq!(recovered["rescued"], json!([]), "{recovered}");
    scene.run_again(&ARGS).await;
    scene.desk.runs(&["clean"]);
    assert_eq!((scene.desk.worktrees().await.len(), scene.desk.branches().await.len()), (0, 0));
}

#[tokio::test]
async fn w_28_a_kill_amid_the_work_loses_no_file_and_no_commit() {
    let scene = Scene::new().await;
    let steps = json!([
        { "write-file": { "path": "made", "content": "1" } },
        { "commit": "Work" },
        { "write-file": { "path": "half", "content": "2" } },
        { "shell": scene.moment_of_a_session() }
    ]);
    let run = scene.kill(&steps, &ARGS).await;
    assert_eq!(run["branches"][0]["commits"][0]["subject"], "Work", "{run}");
    assert_eq!(run["worktrees"][0]["changed"], json!(["half"]), "{run}");
    assert!(run["processes"].as_array().is_some_and(|left| !left.is_empty()), "{run}");
    assert!(run["session"]["id"].as_str().is_some_and(|id| id.starts_with("scripted-")), "{run}");
    assert_eq!(scene.sleep.alive(), 1, "the agent goes on without anybody who waits for it");
    let recovered = scene.recover().await;
    assert!(recovered["ended_processes"].as_u64() >= Some(1), "{recovered}");
    let rescue = recovered["rescued"][0]["branch"].as_str().expect("a branch");
    assert!(scene.desk.has(rescue, "half").await && scene.desk.has(rescue, "made").await, "{recovered}");
    assert_eq!(scene.desk.subjects("main").await, ["begin"], "nothing is merged");
    scene.run_again(&ARGS).await;
    scene.clean(&run).await;
    assert!(scene.desk.has(rescue, "half").await, "what was rescued stays");
}

#[tokio::test]
async fn w_28_what_a_killed_run_left_on_a_named_branch_begins_where_the_run_began() {
    let scene = Scene::new().await;
    let work = |subject: &str| {
        json!([
            { "write-file": { "path": subject, "content": "1" } },
            { "commit": subject },
            { "shell": scene.moment() }
        ])
    };
    let args = ["--prompt", "x", "--branch-strategy", "branch:agent/fix"];
    let left = |run: &Value| run["branches"][0]["commits"].as_array().map(Vec::len);
    let run = scene.kill(&work("First"), &args).await;
    assert_eq!(left(&run), Some(1), "nothing of what the branch began with: {run}");
    scene.recover().await;
    scene.desk.runs(&["clean", run["id"].as_str().expect("an id"), "--force"]);
    std::fs::remove_file(&scene.marker).expect("a marker");
    let run = scene.kill(&work("Second"), &args).await;
    assert_eq!(run["branches"][0]["commits"][0]["subject"], "Second", "{run}");
    assert_eq!(left(&run), Some(1), "nothing of what was on the branch: {run}");
    scene.recover().await;
}

#[tokio::test]
async fn w_28_a_killed_run_is_gone_on_with_as_its_journal_says() {
    let scene = Scene::new().await;
    let steps = json!([{ "write-file": { "path": "half", "content": "2" } }, { "shell": scene.moment_of_a_session() }]);
    scene.kill(&steps, &ARGS).await;
    let recovered = scene.recover().await;
    let command = recovered["run"]["resume_command"].as_str().expect("a command");
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    let (words, prompt) = words.split_at(words.len() - 1);
    assert_eq!(prompt, ["'...'"]);
    scene
        .desk
        .file("script.json", one_turn(&json!([{ "shell": "cat half" }, { "say": "and on" }])).to_string());
    let ended = scene.desk.run(&[&["--format", "json"], words, &["go on"]].concat());
    assert_eq!(ended.code(), Some(0), "{}{}", ended.stdout, ended.stderr);
    let object = json_of(&ended);
    assert_eq!(
        (&object["text"], &object["session_id"]),
        (&json!("and on"), &recovered["run"]["session"]["id"])
    );
}

#[tokio::test]
async fn w_28_a_kill_after_the_answer_does_not_lose_the_value() {
    let scene = Scene::new().await;
    let steps = json!([
        { "write-file": { "path": "made", "content": "1" } },
        { "commit": "Work" },
        { "say": "<result>{\"n\":5}</result>" },
        "complete",
        { "shell": format!("sleep {}", scene.sleep.seconds()) }
    ]);
    let running = scene.desk.play(&one_turn(&steps), &ARGS).start();
    scene.sleep.wait_for(1).await;
    // What the agent has printed is read a moment later.
    let answered = || {
        let runs = scene.desk.runs(&["list"]);
        let id = runs["runs"][0]["id"].as_str().expect("an id").to_owned();
        !scene.desk.runs(&["show", &id])["answer"].is_null()
    };
    while !answered() {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    running.signal(Signal::KILL);
    assert_eq!(running.finish().signal(), Some(9));
    let run = scene.the_only_run();
    assert_eq!(run["answer"]["value"], json!({ "n": 5 }), "{run}");
    let recovered = scene.recover().await;
    assert_eq!(recovered["run"]["answer"]["value"], json!({ "n": 5 }), "{recovered}");
    assert_eq!(recovered["run"]["branches"][0]["commits"][0]["subject"], "Work", "{recovered}");
    scene.run_again(&ARGS).await;
    scene.clean(&run).await;
}

/// Kills a run at the step of the landing that moves the checkout of the user; `before` holds git there before it does.
async fn killed_in_landing(scene: &Scene, before: &str) -> Value {
    let marker = scene.marker.display();
    let git = format!(
        "#!/bin/sh\nPATH=${{PATH#*:}}\ncase \" $* \" in\n*' --ff-only '*) {before}; touch '{marker}'; {HOLD};;\nesac\nexec git \"$@\"\n"
    );
    scene.desk.program("git", &git);
    let root = scene.desk.repository.path().display();
    let steps = json!([
        { "write-file": { "path": "made", "content": "1" } },
        { "commit": "Work" },
        // What the user commits meanwhile makes it a merge.
        { "shell": format!("cd '{root}' && echo 1 >hosts && git add hosts && git commit -qm Host") },
        { "say": "<result>{\"n\":5}</result>" }
    ]);
    scene.kill(&steps, &ARGS).await
}

#[tokio::test]
async fn w_28_a_kill_before_the_branch_is_moved_leaves_it_where_it_was() {
    let scene = Scene::new().await;
    let run = killed_in_landing(&scene, ":").await;
    assert_eq!(run["landing"]["state"], "interrupted", "{run}");
    assert_eq!(run["answer"]["value"], json!({ "n": 5 }), "{run}");
    assert_eq!(scene.desk.subjects("main").await, ["Host", "begin"]);
    let recovered = scene.recover().await;
    let branch = recovered["run"]["branch"].as_str().expect("a branch");
    assert_eq!(scene.desk.subjects(branch).await, ["Work", "begin"]);
    scene.desk.git(["merge", "-q", "--no-edit", branch]).await;
    assert!(scene.desk.has("main", "made").await && scene.desk.has("main", "hosts").await);
    scene.run_again(&ARGS).await;
    scene.desk.runs(&["clean"]);
    assert_eq!((scene.desk.worktrees().await.len(), scene.desk.branches().await.len()), (0, 0));
}

#[tokio::test]
async fn w_28_a_kill_after_the_branch_is_moved_finds_everything_landed() {
    let scene = Scene::new().await;
    let run = killed_in_landing(&scene, "git \"$@\"").await;
    assert_eq!(run["landing"]["state"], "landed", "{run}");
    assert_eq!(run["answer"]["value"], json!({ "n": 5 }), "{run}");
    assert!(scene.desk.has("main", "made").await && scene.desk.has("main", "hosts").await);
    scene.recover().await;
    scene.run_again(&ARGS).await;
    scene.desk.runs(&["clean"]);
    assert_eq!((scene.desk.worktrees().await.len(), scene.desk.branches().await.len()), (0, 0));
}

#[tokio::test]
async fn w_27_the_branch_of_a_killed_run_can_be_worked_on_again() {
    let scene = Scene::new().await;
    let named = ["--prompt", "<result>", "--tag", "result", "--branch-strategy", "branch:agent/one"];
    let steps = json!([{ "write-file": { "path": "half", "content": "2" } }, { "shell": scene.moment() }]);
    scene.kill(&steps, &named).await;
    // The agent is still at work: nobody works beside it, and nobody takes its worktree away.
    assert_eq!(scene.sleep.alive(), 1);
    let refused = scene.desk.play(&one_turn(&json!([{ "say": "x" }])), &named).run();
    let said = &json_of(&refused)["error"];
    assert_eq!(said["kind"], "branch-busy", "{said}");
    assert!(format!("{said}").contains("runs recover"), "{said}");
    assert_eq!(scene.desk.worktrees().await.len(), 1);
    scene.sleep.wait_for(1).await;
    scene.recover().await;
    let ended = scene.run_again(&named).await;
    let object = json_of(&ended);
    assert_eq!((&object["branch"], &object["output"]), (&json!("agent/one"), &json!({ "n": 6 })));
    assert_eq!(scene.desk.subjects("agent/one").await, ["Again", "begin"]);
}

/// Lists the git folders of sandboxes that are left.
fn sandboxes_left(desk: &Desk) -> Vec<std::ffi::OsString> {
    let folder = std::fs::read_dir(desk.repository.path().join(".sandcastle/sandboxes"));
    let names = folder.into_iter().flatten().flatten().map(|entry| entry.file_name());
    names.filter(|name| name != ".gitignore").collect()
}

/// Counts what an agent says that it has committed by now.
fn committed(desk: &Desk) -> usize {
    let trees = std::fs::read_dir(desk.repository.path().join(".sandcastle/worktrees")).into_iter().flatten();
    let said = trees.flatten().filter_map(|tree| std::fs::read(tree.path().join("progress")).ok());
    said.map(|said| said.iter().filter(|byte| **byte == b'\n').count()).sum()
}

/// Kills runs in a sandbox at moments that nobody chose, and looks for every commit that was made inside.
async fn killed_at_any_moment(
    sandbox: &[&str],
    environment: &[(String, String)],
    is_gone: impl Fn(&Desk) -> bool,
) {
    let work =
        "while n=$((n + 1)); do echo $n >n; git add n; git commit -qm \"Work $n\"; echo $n >>progress; done";
    for round in 0..4 {
        let desk = Desk::new().await;
        let args = [&["--prompt", "x", "--branch-strategy", "merge-to-head"], sandbox].concat();
        let command = desk.play(&one_turn(&json!([{ "shell": work }])), &args);
        let running = command.environment(environment.to_vec()).start();
        let chance = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), 0);
        let delay = std::time::Duration::from_millis(chance % 1500);
        tokio::time::sleep(delay).await;
        // Once it is sure that the agent is at work.
        while round == 0 && committed(&desk) < 3 {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        running.signal(Signal::KILL);
        assert_eq!(running.finish().signal(), Some(9));
        // In a container the agent goes on until that is removed.
        let made = committed(&desk);
        let told = |args: &[&str]| {
            let command = desk.command(&[&["--format", "json", "runs"], args].concat());
            let ended = command.environment(environment.to_vec()).run();
            assert_eq!(ended.code(), Some(0), "{delay:?}, {args:?}: {ended:?}");
            json_of(&ended)
        };
        let listed = told(&["list"]);
        let runs = listed["runs"].as_array().expect("a list");
        let Some(run) = runs.first() else { continue };
        let id = run["id"].as_str().expect("an id");
        let recovered = &told(&["recover", id])["recovered"][0];
        desk.assert_whole().await;
        let branch = recovered["run"]["branch"].as_str().unwrap_or("main");
        let found = desk.subjects(branch).await.iter().filter(|subject| subject.starts_with("Work")).count();
        assert!(found >= made, "{delay:?}: {made} were made, {found} are there: {recovered}");
        assert!(round > 0 || made >= 3, "{made}");
        // As after a kill while the git folder of a sandbox was made.
        let unborn = desk.repository.path().join(format!(".sandcastle/sandboxes/{}-0/git", u32::MAX));
        std::fs::create_dir_all(unborn).unwrap();
        told(&["clean", id, "--force"]);
        // An engine that was asked just before the kill makes the container just after it; the next start removes it.
        for _ in 0..5 {
            if !is_gone(&desk) {
                tokio::time::sleep(std::time::Duration::from_millis(500)).await;
                let next = desk.play(&one_turn(&json!([{ "say": "x" }])), &args);
                next.environment(environment.to_vec()).run();
            }
        }
        assert!(is_gone(&desk), "{delay:?}: a container is left");
        assert!(
            sandboxes_left(&desk).is_empty() && desk.worktrees().await.is_empty(),
            "{delay:?}: {recovered}"
        );
        desk.assert_whole().await;
    }
}

#[tokio::test]
async fn w_28_a_run_in_bubblewrap_that_is_killed_at_any_moment_loses_no_commit() {
    if engines::bubblewrap().is_some() {
        killed_at_any_moment(&["--sandbox", "bubblewrap"], &[], |_| true).await;
    }
}

#[tokio::test]
async fn w_28_a_run_in_a_container_that_is_killed_at_any_moment_loses_no_commit() {
    let Some(engine) = Engine::docker() else { return };
    let environment: Vec<_> =
        engine.environment.clone().into_iter().filter(|(name, _)| name != "HOME").collect();
    let sandbox = [
        "--sandbox",
        "docker",
        "--image",
        &engine.image,
        "--container-home",
        "/home/sandcastle",
        "--network",
        "off",
    ];
    let is_gone = |desk: &Desk| {
        let filter = format!("label=sandcastle.repository={}", desk.repository.path().display());
        engine.invocation(["ps", "--all", "--quiet", "--filter", &filter]).run().stdout.is_empty()
    };
    killed_at_any_moment(&sandbox, &environment, is_gone).await;
}
