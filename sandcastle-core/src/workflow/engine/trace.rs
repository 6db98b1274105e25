//! Spans of `tracing`, for programs that have a subscriber: `workflow` around all of it, and `step` around each.

use tracing::{Span, info_span};

use super::super::definition::Step;
use crate::id::RunId;

/// Spans a run.
pub(super) fn workflow(name: &str, run: &RunId) -> Span {
    info_span!("workflow", name, run = run.as_str())
}

/// Spans a step.
pub(super) fn step(step: &Step) -> Span {
    info_span!("step", step = step.name.as_str(), kind = step.kind.name())
}
