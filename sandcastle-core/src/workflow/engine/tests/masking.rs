//! Secrets: hidden from whoever looks on, kept for whoever goes on.

use std::fs;

use super::super::super::{Step, Workflow};
use super::Ground;
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
