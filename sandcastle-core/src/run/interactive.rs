//! A session that a person holds with an agent, in the agent's own terminal program.

use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use tracing::Instrument;

use super::arguments::check_arguments;
use super::driver::{Job, resolved_prompt};
use super::entry::{self, Checked};
use super::event::RunEvent;
use super::failure;
use super::iteration::Stage;
use super::ledger::Ledger;
use super::options::{RunOptions, Settings};
use super::output_mode::InteractiveOutput;
use super::workplace::{Work, Workplace};
use crate::agent::{AgentCommand, AgentRequest, StopRequest};
use crate::error::{Error, ErrorKind, Result};
use crate::id::{BranchName, RunId};
use crate::sandbox::{BoxFuture, Output, Program, Streams};
use crate::work::{Commit, Exit};

/// Holds what came of an interactive session.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct InteractiveResult {
    /// The exit code of the agent's program; `None` if a signal ended it.
    pub exit_code: Option<i32>,
    /// The commits that were made, oldest first.
    pub commits: Vec<Commit>,
    /// The branch that has the commits.
    pub branch: BranchName,
    /// The worktree that was kept because it holds something of value.
    pub preserved_worktree: Option<PathBuf>,
    /// Things that went wrong without failing the session.
    pub warnings: Vec<String>,
    /// Names the session's run, as [`Runs`](crate::journal::Runs) lists it.
    pub run_id: RunId,
}

/// Starts the agent's own terminal program on this process's terminal, and waits until the person leaves it.
///
/// The prompt, if there is one, is what the session begins with. Options that ask for an output do not compile here. Those
/// that are about an agent that works alone are refused: `max_iterations`, `completion_signal`, `idle_timeout`, `liveness` and
/// `completion_timeout`.
///
/// # Errors
/// When the options do not pass the checks, the agent has no terminal program, or the program cannot be started. A bad
/// exit code is not an error.
///
/// # Cancel safety
/// Dropping the future kills the program and everything it started.
///
/// # Examples
/// ```no_run
/// # use sandcastle_core as sandcastle;
/// # use sandcastle::{Agent, SandboxProvider};
/// # async fn example(agent: impl Agent, sandbox: impl SandboxProvider) -> sandcastle::Result<()> {
/// use sandcastle::RunOptions;
///
/// let result = sandcastle::interactive(RunOptions::new(agent, sandbox)).await?;
/// println!("{} commits on {}", result.commits.len(), result.branch);
/// # Ok(()) }
/// ```
pub fn interactive<O: InteractiveOutput>(
    options: RunOptions<O>,
) -> BoxFuture<'static, Result<InteractiveResult>> {
    Box::pin(hold(options.settings))
}

async fn hold(settings: Settings) -> Result<InteractiveResult> {
    let checked =
        entry::check_interactive(&settings).await.map_err(|error| settings.cancel.explain(error))?;
    // Before anything is made: whether it can be opened, and that what is known by now shows no declared secret.
    let said = checked.prompt.as_ref().map(entry::known_text).unwrap_or_default();
    let command = command_of(&settings, &checked, &checked.cwd, &said)?;
    check_arguments(&command.program, &command.args, &checked.secrets)?;
    let (job, mut ledger) = Job::begin(settings, checked)?;
    match hold_open(&job, &mut ledger).instrument(job.span()).await {
        Ok(exit_code) => {
            let work = ledger.succeed();
            Ok(InteractiveResult {
                exit_code,
                commits: work.commits,
                branch: work.branch.unwrap_or_else(|| BranchName::from_git("HEAD")),
                preserved_worktree: work.preserved_worktree,
                warnings: work.warnings,
                run_id: job.checked.run,
            })
        }
        Err(error) => Err(ledger.fail(job.settings.cancel.explain(error))),
    }
}

/// Makes the place, lets the person work in it, and puts it away; whatever is of value in it is kept.
async fn hold_open(job: &Job, ledger: &mut Ledger) -> Result<Option<i32>> {
    let workplace = Workplace::open(job, 1, ledger).await?;
    let held = hold_in(job, &workplace, ledger).await;
    let how = if held.is_ok() { Work::Finished } else { Work::Failed };
    let closed = workplace.close(job, how, ledger).await;
    ledger.settled(held, closed)
}

async fn hold_in(job: &Job, workplace: &Workplace, ledger: &mut Ledger) -> Result<Option<i32>> {
    let prompt = resolved_prompt(job, workplace, ledger).await?;
    Stage::new(job, workplace).bring_in(&job.checked.session, ledger).await?;
    let cwd = workplace.cwd(job);
    let command = command_of(&job.settings, &job.checked, &cwd, &prompt)?;
    if let Some(warning) = check_arguments(&command.program, &command.args, ledger.secrets())? {
        ledger.warn_once(warning);
    }
    let name = command.program.to_string_lossy().into_owned();
    let mut program = Program::new(command.program).args(command.args).streams(Streams::Terminal).cwd(&cwd);
    program.env.extend(command.env);
    program.env.extend(job.checked.environment.variables().iter().cloned());
    let agent = job.settings.agent.name().to_owned();
    ledger.tell(&RunEvent::TerminalLent { agent });
    let held = hold_terminal(job, workplace, program, command.stop, &name).await;
    let exit = held.as_ref().map_or(Exit::Ended, |status| Exit::from(*status));
    ledger.tell(&RunEvent::TerminalReturned { exit });
    Ok(held?.code())
}

/// Runs a program on the terminal to its end, and ends whatever it leaves behind.
async fn hold_terminal(
    job: &Job,
    workplace: &Workplace,
    program: Program,
    stop: StopRequest,
    name: &str,
) -> Result<ExitStatus> {
    let mut running = workplace.sandbox().start(program).await.map_err(|error| {
        Error::new(ErrorKind::AgentStart, format!("start the program `{name}`")).with_source(error)
    })?;
    let lost = |what: &str| Error::new(ErrorKind::Io, format!("{what} `{name}`"));
    let bounds = job.bounds();
    let status = tokio::select! {
        output = running.next() => match output {
            Ok(Output::Exited(status)) => status,
            Ok(Output::Stdout(_)) => return Err(lost("leave the terminal to")),
            Err(error) => return Err(lost("wait for").with_source(error)),
        },
        end = bounds.cut_off() => {
            running.end(stop).await;
            return Err(failure::cut_off(end, &format!("finish `{name}`"), &job.limits));
        }
    };
    running.sweep().await;
    Ok(status)
}

fn command_of(settings: &Settings, checked: &Checked, cwd: &Path, prompt: &str) -> Result<AgentCommand> {
    let agent = &settings.agent;
    let request = AgentRequest::new(prompt, cwd, &checked.session);
    agent.interactive_command(&request)?.ok_or_else(|| {
        let name = agent.name();
        let message = format!("open `{name}` for a person: it has no terminal program");
        Error::new(ErrorKind::InvalidOptions, message)
    })
}
