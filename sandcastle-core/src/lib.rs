//! The engine of Sandcastle: typed outputs, agents, sandboxes, git and runs.
//!
//! Depend on this crate to write an agent or a sandbox provider of your own; to run agents, depend on the facade
//! `sandcastle`, which re-exports everything here.

pub mod agent;
mod error;
pub mod event;
mod git;
mod id;
pub mod jsonl;
pub mod output;
mod process;
mod prompt;
pub mod sandbox;
pub mod session;
mod work;

pub use crate::error::{Error, ErrorKind, Result};
pub use crate::id::{BranchName, CommitId, SessionId};
pub use crate::work::{Attempt, AttemptOutcome, Commit, Exit, Iteration, Usage, Work};
