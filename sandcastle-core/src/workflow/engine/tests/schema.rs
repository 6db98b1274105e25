//! Answers that are held to a schema: filled in, judged, corrected once.

use serde_json::json;

use super::super::super::{Step, Workflow, WorkflowEvent};
use super::{Ground, answer, triage};
use crate::error::ErrorKind;
use crate::event::FailureKind;
use crate::model::{ModelFailure, ModelStop};
use crate::output::lower::Dialect;
use crate::testing::ScriptedModel;

fn workflow(model: &ScriptedModel) -> Workflow {
    Workflow::new("triage")
        .step(Step::model("triage", model.clone()).prompt("Sort it.").output_spec(triage()))
}

fn bad() -> String {
    answer(&json!({ "severity": "urgent", "confidence": 0.5 }))
}

fn good() -> String {
    answer(&json!({ "severity": "low", "confidence": 0.5 }))
}

#[tokio::test]
async fn s3_3_one_retry_names_the_problems_and_the_rejected_answer() {
    let ground = Ground::new();
    let model = ScriptedModel::new().answer(bad()).answer(good());
    let result = ground.run(&workflow(&model)).await;
    assert_eq!(result.output["triage"]["severity"], "low");
    let record = result.step("triage").unwrap();
    assert_eq!(record.attempts, 2);
    assert_eq!(record.rejected, ["output.severity must be one of low, high"]);
    let [_, second] = &model.requests()[..] else { panic!("two calls") };
    let correction = format!("{:?}", second.messages.last());
    for part in ["output.severity must be one of low, high", "The rejected answer", "urgent"] {
        assert!(correction.contains(part), "{part}: {correction}");
    }
    let retried = |event: &&WorkflowEvent| matches!(event, WorkflowEvent::StepRetried { .. });
    let told = ground.told();
    let expected = WorkflowEvent::StepRetried {
        step: "triage".to_owned(),
        problems: vec!["output.severity must be one of low, high".to_owned()],
    };
    assert_eq!(told.iter().filter(retried).collect::<Vec<_>>(), [&expected]);
}

#[tokio::test]
async fn s3_3_a_second_failure_fails_the_step_visibly() {
    let ground = Ground::new();
    let model = ScriptedModel::new().answer(good().replace("low", "none")).answer(bad()).answer(good());
    let error = ground.fails(&workflow(&model)).await;
    assert_eq!(model.requests().len(), 2, "exactly one retry");
    assert_eq!(error.kind(), ErrorKind::StructuredOutput);
    assert_eq!(
        error.to_string(),
        "run the workflow `triage`: the step `triage` did not match output_schema after 1 retry: \
         output.severity must be one of low, high"
    );
    assert!(error.hints().iter().any(|hint| hint.contains("resume the run")), "{:?}", error.hints());
    let output = error.structured_output().unwrap();
    assert_eq!(output.value.as_ref().unwrap()["severity"], "urgent");
    let failure = error.workflow_failure().unwrap();
    assert_eq!(failure.step.as_deref(), Some("triage"));
    assert_eq!(failure.trace[0].attempts, 2);
    assert_eq!(failure.trace[0].rejected.len(), 2);
}

#[tokio::test]
async fn s3_3_a_call_that_throws_is_not_made_again() {
    let ground = Ground::new();
    let failure = ModelFailure::new(FailureKind::Transport, "the connection was refused");
    let model = ScriptedModel::new().fail(failure).answer(good());
    let error = ground.fails(&workflow(&model)).await;
    assert_eq!(model.requests().len(), 1);
    assert_eq!(error.kind(), ErrorKind::ModelFailed);
    assert!(error.model_failure().is_some() && error.structured_output().is_none());
}

#[tokio::test]
async fn s3_9_an_answer_in_the_wrong_form_counts_as_one_that_does_not_fit() {
    for wrong in ["It is low.", "<output>{\"severity\": \"low\",}</output>", "<output>[]</output>", ""] {
        let ground = Ground::new();
        let model = ScriptedModel::new().answer(wrong).answer(good());
        let result = ground.run(&workflow(&model)).await;
        assert_eq!(result.step("triage").unwrap().attempts, 2, "{wrong:?}");
    }
}

#[tokio::test]
async fn a_refusal_is_not_asked_again() {
    let ground = Ground::new();
    let model = ScriptedModel::new().answer_ending("No.", ModelStop::Refused).answer(good());
    let error = ground.fails(&workflow(&model)).await;
    assert_eq!((model.requests().len(), error.kind()), (1, ErrorKind::StructuredOutput));
    assert!(error.to_string().contains("the model refused to answer"), "{error}");
}

#[tokio::test]
async fn s3_7_s3_8_a_service_gets_the_closed_structure_and_the_prompt_has_it_as_text() {
    let ground = Ground::new();
    let model = ScriptedModel::new()
        .native(Dialect::OpenAi)
        .answer(r#"{"severity":"low","confidence":1,"team":null}"#);
    let result = ground.run(&workflow(&model)).await;
    assert_eq!(result.output["triage"]["team"], "platform", "a null that only the wire asked for");
    let request = &model.requests()[0];
    let schema = serde_json::to_value(&request.schema.as_ref().unwrap().schema).unwrap();
    assert_eq!(schema["additionalProperties"], false);
    assert!(schema.get("propertyNames").is_none());
    let system = request.system.as_deref().unwrap();
    assert!(system.contains("severity") && !system.contains("<output>"), "{system}");

    let model = ScriptedModel::new()
        .forced_tool(Dialect::Anthropic)
        .call("respond_with_output", json!({ "severity": "high", "confidence": 1 }));
    let result = ground.run(&workflow(&model)).await;
    assert_eq!(result.output["triage"]["severity"], "high");
    let system = model.requests()[0].system.clone().unwrap();
    assert!(system.contains("severity") && system.contains("calling the tool"), "{system}");
}

#[tokio::test]
async fn s3_2_every_problem_is_named_and_located() {
    let ground = Ground::new();
    let schema = json!({ "type": "object", "properties": { "items": { "type": "array", "items": {
        "type": "object", "properties": { "name": { "type": "string" }, "n": { "type": "integer", "maximum": 3 } },
        "required": ["name"] } } }, "required": ["items"] });
    let spec = crate::OutputSpec::json("output", schema).unwrap();
    let wrong = answer(&json!({ "items": [{ "name": "a" }, { "n": 7 }] }));
    let model = ScriptedModel::new().answer(wrong.clone()).answer(wrong);
    let step = Step::model("list", model).prompt("List.").output_spec(spec);
    let error = ground.fails(&Workflow::new("list").step(step)).await.to_string();
    assert!(error.contains("output.items[1].name is required"), "{error}");
    assert!(error.contains("output.items[1].n must be"), "{error}");
}
