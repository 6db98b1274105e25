//! The gate: confidence is a field like any other, and what is strictly below the threshold is not taken.

use sandcastle::workflow::{ApprovalReason, Decision, StepStatus, WorkflowStatus};

use super::*;

/// What asks for a schema with a confidence, at a threshold of 0.7.
fn gated(action: &str, more: &str) -> String {
    let schema = object(
        &json!({ "severity": { "type": "string" }, "confidence": { "type": "number" } }),
        &["severity", "confidence"],
    );
    guarded(action, &asking_with("    confidence_gate: true\n", &schema, more))
}

fn guarded(action: &str, document: &str) -> String {
    let guardrails =
        format!("guardrails: {{ confidence_threshold: 0.7, fallback_action: {action} }}\nsteps:\n");
    document.replacen("steps:\n", &guardrails, 1)
}

/// A gate whose step has no schema, in a version.
fn gate_without_schema(version: &str, more: &str) -> String {
    let document = format!(
        "version: \"{version}\"\n{MODELS}steps:\n  - {{ step: triage, type: model, prompt: Sort it., confidence_gate: true }}\n{more}"
    );
    guarded("escalate_to_human", &document)
}

/// A model that answers a gate without a schema, which is asked for in words.
async fn told<const N: usize>(answers: [Value; N]) -> Bench {
    let replies = answers.map(|answer| Reply::text(format!("<output>{answer}</output>")));
    Bench::new(Service::OpenAi, replies).await
}

fn sure(confidence: impl Into<Value>) -> Value {
    json!({ "severity": "low", "confidence": confidence.into() })
}

const AFTER: &str = "  - { step: after, type: tool, run: [printf, \"%s\", \"{{ triage.confidence }}\"] }\n";

#[tokio::test]
async fn seed_3_5_confidence_outside_of_0_to_1_is_a_schema_failure_and_retried() {
    for (wrong, problem) in [
        (json!(1.01), "output.confidence must be a number from 0 to 1"),
        (json!(-0.5), "output.confidence must be a number from 0 to 1"),
        (json!(90), "output.confidence must be a number from 0 to 1"),
    ] {
        let bench = Bench::answering([sure(wrong.clone()), sure(0.9)]).await;
        let result = bench.run(&gated("fail", AFTER)).await;
        assert_eq!(bench.retried(), [[problem]], "{wrong}");
        assert_eq!(result.step("triage").unwrap().confidence, Some(0.9));
        assert_eq!(result.output["after"]["stdout"], "0.9");

        let bench = Bench::answering([sure(wrong.clone()), sure(wrong)]).await;
        let error = bench.fails(&gated("escalate_to_human", AFTER)).await;
        let said = format!("did not match output_schema after 1 retry: {problem}");
        assert!(error.to_string().ends_with(&said), "{error}");
        assert_eq!(bench.asked(), 2);
    }
    for wrong in [json!("high"), json!(null), json!([0.9])] {
        let bench = Bench::answering([sure(wrong.clone()), sure(1)]).await;
        bench.run(&gated("fail", AFTER)).await;
        assert_eq!(bench.retried().len(), 1, "{wrong}");
    }
    // Nothing stands in for one that is missing.
    let bench = Bench::answering([json!({ "severity": "low" }), sure(0)]).await;
    let error = bench.fails(&gated("fail", AFTER)).await;
    assert_eq!(bench.retried(), [["output.confidence is required"]]);
    assert!(error.to_string().contains("its confidence is 0, and the threshold is 0.7"), "{error}");
}

#[tokio::test]
async fn seed_3_5_strictly_below_is_not_taken_and_equal_is() {
    for enough in [0.7, 0.700_000_1, 1.0] {
        let bench = Bench::answering([sure(enough)]).await;
        let result = bench.run(&gated("fail", AFTER)).await;
        assert!(result.is_completed() && result.step("after").is_some(), "{enough}");
        assert_eq!(result.output["triage"], sure(enough), "an ordinary field");
    }
    for little in [0.699_999, 0.0] {
        let bench = Bench::answering([sure(little), sure(1)]).await;
        let error = bench.fails(&gated("fail", AFTER)).await;
        let said = format!(
            "the step `triage` is not certain enough: its confidence is {little}, and the threshold is 0.7"
        );
        assert!(error.to_string().ends_with(&said), "{error}");
        assert_eq!(bench.asked(), 1, "to be unsure is no schema failure");
    }
}

#[tokio::test]
async fn seed_3_5_the_fallback_asks_a_person_who_sees_the_answer() {
    let bench = Bench::answering([sure(0.5)]).await;
    let document = gated("escalate_to_human", AFTER);
    let result = bench.run(&document).await;
    let WorkflowStatus::AwaitingApproval { approvals } = &result.status else { panic!("{result:#?}") };
    assert_eq!(approvals[0].step, "triage");
    let expected = ApprovalReason::Guardrail { confidence: 0.5, threshold: 0.7, output: sure(0.5) };
    assert_eq!(approvals[0].reason, expected);
    assert!(result.step("after").is_none());

    let workflow = Workflow::from_yaml(&document).unwrap();
    let resumed = |decision| bench.options().resume(result.run_id.clone()).decide("triage", decision);
    let went_on = workflow.run(resumed(Decision::Approve { note: String::new() })).await.unwrap();
    assert_eq!(went_on.output["after"]["stdout"], "0.5");
    assert_eq!(bench.asked(), 1, "the answer that was approved is the one that was shown");

    let bench = Bench::answering([sure(0.5)]).await;
    let no = Decision::Reject { note: "a guess".to_owned() };
    let result = workflow.run(bench.options().decide("triage", no)).await.unwrap();
    let rejected = WorkflowStatus::Rejected { step: "triage".to_owned(), note: "a guess".to_owned() };
    assert_eq!(result.status, rejected);
    assert_eq!(result.step("triage").unwrap().status, StepStatus::Rejected);
    assert!(result.step("after").is_none());
}

#[tokio::test]
async fn seed_3_5_a_gate_without_a_schema_keeps_its_request_and_has_the_confidence_in_its_output() {
    let answer = json!({ "result": { "team": "platform" }, "confidence": 0.8 });
    let bench = told([answer.clone()]).await;
    let more = "  - { step: after, type: tool, run: [printf, \"%s\", \"{{ triage.team }} {{ triage.confidence }}\"] }\n";
    let result = bench.run(&gate_without_schema("1.1", more)).await;
    assert_eq!(result.output["triage"], json!({ "team": "platform", "confidence": 0.8 }));
    assert_eq!(result.output["after"]["stdout"], "platform 0.8");

    // Version 1.0 is as it was: the result alone, and scalar fields for placeholders.
    let bench = told([answer]).await;
    let more =
        "  - { step: after, type: tool, run: [printf, \"%s\", \"{triage.team} {triage.confidence}\"] }\n";
    let result = bench.run(&gate_without_schema("1.0", more)).await;
    assert_eq!(result.output["triage"], json!({ "team": "platform" }));
    assert_eq!(result.output["after"]["stdout"], "platform {triage.confidence}");
    assert_eq!(result.step("triage").unwrap().confidence, Some(0.8));
}

#[tokio::test]
async fn seed_3_5_a_gate_without_a_schema_is_a_gate() {
    for version in ["1.0", "1.1"] {
        let bench = told([json!({ "result": { "team": "platform" }, "confidence": 0.5 })]).await;
        let result = bench.run(&gate_without_schema(version, "")).await;
        let status = &result.status;
        assert!(matches!(status, WorkflowStatus::AwaitingApproval { .. }), "{version}: {status:?}");

        let outside = json!({ "result": { "team": "platform" }, "confidence": 7 });
        let within = json!({ "result": { "team": "platform" }, "confidence": 0.7 });
        let bench = told([outside, within]).await;
        let result = bench.run(&gate_without_schema(version, "")).await;
        assert_eq!((result.is_completed(), bench.asked()), (true, 2), "{version}");
    }
}

#[tokio::test]
async fn seed_3_5_what_a_gate_needs_is_checked_at_load() {
    let with = |confidence: Value, required: &[&str]| {
        let schema = object(&json!({ "severity": { "type": "string" }, "confidence": confidence }), required);
        guarded("fail", &asking_with("    confidence_gate: true\n", &schema, ""))
    };
    let number = json!({ "type": "number" });
    assert_found(&with(number.clone(), &["severity"]), "confidence");
    assert_found(&with(json!({ "type": "string" }), &["severity", "confidence"]), "confidence");
    assert_found(&with(json!({ "type": "number", "default": 1 }), &["severity", "confidence"]), "confidence");
    assert_found(
        &guarded("fail", &asking_with("    confidence_gate: true\n", &severity(), "")),
        "confidence",
    );
    // A gate without a threshold would let everything pass.
    let without = with(number.clone(), &["confidence"]).replace("confidence_threshold: 0.7, ", "");
    assert_found(&without, "confidence_threshold");
    // Without a gate it is any field, and no threshold counts.
    let open = with(number, &["confidence"]).replace("    confidence_gate: true\n", "");
    assert_eq!(found(&open), [""; 0]);
    let bench = Bench::answering([json!({ "severity": "low", "confidence": 12 })]).await;
    assert!(bench.run(&open).await.is_completed());
}
