//! Steps in order, on one of two ways, and at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;

use super::super::super::{Step, Workflow, WorkflowStatus};
use super::{Ground, answer, pairs, statuses, triage};
use crate::error::ErrorKind;
use crate::model::{Model, ModelAnswer, ModelFuture, ModelListener, ModelRequest, OwnTools};
use crate::strategy::SchemaSupport;
use crate::testing::ScriptedModel;

#[tokio::test]
async fn s3_4_steps_are_done_in_order_and_read_what_earlier_ones_gave() {
    let ground = Ground::new();
    let model = ScriptedModel::new().answer(answer(&json!({ "severity": "high", "confidence": 0.9 })));
    let workflow = Workflow::new("triage")
        .step(Step::model("triage", model.clone()).prompt("Sort: {{ input }}").output_spec(triage()))
        .step(
            Step::condition("urgent", "triage.severity == 'high' and triage.confidence > 0.5")
                .then([Step::tool("page", ["echo", "{{ triage.team }}: {{ input }}"])])
                .otherwise([Step::tool("file", ["false"])]),
        );
    let result = workflow.run(ground.options().input("It ends; rm -rf /")).await.unwrap();
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
        statuses(&result.trace),
        pairs(&[("triage", "completed"), ("urgent", "completed"), ("page", "completed")])
    );
    let request = format!("{:?}", model.requests()[0]);
    assert!(request.contains("Sort: It ends") && request.contains("severity"), "{request}");
}

#[tokio::test]
async fn the_workflow_gives_what_it_says_and_steps_know_facts_of_others() {
    let ground = Ground::new();
    let workflow = Workflow::new("flow")
        .var("limit", 3)
        .step(Step::model("said", ScriptedModel::new().answer("yes")).prompt("{{ vars.limit }}?"))
        .gives("limit", "{{ vars.limit }}")
        .gives("said", "It said {{ said.text }} in {{ steps.said.attempts }} attempts.");
    assert_eq!(
        ground.run(&workflow).await.output,
        json!({ "limit": 3, "said": "It said yes in 0 attempts." })
    );
}

/// A model that counts how many of it are asked at once.
#[derive(Clone, Debug, Default)]
struct Crowd {
    now: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
}

impl Model for Crowd {
    fn provider(&self) -> &str {
        "crowd"
    }

    fn name(&self) -> &str {
        "crowd"
    }

    fn support(&self, _: OwnTools) -> SchemaSupport {
        SchemaSupport::none("a crowd")
    }

    fn answer<'a>(&'a self, _: &'a ModelRequest, _: &'a mut ModelListener<'a>) -> ModelFuture<'a> {
        Box::pin(async {
            let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
            self.most.fetch_max(now, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_millis(10)).await;
            self.now.fetch_sub(1, Ordering::SeqCst);
            Ok(ModelAnswer { text: "here".to_owned(), ..ModelAnswer::default() })
        })
    }
}

fn crowd(model: &Crowd, branches: usize) -> Workflow {
    let mut parallel = Step::parallel("all");
    for branch in 0..branches {
        let steps = (0..2)
            .map(|step| Step::model(format!("s{branch}_{step}"), model.clone()).prompt("Are you there?"));
        parallel = parallel.branch(format!("b{branch}"), steps);
    }
    Workflow::new("crowd").step(parallel).step(Step::tool("after", ["echo", "{{ s0_1.text }}"]))
}

#[tokio::test]
async fn branches_go_at_once_within_the_limit_of_the_whole_workflow() {
    for (limit, expected) in [(1, 1), (3, 3), (100, 6)] {
        let (ground, model) = (Ground::new(), Crowd::default());
        let result = crowd(&model, 6).run(ground.options().max_parallel(limit)).await.unwrap();
        assert_eq!(model.most.load(Ordering::SeqCst), expected);
        assert_eq!(result.output["all"], json!({ "branches": ["b0", "b1", "b2", "b3", "b4", "b5"] }));
        assert_eq!(result.output["after"]["stdout"], "here\n");
        assert_eq!(result.trace.len(), 14);
    }
}

#[tokio::test]
async fn the_first_branch_that_fails_ends_the_others() {
    let ground = Ground::new();
    let workflow = Workflow::new("flow").step(
        Step::parallel("both")
            .branch("slow", [Step::tool("slow", ["sleep", "60"]), Step::tool("never", ["true"])])
            .branch("hung", [Step::model("hung", ScriptedModel::new().hang()).prompt("?")])
            .branch("bad", [Step::tool("fine", ["true"]), Step::tool("bad", ["false"])]),
    );
    let error = ground.fails(&workflow).await;
    assert_eq!(error.kind(), ErrorKind::WorkflowStep);
    assert_eq!(
        error.to_string(),
        "run the workflow `flow`: the step `bad` failed to run `false`: exit code 1"
    );
    let failure = error.workflow_failure().unwrap();
    assert_eq!(failure.step.as_deref(), Some("bad"));
    let mut ended = statuses(&failure.trace);
    ended.sort();
    assert_eq!(
        ended,
        pairs(&[
            ("bad", "failed"),
            ("both", "failed"),
            ("fine", "completed"),
            ("hung", "cancelled"),
            ("slow", "cancelled"),
        ])
    );
    assert_eq!(failure.outputs.keys().collect::<Vec<_>>(), ["fine"]);
}

#[tokio::test]
async fn a_run_that_is_cancelled_says_so_and_ends_what_it_started() {
    let ground = Ground::new();
    let token = crate::Cancellation::new();
    let workflow =
        Workflow::new("flow").step(Step::tool("first", ["true"])).step(Step::tool("long", ["sleep", "60"]));
    let (stop, events) = (token.clone(), ground.options());
    let options = events.cancel(token).on_event(move |event| {
        if matches!(event, super::WorkflowEvent::StepStarted { step, .. } if step == "long") {
            stop.cancel("nobody wants it");
        }
    });
    let error = workflow.run(options).await.unwrap_err();
    assert!(
        error.is_cancelled() && error.to_string().ends_with("it was cancelled: nobody wants it"),
        "{error}"
    );
    let failure = error.workflow_failure().unwrap();
    assert_eq!(failure.step, None);
    assert_eq!(statuses(&failure.trace), pairs(&[("first", "completed"), ("long", "cancelled")]));
}

#[tokio::test]
async fn a_template_without_a_value_fails_its_step_by_name() {
    let ground = Ground::new();
    let workflow = Workflow::new("flow").step(Step::tool("show", ["echo", "{{ trigger.issue.title }}"]));
    let error = ground.fails(&workflow).await;
    assert_eq!(error.kind(), ErrorKind::WorkflowStep);
    let said = error.to_string();
    assert!(said.starts_with("run the workflow `flow`: the step `show` has no value for `run`: "), "{said}");
}

#[tokio::test]
async fn a_listener_that_panics_loses_no_run() {
    let ground = Ground::new();
    let workflow = Workflow::new("flow").step(Step::tool("fine", ["true"]));
    let options = ground.options().on_event(|_| panic!("a listener"));
    let result = workflow.run(options).await.unwrap();
    assert!(result.is_completed());
    assert_eq!(result.warnings, ["the function that is told what happens panicked"]);
}

#[test]
fn a_run_can_be_moved_to_another_thread() {
    fn assert_send(_: &impl Send) {}
    let (ground, workflow) = (Ground::new(), Workflow::new("flow"));
    assert_send(&workflow.run(ground.options()));
}
