//! What a workflow is: plain data, made by a document or by code, checked and run by others.

mod build;
mod output;
mod step;
mod text;
mod variable;
mod walk;

use std::path::PathBuf;

use serde_json::Value;

pub(crate) use self::output::{MAX_NAME, RESERVED, gate_request, tag_of};
pub(crate) use self::step::{AgentSource, Contract, Defaults, ModelSource, SandboxSource, is_below};
pub use self::step::{
    AgentStep, ApprovalStep, Branching, ConditionStep, ModelStep, OnFailure, ParallelBranch, ParallelStep,
    Step, StepKind, StepName, ToolStep,
};
pub(crate) use self::text::{Mark, Text};
use super::finding::Place;
use crate::output::type_of;

/// Describes a workflow: its steps, and what they share.
///
/// ```no_run
/// # use sandcastle_core as sandcastle;
/// use sandcastle::testing::ScriptedModel;
/// use sandcastle::workflow::{Step, Workflow, WorkflowOptions};
///
/// # async fn example() -> sandcastle::Result<()> {
/// let model = ScriptedModel::new().answer("It is a bug.");
/// let workflow = Workflow::new("triage")
///     .step(Step::model("summary", model).prompt("Summarise in one sentence:\n\n{{ input }}"))
///     .step(Step::tool("record", ["tee", "summary.txt"]).stdin("{{ summary.text }}"));
/// let result = workflow.run(WorkflowOptions::new(".").input("The program ends at once.")).await?;
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Workflow {
    pub(crate) version: WorkflowVersion,
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    pub(crate) vars: Vec<Variable>,
    pub(crate) guardrails: Guardrails,
    /// How many steps run at the same time at the most; `None` is the default of the engine.
    pub(crate) max_parallel: Option<usize>,
    pub(crate) steps: Vec<Step>,
    /// What the workflow gives: names and templates; empty is the outputs of all steps.
    pub(crate) outputs: Vec<(String, Text)>,
    /// The text that it was read from, by which a record knows whether it still is the same.
    pub(crate) source: Option<String>,
    /// The file that it was read from, by which it can be named again.
    pub(crate) file: Option<PathBuf>,
}

/// Tells which rules a workflow follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum WorkflowVersion {
    /// Steps without schemas; placeholders and comparisons instead of expressions.
    V1_0,
    /// Everything.
    #[default]
    V1_1,
}

/// Declares a value that whoever runs a workflow may set.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    pub(crate) name: String,
    /// The JSON Schema of its values.
    pub(crate) schema: Value,
    /// Its value unless it is set; without one it has to be.
    pub(crate) default: Option<Value>,
    pub(crate) place: Option<Place>,
}

/// Says when an answer is not certain enough, and what happens then.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Guardrails {
    /// From 0 to 1; what is strictly below it is not certain enough.
    pub(crate) confidence_threshold: Option<f64>,
    pub(crate) fallback_action: FallbackAction,
}

/// Says what happens with an answer that is not certain enough.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum FallbackAction {
    /// The workflow fails, and names the step, its confidence and the threshold.
    #[default]
    Fail,
    /// Somebody is asked.
    EscalateToHuman,
}

impl Workflow {
    /// Begins a workflow that has no step yet.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            version: WorkflowVersion::V1_1,
            name: name.into(),
            description: None,
            vars: Vec::new(),
            guardrails: Guardrails::default(),
            max_parallel: None,
            steps: Vec::new(),
            outputs: Vec::new(),
            source: None,
            file: None,
        }
    }

    /// Adds a step behind the others.
    #[must_use]
    pub fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// Adds steps behind the others.
    #[must_use]
    pub fn steps(mut self, steps: impl IntoIterator<Item = Step>) -> Self {
        self.steps.extend(steps);
        self
    }

    /// Declares a variable with the value that it has unless it is set.
    #[must_use]
    pub fn var(mut self, name: impl Into<String>, default: impl Into<Value>) -> Self {
        let default = default.into();
        let schema = Variable::schema_of(&default);
        self.vars.push(Variable { name: name.into(), schema, default: Some(default), place: None });
        self
    }

    /// Declares a variable that has to be set, with the JSON Schema of its values.
    #[must_use]
    pub fn required_var(mut self, name: impl Into<String>, schema: impl Into<Value>) -> Self {
        self.vars.push(Variable { name: name.into(), schema: schema.into(), default: None, place: None });
        self
    }

    /// Sets when an answer is not certain enough; the default is never.
    #[must_use]
    pub fn guardrails(mut self, guardrails: Guardrails) -> Self {
        self.guardrails = guardrails;
        self
    }

    /// Sets how many steps run at the same time at the most; the default is 4.
    #[must_use]
    pub fn max_parallel(mut self, steps: usize) -> Self {
        self.max_parallel = Some(steps);
        self
    }

    /// Adds something that the workflow gives, as a template; without any it gives the outputs of all steps by their names.
    #[must_use]
    pub fn gives(mut self, name: impl Into<String>, template: impl Into<String>) -> Self {
        self.outputs.push((name.into(), Text::of(template)));
        self
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns what it is for, if that is said.
    #[must_use]
    pub fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }
}

impl Variable {
    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Describes the values that may stand in the place of a default.
    pub(crate) fn schema_of(default: &Value) -> Value {
        match default {
            Value::Null => Value::Bool(true),
            value => serde_json::json!({ "type": type_of(value) }),
        }
    }
}

impl Guardrails {
    /// Sets the threshold: what is strictly below it is not certain enough.
    #[must_use]
    pub fn new(confidence_threshold: f64) -> Self {
        Self { confidence_threshold: Some(confidence_threshold), fallback_action: FallbackAction::Fail }
    }

    /// Sets what happens then; the default is [`FallbackAction::Fail`].
    #[must_use]
    pub fn fallback(mut self, action: FallbackAction) -> Self {
        self.fallback_action = action;
        self
    }
}
