//! The engine of Sandcastle: typed outputs, agents, sandboxes, git and runs.
//!
//! Depend on this crate to write an agent or a sandbox provider of your own; to run agents, depend on the facade
//! `sandcastle`, which re-exports everything here.

#[doc(hidden)]
#[path = "private/mod.rs"]
pub mod __private;
pub mod agent;
mod budget;
mod cancellation;
mod config;
mod error;
pub mod event;
#[cfg(feature = "review")]
pub mod forge;
mod git;
mod id;
pub mod journal;
pub mod jsonl;
pub mod model;
mod model_run;
pub mod output;
mod process;
mod prompt;
#[cfg(feature = "review")]
pub mod review;
mod run;
pub mod sandbox;
pub mod secret;
pub mod session;
mod strategy;
pub mod testing;
mod work;
#[cfg(feature = "workflow")]
pub mod workflow;
mod worktree;

pub use tokio_util::sync::CancellationToken;

pub use crate::agent::Agent;
pub use crate::budget::Spent;
pub use crate::cancellation::Cancellation;
pub use crate::error::{Error, ErrorKind, Result};
pub use crate::event::AgentEvent;
pub use crate::id::{BranchName, CommitId, RunId, SessionId};
pub use crate::model_run::{
    ModelAttempt, ModelOutput, ModelResult, ModelRun, ModelRunEvent, ModelRunFuture, ServedBy, TypedOutput,
};
pub use crate::output::{
    AgentOutput, ExtractError, OutputFormat, OutputSpec, Problem, Snippet, SnippetStyle, Stage,
};
pub use crate::run::{
    Activity, CloseResult, CommandFailure, Executed, Extraction, Given, Hook, Hooks, InteractiveOutput,
    InteractiveResult, Liveness, Logging, NoOutput, Progress, RunEvent, RunFuture, RunOptions, RunOutput,
    RunResult, Sandbox, SandboxOptions, StructuredOutputError, Timeouts, Worktree, WorktreeOptions,
    create_sandbox, create_worktree, interactive, run, run_spec, run_spec_with_extraction, run_with,
    run_with_extraction,
};
pub use crate::sandbox::{Bubblewrap, Docker, Network, NoSandbox, Podman, SandboxProvider};
pub use crate::secret::Secrets;
pub use crate::strategy::{AnswerGuarantee, OutputStrategy, SchemaSupport, StrategyChoice, Support};
pub use crate::work::{Attempt, AttemptOutcome, Commit, Exit, Iteration, TurnMode, Usage, Work};
pub use crate::worktree::BranchStrategy;
