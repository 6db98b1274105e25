//! A run: from options to a value, through one agent or several, one after the other.
//!
//! The way is the same for every entry point: `options` and the `contract` of their output are checked by `entry` before
//! anything is touched, `driver` makes the sandbox and goes through the iterations, `hooks` are run when worktree and
//! sandbox are ready, `expansion` runs the shell expressions of the prompt (both through `shell`, within the `timeouts`),
//! `iteration` plays one agent process to its end while `listener` reads what it prints, and `native` what of it belongs to
//! a structured output of the program's own, `retry` goes through the attempts at an output by the `plan` of how its schema
//! reaches the model (a `schema_file` where it goes by one), `verdict` says what each is worth, `fallback` gives what stands
//! in for one, `extraction` asks for one when the work is done and `quiet` sees to it that nothing changes meanwhile,
//! `spending` keeps to the budget, `sessions` brings conversations to the agent and from it, and `outcome` is what the caller
//! gets. `ledger` holds what has been done so far, on the good way and on every bad one.
//!
//! No agent is known by name here, nothing is printed, and an agent is started only through a sandbox.

mod arguments;
mod audience;
mod completion;
mod contract;
mod deadline;
mod driver;
mod ending;
mod entry;
mod environment;
mod event;
mod expansion;
mod extraction;
mod failure;
mod fallback;
mod given;
mod ground;
mod hooks;
mod interactive;
mod iteration;
mod ledger;
mod listener;
mod liveness;
mod log;
mod logging;
mod making;
mod native;
mod notes;
mod options;
mod outcome;
mod output_mode;
mod plan;
mod quiet;
mod retry;
mod schema_file;
mod sessions;
mod setup;
mod shared;
mod shell;
mod site;
mod spending;
#[cfg(test)]
mod tests;
mod timeouts;
mod trace;
mod verdict;
mod version;
mod workplace;
mod worktree;

#[cfg(feature = "workflow")]
pub(crate) use self::entry::check_ahead;
pub use self::event::RunEvent;
pub use self::extraction::{Extraction, run_spec_with_extraction, run_with_extraction};
pub use self::given::Given;
pub use self::hooks::{Hook, Hooks};
pub use self::interactive::{InteractiveResult, interactive};
pub use self::liveness::Liveness;
pub use self::log::{Activity, Progress, progress_target};
pub use self::logging::Logging;
pub use self::options::RunOptions;
#[cfg(feature = "workflow")]
pub(crate) use self::outcome::masked;
pub use self::outcome::{RunResult, StructuredOutputError};
pub use self::output_mode::{InteractiveOutput, NoOutput, RunFuture, RunOutput, run, run_spec, run_with};
pub use self::shared::{Executed, Sandbox, SandboxOptions, create_sandbox};
pub use self::shell::CommandFailure;
pub use self::timeouts::Timeouts;
pub use self::worktree::{CloseResult, Worktree, WorktreeOptions, create_worktree};
