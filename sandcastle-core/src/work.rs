//! Plain records of what a run has done: commits, usage, attempts.
//!
//! They are the same on success and on failure, so that nothing an agent did can get lost with an error.

mod strategy;

use std::ops::{Add, AddAssign};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use self::strategy::OutputStrategy;
use crate::id::{BranchName, CommitId, RunId, SessionId};

/// Describes one commit that an agent made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Commit {
    /// Full object id.
    pub sha: CommitId,
    /// First line of the message.
    pub subject: String,
}

impl Commit {
    pub(crate) fn new(sha: CommitId, subject: impl Into<String>) -> Self {
        Self { sha, subject: subject.into() }
    }
}

/// Counts tokens and, where the agent says so, money.
///
/// Unknown numbers are zero; `cost_usd` is absent when the agent reports no cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Usage {
    /// Input tokens that were neither read from nor written to a cache.
    pub input_tokens: u64,
    /// Input tokens written to a cache.
    pub cache_creation_input_tokens: u64,
    /// Input tokens read from a cache.
    pub cache_read_input_tokens: u64,
    /// Output tokens, reasoning included.
    pub output_tokens: u64,
    /// Cost in US dollars as the agent reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

impl Usage {
    /// Returns the sum of all tokens.
    #[must_use]
    pub fn total_tokens(&self) -> u64 {
        self.input_tokens
            .saturating_add(self.cache_creation_input_tokens)
            .saturating_add(self.cache_read_input_tokens)
            .saturating_add(self.output_tokens)
    }

    /// Returns what was used since `earlier`, for agents whose counts run over a whole session.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            input_tokens: self.input_tokens.saturating_sub(earlier.input_tokens),
            cache_creation_input_tokens: self
                .cache_creation_input_tokens
                .saturating_sub(earlier.cache_creation_input_tokens),
            cache_read_input_tokens: self
                .cache_read_input_tokens
                .saturating_sub(earlier.cache_read_input_tokens),
            output_tokens: self.output_tokens.saturating_sub(earlier.output_tokens),
            cost_usd: match (self.cost_usd, earlier.cost_usd) {
                (Some(now), Some(then)) => Some((now - then).max(0.0)),
                (now, _) => now,
            },
        }
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        // The numbers are an agent's; absurd ones must not end a run.
        let add = |sum: &mut u64, tokens| *sum = sum.saturating_add(tokens);
        add(&mut self.input_tokens, other.input_tokens);
        add(&mut self.cache_creation_input_tokens, other.cache_creation_input_tokens);
        add(&mut self.cache_read_input_tokens, other.cache_read_input_tokens);
        add(&mut self.output_tokens, other.output_tokens);
        // Nor may one give back what was spent.
        let told = other.cost_usd.filter(|cost| *cost >= 0.0);
        self.cost_usd = match (self.cost_usd, told) {
            (Some(a), Some(b)) => Some(a + b),
            (a, b) => a.or(b),
        };
    }
}

impl Add for Usage {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}

/// Tells how an agent's process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Exit {
    /// It ended by itself with this code.
    Code(i32),
    /// A signal ended it.
    Signal(i32),
    /// It was ended: it had finished its turn and did not exit, a limit was reached, or the run was cancelled.
    Ended,
}

impl Exit {
    /// Tells whether the process ended by itself with code 0.
    #[must_use]
    pub fn is_success(self) -> bool {
        self == Self::Code(0)
    }
}

impl From<ExitStatus> for Exit {
    fn from(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => Self::Code(code),
            (None, signal) => Self::Signal(signal.unwrap_or_default()),
        }
    }
}

impl std::fmt::Display for Exit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
            Self::Ended => f.write_str("ended after its turn"),
        }
    }
}

/// Says what an agent may do in a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum TurnMode {
    /// Whatever its options let it do.
    #[default]
    Work,
    /// Nothing but speak: it goes on with a session only to say what it did there. It uses no tool that changes anything,
    /// as far as its program can be told so, and what changes all the same is undone.
    SpeakOnly,
}

impl TurnMode {
    /// Serde asks by reference.
    fn is_work(&self) -> bool {
        *self == Self::Work
    }
}

/// Describes one agent process: one iteration of a run, or one attempt at an output.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Iteration {
    /// The conversation it held, as far as the agent named it.
    pub session_id: Option<SessionId>,
    /// The agent's own file of that conversation, where it keeps one on this host.
    #[serde(serialize_with = "optional_path")]
    pub session_file: Option<PathBuf>,
    /// What it used.
    pub usage: Usage,
    /// What it was there for: the extraction of [`run_with_extraction`](crate::run_with_extraction) may only speak.
    #[serde(skip_serializing_if = "TurnMode::is_work")]
    pub mode: TurnMode,
    /// How it ended.
    pub exit: Exit,
    /// How long it ran.
    #[serde(serialize_with = "seconds", rename = "seconds")]
    pub duration: Duration,
}

impl Iteration {
    pub(crate) fn new(exit: Exit, duration: Duration) -> Self {
        let (usage, mode) = (Usage::default(), TurnMode::Work);
        Self { session_id: None, session_file: None, usage, mode, exit, duration }
    }
}

fn seconds<S: serde::Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(duration.as_secs_f64())
}

/// Writes a path as text. A path may hold any bytes; serde's own form of it fails where they are not UTF-8.
pub(crate) fn path<S: serde::Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}

/// As [`path`], for one that may be absent.
pub(crate) fn optional_path<S: serde::Serializer>(
    path: &Option<PathBuf>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    path.as_ref().map(|path| path.to_string_lossy()).serialize(serializer)
}

/// As [`path`], for several.
pub(crate) fn paths<S: serde::Serializer>(paths: &[PathBuf], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(paths.iter().map(|path| path.to_string_lossy()))
}

/// As [`paths`], for several that may be unknown.
pub(crate) fn optional_paths<S: serde::Serializer>(
    paths: &Option<Vec<PathBuf>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let paths =
        paths.as_ref().map(|paths| paths.iter().map(|path| path.to_string_lossy()).collect::<Vec<_>>());
    paths.serialize(serializer)
}

/// Records one try at a structured output: the first answer, or a retry.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Attempt {
    /// Counts from 1.
    pub number: u32,
    /// How it ended.
    pub outcome: AttemptOutcome,
    /// How the schema reached the model in it.
    pub strategy: OutputStrategy,
    /// One line on what went wrong; absent when it was accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Commits made during it.
    pub commits: Vec<Commit>,
    /// Tokens used by it.
    pub usage: Usage,
    /// The conversation it was part of.
    pub session_id: Option<SessionId>,
}

/// Tells how one [`Attempt`] ended.
///
/// The names of the failures of an answer are those of `output::Stage`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum AttemptOutcome {
    /// The answer was valid.
    Accepted,
    /// No block with the tag was found.
    Missing,
    /// The agent's own structured output gave no value, though its turn was a success, and no block was found either.
    NativeMissing,
    /// The last block was never closed.
    Unclosed,
    /// The block is not JSON.
    JsonParse,
    /// The value does not fit the schema or the type.
    SchemaValidate,
    /// The type's own validation refused it.
    Rejected,
    /// The model refused to answer.
    Refused,
    /// The model's service held the answer back.
    Filtered,
    /// The model ran into its output limit.
    Truncated,
    /// There was no answer at all.
    Empty,
    /// The schema itself was refused: by the agent's program, or by the model's service.
    SchemaRefused,
    /// The agent failed for a reason that has nothing to do with the answer, and may work the next time.
    Transport,
    /// The agent failed.
    AgentFailed,
}

/// Holds everything a run had done by the time it ended.
///
/// `Debug` shows how long the text is and not what it says: it is the caller's data, and may hold secrets.
#[derive(Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Work {
    /// Names the run, as [`Runs`](crate::journal::Runs) lists it.
    #[serde(rename = "run")]
    pub run_id: Option<RunId>,
    /// Commits that the agent made, oldest first, of every iteration and attempt.
    pub commits: Vec<Commit>,
    /// The branch that has the commits: the one it worked on, or, once they have landed, the one they landed on. `None` when
    /// it ended before that was known.
    pub branch: Option<BranchName>,
    /// The worktree that was kept because it holds something of value.
    #[serde(serialize_with = "optional_path")]
    pub preserved_worktree: Option<PathBuf>,
    /// The agent processes, in order.
    pub iterations: Vec<Iteration>,
    /// The tries at a structured output, in order; empty when none was asked for.
    pub attempts: Vec<Attempt>,
    /// The sum over all iterations.
    pub usage: Usage,
    /// The end of what the agent said in the last iteration, at most 1 MiB; of a run with an extraction, while it worked.
    pub text: String,
    /// The block of the answer that was accepted, as the agent wrote it, if something failed after that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// Where the run log is.
    #[serde(serialize_with = "optional_path")]
    pub log_file: Option<PathBuf>,
    /// Things that went wrong without failing the run.
    pub warnings: Vec<String>,
}

impl std::fmt::Debug for Work {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            run_id,
            commits,
            branch,
            preserved_worktree,
            iterations,
            attempts,
            usage,
            text,
            answer,
            log_file,
            warnings,
        } = self;
        f.debug_struct("Work")
            .field("run_id", run_id)
            .field("commits", commits)
            .field("branch", branch)
            .field("preserved_worktree", preserved_worktree)
            .field("iterations", iterations)
            .field("attempts", attempts)
            .field("usage", usage)
            .field("text", &format_args!("{} bytes", text.len()))
            .field("answer", &answer.as_ref().map(|block| format!("{} bytes", block.len())))
            .field("log_file", log_file)
            .field("warnings", warnings)
            .finish()
    }
}

impl Work {
    /// Returns the conversation of the last iteration that had one.
    #[must_use]
    pub fn session_id(&self) -> Option<&SessionId> {
        self.iterations.iter().rev().find_map(|iteration| iteration.session_id.as_ref())
    }

    /// Returns the agent's own file of that conversation.
    #[must_use]
    pub fn session_file(&self) -> Option<&PathBuf> {
        self.iterations.iter().rev().find_map(|iteration| iteration.session_file.as_ref())
    }
}
