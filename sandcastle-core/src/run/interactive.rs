//! A session that a person holds with an agent, in the agent's own terminal program.

use super::audience::Audience;
use super::entry;
use super::environment::Environment;
use super::ledger::Ledger;
use super::log::{LogName, RunLog};
use super::logging::Logging;
use super::options::{RunOptions, Settings};
use super::output_mode::InteractiveOutput;
use crate::agent::AgentRequest;
use crate::config::ConfigDir;
use crate::error::{Error, ErrorKind, Result};
use crate::id::BranchName;
use crate::sandbox::{BoxFuture, Output, Program, SandboxRequest, Streams};
use crate::work::Commit;

/// Holds what came of an interactive session.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct InteractiveResult {
    /// The exit code of the agent's program; `None` if a signal ended it.
    pub exit_code: Option<i32>,
    /// The commits that were made, oldest first.
    pub commits: Vec<Commit>,
    /// The branch that is checked out now.
    pub branch: BranchName,
    /// Things that went wrong without failing the session.
    pub warnings: Vec<String>,
}

/// Starts the agent's own terminal program on this process's terminal, and waits until the person leaves it.
///
/// The prompt, if there is one, is what the session begins with. Options that ask for an output do not compile here.
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
    let checked = entry::check_interactive(&settings).await?;
    let request = AgentRequest::new(&checked.prompt, &checked.cwd, &checked.session);
    let command = settings.agent.interactive_command(&request)?.ok_or_else(|| {
        let agent = settings.agent.name();
        Error::new(
            ErrorKind::InvalidOptions,
            format!("open `{agent}` for a person: it has no terminal program"),
        )
    })?;
    let config = ConfigDir::of(&checked.repository);
    let environment =
        Environment::of(&config, settings.sandbox.as_ref(), settings.agent.as_ref(), &settings.env)?;
    let name = LogName { target: None, source: "interactive", name: None };
    let log = RunLog::open(Some(&Logging::off()), &config, &name)?;
    let audience = Audience::new(log, None, environment.secrets(&[])?);
    let mut ledger = Ledger::new(checked.repository.clone(), audience);
    ledger.begin(&settings).await?;
    let sandbox = settings.sandbox.create(SandboxRequest::new(checked.repository.top()?)).await?;
    let name = command.program.to_string_lossy().into_owned();
    let mut program =
        Program::new(command.program).args(command.args).streams(Streams::Terminal).cwd(&checked.cwd);
    program.env.extend(command.env);
    program.env.extend(environment.variables().iter().cloned());
    let mut running = sandbox.start(program).await.map_err(|error| {
        Error::new(ErrorKind::AgentStart, format!("start the program `{name}`")).with_source(error)
    })?;
    let status = tokio::select! {
        output = running.next() => match output {
            Ok(Output::Exited(status)) => status,
            Ok(Output::Stdout(_)) => return Err(Error::new(ErrorKind::Io, format!("leave the terminal to `{name}`"))),
            Err(error) => return Err(Error::new(ErrorKind::Io, format!("wait for `{name}`")).with_source(error)),
        },
        () = settings.cancel.cancelled() => {
            running.end(command.stop).await;
            return Err(Error::new(ErrorKind::Cancelled, format!("finish `{name}`: it was cancelled")));
        }
    };
    running.sweep().await;
    let commits = ledger.collect_commits().await;
    if let Err(error) = sandbox.close().await {
        ledger.warn(format!("the sandbox `{}` was not closed: {error}", settings.sandbox.name()));
    }
    let work = ledger.succeed();
    let branch = work.branch.unwrap_or_else(|| BranchName::from_git("HEAD"));
    Ok(InteractiveResult { exit_code: status.code(), commits, branch, warnings: work.warnings })
}
