//! What Anthropic's names for errors mean, where no status says it: inside a stream that began as a success.

use sandcastle_core::event::FailureKind;
use sandcastle_core::model::ModelFailure;

use crate::models::http::ErrorBody;

/// The failure that an `error` event tells of.
pub(super) fn in_stream(error: &ErrorBody) -> ModelFailure {
    let kind = match error.names.first().map(String::as_str).unwrap_or_default() {
        "authentication_error" | "permission_error" => FailureKind::Authentication,
        "invalid_request_error" | "not_found_error" | "request_too_large" => FailureKind::Request,
        "billing_error" => FailureKind::Limit,
        // Overloaded, out of rate, out of time, or broken: it was being answered, so that the request is good.
        _ => FailureKind::Transport,
    };
    error.failure(kind)
}
