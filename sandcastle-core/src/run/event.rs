//! What a run tells while it goes on.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use crate::budget::Spent;
use crate::event::AgentEvent;
use crate::id::{BranchName, SessionId};
use crate::output::Problem;
use crate::strategy::StrategyChoice;
use crate::work::{self, AttemptOutcome, Exit, Usage};

/// Reports one thing that happened in a run.
///
/// Secrets are masked in it as in the log, see [`Secrets`](crate::Secrets); what an agent said as data is in the result. A
/// piece of text that may be the beginning of a secret is told with the next one.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum RunEvent {
    /// The checks are passed; the sandbox is made next.
    Started {
        /// The agent's name.
        agent: String,
        /// The branch it works on.
        branch: BranchName,
    },
    /// The run log is open.
    LogOpened {
        /// Its file; `tail -f` follows it.
        #[serde(serialize_with = "work::path")]
        path: PathBuf,
    },
    /// The worktree is there.
    WorktreeReady {
        /// Where.
        #[serde(serialize_with = "work::path")]
        path: PathBuf,
        /// The branch that is checked out in it.
        branch: BranchName,
        /// Whether it was made for this run.
        fresh: bool,
    },
    /// A hook begins.
    HookStarted {
        /// Where in the run it belongs, such as `host_worktree_ready`.
        hook: String,
        /// What it runs.
        command: String,
    },
    /// A hook has ended.
    HookEnded {
        /// Where in the run it belongs.
        hook: String,
        /// What it ran.
        command: String,
        /// How.
        exit: Exit,
        /// How long it took.
        #[serde(serialize_with = "seconds", rename = "seconds")]
        duration: Duration,
    },
    /// A shell expression of the prompt was replaced by what it printed.
    Expanded {
        /// What was run, as it is written in the template.
        command: String,
        /// About how many tokens it printed.
        tokens: u64,
    },
    /// The work is done, and the agent is asked for the output in the session of its last process. Processes that begin from
    /// now on may only speak.
    ExtractionStarted {
        /// The conversation.
        session: SessionId,
    },
    /// An agent process begins.
    IterationStarted {
        /// Counts from 1.
        number: u32,
    },
    /// The agent's own program has the terminal of this process, in an interactive session, and gets what is typed there:
    /// an interrupt too.
    TerminalLent {
        /// Which agent.
        agent: String,
    },
    /// The agent's own program has left the terminal.
    TerminalReturned {
        /// How it ended.
        exit: Exit,
    },
    /// The agent did or said something.
    Agent {
        /// What.
        event: AgentEvent,
    },
    /// The agent at work has printed nothing for so many minutes; told every minute.
    Silent {
        /// Since it last printed something that counts.
        minutes: u32,
    },
    /// An agent process has ended.
    IterationEnded {
        /// How.
        exit: Exit,
        /// What it used.
        usage: Usage,
    },
    /// The agent's own file of a conversation was brought to this host.
    SessionCaptured {
        /// The conversation.
        id: SessionId,
        /// Where it is now.
        #[serde(serialize_with = "work::path")]
        file: PathBuf,
    },
    /// The commits were brought to the branch that they were made for.
    Merged {
        /// The branch that was worked on.
        source: BranchName,
        /// The branch that has them now.
        target: BranchName,
        /// How many there were.
        commits: u32,
    },
    /// It was decided how the schema of the output reaches the model; told again when that changes, and not at all where
    /// [`OutputStrategy::Tag`](crate::OutputStrategy::Tag) was asked for.
    StrategyChosen {
        /// How, and why.
        choice: Box<StrategyChoice>,
    },
    /// An attempt at a structured output was not accepted.
    AttemptFailed {
        /// Counts from 1.
        number: u32,
        /// How it failed.
        outcome: AttemptOutcome,
        /// What is wrong, in one line.
        message: String,
        /// What is wrong with the answer, with its places; empty where the attempt failed by something else.
        problems: Vec<Problem>,
        /// How many retries are left; 0 when the run ends here.
        remaining: u32,
    },
    /// The agent changed something in a turn in which it may only speak, and that was undone. A warning says it, too.
    ChangeUndone {
        /// The files that are what they were again, as seen from the root of the work tree; at most 100.
        #[serde(serialize_with = "work::paths")]
        paths: Vec<PathBuf>,
        /// What is what it was again in git: full names of refs, `HEAD`, and `index` for what is staged; at most 100.
        refs: Vec<String>,
        /// The branch that holds everything that was undone.
        rescue: Option<BranchName>,
    },
    /// The budget of the run is spent; told once. No further agent process is started.
    BudgetReached {
        /// Which one, and what was used.
        spent: Spent,
    },
    /// No valid output was obtained, and the caller's function gave a value in its place.
    FallbackUsed {
        /// What is wrong with the last answer, in one line.
        message: String,
        /// The beginning of what was rejected, in one line of at most 200 characters.
        preview: String,
    },
    /// No valid output was obtained, and the value is given that the caller had put by.
    CannedUsed {
        /// What is wrong with the last answer, in one line.
        message: String,
        /// The beginning of what was rejected, in one line of at most 200 characters.
        preview: String,
        /// Why the caller's function gave no value; empty if there is none.
        failed: Vec<String>,
    },
    /// The agent printed a line; told only with [`Logging::verbose`](crate::Logging::verbose), before what it means.
    RawLine {
        /// The line without its line feed; what is not UTF-8 is replaced.
        line: String,
    },
    /// Something went wrong that does not fail the run.
    Warning {
        /// What.
        message: String,
    },
}

fn seconds<S: serde::Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(duration.as_secs_f64())
}

/// A function that is told what happens.
#[derive(Clone)]
pub(super) struct Callback(Arc<dyn Fn(&RunEvent) + Send + Sync>);

impl Callback {
    pub(super) fn new(function: impl Fn(&RunEvent) + Send + Sync + 'static) -> Self {
        Self(Arc::new(function))
    }

    /// Calls it. A panic stays here: a mistake of who looks on is no reason to lose a run.
    ///
    /// # Errors
    /// When it panicked.
    pub(super) fn call(&self, event: &RunEvent) -> Result<(), Panicked> {
        catch_unwind(AssertUnwindSafe(|| (self.0)(event))).map_err(|_| Panicked)
    }
}

/// The function that is told what happens has panicked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Panicked;

impl fmt::Debug for Callback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Callback")
    }
}
