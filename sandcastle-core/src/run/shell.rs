//! One shell command beside the agent: a hook, or an expression of a prompt.
//!
//! It runs in a sandbox or on this host, within a limit, with its output bounded, and is ended with everything it started:
//! when it is over, when its limit is reached, and when its future is dropped. What it is for is the caller's affair.

use std::ffi::OsString;
use std::fmt;
use std::future::Future;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use super::deadline::{CutOff, Limits};
use super::failure;
use super::timeouts::Timeouts;
use crate::agent::StopRequest;
use crate::error::{Error, ErrorKind, Result};
use crate::git::DROPPED_VARIABLES;
use crate::output::one_line;
use crate::process::{Output, Program, Running, Tail};
use crate::sandbox::SandboxHandle;
use crate::work::Exit;

/// How much of what a failed command printed is kept.
const PRINTED: usize = 2 * 1024;
/// How much of it is part of a message.
const SHOWN: usize = 500;

/// Where commands run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shell<'a> {
    /// The sandbox; `None` is this host, and the environment of this process.
    pub(super) sandbox: Option<&'a dyn SandboxHandle>,
    /// The folder, as seen from where they run.
    pub(super) cwd: &'a Path,
    /// Variables on top of what is there.
    pub(super) env: &'a [(OsString, OsString)],
}

/// What bounds the steps of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds<'a> {
    pub(super) timeouts: &'a Timeouts,
    pub(super) limits: &'a Limits,
    pub(super) cancel: &'a CancellationToken,
}

/// How a command is called.
#[derive(Debug)]
pub(super) struct Call<'a> {
    /// The program and its arguments.
    pub(super) argv: Vec<&'a str>,
    /// What people know it as.
    pub(super) shown: &'a str,
    pub(super) limit: Duration,
    pub(super) stdin: &'a [u8],
    pub(super) stdout: Stdout,
}

/// What is kept of the standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stdout {
    /// All of it; more bytes than these are a failure.
    Whole(usize),
    /// Nothing, unless the command fails.
    End,
}

/// What a command that succeeded has left.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) stdout: Vec<u8>,
    pub(super) elapsed: Duration,
    /// How many processes had to be ended behind it.
    pub(super) left_behind: usize,
}

/// Reports how a hook or a shell expression of a prompt failed; the source of the [`Error`] that a run gives.
///
/// ```
/// use std::error::Error as _;
/// use sandcastle_core::{CommandFailure, Error};
///
/// fn what_failed(error: &Error) -> Option<String> {
///     let failure = error.source()?.downcast_ref::<CommandFailure>()?;
///     Some(format!("{} after {:?}", failure.command, failure.elapsed))
/// }
/// # let _ = what_failed;
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CommandFailure {
    /// The command, as it is written in the options or in the template.
    pub command: String,
    /// How it ended; `None` when it was ended, or never started.
    pub exit: Option<Exit>,
    /// How long it ran.
    pub elapsed: Duration,
    /// How long it might have run.
    pub limit: Duration,
    /// The end of what it printed on its standard error, or on its standard output if there is nothing; at most 2 KiB.
    pub printed: String,
    reason: Reason,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Reason {
    NotStarted(String),
    Lost(String),
    Ended,
    OutOfTime,
    /// More than these bytes.
    TooMuch(usize),
}

impl Shell<'_> {
    /// Runs a command to its end.
    pub(super) async fn run(&self, call: Call<'_>) -> Result<Finished, CommandFailure> {
        let mut program = Program::new(call.argv[0]).args(&call.argv[1..]).stdin(call.stdin).cwd(self.cwd);
        program.env.extend_from_slice(self.env);
        let begun = Instant::now();
        let mut running = None;
        let mut heard = Heard::new(call.stdout);
        let work = async {
            let started = self.start(program).await.map_err(|error| Reason::NotStarted(error.to_string()))?;
            heard.listen(running.insert(started)).await
        };
        let ending = tokio::time::timeout(call.limit, work).await.unwrap_or(Err(Reason::OutOfTime));
        let elapsed = begun.elapsed();
        let mut left_behind = 0;
        let mut printed = String::new();
        if let Some(running) = &mut running {
            match ending {
                Ok(_) => left_behind = running.sweep().await,
                Err(_) => running.end(StopRequest::default()).await,
            }
            printed = running.stderr().text();
        }
        let (exit, reason) = match ending {
            Ok(exit) if exit.is_success() => {
                return Ok(Finished { stdout: heard.stdout, elapsed, left_behind });
            }
            Ok(exit) => (Some(exit), Reason::Ended),
            Err(reason) => (None, reason),
        };
        if printed.trim().is_empty() {
            printed = heard.end.text();
        }
        let printed = end_of(printed.trim(), PRINTED).to_owned();
        Err(CommandFailure {
            command: call.shown.to_owned(),
            exit,
            elapsed,
            limit: call.limit,
            printed,
            reason,
        })
    }

    async fn start(&self, mut program: Program) -> io::Result<Running> {
        match self.sandbox {
            Some(sandbox) => sandbox.start(program).await,
            None => {
                program.removed_env.extend(DROPPED_VARIABLES.iter().map(OsString::from));
                Running::start(&program)
            }
        }
    }
}

impl Bounds<'_> {
    /// Returns when the run is cancelled or out of time.
    pub(super) async fn cut_off(&self) -> CutOff {
        self.limits.cut_off(self.cancel).await
    }

    /// As [`Bounds::apply`], for a step that has a limit of its own.
    pub(super) async fn step<T>(
        &self,
        what: &str,
        limit: Duration,
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let limited = async {
            tokio::time::timeout(limit, work).await.unwrap_or_else(|_| {
                Err(Error::new(ErrorKind::StepTimeout, format!("{what} within {limit:?}"))
                    .with_hint("raise the limit of this step with `timeouts`"))
            })
        };
        self.apply(what, limited).await
    }

    /// Does `work`, unless the run is cancelled or out of time meanwhile: then it is dropped, and what it started has
    /// ended when this returns.
    pub(super) async fn apply<T>(&self, what: &str, work: impl Future<Output = Result<T>>) -> Result<T> {
        tokio::select! {
            biased;
            end = self.cut_off() => Err(failure::cut_off(end, what, self.limits)),
            result = work => result,
        }
    }
}

impl CommandFailure {
    /// Tells whether it has not even begun.
    pub(super) fn is_of_the_start(&self) -> bool {
        matches!(self.reason, Reason::NotStarted(_))
    }

    /// Makes the error of a run of it; `what` completes "failed to ...".
    pub(super) fn into_error(self, otherwise: ErrorKind, what: &str) -> Error {
        let kind = if self.reason == Reason::OutOfTime { ErrorKind::StepTimeout } else { otherwise };
        Error::new(kind, format!("{what}: {self}")).with_source(self)
    }
}

impl fmt::Display for CommandFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { command, elapsed, limit, .. } = self;
        let command = one_line(command);
        match (&self.reason, self.exit) {
            (Reason::NotStarted(why), _) => write!(f, "`{command:.200}` could not be started: {why}")?,
            (Reason::Lost(why), _) => write!(f, "`{command:.200}` could not be waited for: {why}")?,
            (Reason::OutOfTime, _) => {
                write!(f, "`{command:.200}` took longer than {limit:?} and was ended after {elapsed:.1?}")?
            }
            (Reason::TooMuch(limit), _) => {
                write!(f, "`{command:.200}` printed more than {limit} bytes on its standard output")?;
            }
            (Reason::Ended, exit) => {
                let exit = exit.unwrap_or(Exit::Ended);
                write!(f, "`{command:.200}` ended with {exit} after {elapsed:.1?}")?;
            }
        }
        match end_of(&self.printed, SHOWN) {
            "" => Ok(()),
            end if end.len() < self.printed.len() => write!(f, ": …{}", one_line(end)),
            end => write!(f, ": {}", one_line(end)),
        }
    }
}

impl std::error::Error for CommandFailure {}

/// What a command prints on its standard output.
struct Heard {
    keep: Stdout,
    stdout: Vec<u8>,
    end: Tail,
}

impl Heard {
    fn new(keep: Stdout) -> Self {
        Self { keep, stdout: Vec::new(), end: Tail::new(PRINTED) }
    }

    async fn listen(&mut self, running: &mut Running) -> Result<Exit, Reason> {
        loop {
            match running.next().await.map_err(|error| Reason::Lost(error.to_string()))? {
                Output::Exited(status) => return Ok(Exit::from(status)),
                Output::Stdout(bytes) => self.push(bytes)?,
            }
        }
    }

    fn push(&mut self, bytes: &[u8]) -> Result<(), Reason> {
        self.end.push(bytes);
        match self.keep {
            Stdout::Whole(limit) if self.stdout.len() + bytes.len() > limit => Err(Reason::TooMuch(limit)),
            Stdout::Whole(_) => {
                self.stdout.extend_from_slice(bytes);
                Ok(())
            }
            Stdout::End => Ok(()),
        }
    }
}

/// Returns the last characters of a text, about `limit` bytes.
fn end_of(text: &str, limit: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(limit))..]
}
