//! Answers that say how certain they are, and people who are asked.

use serde_json::{Value, json};

use super::super::super::{
    ApprovalReason, Decision, FallbackAction, Guardrails, Step, Workflow, WorkflowOptions, WorkflowStatus,
    WorkflowVersion,
};
use super::{Ground, answer, pairs, statuses, triage};
use crate::error::ErrorKind;
use crate::testing::ScriptedModel;

fn certain(confidence: f64) -> String {
    answer(&json!({ "severity": "low", "confidence": confidence }))
}

fn gated(model: &ScriptedModel, action: FallbackAction) -> Workflow {
    Workflow::new("gated")
        .guardrails(Guardrails::new(0.7).fallback(action))
        .step(Step::model("sort", model.clone()).prompt("Sort.").output_spec(triage()).confidence_gate())
        .step(Step::tool("after", ["echo", "{{ sort.severity }}"]))
}

#[tokio::test]
async fn s3_5_a_confidence_outside_of_its_range_is_retried_like_any_other_mistake() {
    let ground = Ground::new();
    let model = ScriptedModel::new().answer(certain(1.2)).answer(certain(0.9));
    let result = ground.run(&gated(&model, FallbackAction::Fail)).await;
    let record = result.step("sort").unwrap();
    assert_eq!((record.attempts, record.confidence), (2, Some(0.9)));
    assert_eq!(record.rejected, ["output.confidence must be a number from 0 to 1"]);
}

#[tokio::test]
async fn s3_5_only_what_is_strictly_below_the_threshold_is_not_certain_enough() {
    let ground = Ground::new();
    let model = ScriptedModel::new().answer(certain(0.7)).answer(certain(0.69));
    assert!(ground.run(&gated(&model, FallbackAction::Fail)).await.is_completed());
    let error = ground.fails(&gated(&model, FallbackAction::Fail)).await;
    assert_eq!(error.kind(), ErrorKind::WorkflowStep);
    assert_eq!(
        error.to_string(),
        "run the workflow `gated`: the step `sort` is not certain enough: its confidence is 0.69, and the \
         threshold is 0.7"
    );
}

#[tokio::test]
async fn an_answer_that_is_not_certain_enough_waits_for_a_person_and_is_not_asked_for_again() {
    let ground = Ground::new();
    let model = ScriptedModel::new().answer(certain(0.2));
    let workflow = gated(&model, FallbackAction::EscalateToHuman);
    let waiting = ground.run(&workflow).await;
    let WorkflowStatus::AwaitingApproval { approvals } = &waiting.status else { panic!("{waiting:?}") };
    assert_eq!(approvals[0].step, "sort");
    let ApprovalReason::Guardrail { confidence, threshold, output } = &approvals[0].reason else { panic!() };
    assert_eq!((*confidence, *threshold, &output["severity"]), (0.2, 0.7, &json!("low")));
    assert_eq!(statuses(&waiting.trace), pairs(&[("sort", "awaiting-approval")]));
    assert_eq!(waiting.output, json!({}));

    let approve = Decision::Approve { note: "fine".to_owned() };
    let options = ground.options().resume(waiting.run_id.clone()).decide("sort", approve);
    let result = workflow.run(options).await.unwrap();
    assert!(result.is_completed());
    assert_eq!(model.requests().len(), 1);
    assert_eq!(result.output["after"]["stdout"], "low\n");
    assert_eq!(result.step("sort").unwrap().confidence, Some(0.2));
}

#[tokio::test]
async fn whoever_is_there_is_asked_and_a_no_ends_the_workflow() {
    let ground = Ground::new();
    let model = ScriptedModel::new().answer(certain(0.2));
    let workflow = gated(&model, FallbackAction::EscalateToHuman);
    let options = ground
        .options()
        .on_approval(|request| async move { Decision::Reject { note: format!("not {}", request.step) } });
    let result = workflow.run(options).await.unwrap();
    let expected = WorkflowStatus::Rejected { step: "sort".to_owned(), note: "not sort".to_owned() };
    assert_eq!(result.status, expected);
    assert_eq!(statuses(&result.trace), pairs(&[("sort", "rejected")]));
    // It stays so, and who thinks better of it begins a new run.
    let again = workflow.run(ground.options().resume(result.run_id.clone())).await.unwrap();
    assert_eq!(again.status, expected);
    let approve = Decision::Approve { note: String::new() };
    let options = ground.options().resume(result.run_id).decide("sort", approve);
    let error = workflow.run(options).await.unwrap_err();
    assert!(error.is_entry_check() && error.to_string().contains("rejected in the run"), "{error}");
}

async fn without_a_schema(version: WorkflowVersion, threshold: f64) -> Value {
    let ground = Ground::new();
    let reply = answer(&json!({ "result": { "kind": "bug" }, "confidence": 0.9 }));
    let model = ScriptedModel::new().answer(reply);
    let mut workflow = Workflow::new("gated")
        .guardrails(Guardrails::new(threshold))
        .step(Step::model("sort", model.clone()).prompt("Sort.").confidence_gate());
    workflow.version = version;
    let output = ground.run(&workflow).await.output;
    let request = format!("{:?}", model.requests()[0]);
    assert!(request.contains("result") && request.contains("confidence"), "{request}");
    output["sort"].clone()
}

#[tokio::test]
async fn s3_5_a_gate_without_a_schema_asks_for_a_result_and_a_confidence() {
    let output = without_a_schema(WorkflowVersion::V1_1, 0.5).await;
    assert_eq!(output, json!({ "kind": "bug", "confidence": 0.9 }));
    let output = without_a_schema(WorkflowVersion::V1_0, 0.5).await;
    assert_eq!(output, json!({ "kind": "bug" }));
}

fn released() -> Workflow {
    Workflow::new("release")
        .step(Step::approval("release", "Release {{ input }}?"))
        .step(Step::tool("tag", ["echo", "{{ release.note }}"]))
}

#[tokio::test]
async fn a_step_asks_for_consent_with_its_message_filled_in() {
    let ground = Ground::new();
    let options = ground.options().input("1.0").on_approval(|request| async move {
        assert_eq!(request.reason, ApprovalReason::Step);
        Decision::Approve { note: request.message }
    });
    let result = released().run(options).await.unwrap();
    assert_eq!(result.output["release"], json!({ "approved": true, "note": "Release 1.0?" }));
    assert_eq!(result.output["tag"]["stdout"], "Release 1.0?\n");
}

#[tokio::test]
async fn other_ways_go_on_while_one_waits_and_all_questions_are_told() {
    let ground = Ground::new();
    let workflow = Workflow::new("ways").step(
        Step::parallel("ways")
            .branch("a", [Step::approval("ask_a", "A?"), Step::tool("then_a", ["true"])])
            .branch("b", [Step::approval("ask_b", "B?")])
            .branch("c", [Step::tool("sleeps", ["sleep", "0.05"]), Step::tool("then_c", ["true"])]),
    );
    let waiting = ground.run(&workflow).await;
    let WorkflowStatus::AwaitingApproval { approvals } = &waiting.status else { panic!("{waiting:?}") };
    assert_eq!(approvals.iter().map(|it| &*it.step).collect::<Vec<_>>(), ["ask_a", "ask_b"]);
    let mut ended = statuses(&waiting.trace);
    ended.sort();
    assert_eq!(
        ended,
        pairs(&[
            ("ask_a", "awaiting-approval"),
            ("ask_b", "awaiting-approval"),
            ("sleeps", "completed"),
            ("then_c", "completed"),
            ("ways", "awaiting-approval"),
        ])
    );
    let approve = || Decision::Approve { note: String::new() };
    let decided = |options: WorkflowOptions| options.decide("ask_a", approve()).decide("ask_b", approve());
    let result = workflow.run(decided(ground.options().resume(waiting.run_id))).await.unwrap();
    assert!(result.is_completed(), "{result:?}");
    assert_eq!(result.step("sleeps").unwrap().status, super::super::super::StepStatus::Resumed);
}
