//! Spans and events of `tracing`, for programs that have a subscriber.
//!
//! The span `model_run` is around all of it and `call` around each call. Warnings are events of the level `WARN`, answers
//! that are not accepted and models that take over are `INFO`. What anybody says is told at no level.

use tracing::{Span, info, info_span, warn};

use super::event::{ModelRunEvent, ServedBy};

/// Spans a run.
pub(super) fn run(name: &str) -> Span {
    info_span!("model_run", name)
}

/// Spans one call.
pub(super) fn call(number: u32, served_by: &ServedBy) -> Span {
    info_span!("call", number, provider = served_by.provider, model = served_by.model)
}

/// Tells subscribers what happened.
pub(super) fn event(event: &ModelRunEvent) {
    match event {
        ModelRunEvent::StrategyChosen { served_by, choice } => {
            info!(%served_by, strategy = %choice.strategy, "strategy chosen");
        }
        ModelRunEvent::ModelSkipped { served_by, .. } => info!(%served_by, "model skipped"),
        ModelRunEvent::CallFailed { number, failure, .. } => warn!(number, ?failure, "call failed"),
        ModelRunEvent::AttemptFailed { number, outcome, remaining, .. } => {
            info!(number, ?outcome, remaining, "attempt failed");
        }
        ModelRunEvent::Warning { message } => warn!("{message}"),
        _ => {}
    }
}
