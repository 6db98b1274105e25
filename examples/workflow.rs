//! A workflow: a model sorts an issue, an agent fixes it on a branch, and somebody has a say before it goes on.
//!
//! `cargo run --example workflow` plays it with a scripted model and the scripted agent, which need nothing but git. The
//! documents in `examples/workflows` are workflows for real ones; the command runs them.
#![expect(clippy::print_stdout, reason = "an example shows its result")]

use std::error::Error;

use sandcastle::testing::{ScratchRepo, Script, ScriptedModel, Turn};
use sandcastle::workflow::{
    Branching, Decision, Step, Workflow, WorkflowEvent, WorkflowOptions, WorkflowStatus,
};
use sandcastle::{AgentOutput, NoSandbox, Scripted};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// What an issue is.
#[derive(Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "triage")]
#[expect(dead_code, reason = "the steps read the fields")]
struct Triage {
    severity: Severity,
    /// One sentence.
    summary: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Severity {
    Low,
    High,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let repository = ScratchRepo::new().await?;
    let workflow = workflow();
    // A field that no step has, a step that comes later, a comparison that cannot be true: all of it is found here.
    println!("findings  {}", workflow.check().as_slice().len());

    let options = || WorkflowOptions::new(repository.path()).on_event(show);
    let stopped = workflow.run(options().input("It crashes on every start since the update!")).await?;
    let WorkflowStatus::AwaitingApproval { approvals } = &stopped.status else {
        return Err("somebody should have been asked".into());
    };
    println!("asks      {}: {}", approvals[0].step, approvals[0].message);

    // Later, perhaps in another process: finished steps are not done again.
    let yes = Decision::Approve { note: "after lunch".to_owned() };
    let done = workflow.run(options().resume(stopped.run_id).decide("release", yes)).await?;
    println!("output    {}", done.output);
    Ok(())
}

fn workflow() -> Workflow {
    let fix = Step::agent("fix", agent(), NoSandbox::new())
        .branching(Branching::MergeToHead)
        .prompt("Fix this: {{ triage.summary }}");
    let release = Step::approval("release", "Release the {{ fix.commits | length }} commits?");
    Workflow::new("fix")
        .step(Step::model("triage", model()).prompt("Sort this issue: {{ input }}").output::<Triage>())
        .step(Step::condition("urgent", "triage.severity == 'high'").then([fix, release]))
        .step(Step::tool("log", ["git", "log", "-1", "--format=%s"]))
        .gives("severity", "{{ triage.severity }}")
        .gives("released", "{{ release.note if release is defined else 'nothing' }}")
        .gives("last_commit", "{{ log.stdout | trim }}")
}

fn show(event: &WorkflowEvent) {
    match event {
        WorkflowEvent::StepStarted { step, kind, .. } => println!("begins    {step}, a step of kind {kind}"),
        WorkflowEvent::StepRetried { problems, .. } => println!("refused   {}", problems.join("; ")),
        WorkflowEvent::StepEnded { record } => {
            let output = record.output.as_ref().filter(|_| record.kind == "model");
            let shown = output.map(|output| format!(" {output}")).unwrap_or_default();
            println!("ends      {}: {:?}{shown}", record.step, record.status);
        }
        _ => {}
    }
}

/// Answers wrongly at first, and then well.
fn model() -> ScriptedModel {
    let answer = |severity: &str| {
        let value = json!({ "severity": severity, "summary": "It crashes on start." });
        format!("<triage>{value}</triage>")
    };
    ScriptedModel::new().answer(answer("urgent")).answer(answer("high"))
}

/// Commits a change.
fn agent() -> Scripted {
    let turn =
        Turn::new().write_file("start.txt", "It starts.\n").commit("Start without a crash").say("Fixed.");
    Scripted::new(Script::new().turn(turn))
}
