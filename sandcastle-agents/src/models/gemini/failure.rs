//! What Gemini says of failures beside their status: a wrong key is a bad request here, and the wait stands in the body.

use std::time::Duration;

use sandcastle_core::event::FailureKind;
use sandcastle_core::model::ModelFailure;
use serde_json::Value;

use crate::models::http::{ErrorBody, wait};

/// Looks closer at a failure.
pub(super) fn refine(failure: &mut ModelFailure, body: &ErrorBody) {
    let details = || body.details.as_array().into_iter().flatten();
    if details().any(|detail| detail["reason"] == "API_KEY_INVALID") {
        failure.kind = FailureKind::Authentication;
    }
    failure.retry_after = failure.retry_after.or_else(|| details().find_map(delay));
}

/// `{"@type": "...RetryInfo", "retryDelay": "37.5s"}`
fn delay(detail: &Value) -> Option<Duration> {
    wait(detail["retryDelay"].as_str()?.strip_suffix('s')?.parse().ok()?)
}

/// The failure that an error within a stream tells of. Its code is the status that it would have had.
pub(super) fn in_stream(error: &ErrorBody) -> ModelFailure {
    let mut failure = error.failure(error.kind_by_code().unwrap_or(FailureKind::Transport));
    refine(&mut failure, error);
    failure
}
