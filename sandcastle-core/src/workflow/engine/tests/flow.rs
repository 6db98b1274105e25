//! Steps in order, on one of two ways, and at once.

use serde_json::json;

use super::super::super::{Step, Workflow, WorkflowStatus};
use super::{answer, ground, statuses, triage};
use crate::testing::ScriptedModel;

#[tokio::test]
async fn s3_4_steps_are_done_in_order_and_read_what_earlier_ones_gave() {
    let (_folder, options) = ground();
    let model = ScriptedModel::new().answer(answer(json!({ "severity": "high", "confidence": 0.9 })));
    let workflow = Workflow::new("triage")
        .step(Step::model("triage", model.clone()).prompt("Sort: {{ input }}").output_spec(triage()))
        .step(
            Step::condition("urgent", "triage.severity == 'high' and triage.confidence > 0.5")
                .then([Step::tool("page", ["echo", "{{ triage.team }}: {{ input }}"])])
                .otherwise([Step::tool("file", ["false"])]),
        );
    let result = workflow.run(options.input("It ends; rm -rf /")).await.unwrap();
    assert_eq!(result.status, WorkflowStatus::Completed);
    assert_eq!(
        result.output,
        json!({
            "triage": { "severity": "high", "confidence": 0.9, "team": "platform" },
            "urgent": { "taken": "then" },
            "page": { "stdout": "platform: It ends; rm -rf /\n", "stderr": "", "exit_code": 0 },
        })
    );
    assert_eq!(
        statuses(&result),
        [("triage", json!("completed")), ("urgent", json!("completed")), ("page", json!("completed"))]
    );
    let request = format!("{:?}", model.requests()[0]);
    assert!(request.contains("Sort: It ends") && request.contains("severity"), "{request}");
}
