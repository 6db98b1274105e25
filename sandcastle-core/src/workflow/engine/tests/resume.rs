//! Runs that stop anywhere and go on: no finished step is done again, and none is left out.

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use serde_json::json;

use super::super::super::{
    Decision, Step, StepStatus, Workflow, WorkflowEvent, WorkflowOptions, WorkflowResult, WorkflowStatus,
};
use super::{Ground, answer, begun, triage};
use crate::error::ErrorKind;
use crate::id::RunId;
use crate::testing::ScriptedModel;

/// A bit of everything; each command leaves a line in the file `log`.
fn workflow() -> Workflow {
    let log = |name: &str, word: &str| {
        Step::tool(name, ["sh", "-c", "echo \"$1\" >> log; echo \"$1\"", "log", word])
    };
    let model = ScriptedModel::new().answer(answer(&json!({ "severity": "high", "confidence": 0.9 })));
    Workflow::new("flow")
        .step(Step::model("sort", model).prompt("Sort: {{ input }}").output_spec(triage()))
        .step(Step::condition("urgent", "sort.severity == 'high'").then([log("page", "{{ sort.severity }}")]))
        .step(
            Step::parallel("both")
                .branch("a", [log("a1", "{{ input }}"), log("a2", "{{ a1.stdout }}")])
                .branch("b", [log("b1", "b1")]),
        )
        .step(Step::approval("release", "Release?"))
        .step(log("last", "{{ release.note }}"))
}

fn approved(options: WorkflowOptions) -> WorkflowOptions {
    options.on_approval(|_| async { Decision::Approve { note: "go".to_owned() } })
}

fn record_of(ground: &Ground, run: &RunId) -> PathBuf {
    ground.path().join(".sandcastle/runs").join(run.as_str()).join("workflow.jsonl")
}

fn run_of(event: &WorkflowEvent) -> Option<RunId> {
    match event {
        WorkflowEvent::Started { run, .. } => Some(run.clone()),
        _ => None,
    }
}

/// What a process that is killed while it tells the event `number` leaves, and which steps were done by then.
struct Kill {
    run: RunId,
    record: Vec<u8>,
    done: Vec<String>,
}

/// Plays a run to its end, and takes a picture of its record when each event is told.
async fn kills(ground: &Ground) -> (Vec<Kill>, WorkflowResult) {
    let (folder, kills) = (ground.path().to_owned(), Arc::new(Mutex::new(Vec::<Kill>::new())));
    let (taken, done, run) = (Arc::clone(&kills), Mutex::new(Vec::new()), Mutex::new(None));
    let options = WorkflowOptions::new(ground.path()).input("in").on_event(move |event| {
        if let WorkflowEvent::StepEnded { record } = event {
            done.lock().unwrap().push(record.step.clone());
        }
        let mut run = run.lock().unwrap();
        *run = run_of(event).or(run.take());
        let run = run.clone().unwrap();
        let file = folder.join(".sandcastle/runs").join(run.as_str()).join("workflow.jsonl");
        let (record, done) = (fs::read(file).unwrap(), done.lock().unwrap().clone());
        taken.lock().unwrap().push(Kill { run, record, done });
    });
    let result = workflow().run(approved(options)).await.unwrap();
    let kills = std::mem::take(&mut *kills.lock().unwrap());
    (kills, result)
}

#[tokio::test]
async fn a_kill_at_any_moment_loses_no_finished_step_and_repeats_none() {
    let ground = Ground::new();
    let (kills, whole) = kills(&ground).await;
    assert!(kills.len() > 20, "{}", kills.len());
    for (number, kill) in kills.iter().enumerate() {
        fs::write(record_of(&ground, &kill.run), &kill.record).unwrap();
        let _ = fs::remove_file(ground.path().join("log"));
        let result = workflow().run(approved(ground.options().resume(kill.run.clone()))).await.unwrap();
        assert!(result.is_completed(), "killed at event {number}");
        assert_eq!(result.output, whole.output, "killed at event {number}");
        let again = begun(&ground.told());
        assert!(kill.done.iter().all(|step| !again.contains(step)), "killed at {number}: {again:?} again");
        assert_eq!(again.len() + kill.done.len(), 9, "killed at event {number}: {again:?}, {:?}", kill.done);
        let commands =
            ["page", "a1", "a2", "b1", "last"].iter().filter(|name| again.contains(&(**name).to_owned()));
        // A text that ends in a line break is two lines.
        assert!(ground.lines("log").len() >= commands.count(), "killed at event {number}");
    }
}

#[tokio::test]
async fn a_record_that_was_cut_off_anywhere_is_gone_on_with_or_refused() {
    let ground = Ground::new();
    let (_, whole) = kills(&ground).await;
    let file = record_of(&ground, &whole.run_id);
    let record = fs::read(&file).unwrap();
    let first = record.iter().position(|byte| *byte == b'\n').unwrap();
    let mut length = 0;
    while length < record.len() {
        fs::write(&file, &record[..length]).unwrap();
        let resumed = workflow().run(approved(ground.options().resume(whole.run_id.clone()))).await;
        match resumed {
            Ok(result) => assert_eq!(result.output, whole.output, "cut off at {length}"),
            Err(error) => {
                assert!(length <= first, "cut off at {length}: {error}");
                assert_eq!(error.kind(), ErrorKind::Io);
            }
        }
        length += 397;
    }
}

#[tokio::test]
async fn a_run_that_is_dropped_can_be_resumed_and_says_what_is_done_again() {
    let ground = Ground::new();
    let hung = Workflow::new("flow")
        .step(Step::tool("first", ["true"]))
        .step(Step::model("ask", ScriptedModel::new().hang()).prompt("?"));
    tokio::time::timeout(std::time::Duration::from_millis(500), hung.run(ground.options()))
        .await
        .unwrap_err();
    let run = ground.told().iter().find_map(run_of).unwrap();
    let model = ScriptedModel::new().answer("here");
    let works =
        Workflow::new("flow").step(Step::tool("first", ["true"])).step(Step::model("ask", model).prompt("?"));
    let result = works.run(ground.options().resume(run)).await.unwrap();
    assert_eq!(result.step("first").unwrap().status, StepStatus::Resumed);
    assert_eq!(result.output["ask"]["text"], "here");
    assert_eq!(result.warnings, ["the step `ask` had begun when the run was ended, and is done again"]);
    let again = WorkflowEvent::StepStarted { step: "ask".to_owned(), kind: "model".to_owned(), again: true };
    assert!(ground.told().contains(&again));
}

#[tokio::test]
async fn a_run_that_is_completed_gives_its_result_again() {
    let ground = Ground::new();
    let (_, whole) = kills(&ground).await;
    let again = workflow().run(ground.options().resume(whole.run_id.clone())).await.unwrap();
    assert_eq!((again.output, again.status), (whole.output, whole.status));
    assert!(again.trace.iter().all(|record| record.status == StepStatus::Resumed));
    assert_eq!(begun(&ground.told()), [""; 0]);
}

fn two(first: &str, second: &str) -> Workflow {
    Workflow::new("flow").step(Step::tool("one", ["echo", first])).step(Step::tool("two", [second]))
}

#[tokio::test]
async fn a_step_that_failed_may_change_and_one_that_is_done_may_not() {
    let ground = Ground::new();
    let run = ground.fails(&two("a", "false")).await.workflow_failure().unwrap().run_id.clone();
    let error = two("b", "true").run(ground.options().resume(run.clone())).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidOptions);
    assert!(
        error
            .to_string()
            .contains("the step `one` is done in the run that is resumed, and has changed since"),
        "{error}"
    );
    let gone = Workflow::new("flow").step(Step::tool("two", ["true"]));
    let error = gone.run(ground.options().resume(run.clone())).await.unwrap_err();
    assert!(error.to_string().contains("and is gone since"), "{error}");
    let other = Workflow::new("other").step(Step::tool("two", ["true"]));
    let error = other.run(ground.options().resume(run.clone())).await.unwrap_err();
    assert!(error.to_string().contains("is of the workflow `flow`, not of `other`"), "{error}");

    let result = two("a", "true").run(ground.options().resume(run.clone())).await.unwrap();
    assert!(result.is_completed());
    assert_eq!(result.warnings, [format!("the workflow has changed since the run {run} went on last")]);
}

#[tokio::test]
async fn a_resumed_run_has_the_input_that_it_began_with() {
    let ground = Ground::new();
    let workflow = |second: &str| {
        Workflow::new("flow")
            .var("word", "x")
            .step(Step::tool("bad", [second]))
            .step(Step::tool("show", ["echo", "{{ input }} {{ vars.word }} {{ trigger.n }}"]))
    };
    let options = ground.options().input("in").var("word", "hello").trigger(json!({ "n": 7 }));
    let error = workflow("false").run(options).await.unwrap_err();
    let run = error.workflow_failure().unwrap().run_id.clone();
    let other = ground.options().resume(run.clone()).input("other").var("word", "bye");
    let refused = workflow("true").run(other).await.unwrap_err();
    let findings = refused.workflow_findings().unwrap().to_string();
    assert!(
        findings.contains("`input` is set for a run that is resumed") && findings.contains("`vars`"),
        "{findings}"
    );
    let result = workflow("true").run(ground.options().resume(run)).await.unwrap();
    assert_eq!(result.output["show"]["stdout"], "in hello 7\n");
}

#[tokio::test]
async fn commands_of_a_process_that_was_killed_are_ended_before_the_run_goes_on() {
    let ground = Ground::new();
    let error = ground.fails(&two("a", "false")).await;
    let run = error.workflow_failure().unwrap().run_id.clone();
    let text = fs::read_to_string(record_of(&ground, &run)).unwrap();
    let head: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let mark = crate::process::Mark::parse(head["mark"].as_str().unwrap()).unwrap();
    let (key, value) = mark.variable();
    let program = crate::process::Program::new("sleep").args(["63"]).env(key, value);
    let mut left = crate::process::Running::start(&program).unwrap();
    two("a", "true").run(ground.options().resume(run)).await.unwrap();
    let ended = tokio::time::timeout(std::time::Duration::from_secs(10), left.next()).await;
    assert!(
        matches!(ended, Ok(Ok(crate::process::Output::Exited(status))) if !status.success()),
        "{ended:?}"
    );
}

#[tokio::test]
async fn a_question_that_has_changed_is_not_answered_by_what_was_said_before() {
    let ground = Ground::new();
    let asks = |message: &str| {
        Workflow::new("flow").step(Step::approval("release", message)).step(Step::tool("bad", ["false"]))
    };
    let reject = Decision::Reject { note: "no".to_owned() };
    let run = asks("Release?").run(ground.options().decide("release", reject)).await.unwrap().run_id;
    let error = asks("Delete it all?").run(ground.options().resume(run.clone())).await.unwrap_err();
    assert!(error.to_string().contains("the step `release` is done in the run"), "{error}");
    // Being refused leaves no trace.
    let text = fs::read_to_string(record_of(&ground, &run)).unwrap();
    assert!(text.lines().last().unwrap().contains("\"status\":\"rejected\""), "{text}");
}

#[tokio::test]
async fn the_same_run_is_not_resumed_twice_at_once() {
    let ground = Ground::new();
    let waits = || Workflow::new("flow").step(Step::approval("release", "Release?"));
    let run = ground.run(&waits()).await.run_id;
    let (workflow, second) = (waits(), waits());
    let hangs = ground.options().resume(run.clone()).on_approval(|_| std::future::pending());
    let first = workflow.run(hangs);
    let later = async {
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        second.run(ground.options().resume(run.clone())).await.unwrap_err()
    };
    let error = tokio::select! {
        ended = first => panic!("{ended:?}"),
        error = later => error,
    };
    assert_eq!(error.kind(), ErrorKind::InvalidOptions);
    assert!(error.to_string().contains("it goes on"), "{error}");
}

#[tokio::test]
async fn a_question_that_nobody_answered_is_not_something_that_is_done_again() {
    let ground = Ground::new();
    let asks = Workflow::new("flow").step(Step::approval("ask", "Go on?"));
    let waits = asks.run(ground.options()).await.unwrap();
    assert!(matches!(waits.status, WorkflowStatus::AwaitingApproval { .. }));
    let result = asks.run(approved(ground.options().resume(waits.run_id))).await.unwrap();
    assert!(result.is_completed());
    let begun: Vec<_> = ground
        .told()
        .into_iter()
        .filter_map(|event| match event {
            WorkflowEvent::StepStarted { again, .. } => Some(again),
            _ => None,
        })
        .collect();
    assert_eq!(begun, [false, false]);
}
