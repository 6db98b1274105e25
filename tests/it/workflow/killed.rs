//! `kill -9` of the command, with its process group, at every moment of a workflow; and `--resume`.
//!
//! Each step leaves a mark that is counted: a line in `effects`, a request at the model's server. A step whose end is on record
//! is never done again; one that had begun may be, and that is said; everything else is done once.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::desk::{Desk, json_of, one_turn, wait_for};
use crate::support::model_server::{Law, ModelServer, Reply};
use crate::support::process::{Finished, Invocation};
use crate::support::processes::UniqueSleep;
use crate::support::terminal::Terminal;

const DOCUMENT: &str = include_str!("../../fixtures/workflows/every-kind.yaml");
/// The steps that leave a mark, in the order in which they can.
const MARKS: [&str; 8] = ["first", "sort", "work", "inner", "left_one", "left_two", "right_one", "last"];
/// All steps.
const STEPS: usize = MARKS.len() + 3;

/// A desk with a workflow that has a step of every kind.
struct Scene {
    desk: Desk,
    server: ModelServer,
    sleep: UniqueSleep,
}

impl Scene {
    async fn new() -> Self {
        let answer = Reply::text("<sort>{\"severity\":\"high\"}</sort>").always();
        Self::with([answer]).await
    }

    async fn with(replies: impl IntoIterator<Item = Reply>) -> Self {
        let server = ModelServer::for_clients(Law::OfTheService, replies);
        let scene = Self { desk: Desk::new().await, server, sleep: UniqueSleep::new() };
        scene.document(DOCUMENT);
        scene.work("true");
        scene
    }

    fn document(&self, text: &str) -> PathBuf {
        let text = text.replace("http://127.0.0.1:9", &self.server.url());
        self.desk.file("flow.yaml", text.replace("SCRIPTS", self.desk.home.path().to_str().unwrap()))
    }

    /// Sets what the agent does before it commits.
    fn work(&self, command: &str) {
        let root = self.desk.repository.path().display();
        let shell = format!("echo work >>'{root}/effects'; echo x >>made; {command}");
        let steps = json!([{ "shell": shell }, { "commit": "Work" }, { "say": "Done." }]);
        self.desk.file("work.json", one_turn(&steps).to_string());
    }

    /// Says once that the moment has come, and waits for the kill.
    fn moment(&self) -> String {
        let root = self.desk.repository.path().display();
        format!("test -e '{root}/go' || {{ touch '{root}/moment'; sleep {}; }}", self.sleep.seconds())
    }

    /// Lets what has a moment go on without one.
    fn go(&self) {
        self.desk.repository.write("go", "").unwrap();
    }

    fn command(&self, args: &[&str]) -> Invocation {
        let file = self.desk.home.path().join("flow.yaml");
        let begin = ["--format", "json", "workflow", "run", file.to_str().unwrap()];
        self.desk.command(&[&begin[..], args].concat())
    }

    /// Goes on with the only run.
    fn resume(&self, args: &[&str]) -> Invocation {
        let run = self.id();
        self.command(&[&["--resume", &run], args].concat())
    }

    /// Goes on to the end, which is the same whatever happened before.
    fn resume_to_the_end(&self) -> Finished {
        let ended = self.resume(&["--approve", "all"]).run();
        assert_eq!(ended.code(), Some(0), "{ended:?}");
        assert_eq!(json_of(&ended)["output"]["severity"], "high", "{ended:?}");
        ended
    }

    async fn kill_at_the_moment(&self, args: &[&str]) {
        let running = self.command(args).start();
        wait_for(&self.desk.repository.path().join("moment")).await;
        running.kill_group();
        assert_eq!(running.finish().signal(), Some(9));
    }

    /// Kills a command as soon as so many steps are done; it may be faster.
    async fn kill_after(&self, command: Invocation, steps: usize) {
        let begun = Instant::now();
        let running = command.start();
        while self.record().is_none() || self.done().len() < steps {
            assert!(begun.elapsed() < Duration::from_secs(60), "{:?} of {steps} steps", self.done());
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        running.kill_group();
        let ended = running.finish();
        assert!(ended.signal() == Some(9) || steps == STEPS && ended.code() == Some(0), "{ended:?}");
    }

    fn record(&self) -> Option<PathBuf> {
        let runs = std::fs::read_dir(self.desk.repository.path().join(".sandcastle/runs")).ok()?;
        let mut records = runs.flatten().map(|run| run.path().join("workflow.jsonl"));
        // It is there a moment before its first line is.
        records.find(|record| std::fs::metadata(record).is_ok_and(|record| record.len() > 0))
    }

    fn id(&self) -> String {
        let record = self.record().unwrap();
        record.parent().unwrap().file_name().unwrap().to_str().unwrap().to_owned()
    }

    /// The whole lines of the record.
    fn lines(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.record().unwrap()).unwrap();
        text.split_inclusive('\n').filter(|line| line.ends_with('\n')).map(str::to_owned).collect()
    }

    fn done(&self) -> BTreeSet<String> {
        done_in(&self.lines())
    }

    /// How often each step left its mark.
    fn effects(&self) -> BTreeMap<String, usize> {
        let text = std::fs::read_to_string(self.desk.repository.path().join("effects")).unwrap_or_default();
        let mut counts = BTreeMap::from([("sort".to_owned(), self.server.requests().len())]);
        for line in text.lines() {
            *counts.entry(line.to_owned()).or_default() += 1;
        }
        counts
    }

    /// Every step has left its mark, those that were done before a kill no other one since, and only those that had begun a
    /// second one.
    #[track_caller]
    fn assert_nothing_was_lost(&self, kills: &[Kill]) {
        let effects = self.effects();
        for mark in MARKS {
            let count = effects.get(mark).copied().unwrap_or_default();
            let again = kills.iter().filter(|kill| kill.had_begun(mark)).count();
            assert!((1..=1 + again).contains(&count), "`{mark}` left {count} marks: {effects:?}, {kills:#?}");
        }
        for step in kills.iter().flat_map(|kill| &kill.done) {
            let ends = self.lines().iter().filter(|line| is_note(line, "step-done", step)).count();
            assert_eq!(ends, 1, "`{step}` came to its end twice");
        }
    }
}

/// What was on record when a run was killed.
#[derive(Debug)]
struct Kill {
    begun: BTreeSet<String>,
    done: BTreeSet<String>,
}

impl Kill {
    fn of(lines: &[String]) -> Self {
        Self { begun: notes_in(lines, "step-started"), done: done_in(lines) }
    }

    fn had_begun(&self, step: &str) -> bool {
        self.begun.contains(step) && !self.done.contains(step)
    }
}

fn notes_in(lines: &[String], kind: &str) -> BTreeSet<String> {
    let notes = lines.iter().map(|line| serde_json::from_str::<Value>(line).unwrap());
    notes.filter(|note| note["note"] == kind).map(|note| note["step"].as_str().unwrap().to_owned()).collect()
}

fn done_in(lines: &[String]) -> BTreeSet<String> {
    notes_in(lines, "step-done")
}

fn is_note(line: &str, kind: &str, step: &str) -> bool {
    let note: Value = serde_json::from_str(line).unwrap();
    note["note"] == kind && note["step"] == step
}

#[tokio::test]
async fn a_kill_at_each_boundary_of_steps_loses_no_finished_one() {
    for steps in 0..=STEPS {
        let scene = Scene::new().await;
        scene.kill_after(scene.command(&["--approve", "all"]), steps).await;
        let kill = Kill::of(&scene.lines());
        assert!(kill.done.len() >= steps, "{kill:?}");
        scene.resume_to_the_end();
        scene.assert_nothing_was_lost(&[kill]);
        assert_eq!(scene.desk.worktrees().await, [PathBuf::new(); 0]);
    }
}

#[tokio::test]
async fn two_kills_in_a_row_lose_no_finished_step_either() {
    for steps in [1, 2, 4, 7] {
        let scene = Scene::new().await;
        scene.kill_after(scene.command(&["--approve", "all"]), steps).await;
        let first = Kill::of(&scene.lines());
        let more = (first.done.len() + 2).min(STEPS);
        scene.kill_after(scene.resume(&["--approve", "all"]), more).await;
        let second = Kill::of(&scene.lines());
        scene.resume_to_the_end();
        scene.assert_nothing_was_lost(&[first, second]);
    }
}

/// A kill tears the record between any two bytes. So it is cut there, at the end of each line and within the next, and the
/// run goes on from there: what the rest of the record says is done again, nothing else.
#[tokio::test]
async fn a_record_that_ends_anywhere_is_gone_on_with_from_there() {
    let scene = Scene::new().await;
    let ended = scene.command(&["--approve", "all"]).run();
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    let (record, lines) = (scene.record().unwrap(), scene.lines());
    assert!(lines.len() > 2 * STEPS, "{lines:?}");
    for whole in 1..=lines.len() {
        let torn = lines.get(whole).map_or("", |next| &next[..next.len() / 2]);
        let kept = &lines[..whole];
        std::fs::write(&record, kept.concat() + torn).unwrap();
        let (before, done) = (scene.effects(), done_in(kept));
        let is_decided = !notes_in(kept, "decided").is_empty();
        let ended = scene.resume(if is_decided { &[] } else { &["--approve", "all"] }).run();
        assert_eq!(ended.code(), Some(0), "cut behind line {whole}: {ended:?}");
        let after = scene.effects();
        for mark in MARKS {
            let made = after[mark] - before[mark];
            assert_eq!(made, usize::from(!done.contains(mark)), "`{mark}`, cut behind line {whole}");
        }
        let object = json_of(&ended);
        for step in &done {
            let trace = object["trace"].as_array().unwrap();
            let of_step: Vec<_> = trace.iter().filter(|record| record["step"] == step.as_str()).collect();
            assert!(of_step.len() == 1 && of_step[0]["status"] == "resumed", "{step}: {of_step:?}");
        }
    }
}

#[tokio::test]
async fn a_kill_amid_a_command_ends_it_before_it_is_done_again() {
    let scene = Scene::new().await;
    let text = DOCUMENT.replace("echo first >>effects", &format!("echo first >>effects; {}", scene.moment()));
    scene.document(&text);
    scene.kill_at_the_moment(&["--approve", "all"]).await;
    scene.go();
    let ended = scene.resume_to_the_end();
    assert_eq!(scene.sleep.alive(), 0, "what was left of the command works beside the next one");
    assert!(ended.stderr.contains("`first` had begun"), "{}", ended.stderr);
    assert_eq!((scene.effects()["first"], scene.effects()["last"]), (2, 1));
}

#[tokio::test]
async fn a_kill_amid_a_call_of_a_model_asks_once_more() {
    let answer = Reply::text("<sort>{\"severity\":\"high\"}</sort>").always();
    let scene = Scene::with([Reply::silence(Duration::from_secs(60)), answer]).await;
    let running = scene.command(&["--approve", "all"]).start();
    while scene.server.requests().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    running.kill_group();
    assert_eq!(running.finish().signal(), Some(9));
    let ended = scene.resume_to_the_end();
    assert!(ended.stderr.contains("`sort` had begun"), "{}", ended.stderr);
    assert_eq!((scene.effects()["first"], scene.effects()["sort"]), (1, 2));
}

#[tokio::test]
async fn a_kill_amid_an_agent_leaves_its_branch_to_the_next() {
    let scene = Scene::new().await;
    scene.work(&scene.moment());
    scene.kill_at_the_moment(&["--approve", "all"]).await;
    scene.go();
    let ended = scene.resume_to_the_end();
    assert_eq!(scene.sleep.alive(), 0);
    assert!(ended.stderr.contains("`work` had begun"), "{}", ended.stderr);
    assert_eq!((scene.effects()["first"], scene.effects()["work"]), (1, 2));
    assert_eq!(scene.desk.subjects("agent/work").await, ["Work", "begin"]);
    assert_eq!(scene.desk.worktrees().await, [PathBuf::new(); 0]);
}

#[tokio::test]
async fn a_kill_at_a_question_asks_again_and_does_nothing_else_again() {
    let scene = Scene::new().await;
    let file = scene.desk.home.path().join("flow.yaml");
    let command = scene.desk.command(&["workflow", "run", file.to_str().unwrap()]);
    let terminal = Terminal::start(command.environment([("TERM".to_owned(), "xterm".to_owned())]));
    terminal.wait_for("May it go on?");
    terminal.signal(Signal::KILL);
    assert_eq!(terminal.finish().0, None);
    // Nobody is at a terminal now.
    let ended = scene.resume(&[]).run();
    assert_eq!((ended.code(), &json_of(&ended)["status"]), (Some(1), &json!("awaiting-approval")), "{ended:?}");
    scene.resume_to_the_end();
    assert_eq!(scene.effects().values().copied().collect::<BTreeSet<_>>(), BTreeSet::from([1]));
}

#[tokio::test]
async fn a_kill_amid_a_parallel_keeps_the_branch_that_is_done() {
    let scene = Scene::new().await;
    let moment = scene.moment();
    // It begins to wait once the other branch is on record.
    let late = format!("echo right_one >>effects; until grep -q '\"step-done\",\"step\":\"left_two\"' .sandcastle/runs/*/workflow.jsonl; do sleep 0.01; done; {moment}");
    let text = DOCUMENT.replace("\"echo right_one >>effects\"", &json!(late).to_string());
    scene.document(&text);
    scene.kill_at_the_moment(&["--approve", "all"]).await;
    assert!(scene.done().contains("left_two") && !scene.done().contains("right_one"));
    scene.go();
    scene.resume_to_the_end();
    let effects = scene.effects();
    assert_eq!((effects["left_one"], effects["left_two"], effects["right_one"]), (1, 1, 2));
    assert_eq!(scene.sleep.alive(), 0);
}

#[tokio::test]
async fn a_decision_outlives_a_kill() {
    let scene = Scene::new().await;
    let text = DOCUMENT.replace(r#"echo \"$1\" >>effects"#, &format!(r#"echo \"$1\" >>effects; {}"#, scene.moment()));
    assert_ne!(text, DOCUMENT);
    scene.document(&text);
    scene.kill_at_the_moment(&["--approve", "ask=by hand"]).await;
    scene.go();
    // It is not asked again, and the note is that of then.
    let ended = scene.resume(&[]).run();
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    let object = json_of(&ended);
    let asked = object["trace"].as_array().unwrap().iter().find(|record| record["step"] == "ask").unwrap();
    assert_eq!((&asked["status"], &asked["output"]["note"]), (&json!("resumed"), &json!("by hand")));
}

#[tokio::test]
async fn two_do_not_go_on_with_the_same_run() {
    let scene = Scene::new().await;
    let text = DOCUMENT.replace("echo inner >>effects", &format!("echo inner >>effects; {}", scene.moment()));
    scene.document(&text);
    let running = scene.command(&["--approve", "all"]).start();
    let moment = scene.desk.repository.path().join("moment");
    wait_for(&moment).await;
    let refused = |what: &str| {
        let ended = scene.resume(&["--approve", "all"]).run();
        let object = json_of(&ended);
        assert_eq!((ended.code(), &object["error"]["kind"]), (Some(2), &json!("invalid-options")), "{what}: {object}");
        assert!(object["error"]["message"].as_str().unwrap().ends_with("it goes on"), "{what}: {object}");
    };
    refused("beside the run itself");
    running.kill_group();
    assert_eq!(running.finish().signal(), Some(9));
    std::fs::remove_file(&moment).unwrap();

    let running = scene.resume(&["--approve", "all"]).start();
    wait_for(&moment).await;
    refused("beside one that goes on with it");
    assert_eq!(scene.sleep.alive(), 1, "the one that was refused has ended nothing");
    running.kill_group();
    running.finish();
    scene.go();
    scene.resume_to_the_end();
    assert_eq!((scene.effects()["first"], scene.effects()["inner"]), (1, 3));
}

#[tokio::test]
async fn a_document_that_changed_is_taken_only_if_no_finished_step_did() {
    let scene = Scene::new().await;
    let waiting = DOCUMENT.replace("echo inner >>effects", &format!("echo inner >>effects; {}", scene.moment()));
    scene.document(&waiting);
    scene.kill_at_the_moment(&["--approve", "all"]).await;
    let line = |text: &str, of: &str| text.lines().position(|line| line.contains(of)).unwrap() + 1;

    // A step that is done, another one that is gone, and one that has another place.
    for (changed, step) in [
        (waiting.replace("echo first", "echo once"), "first"),
        (waiting.replace("enum: [low, high]", "enum: [low, mid, high]"), "sort"),
        (waiting.replace("prompt: Do it.", "prompt: Do it well."), "work"),
        (waiting.replace("severity == \"high\"", "severity != \"low\""), "choice"),
    ] {
        assert_ne!(changed, waiting);
        scene.document(&changed);
        let ended = scene.resume(&["--approve", "all"]).run();
        let object = json_of(&ended);
        assert_eq!(ended.code(), Some(2), "{step}: {object}");
        let said = format!("the step `{step}` is done in the run that is resumed, and has changed since");
        let findings = object["error"]["findings"].as_array().unwrap_or_else(|| panic!("{object:#}"));
        let finding = findings.iter().find(|finding| finding["message"] == said.as_str());
        let finding = finding.unwrap_or_else(|| panic!("{step}: {object:#}"));
        assert_eq!(finding["line"], line(&changed, &format!("step: {step}")), "{finding}");
    }
    let renamed = waiting.replace("step: first", "step: begin");
    scene.document(&renamed);
    let ended = scene.resume(&["--approve", "all"]).run();
    assert_eq!(ended.code(), Some(2), "{ended:?}");
    assert!(ended.stdout.contains("the step `first` is done in the run that is resumed, and is gone since"), "{ended:?}");
    assert_eq!((scene.effects()["first"], scene.effects().contains_key("last")), (1, false), "nothing has run");

    // What is still to be done may change, as may what is only written differently.
    let mended = waiting.replace("\"last\"", "\"last\", \"more\"").replace("# A step of every kind", "# Every kind");
    scene.document(&mended);
    scene.go();
    let ended = scene.resume_to_the_end();
    assert!(ended.stderr.contains("the workflow has changed since"), "{}", ended.stderr);
    assert_eq!((scene.effects()["first"], scene.effects()["sort"], scene.effects()["work"]), (1, 1, 1));
}

#[tokio::test]
async fn a_record_that_somebody_else_has_written_to_is_not_guessed_at() {
    let scene = Scene::new().await;
    scene.kill_after(scene.command(&["--approve", "all"]), 3).await;
    let (record, mut lines) = (scene.record().unwrap(), scene.lines());
    lines.insert(2, "this is no note\n".to_owned());
    std::fs::write(&record, lines.concat()).unwrap();
    let ended = scene.resume(&["--approve", "all"]).run();
    assert_eq!(ended.code(), Some(1), "{ended:?}");
    assert!(json_of(&ended)["error"]["message"].as_str().unwrap().contains("its line 3 cannot be read"), "{ended:?}");
    assert!(scene.desk.repository.path().join("effects").exists());

    let ended = scene.command(&["--resume", "20200101-000000-aaaaaa"]).run();
    assert_eq!(ended.code(), Some(2), "{ended:?}");
}
