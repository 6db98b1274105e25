//! How the failures of a run are worded.

use super::deadline::{CutOff, Limits};
use super::iteration::{Stage, TurnEnd};
use super::spending;
use crate::error::{Error, ErrorKind};
use crate::event::{FailureKind, StopReason};
use crate::output::one_line;

/// Words the end of a turn that gave no answer.
pub(super) fn error_of(end: &TurnEnd, stage: &Stage<'_>) -> Error {
    let agent = stage.agent.name();
    match end {
        TurnEnd::Cancelled => cut_off(CutOff::Cancelled, &format!("finish `{agent}`"), &stage.limits),
        TurnEnd::OutOfTime => cut_off(CutOff::OutOfTime, &format!("finish `{agent}`"), &stage.limits),
        TurnEnd::OverBudget(spent) => spending::error_of(*spent, &format!("finish `{agent}`")),
        TurnEnd::Idle => {
            let limit = stage.limits.idle;
            Error::new(ErrorKind::IdleTimeout, format!("finish `{agent}`: it was silent for {limit:?}"))
                .with_hint("raise `idle_timeout` if it was at work, for example in a long build")
        }
        TurnEnd::Failed(FailureKind::SessionNotFound, message) => {
            let message = one_line(message);
            Error::new(ErrorKind::SessionNotFound, format!("resume the session: {message}")).with_hint(
                "a session is known to the agent that held it, on the same host and in the same folder",
            )
        }
        TurnEnd::Lost(why) => {
            let why = one_line(why);
            Error::new(ErrorKind::Sandbox, format!("finish `{agent}`: what it ran in is gone: {why}"))
                .with_hint("what came back before is on the branch and in the worktree")
        }
        TurnEnd::Failed(kind @ FailureKind::SchemaRefused, message) => {
            with_advice(*kind, failed(agent, &format!("the schema of the answer was refused: {message}")))
        }
        TurnEnd::Failed(kind, message) => with_advice(*kind, failed(agent, message)),
        TurnEnd::Completed(StopReason::Refused) => failed(agent, "the model refused to answer"),
        TurnEnd::Completed(StopReason::Filtered) => {
            failed(agent, "the model's service held the answer back because of what it says")
        }
        TurnEnd::Completed(StopReason::OutputLimit) => failed(agent, "the model ran into its output limit"),
        TurnEnd::Completed(StopReason::ContextLimit) => {
            failed(agent, "the conversation fills all that the model can see")
        }
        TurnEnd::Completed(StopReason::Complete) => {
            failed(agent, "it ended its turn without saying anything")
        }
    }
}

/// Words what was cut off while the run was about to do `what`.
pub(super) fn cut_off(cut_off: CutOff, what: &str, limits: &Limits) -> Error {
    match cut_off {
        CutOff::Cancelled => Error::new(ErrorKind::Cancelled, format!("{what}: the run was cancelled")),
        CutOff::OutOfTime => {
            let limit = limits.total.unwrap_or_default();
            Error::new(ErrorKind::TotalTimeout, format!("{what} within {limit:?}"))
                .with_hint("raise `total_timeout`, or resume the session to go on")
        }
    }
}

/// An error that only a mistake of ours can cause.
pub(super) fn internal() -> Error {
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
        FailureKind::SchemaRefused => error.with_hint(
            "change the type, use the strategy `tag`, or `auto` with the tag in the prompt, which is then used instead",
        ),
        FailureKind::Limit | FailureKind::Budget => {
            error.with_hint("raise the agent's limit, or resume the session to go on")
        }
        _ => error,
    }
}
