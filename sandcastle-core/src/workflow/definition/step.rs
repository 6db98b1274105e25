//! The steps: what each kind does, and what every one of them has.

use std::fmt;
use std::path::{Component, Path};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::super::finding::Place;
use super::super::providers::{AgentSpec, ModelSpec, SandboxSpec};
use super::text::{Mark, Text};
use crate::agent::Agent;
use crate::model::Model;
use crate::output::{AgentOutput, OutputSpec};
use crate::run::Liveness;
use crate::sandbox::SandboxProvider;
use crate::strategy::OutputStrategy;

/// Names a step: letters, digits and `_`, not beginning with a digit.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StepName(String);

impl StepName {
    /// Takes a name as it is; whether it can be one is checked with the workflow.
    pub(crate) fn of(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// Returns the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for StepName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Describes one step of a workflow.
///
/// What its methods say has to belong to its kind: a timeout of an approval is found by [`Workflow::check`], and refused.
///
/// [`Workflow::check`]: super::Workflow::check
#[derive(Clone, Debug)]
pub struct Step {
    pub(crate) name: StepName,
    pub(crate) kind: StepKind,
    pub(crate) contract: Option<Contract>,
    /// Whether the confidence of its output is held against the threshold.
    pub(crate) confidence_gate: bool,
    /// What was said of it that does not belong to its kind, by the names of methods.
    pub(crate) misplaced: Vec<&'static str>,
    /// By which keys it is found, such as `steps[2].then[0]`; filled in by whoever holds the whole workflow.
    pub(crate) path: String,
    pub(crate) place: Option<Place>,
}

/// What the output of a step has to be.
#[derive(Clone, Debug)]
pub(crate) struct Contract {
    pub(crate) spec: OutputSpec,
    pub(crate) defaults: Defaults,
    pub(crate) place: Option<Place>,
}

/// Whether fields that are absent get the defaults of the schema before an answer is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Defaults {
    /// By the engine: the schema stands alone.
    Filled,
    /// By a type, when the value is read into it.
    Left,
}

/// What a step does.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum StepKind {
    /// Asks a model.
    Model(ModelStep),
    /// Runs a coding agent in a sandbox.
    Agent(AgentStep),
    /// Runs a command.
    Tool(ToolStep),
    /// Goes one of two ways.
    Condition(ConditionStep),
    /// Waits for somebody's consent.
    Approval(ApprovalStep),
    /// Goes several ways at once, and joins them.
    Parallel(ParallelStep),
}

/// Describes a call of a model.
#[derive(Clone, Debug)]
pub struct ModelStep {
    pub(crate) model: ModelSource,
    pub(crate) system: Option<Text>,
    pub(crate) prompt: Text,
    pub(crate) strategy: Option<OutputStrategy>,
    pub(crate) temperature: Option<f32>,
    pub(crate) max_output_tokens: Option<u32>,
    pub(crate) timeout: Option<Duration>,
    /// How often a call is made again when its service fails; 0 without it.
    pub(crate) transport_retries: u32,
}

/// Which model is asked.
#[derive(Clone, Debug)]
pub(crate) enum ModelSource {
    Named(ModelSpec),
    Given(Arc<dyn Model>),
}

/// Describes the run of a coding agent.
#[derive(Clone, Debug)]
pub struct AgentStep {
    pub(crate) agent: AgentSource,
    pub(crate) sandbox: SandboxSource,
    pub(crate) prompt: Text,
    pub(crate) branching: Branching,
    /// Where the name of the branch is written.
    pub(crate) branch_marks: Vec<Mark>,
    pub(crate) base: Option<Text>,
    pub(crate) strategy: Option<OutputStrategy>,
    pub(crate) max_iterations: Option<u32>,
    pub(crate) completion_signal: Option<String>,
    pub(crate) idle_timeout: Option<Duration>,
    pub(crate) liveness: Option<Liveness>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) max_cost: Option<f64>,
    pub(crate) max_tokens: Option<u64>,
    pub(crate) copy_to_worktree: Vec<Text>,
    pub(crate) env: Vec<(String, Text)>,
}

#[derive(Clone, Debug)]
pub(crate) enum AgentSource {
    Named(AgentSpec),
    Given(Arc<dyn Agent>),
}

#[derive(Clone)]
pub(crate) enum SandboxSource {
    Named(SandboxSpec),
    Given(Arc<dyn SandboxProvider>),
}

impl fmt::Debug for SandboxSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(spec) => spec.fmt(f),
            Self::Given(sandbox) => f.write_str(sandbox.name()),
        }
    }
}

/// Says where an agent works; see [`BranchStrategy`](crate::BranchStrategy).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Branching {
    /// In the work tree of the caller.
    #[default]
    Head,
    /// On a temporary branch that is merged.
    MergeToHead,
    /// On the branch of this name, which is a template.
    Branch(String),
}

/// Describes a command. It is an argument vector: no shell reads it, and what a template puts into an argument stays in it.
#[derive(Clone, Debug)]
pub struct ToolStep {
    pub(crate) argv: Vec<Text>,
    /// Where it runs, below the folder of the workflow.
    pub(crate) cwd: Option<Text>,
    pub(crate) env: Vec<(String, Text)>,
    pub(crate) stdin: Option<Text>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) on_failure: OnFailure,
}

/// Says what a command that fails does to its workflow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnFailure {
    /// It fails, too.
    #[default]
    Fail,
    /// It goes on; later steps can read the exit code.
    Continue,
}

/// Describes a choice between two ways.
#[derive(Clone, Debug)]
pub struct ConditionStep {
    /// An expression that gives a boolean.
    pub(crate) test: Text,
    pub(crate) then: Vec<Step>,
    pub(crate) otherwise: Vec<Step>,
}

/// Describes what somebody is asked.
#[derive(Clone, Debug)]
pub struct ApprovalStep {
    pub(crate) message: Option<Text>,
}

/// Describes ways that are gone at the same time.
#[derive(Clone, Debug)]
pub struct ParallelStep {
    pub(crate) branches: Vec<ParallelBranch>,
    /// How many at a time; `None` is the limit of the workflow.
    pub(crate) limit: Option<usize>,
}

/// Describes one of them: its steps are done in order.
#[derive(Clone, Debug)]
pub struct ParallelBranch {
    pub(crate) name: String,
    pub(crate) steps: Vec<Step>,
    pub(crate) place: Option<Place>,
}

impl AgentStep {
    /// The name of its branch, a template, if it works on one that has a name.
    pub(crate) fn branch(&self) -> Option<Text> {
        match &self.branching {
            Branching::Branch(name) => Some(Text { source: name.clone(), marks: self.branch_marks.clone() }),
            Branching::Head | Branching::MergeToHead => None,
        }
    }
}

/// Tells whether the folder of a command is, by its name, the one of the workflow or below it.
pub(crate) fn is_below(folder: &str) -> bool {
    let stays = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    Path::new(folder).components().all(stays)
}

impl Contract {
    /// The contract of a type.
    pub(crate) fn of<T: AgentOutput>() -> Self {
        Self { spec: OutputSpec::of::<T>(), defaults: Defaults::Left, place: None }
    }

    /// The JSON Schema.
    pub(crate) fn schema(&self) -> &Value {
        self.spec.schema()
    }
}
