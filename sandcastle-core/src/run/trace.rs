//! Spans and events of `tracing`, for programs that have a subscriber. Without one they cost a comparison.
//!
//! Spans say where in a run something happens: `run`, and in it `sandbox`, `hook`, `iteration` and `attempt`. Warnings are
//! events of the level `WARN`, what happens is `INFO`, and the names of tools are `DEBUG`. What an agent says is told at no
//! level, and secrets are masked before anything comes here.

use tracing::{Span, debug, info, info_span, warn};

use super::event::RunEvent;
use crate::event::AgentEvent;
use crate::id::RunId;

/// Spans a run.
pub(super) fn run(id: &RunId, agent: &str, name: Option<&str>, branch: &str) -> Span {
    info_span!("run", run = id.as_str(), agent, name, branch)
}

/// Spans the making of a sandbox.
pub(super) fn sandbox(name: &str) -> Span {
    info_span!("sandbox", sandbox = name)
}

/// Spans a hook.
pub(super) fn hook(name: &str) -> Span {
    info_span!("hook", hook = name)
}

/// Spans one agent process.
pub(super) fn iteration(number: u32) -> Span {
    info_span!("iteration", number)
}

/// Spans one attempt at an output.
pub(super) fn attempt(number: u32) -> Span {
    info_span!("attempt", number)
}

/// Tells subscribers what happened.
pub(super) fn event(event: &RunEvent) {
    match event {
        RunEvent::Started { agent, branch } => info!(agent, branch = branch.as_str(), "run started"),
        RunEvent::WorktreeReady { path, branch, fresh } => {
            info!(path = %path.display(), branch = branch.as_str(), fresh, "worktree ready");
        }
        RunEvent::HookStarted { hook, .. } => info!(hook, "hook started"),
        RunEvent::HookEnded { hook, exit, .. } => info!(hook, %exit, "hook ended"),
        RunEvent::Expanded { tokens, .. } => info!(tokens, "shell expression replaced"),
        RunEvent::StrategyChosen { choice } => info!(strategy = choice.strategy.as_str(), "strategy chosen"),
        RunEvent::IterationStarted { number } => info!(number, "agent process started"),
        RunEvent::ExtractionStarted { session } => info!(session = session.as_str(), "extraction started"),
        RunEvent::Silent { minutes } => info!(minutes, "agent silent"),
        RunEvent::IterationEnded { exit, usage } => {
            info!(%exit, tokens = usage.total_tokens(), "agent process ended");
        }
        RunEvent::TerminalLent { agent } => info!(agent, "terminal lent"),
        RunEvent::TerminalReturned { exit } => info!(%exit, "terminal returned"),
        RunEvent::SessionCaptured { id, .. } => info!(session = id.as_str(), "session captured"),
        RunEvent::Merged { source, target, commits } => {
            info!(source = source.as_str(), target = target.as_str(), commits, "merged");
        }
        // What is wrong with an answer quotes it.
        RunEvent::AttemptFailed { number, outcome, remaining, .. } => {
            warn!(number, ?outcome, remaining, "attempt failed");
        }
        RunEvent::ChangeUndone { paths, refs, .. } => {
            warn!(paths = paths.len(), refs = refs.len(), "change undone");
        }
        RunEvent::BudgetReached { spent } => warn!("{spent}"),
        RunEvent::FallbackUsed { .. } => warn!("fallback used"),
        RunEvent::CannedUsed { .. } => warn!("canned value used"),
        RunEvent::Warning { message } => warn!("{message}"),
        RunEvent::Agent { event: AgentEvent::ToolCall { name, .. } } => {
            debug!(tool = name.as_str(), "tool called")
        }
        RunEvent::Agent { .. } | RunEvent::RawLine { .. } | RunEvent::LogOpened { .. } => {}
    }
}

#[cfg(test)]
#[path = "tests/trace.rs"]
mod tests;
