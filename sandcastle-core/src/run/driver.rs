//! The way of every run: checks, sandbox, iterations, outcome.

use std::sync::Arc;

use super::deadline::Limits;
use super::entry::{self, Checked};
use super::event::RunEvent;
use super::iteration::{Stage, TurnEnd};
use super::ledger::Ledger;
use super::log::RunLog;
use super::options::Settings;
use super::outcome::{Ending, RunResult};
use super::retry::Attempts;
use crate::error::Result;
use crate::event::StopReason;
use crate::output::locate::Locator;
use crate::output::{ExtractError, OutputSpec};
use crate::prompt;
use crate::sandbox::SandboxRequest;
use crate::session::SessionRequest;

/// What a run has to bring, and how a block is read into it.
pub(super) struct Contract<V> {
    spec: Option<Arc<OutputSpec>>,
    read: Box<Read<V>>,
}

/// Reads a block; `None` is given before there is one, and back when a block is needed.
type Read<V> = dyn Fn(Option<&str>) -> Option<Result<V, ExtractError>> + Send + Sync;

impl<V> Contract<V> {
    pub(super) fn new(
        spec: Option<Arc<OutputSpec>>,
        read: impl Fn(Option<&str>) -> Option<Result<V, ExtractError>> + Send + Sync + 'static,
    ) -> Self {
        Self { spec, read: Box::new(read) }
    }
}

/// Judges what was located in an answer, and keeps the value if it is good.
pub(super) type Judge<'a> = dyn FnMut(Locator) -> Verdict + Send + 'a;

/// What became of one turn as an attempt.
pub(super) enum Verdict {
    Accepted,
    Refused(ExtractError),
    Failed(TurnEnd),
}

/// Runs from the options to the result.
pub(super) async fn drive<V: Send>(settings: Settings, contract: Contract<V>) -> Result<RunResult<V>> {
    let checked = entry::check(&settings, contract.spec.as_deref()).await?;
    let name = settings.name.clone();
    let log =
        RunLog::open(settings.logging.as_ref(), checked.repository.top(), name.as_deref().unwrap_or("run"))?;
    let mut ledger = Ledger::new(checked.repository.clone(), log, settings.on_event.clone());
    let mut value = (contract.read)(None).and_then(Result::ok);
    let mut judge = |locator: Locator| match locator.finish() {
        Err(error) => Verdict::Refused(error),
        Ok(block) => match (contract.read)(Some(block.as_str())) {
            Some(Ok(read)) => {
                value = Some(read);
                Verdict::Accepted
            }
            Some(Err(error)) => Verdict::Refused(error),
            None => Verdict::Accepted,
        },
    };
    let ending = go(&settings, checked, contract.spec.as_deref(), &mut judge, &mut ledger).await;
    match (ending, value) {
        (Ok(ending), Some(value)) => Ok(RunResult::new(value, ledger.succeed(), ending, settings)),
        (Ok(_), None) => Err(ledger.fail(finish::internal())),
        (Err(error), _) => Err(ledger.fail(error)),
    }
}

async fn go(
    settings: &Settings,
    checked: Checked,
    spec: Option<&OutputSpec>,
    judge: &mut Judge<'_>,
    ledger: &mut Ledger,
) -> Result<Ending> {
    let limits = Limits::new(settings.idle_timeout, settings.completion_timeout, settings.total_timeout);
    ledger.begin(settings).await?;
    for key in &checked.unused_arguments {
        ledger.warn(format!("the prompt has no `{{{{{key}}}}}`: its argument was not used"));
    }
    if let Some(command) = prompt::slash_command(&checked.prompt) {
        ledger.warn(format!(
            "the prompt begins with `{command}`: it is sent as plain text and not as a command"
        ));
    }
    let sandbox = settings.sandbox.create(SandboxRequest::new(checked.repository.top())).await?;
    let stage = Stage {
        agent: Arc::clone(&settings.agent),
        sandbox: Arc::clone(&sandbox),
        cwd: checked.cwd,
        env: settings.env.clone(),
        signals: settings.completion_signals.clone(),
        limits,
        cancel: settings.cancel.clone(),
    };
    let ending = match spec {
        Some(spec) => Attempts::new(&stage, spec).run(checked.prompt, checked.session, judge, ledger).await,
        None => iterate(&stage, settings.max_iterations, &checked.prompt, checked.session, ledger).await,
    };
    if let Err(error) = sandbox.close().await {
        // What the run has brought outweighs a sandbox that does not close.
        ledger.warn(format!("the sandbox `{}` was not closed: {error}", settings.sandbox.name()));
    }
    ending
}

/// Runs agent processes until one gives the completion signal or there have been enough.
async fn iterate(
    stage: &Stage,
    count: u32,
    prompt: &str,
    mut session: SessionRequest,
    ledger: &mut Ledger,
) -> Result<Ending> {
    for number in 1..=count {
        ledger.tell(&RunEvent::IterationStarted { number });
        let turn = stage.play(prompt, &session, None, ledger).await?;
        session = SessionRequest::Fresh;
        ledger.collect_commits().await;
        ledger.record(turn.record);
        match &turn.end {
            TurnEnd::Completed(StopReason::Complete) if turn.spoke => {}
            TurnEnd::Completed(_) => return Err(finish::no_answer(&turn.end, stage)),
            end => return Err(finish::error_of(end, stage)),
        }
        if turn.signal.is_some() {
            return Ok(Ending { completion_signal: turn.signal, answer_guarantee: None });
        }
    }
    Ok(Ending::default())
}

pub(super) mod finish {
    //! The errors that end a run.

    use super::{Stage, StopReason, TurnEnd};
    use crate::error::{Error, ErrorKind};
    use crate::event::FailureKind;
    use crate::output::one_line;

    /// Words the end of a turn that did not complete.
    pub(in crate::run) fn error_of(end: &TurnEnd, stage: &Stage) -> Error {
        let agent = stage.agent.name();
        match end {
            TurnEnd::Cancelled => {
                Error::new(ErrorKind::Cancelled, format!("finish `{agent}`: the run was cancelled"))
            }
            TurnEnd::Idle => {
                let limit = stage.limits.idle;
                Error::new(ErrorKind::IdleTimeout, format!("finish `{agent}`: it was silent for {limit:?}"))
                    .with_hint("raise `idle_timeout` if it was at work, for example in a long build")
            }
            TurnEnd::OutOfTime => {
                let limit = stage.limits.total.unwrap_or_default();
                Error::new(ErrorKind::TotalTimeout, format!("finish `{agent}` within {limit:?}"))
                    .with_hint("raise `total_timeout`, or resume the session to go on")
            }
            TurnEnd::Failed(FailureKind::SessionNotFound, message) => {
                let message = one_line(message);
                Error::new(ErrorKind::SessionNotFound, format!("resume the session: {message}")).with_hint(
                    "a session is known to the agent that held it, on the same host and in the same folder",
                )
            }
            TurnEnd::Failed(kind, message) => with_advice(*kind, failed(agent, message)),
            TurnEnd::Completed(_) => no_answer(end, stage),
        }
    }

    /// Words a turn that completed without an answer.
    pub(in crate::run) fn no_answer(end: &TurnEnd, stage: &Stage) -> Error {
        let agent = stage.agent.name();
        match end {
            TurnEnd::Completed(StopReason::Refused) => failed(agent, "the model refused to answer"),
            TurnEnd::Completed(StopReason::OutputLimit) => {
                failed(agent, "the model ran into its output limit")
            }
            _ => failed(agent, "it ended its turn without saying anything"),
        }
    }

    /// An error that only a mistake of ours can cause.
    pub(in crate::run) fn internal() -> Error {
        Error::new(ErrorKind::StructuredOutput, "keep the output that was accepted")
            .with_hint("this is a mistake in sandcastle: please report it")
    }

    /// The message may be the agent's own.
    fn failed(agent: &str, message: &str) -> Error {
        let message = one_line(message);
        Error::new(ErrorKind::AgentFailed, format!("finish `{agent}`: {message}"))
    }

    fn with_advice(kind: FailureKind, error: Error) -> Error {
        match kind {
            FailureKind::Authentication => error.with_hint("give the agent a valid key, or log it in"),
            FailureKind::Transport => error.with_hint("try again later; the session can be resumed"),
            FailureKind::Limit => error.with_hint("raise the agent's limit, or resume the session to go on"),
            _ => error,
        }
    }
}
