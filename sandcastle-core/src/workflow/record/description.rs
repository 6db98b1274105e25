//! What a workflow and its steps are, as JSON: not to be run, but to tell whether they are still the same.
//!
//! A step is described without the steps in it, which are described by themselves. Models, agents and sandboxes that were made in
//! Rust are known by their names alone.

use serde_json::{Map, Value, json};

use super::super::definition::{
    AgentSource, AgentStep, Branching, ModelSource, ModelStep, OnFailure, SandboxSource, Step, StepKind,
    Text, ToolStep, Workflow,
};
use crate::strategy::OutputStrategy;

/// Describes a workflow.
pub(in crate::workflow) fn describe(workflow: &Workflow) -> Value {
    let mut steps = Map::new();
    for step in workflow.all_steps() {
        steps.insert(step.name.as_str().to_owned(), of_step(step));
    }
    let outputs = workflow.outputs.iter().map(|(name, text)| json!([name, text.source]));
    let vars = workflow.vars.iter().map(|var| json!([var.name, var.schema, var.default]));
    json!({
        "version": format!("{:?}", workflow.version),
        "name": workflow.name,
        "guardrails": format!("{:?}", workflow.guardrails),
        "vars": vars.collect::<Value>(),
        "outputs": outputs.collect::<Value>(),
        "order": order(&workflow.steps),
        "steps": steps,
    })
}

/// Finds a step in the description of a workflow.
pub(in crate::workflow) fn step_of<'d>(document: &'d Value, step: &str) -> Option<&'d Value> {
    document.get("steps")?.get(step)
}

/// In which order the steps are, those within others included.
fn order(steps: &[Step]) -> Value {
    let each = steps.iter().map(|step| match &step.kind {
        StepKind::Condition(inner) => {
            json!([step.name.as_str(), order(&inner.then), order(&inner.otherwise)])
        }
        StepKind::Parallel(inner) => {
            let branches = inner.branches.iter().map(|branch| order(&branch.steps));
            json!([step.name.as_str(), branches.collect::<Value>()])
        }
        _ => step.name.as_str().into(),
    });
    each.collect()
}

fn of_step(step: &Step) -> Value {
    let kind = match &step.kind {
        StepKind::Model(model) => of_model(model),
        StepKind::Agent(agent) => of_agent(agent),
        StepKind::Tool(tool) => of_tool(tool),
        StepKind::Condition(condition) => json!({ "if": condition.test.source }),
        StepKind::Approval(approval) => json!({ "message": source(approval.message.as_ref()) }),
        StepKind::Parallel(parallel) => {
            let names = parallel.branches.iter().map(|branch| branch.name.as_str());
            json!({ "branches": names.collect::<Value>() })
        }
    };
    json!({
        "type": step.kind.name(),
        "does": kind,
        "output": step.contract.as_ref().map(|contract| contract.schema().clone()),
        "gate": step.confidence_gate,
    })
}

fn of_model(step: &ModelStep) -> Value {
    let (provider, name) = match &step.model {
        ModelSource::Named(spec) => (spec.provider.as_str(), spec.name.as_str()),
        ModelSource::Given(model) => (model.provider(), model.name()),
    };
    json!({
        "model": [provider, name],
        "system": source(step.system.as_ref()),
        "prompt": step.prompt.source,
        "strategy": step.strategy.map(OutputStrategy::as_str),
        "temperature": step.temperature,
    })
}

fn of_agent(step: &AgentStep) -> Value {
    let (agent, model) = match &step.agent {
        AgentSource::Named(spec) => (spec.name.as_str(), spec.model.as_deref()),
        AgentSource::Given(agent) => (agent.name(), agent.model()),
    };
    let sandbox = match &step.sandbox {
        SandboxSource::Named(spec) => spec.name.as_str(),
        SandboxSource::Given(sandbox) => sandbox.name(),
    };
    let branch = match &step.branching {
        Branching::Head => json!("head"),
        Branching::MergeToHead => json!("merge-to-head"),
        Branching::Branch(name) => json!({ "name": name }),
    };
    json!({
        "agent": [agent, model],
        "sandbox": sandbox,
        "branch": branch,
        "base": source(step.base.as_ref()),
        "prompt": step.prompt.source,
    })
}

fn of_tool(step: &ToolStep) -> Value {
    json!({
        "run": step.argv.iter().map(|text| text.source.as_str()).collect::<Value>(),
        "cwd": source(step.cwd.as_ref()),
        "env": step.env.iter().map(|(name, text)| json!([name, text.source])).collect::<Value>(),
        "stdin": source(step.stdin.as_ref()),
        "on_failure": step.on_failure == OnFailure::Continue,
    })
}

fn source(text: Option<&Text>) -> Option<&str> {
    text.map(|text| text.source.as_str())
}
