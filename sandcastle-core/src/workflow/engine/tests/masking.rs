//! Secrets: hidden from whoever looks on, kept for whoever goes on.

use std::fs;

use serde_json::json;

use super::super::super::{Decision, OnFailure, Step, Workflow};
use super::Ground;
use crate::output::OutputSpec;
use crate::testing::ScriptedModel;

#[tokio::test]
async fn secrets_are_hidden_in_events_and_errors_and_kept_in_results() {
    let ground = Ground::new();
    let model = ScriptedModel::new().answer("it is s3cr3t-value");
    let workflow = Workflow::new("flow")
        .step(Step::model("ask", model).prompt("{{ input }}"))
        .step(Step::tool("leak", ["sh", "-c", "cat >&2; exit 1"]).stdin("{{ ask.text }}"));
    let options = ground.options().secret("s3cr3t-value").input("s3cr3t-value");
    let error = workflow.run(options).await.unwrap_err();
    let shown = format!("{error:#}\n{error:?}\n{:?}", ground.told());
    assert!(!shown.contains("s3cr3t"), "{shown}");
    assert!(shown.contains("***"), "{shown}");
    let failure = error.workflow_failure().unwrap();
    let mut told = json!(failure);
    failure.secrets().mask_value(&mut told);
    assert!(!told.to_string().contains("s3cr3t") && told["outputs"]["ask"]["text"] == "it is ***", "{told}");
    assert_eq!(failure.outputs["ask"]["text"], "it is s3cr3t-value", "data is what it is");
    let record = ground.path().join(".sandcastle/runs").join(failure.run_id.as_str()).join("workflow.jsonl");
    let last = fs::read_to_string(record).unwrap();
    assert!(!last.lines().last().unwrap().contains("s3cr3t"), "{last}");
}

#[tokio::test]
async fn a_secret_is_no_argument_of_a_command() {
    let ground = Ground::new();
    let workflow = Workflow::new("flow").step(Step::tool("show", ["echo", "{{ input }}"]));
    let options = ground.options().secret("s3cr3t-value").input("x s3cr3t-value");
    let error = workflow.run(options).await.unwrap_err().to_string();
    assert!(error.contains("a secret in its arguments") && !error.contains("s3cr3t-value"), "{error}");
}

#[tokio::test]
async fn what_a_step_is_given_as_a_key_is_hidden_too_and_later_steps_have_it() {
    let ground = Ground::new();
    let workflow = Workflow::new("flow")
        .var("first_token", "zebra-4711-crossing")
        .step(
            Step::tool("show", ["sh", "-c", "env; echo {{ vars.first_token }}"])
                .env("API_KEY", "{{ input }}"),
        )
        .step(Step::condition("same", "input in show.stdout").then([Step::tool("yes", ["true"])]))
        .step(Step::approval("ask", "Is it {{ input }}?"));
    let asked = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let seen = std::sync::Arc::clone(&asked);
    let options = ground.options().input("badger-0815-tunnel").on_approval(move |request| {
        seen.lock().unwrap().push(request);
        async { Decision::Approve { note: String::new() } }
    });
    let result = workflow.run(options).await.unwrap();
    assert!(result.step("yes").is_some(), "a later step has the value as it is");
    let stdout = result.output["show"]["stdout"].as_str().unwrap();
    assert!(stdout.contains("API_KEY=badger-0815-tunnel\n") && stdout.ends_with("zebra-4711-crossing\n"));
    let mut told = json!(result);
    result.secrets().mask_value(&mut told);
    let shown = format!("{told}\n{:?}\n{:?}", ground.told(), asked.lock().unwrap());
    assert!(shown.contains("API_KEY=***") && shown.contains("Is it ***?"), "{shown}");
    assert!(!shown.contains("badger") && !shown.contains("zebra"), "{shown}");
}

#[tokio::test]
async fn a_rejected_output_is_hidden_in_what_is_said_of_it() {
    let schema = json!({ "type": "object", "properties": { "n": { "type": "string", "enum": ["a"] } } });
    let ground = Ground::new();
    let script = "printf '{\"n\": \"%s\"}' \"$API_KEY\"";
    let step = Step::tool("count", ["sh", "-c", script]).env("API_KEY", "{{ input }}");
    let step = step.output_spec(OutputSpec::json("output", schema).unwrap()).on_failure(OnFailure::Fail);
    let options = ground.options().input("badger-0815-tunnel");
    let error = Workflow::new("flow").step(step).run(options).await.unwrap_err();
    let shown = format!("{error:#}\n{error:?}\n{:?}", ground.told());
    assert!(!shown.contains("badger"), "{shown}");
    let raw = error.structured_output().unwrap().raw_matched.clone().unwrap();
    assert!(raw.contains("badger"), "data is what it is: {raw}");
    assert!(!error.workflow_failure().unwrap().secrets().mask(&raw).contains("badger"));
}
