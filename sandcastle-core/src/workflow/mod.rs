//! Step workflows: models, agents, commands and people in an order, each with an output that later steps read.
//!
//! A [`Workflow`] is written in Rust ([`Step`]) or read from a YAML document (`document`); both become the same `definition`,
//! are held to the same rules (`check`, which knows the types of all outputs by their schemas and reads every `expression`
//! against them) and go through the same `engine`, which writes down each step that is finished (`record`), so that a
//! workflow goes on after an approval or a crash. `picture` draws one. No model and no agent is known here by name: a
//! [`Providers`] makes them.

mod check;
mod definition;
mod document;
mod engine;

mod event;
mod expression;
mod finding;
mod nearest;
mod options;
mod outcome;
mod picture;
mod providers;
mod record;

pub use self::definition::{
    AgentStep, ApprovalStep, Branching, ConditionStep, FallbackAction, Guardrails, ModelStep, OnFailure,
    ParallelBranch, ParallelStep, Step, StepKind, StepName, ToolStep, Variable, Workflow, WorkflowVersion,
};
pub use self::event::WorkflowEvent;
pub use self::finding::{Finding, Findings, Place, Severity};
#[doc(hidden)]
pub use self::nearest::instead_of;
pub use self::options::{ApprovalFuture, ApprovalReason, ApprovalRequest, Decision, WorkflowOptions};
pub use self::outcome::{StepRecord, StepStatus, WorkflowFailure, WorkflowResult, WorkflowStatus};
pub use self::providers::{AgentSpec, ModelSpec, Providers, SandboxSpec};
