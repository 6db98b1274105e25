//! Work first, and the output afterwards: the entry points, and what the agent is asked for when its work is done.
//!
//! A run with an extraction has two phases in one workplace. In the first the agent works as in a run without an output, in as
//! many iterations as it takes. In the second it goes on with its last session, may only speak, and gives the output; `turn`
//! plays that one. Neither is a run of its own: worktree, sandbox, journal, log and budget are the same.

mod turn;

use serde_json::Value;

pub(super) use self::turn::Question;
use super::contract::{Afterwards, Contract, Described, Typed};
use super::driver;
use super::options::{RunOptions, Settings};
use super::output_mode::RunFuture;
use crate::output::{AgentOutput, OutputSpec};

/// How often an extraction is repeated if neither it nor the type says how often.
const DEFAULT_RETRIES: u32 = 2;

/// Asks an agent for an output when its work is done: see [`run_with_extraction`].
///
/// A text is one by itself: `"Sum up as <summary>JSON</summary>.".into()`. It is passed on as it is, nothing is added to it and
/// nothing in it acts as a placeholder, so it has to contain the opening tag where words carry the shape, as the prompt of any
/// run with an output; [`AgentOutput::prompt_snippet`] is made for that.
///
/// # Examples
/// ```
/// use sandcastle_core::Extraction;
///
/// let extraction = Extraction::new("Report what you did as <report>JSON</report>.").max_retries(4);
/// # let _ = extraction;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Extraction {
    prompt: String,
    retries: Option<u32>,
}

impl Extraction {
    /// Asks with this prompt.
    pub fn new(prompt: impl Into<String>) -> Self {
        Self { prompt: prompt.into(), retries: None }
    }

    /// Sets how often the agent is asked again after an answer that is not valid, 10 times at most.
    ///
    /// Without it that is as often as the type says, with `#[output(max_retries = ...)]` or [`OutputSpec::max_retries`]; if that
    /// says nothing, or 0, it is twice.
    pub fn max_retries(mut self, retries: u32) -> Self {
        self.retries = Some(retries);
        self
    }

    pub(super) fn prompt(&self) -> &str {
        &self.prompt
    }

    /// Returns how often it is asked again: what is said here goes before what the spec says, and that before the default.
    pub(super) fn retries_of(&self, spec: &OutputSpec) -> u32 {
        let of_spec = Some(spec.retries()).filter(|retries| *retries > 0);
        self.retries.or(of_spec).unwrap_or(DEFAULT_RETRIES)
    }
}

impl From<String> for Extraction {
    fn from(prompt: String) -> Self {
        Self::new(prompt)
    }
}

impl From<&str> for Extraction {
    fn from(prompt: &str) -> Self {
        Self::new(prompt)
    }
}

/// Lets an agent work, and then asks it, in the session of its last iteration, for a `T`.
///
/// The work goes as with [`run`](crate::run) without an output: its prompt need not speak of one, there may be any number of
/// iterations, and a completion signal ends it. When the last iteration has come to its end, in the same sandbox and work tree the
/// agent goes on with that session to answer `extraction`, and only then its commits land. In this turn, and in every
/// correction of its answer, it may only speak: its program is told so where it can be, and anything that changes in the work
/// tree, in what is staged, or in the refs of the repository is undone, kept on a branch of its own, and told by
/// [`RunEvent::ChangeUndone`](crate::RunEvent::ChangeUndone) and a warning. The output is valid all the same. What git keeps no
/// copy of, as it ignores it or it is another repository in the work tree, is left as it is; that it has changed is told by a
/// warning, for the first 200,000 files of it.
///
/// The result is that of the work, with the output: `text` is what was said while the agent worked; `commits` are those of the
/// work; `iterations`, `usage` and the budget count both phases, and [`Iteration::mode`](crate::Iteration) tells them apart.
/// Limits and cancellation hold for both.
///
/// With a sandbox that shares the files of this host, whatever changes in the work tree during the turn is taken for the
/// agent's doing. With the branch strategy [`head`](crate::BranchStrategy::head) that is your own checkout: what you save or
/// commit there in these seconds is undone with the rest, and is on the branch that is named.
///
/// # Errors
/// As [`run_with`](crate::run_with), and before anything is started when the agent cannot resume a session.
/// [`ErrorKind::NoSession`](crate::ErrorKind::NoSession) when it has named no session by the end of its work. Without a valid output
/// nothing of the last iteration lands: its commits are on the branch that the error names, a worktree with anything of value is
/// kept, and [`Error::work`](crate::Error::work) has the text of the work. What earlier iterations have landed stays.
///
/// # Cancel safety
/// As [`run`](crate::run). What the agent has changed in a turn that is dropped is not undone; a turn that is cancelled by its
/// token is looked at, which takes a moment.
///
/// # Examples
/// ```
/// # use sandcastle_core as sandcastle;
/// # use sandcastle::{Agent, SandboxProvider};
/// # async fn example<Report: sandcastle::AgentOutput>(agent: impl Agent, sandbox: impl SandboxProvider) -> sandcastle::Result<()> {
/// use sandcastle::RunOptions;
///
/// let work = RunOptions::new(agent, sandbox).prompt("Fix the failing tests, one by one.").max_iterations(5);
/// let question = format!("Report what you did.\n\n{}", Report::prompt_snippet());
/// let result = sandcastle::run_with_extraction::<Report>(work, question).await?;
/// let report: Report = result.output;
/// println!("{} commits on {}", result.commits.len(), result.branch);
/// # let _ = report; Ok(()) }
/// ```
pub fn run_with_extraction<T: AgentOutput>(
    options: RunOptions,
    extraction: impl Into<Extraction>,
) -> RunFuture<T> {
    afterwards(options.settings, Typed::<T>::new(), extraction.into())
}

/// Lets an agent work, and then asks it for an output that is described at run time; otherwise as [`run_with_extraction`].
///
/// # Errors
/// As there.
///
/// # Cancel safety
/// As there.
///
/// # Examples
/// ```
/// # use sandcastle_core as sandcastle;
/// # use sandcastle::{Agent, SandboxProvider};
/// # async fn example(agent: impl Agent, sandbox: impl SandboxProvider) -> sandcastle::Result<()> {
/// use sandcastle::{Extraction, OutputSpec, RunOptions};
///
/// let spec = OutputSpec::text("summary")?;
/// let question = Extraction::new(format!("Sum up.\n\n{}", spec.prompt_snippet())).max_retries(1);
/// let work = RunOptions::new(agent, sandbox).prompt("Fix the failing test.");
/// let result = sandcastle::run_spec_with_extraction(work, spec, question).await?;
/// println!("{}", result.output);
/// # Ok(()) }
/// ```
pub fn run_spec_with_extraction(
    options: RunOptions,
    spec: OutputSpec,
    extraction: impl Into<Extraction>,
) -> RunFuture<Value> {
    afterwards(options.settings, Described::new(spec), extraction.into())
}

fn afterwards<C: Contract>(settings: Settings, contract: C, extraction: Extraction) -> RunFuture<C::Value> {
    Box::pin(async move { driver::drive(settings, Afterwards::new(contract, extraction)?).await })
}
