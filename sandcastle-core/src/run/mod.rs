//! A run: from options to a value, through one agent or several, one after the other.
//!
//! The way is the same for every entry point: `options` and the `contract` of their output are checked by `entry`
//! before anything is touched, `driver` makes the sandbox and goes through the iterations, `iteration` plays one agent
//! process to its end while `listener` reads what it prints, `retry` goes through the attempts at a structured output,
//! `sessions` brings conversations to the agent and from it, and `outcome` is what the caller gets. `ledger` holds what
//! has been done so far, on the good way and on every bad one.
//!
//! No agent is known by name here, nothing is printed, and an agent is started only through a sandbox.

mod completion;
mod contract;
mod deadline;
mod driver;
mod entry;
mod event;
mod failure;
mod interactive;
mod iteration;
mod ledger;
mod listener;
mod log;
mod options;
mod outcome;
mod output_mode;
mod retry;
mod sessions;
mod shared;

pub use self::event::RunEvent;
pub use self::interactive::{InteractiveResult, interactive};
pub use self::options::{BranchStrategy, Logging, RunOptions};
pub use self::outcome::{AnswerGuarantee, RunResult, StructuredOutputError};
pub use self::output_mode::{InteractiveOutput, NoOutput, RunFuture, RunOutput, run, run_spec, run_with};
pub use self::shared::{Executed, Sandbox, create_sandbox};
