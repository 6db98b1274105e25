//! The entry points that give a value, and the types that say which value.

use std::future::Future;
use std::pin::Pin;

use serde_json::Value;

use super::contract::{Contract, Described, Nothing, Typed};
use super::driver;
use super::options::RunOptions;
use super::outcome::RunResult;
use crate::error::Result;
use crate::output::{AgentOutput, OutputSpec};

/// A run that goes on while it is awaited; dropping it ends the run.
///
/// It is a named type, and the entry points are no `async fn`, so that a type that is not an output is one compile error
/// and not three.
pub type RunFuture<V> = Pin<Box<dyn Future<Output = Result<RunResult<V>>> + Send>>;

/// Marks options that ask for no structured output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoOutput {}

mod sealed {
    use super::{AgentOutput, NoOutput};

    pub trait Sealed {}
    impl Sealed for NoOutput {}
    impl<T: AgentOutput> Sealed for T {}
}

/// What options can ask for: nothing ([`NoOutput`]), or a type that an agent can answer with.
pub trait RunOutput: sealed::Sealed + 'static {
    /// What [`RunResult::output`] is.
    type Value: Send + 'static;

    #[doc(hidden)]
    type Contract: Contract<Value = Self::Value>;

    #[doc(hidden)]
    fn contract() -> Self::Contract;
}

impl RunOutput for NoOutput {
    type Value = ();
    type Contract = Nothing;

    fn contract() -> Nothing {
        Nothing
    }
}

impl<T: AgentOutput> RunOutput for T {
    type Value = T;
    type Contract = Typed<T>;

    fn contract() -> Typed<T> {
        Typed::new()
    }
}

/// What an interactive session can be asked for: nothing.
///
/// A person ends the session when they like, so there is no answer to read.
#[diagnostic::on_unimplemented(
    message = "an interactive session cannot give the output `{Self}`",
    label = "these options ask for an output",
    note = "leave out `.output::<{Self}>()`, or get the value from an unattended run: `sandcastle::run_with::<{Self}>(options)`"
)]
pub trait InteractiveOutput: sealed::Sealed + 'static {}

impl InteractiveOutput for NoOutput {}

/// Runs an agent and returns what it did, with the output that the options ask for.
///
/// # Errors
/// Before the agent is asked for anything, when the options do not pass the checks ([`Error::is_entry_check`]); afterwards when
/// a step around the agent or the agent fails, a time limit is reached, the run is cancelled, the commits cannot be
/// merged, or no valid output is obtained ([`Error::structured_output`]). Every error of a started run carries the
/// [`Work`] that was done.
///
/// # Cancel safety
/// Dropping the future kills the agent and everything it started, and returns when they are gone. Commits, files and the
/// worktree stay as they are, and the branch can be used by another run.
///
/// # Examples
/// ```
/// # use sandcastle_core as sandcastle;
/// # use sandcastle::{Agent, SandboxProvider};
/// # async fn example(agent: impl Agent, sandbox: impl SandboxProvider) -> sandcastle::Result<()> {
/// use sandcastle::RunOptions;
///
/// let result = sandcastle::run(RunOptions::new(agent, sandbox).prompt("Fix the failing test.")).await?;
/// println!("{} commits on {}", result.commits.len(), result.branch);
/// # Ok(()) }
/// ```
///
/// [`Error::is_entry_check`]: crate::Error::is_entry_check
/// [`Error::structured_output`]: crate::Error::structured_output
/// [`Work`]: crate::Work
pub fn run<O: RunOutput>(options: RunOptions<O>) -> RunFuture<O::Value> {
    Box::pin(driver::drive(options.settings, O::contract()))
}

/// Runs an agent that has to answer with a `T`, and returns it with what the agent did.
///
/// The same as [`run`] with [`RunOptions::output`].
///
/// # Errors
/// As [`run`]. When the agent finished and no valid `T` was obtained, [`Error::structured_output`] holds the exact
/// answer, every problem, and what is needed to go on.
///
/// # Cancel safety
/// As [`run`].
///
/// # Examples
/// ```
/// # use sandcastle_core as sandcastle;
/// # use sandcastle::{Agent, SandboxProvider};
/// # async fn example<Review: sandcastle::AgentOutput>(agent: impl Agent, sandbox: impl SandboxProvider) -> sandcastle::Result<()> {
/// use sandcastle::RunOptions;
///
/// let prompt = format!("Review this repository.\n\n{}", Review::prompt_snippet());
/// let result = sandcastle::run_with::<Review>(RunOptions::new(agent, sandbox).prompt(prompt)).await?;
/// let review: Review = result.output;
/// # let _ = review; Ok(()) }
/// ```
///
/// [`Error::structured_output`]: crate::Error::structured_output
pub fn run_with<T: AgentOutput>(options: RunOptions) -> RunFuture<T> {
    run(options.output::<T>())
}

/// Runs an agent whose answer is described at run time.
///
/// # Errors
/// As [`run_with`].
///
/// # Cancel safety
/// As [`run`].
///
/// # Examples
/// ```
/// # use sandcastle_core as sandcastle;
/// # use sandcastle::{Agent, SandboxProvider};
/// # async fn example(agent: impl Agent, sandbox: impl SandboxProvider) -> sandcastle::Result<()> {
/// use sandcastle::{OutputSpec, RunOptions};
///
/// let schema = serde_json::json!({ "type": "object", "properties": { "n": { "type": "integer" } } });
/// let spec = OutputSpec::json("result", schema)?;
/// let prompt = format!("Count the files.\n\n{}", spec.prompt_snippet());
/// let options = RunOptions::new(agent, sandbox).prompt(prompt);
/// let result = sandcastle::run_spec(options, spec).await?;
/// println!("{}", result.output["n"]);
/// # Ok(()) }
/// ```
pub fn run_spec(options: RunOptions, spec: OutputSpec) -> RunFuture<Value> {
    Box::pin(driver::drive(options.settings, Described::new(spec)))
}
