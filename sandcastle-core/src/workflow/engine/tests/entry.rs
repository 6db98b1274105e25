//! What keeps a workflow from beginning, all of it at once.

use serde_json::json;

use super::super::super::providers::{AgentSpec, ModelSpec, SandboxSpec};
use super::super::super::{Decision, Providers, Step, Workflow};
use super::{Ground, triage};
use crate::error::{Error, ErrorKind, Result};
use crate::strategy::OutputStrategy;
use crate::testing::ScriptedModel;

/// Makes nothing, and says so.
#[derive(Debug)]
struct Nobody;

impl Providers for Nobody {
    fn model(&self, spec: &ModelSpec) -> Result<std::sync::Arc<dyn crate::model::Model>> {
        let message = format!("ask `{}`: `KEY` is not set", spec.provider);
        Err(Error::new(ErrorKind::InvalidOptions, message).with_hint("set `KEY`"))
    }

    fn agent(&self, spec: &AgentSpec) -> Result<std::sync::Arc<dyn crate::Agent>> {
        Err(Error::new(ErrorKind::InvalidOptions, format!("find an agent `{}`", spec.name)))
    }

    fn sandbox(&self, spec: &SandboxSpec) -> Result<std::sync::Arc<dyn crate::SandboxProvider>> {
        Err(Error::new(ErrorKind::InvalidOptions, format!("find a sandbox `{}`", spec.name)))
    }
}

fn named(name: &str) -> Step {
    use super::super::super::definition::{ModelSource, StepKind};
    let mut step = Step::model(name, ScriptedModel::new()).prompt("Go.");
    if let StepKind::Model(model) = &mut step.kind {
        model.model = ModelSource::Named(ModelSpec::new("openai", "m"));
    }
    step
}

#[tokio::test]
async fn everything_that_is_wrong_is_said_at_once_and_nothing_is_written() {
    let ground = Ground::new();
    let workflow = Workflow::new("flow")
        .var("count", 3)
        .required_var("team", json!({ "type": "string" }))
        .step(named("ask"))
        .step(
            Step::model("strict", ScriptedModel::new())
                .prompt("Go.")
                .output_spec(triage())
                .strategy(OutputStrategy::Native),
        )
        .step(Step::approval("release", "Release?"));
    let approve = || Decision::Approve { note: String::new() };
    let options = ground
        .options()
        .providers(Nobody)
        .var("cuont", 4)
        .var("count", "four")
        .decide("relaese", approve())
        .decide("release", approve());
    let error = workflow.run(options).await.unwrap_err();
    assert!(error.is_entry_check(), "{error}");
    let findings = error.workflow_findings().unwrap().to_string();
    for part in [
        "the step `ask` cannot be done: failed to ask `openai`: `KEY` is not set; set `KEY`",
        "the step `strict` cannot be done",
        "the workflow has no variable `cuont`",
        "the variable `count`: must be an integer",
        "the variable `team` is not set, and has no default",
        "the decision about `relaese` is never asked for; the steps that ask are `release`",
    ] {
        assert!(findings.contains(part), "{part}\n{findings}");
    }
    assert!(!ground.path().join(".sandcastle").exists());
    assert_eq!(ground.told(), []);
}

#[tokio::test]
async fn what_only_the_options_lack_is_no_mistake_of_the_workflow() {
    let ground = Ground::new();
    let workflow = Workflow::new("flow")
        .required_var("team", json!({ "type": "string", "enum": ["a", "b"] }))
        .step(Step::tool("show", ["echo", "{{ vars.team }}"]));
    let error = ground.fails(&workflow).await;
    assert_eq!(error.kind(), ErrorKind::InvalidOptions);
    assert_eq!(
        error.to_string(),
        "run the workflow `flow`: vars.team: the variable `team` is not set, and has no default"
    );
    let error = workflow.run(ground.options().var("team", "c")).await.unwrap_err();
    assert!(error.to_string().contains("must be one of `a`, `b`"), "{error}");
    let result = workflow.run(ground.options().var("team", "a")).await.unwrap();
    assert_eq!(result.output["show"]["stdout"], "a\n");
}

#[tokio::test]
async fn a_workflow_that_the_checks_refuse_is_not_run() {
    let ground = Ground::new();
    let error = ground.fails(&Workflow::new("empty")).await;
    assert_eq!(error.kind(), ErrorKind::InvalidWorkflow);
    assert!(error.to_string().contains("at least one step"), "{error}");
}

#[tokio::test]
async fn nothing_is_made_by_nobody() {
    let ground = Ground::new();
    let error = ground.fails(&Workflow::new("flow").step(named("ask"))).await;
    assert!(error.to_string().contains("nobody is there to make it"), "{error}");
}
