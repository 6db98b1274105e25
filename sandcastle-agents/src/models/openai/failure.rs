//! What the names that OpenAI, and servers like it, give to errors mean.

use sandcastle_core::event::FailureKind;
use sandcastle_core::model::ModelFailure;

use crate::models::http::ErrorBody;

/// Looks closer at a failure: an account without money is told by the status of a limited rate.
pub(crate) fn refine(failure: &mut ModelFailure, body: &ErrorBody) {
    if body.is("insufficient_quota") || body.is("billing_hard_limit_reached") {
        failure.kind = FailureKind::Limit;
    }
}

/// What an error means that came inside of a stream. Its code may be the status that it would have had.
pub(crate) fn kind_of(error: &ErrorBody) -> FailureKind {
    if let Some(kind) = error.kind_by_code() {
        return kind;
    }
    for name in &error.names {
        match name.as_str() {
            "insufficient_quota" | "billing_hard_limit_reached" => return FailureKind::Limit,
            "invalid_api_key" | "authentication_error" | "permission_error" => {
                return FailureKind::Authentication;
            }
            "invalid_request_error"
            | "invalid_prompt"
            | "invalid_json_schema"
            | "context_length_exceeded"
            | "exceed_context_size_error" => return FailureKind::Request,
            _ => {}
        }
    }
    // It was being answered, so that the request is good.
    FailureKind::Transport
}
