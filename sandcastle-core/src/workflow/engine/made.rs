//! What the steps of a workflow work with: models, agents and sandboxes, and what their answers have to be.
//!
//! All of it is made and checked before the first step, so that what cannot be had keeps a workflow from beginning, and not from
//! coming to its end.

use std::collections::HashMap;
use std::sync::Arc;

use super::super::definition::{
    AgentSource, AgentStep, ModelSource, ModelStep, SandboxSource, Step, StepKind, Workflow,
};
use super::super::providers::{ModelSpec, Providers};
use super::{agent, contract, model};
use crate::agent::Agent;
use crate::error::{Error, ErrorKind, Result};
use crate::model::Model;
use crate::output::OutputSpec;
use crate::sandbox::SandboxProvider;
use crate::strategy::OutputStrategy;

/// What the steps work with, by their names.
#[derive(Debug, Default)]
pub(super) struct Made {
    steps: HashMap<String, Equipment>,
}

/// What one step works with.
#[derive(Clone, Debug)]
pub(super) struct Equipment {
    pub(super) tool: Instrument,
    /// What its answer has to be.
    pub(super) spec: Option<OutputSpec>,
    /// What it is told about that.
    pub(super) words: Option<String>,
}

#[derive(Clone)]
pub(super) enum Instrument {
    Model(Arc<dyn Model>),
    Agent(Arc<dyn Agent>, Arc<dyn SandboxProvider>),
    None,
}

impl std::fmt::Debug for Instrument {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Model(model) => model.fmt(f),
            Self::Agent(agent, sandbox) => write!(f, "{agent:?} in {}", sandbox.name()),
            Self::None => f.write_str("None"),
        }
    }
}

impl Made {
    /// Makes what every step needs, and returns what cannot be had, with the step that needs it.
    pub(super) fn of<'w>(
        workflow: &'w Workflow,
        providers: Option<&dyn Providers>,
    ) -> (Self, Vec<(&'w Step, Error)>) {
        let mut maker = Maker { providers, models: Vec::new() };
        let (mut made, mut missing) = (Self::default(), Vec::new());
        for step in workflow.all_steps() {
            match maker.equip(step) {
                Ok(equipment) => _ = made.steps.insert(step.name.as_str().to_owned(), equipment),
                Err(errors) => missing.extend(errors.into_iter().map(|error| (step, error))),
            }
        }
        (made, missing)
    }

    /// Returns what a step works with.
    ///
    /// # Errors
    /// If it was never made, which is a mistake of this crate.
    pub(super) fn of_step(&self, step: &Step) -> Result<&Equipment> {
        self.steps.get(step.name.as_str()).ok_or_else(|| {
            Error::new(ErrorKind::WorkflowStep, format!("find what the step `{}` works with", step.name))
                .with_hint("this is a mistake in sandcastle: please report it")
        })
    }
}

/// Says in the words of a document that a strategy is not there. What a service can do is said there, so it is no matter of this
/// machine.
fn in_document(error: Error, kind: &ModelStep) -> Error {
    let strategy =
        kind.strategy.filter(|it| matches!(it, OutputStrategy::Native | OutputStrategy::ForcedTool));
    match (strategy, &kind.model) {
        (Some(strategy), ModelSource::Named(_)) if error.kind() == ErrorKind::InvalidOptions => {
            Error::new(ErrorKind::InvalidWorkflow, error.to_string()).with_hint(format!(
                "use the strategy `auto` or `tag`; or if the service can do it, say so in its model: `supports: [{strategy}]`"
            ))
        }
        _ => error,
    }
}

struct Maker<'p> {
    providers: Option<&'p dyn Providers>,
    /// Models that steps share.
    models: Vec<(ModelSpec, Arc<dyn Model>)>,
}

impl Maker<'_> {
    /// Makes what a step needs, or says everything that cannot be had.
    fn equip(&mut self, step: &Step) -> Result<Equipment, Vec<Error>> {
        let spec = contract::of(step).map_err(|error| vec![error])?;
        match &step.kind {
            StepKind::Model(kind) => self.for_model(step, kind, spec).map_err(|error| vec![error]),
            StepKind::Agent(kind) => self.for_agent(step, kind, spec),
            _ => Ok(Equipment { tool: Instrument::None, spec, words: None }),
        }
    }

    fn for_model(&mut self, step: &Step, kind: &ModelStep, spec: Option<OutputSpec>) -> Result<Equipment> {
        let model = match &kind.model {
            ModelSource::Given(model) => Arc::clone(model),
            ModelSource::Named(spec) => self.model(spec)?,
        };
        let choice =
            model::check(step, kind, &model, spec.as_ref()).map_err(|error| in_document(error, kind))?;
        let words = spec.as_ref().map(|spec| contract::words(spec, choice.as_ref()));
        Ok(Equipment { tool: Instrument::Model(model), spec, words })
    }

    fn model(&mut self, spec: &ModelSpec) -> Result<Arc<dyn Model>> {
        if let Some((_, made)) = self.models.iter().find(|(known, _)| known == spec) {
            return Ok(Arc::clone(made));
        }
        let made =
            self.providers(&format!("the model `{}` of `{}`", spec.name, spec.provider))?.model(spec)?;
        self.models.push((spec.clone(), Arc::clone(&made)));
        Ok(made)
    }

    fn for_agent(
        &self,
        step: &Step,
        kind: &AgentStep,
        spec: Option<OutputSpec>,
    ) -> Result<Equipment, Vec<Error>> {
        match (self.agent(kind), self.sandbox(kind)) {
            (Ok(agent), Ok(sandbox)) => {
                equip_agent(step, kind, (agent, sandbox), spec).map_err(|error| vec![error])
            }
            (agent, sandbox) => Err(agent.err().into_iter().chain(sandbox.err()).collect()),
        }
    }

    fn agent(&self, kind: &AgentStep) -> Result<Arc<dyn Agent>> {
        match &kind.agent {
            AgentSource::Given(agent) => Ok(Arc::clone(agent)),
            AgentSource::Named(spec) => self.providers(&format!("the agent `{}`", spec.name))?.agent(spec),
        }
    }

    fn sandbox(&self, kind: &AgentStep) -> Result<Arc<dyn SandboxProvider>> {
        match &kind.sandbox {
            SandboxSource::Given(sandbox) => Ok(Arc::clone(sandbox)),
            SandboxSource::Named(spec) => {
                self.providers(&format!("the sandbox `{}`", spec.name))?.sandbox(spec)
            }
        }
    }

    fn providers(&self, what: &str) -> Result<&dyn Providers> {
        self.providers.ok_or_else(|| {
            Error::new(ErrorKind::InvalidOptions, format!("make {what}: nobody is there to make it"))
                .with_hint("set `WorkflowOptions::providers`, or build the step with what it works with")
        })
    }
}

/// Puts an agent and its sandbox together, for an answer that can be had of them.
fn equip_agent(
    step: &Step,
    kind: &AgentStep,
    (agent, sandbox): (Arc<dyn Agent>, Arc<dyn SandboxProvider>),
    spec: Option<OutputSpec>,
) -> Result<Equipment> {
    let spec = match spec {
        Some(spec) if !agent.capabilities().resume => Some(spec.max_retries(0)?),
        spec => spec,
    };
    agent::check(step, kind, (&agent, &sandbox), spec.as_ref())?;
    let words = spec.as_ref().map(|spec| agent::words(kind, spec));
    Ok(Equipment { tool: Instrument::Agent(agent, sandbox), spec, words })
}
