//! `kill -9` of the command, with its process group, at every moment of a workflow; and `--resume`.
//!
//! Each step leaves a mark that is counted: a line in `effects`, a request at the model's server. A step whose end is on record
//! is never done again; one that had begun may be, and that is said; everything else is done once.

mod amid;
mod boundaries;
mod resumed;

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

const DOCUMENT: &str = include_str!("../../../fixtures/workflows/every-kind.yaml");
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

    /// Kills a command as soon as so many steps are done. It may be faster, and at its end before it is killed.
    async fn kill_after(&self, command: Invocation, steps: usize) {
        let begun = Instant::now();
        let running = command.start();
        while self.record().is_none() || self.done().len() < steps {
            assert!(begun.elapsed() < Duration::from_secs(60), "{:?} of {steps} steps", self.done());
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        running.kill_group();
        let ended = running.finish();
        let came_to_its_end = ended.code() == Some(0) && self.done().len() == STEPS;
        assert!(ended.signal() == Some(9) || came_to_its_end, "{ended:?}");
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
