//! What the status of an HTTP answer says of a failed request to a model.

use sandcastle_core::event::FailureKind;

/// Classifies a status; `None` when it tells of no failure.
pub(crate) fn failure_of(status: u16) -> Option<FailureKind> {
    match status {
        401 | 403 => Some(FailureKind::Authentication),
        408 | 429 | 500..=599 => Some(FailureKind::Transport),
        400..=499 => Some(FailureKind::Request),
        _ => None,
    }
}
