//! Why a turn of `opencode` failed.
//!
//! An error has a name and, if the model's service refused the request, an HTTP status. What the program says before a
//! turn begins stands on its error output.

use sandcastle_core::event::FailureKind;

use super::wire::Failure;
use crate::excerpt::message;
use crate::http_status::failure_of;

pub(super) fn classify(failure: &Failure<'_>) -> FailureKind {
    let details = failure.data.as_ref();
    let by_status = || details.and_then(|details| *details.status_code).and_then(failure_of);
    let retryable = || details.is_some_and(|details| details.is_retryable.unwrap_or(false));
    by_name(failure.name.as_deref().unwrap_or_default())
        .or_else(by_status)
        .or_else(|| retryable().then_some(FailureKind::Transport))
        .unwrap_or(FailureKind::Other)
}

fn by_name(name: &str) -> Option<FailureKind> {
    match name {
        "ProviderAuthError" => Some(FailureKind::Authentication),
        "ProviderModelNotFoundError" | "ContextOverflowError" => Some(FailureKind::Request),
        "MessageOutputLengthError" => Some(FailureKind::OutputLimit),
        "ContentFilterError" => Some(FailureKind::Filtered),
        "MessageAbortedError" => Some(FailureKind::Interrupted),
        _ => None,
    }
}

/// Words the failure for a person: the status, if there was one, and what was said.
pub(super) fn for_a_person(failure: &Failure<'_>) -> String {
    let details = failure.data.as_ref();
    let name = failure.name.as_deref().unwrap_or("an error without a name");
    let said = details.and_then(|details| details.message.as_deref()).filter(|said| !said.trim().is_empty());
    match (details.and_then(|details| *details.status_code), said) {
        (Some(status), said) => message(&format!("{status} {}", said.unwrap_or(name))),
        (None, said) => message(said.unwrap_or(name)),
    }
}

/// Classifies a failure that the program reports on its error output.
pub(super) fn of_start(stderr: &str) -> Option<FailureKind> {
    stderr.contains("Session not found").then_some(FailureKind::SessionNotFound)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(json: &str) -> (FailureKind, String) {
        let failure = serde_json::from_str(json).unwrap();
        (classify(&failure), for_a_person(&failure))
    }

    #[test]
    fn the_status_of_the_service_decides_among_refusals() {
        let told = |status: u16| {
            told(&format!(r#"{{"name":"APIError","data":{{"message":"no","statusCode":{status}}}}}"#))
        };
        assert_eq!(told(401), (FailureKind::Authentication, "401 no".to_owned()));
        assert_eq!(told(429).0, FailureKind::Transport);
        assert_eq!(told(400).0, FailureKind::Request);
    }

    #[test]
    fn other_errors_are_known_by_name() {
        let (kind, message) = told(r#"{"name":"ContentFilterError","data":{"message":"blocked"}}"#);
        assert_eq!((kind, message.as_str()), (FailureKind::Filtered, "blocked"));
        assert_eq!(told(r#"{"name":"ProviderAuthError","data":{}}"#).0, FailureKind::Authentication);
        assert_eq!(told(r#"{"name":"APIError","data":{"isRetryable":true}}"#).0, FailureKind::Transport);
        assert_eq!(
            told(r#"{"name":"UnknownError","data":7}"#),
            (FailureKind::Other, "UnknownError".to_owned())
        );
        assert_eq!(told("{}").1, "an error without a name");
    }

    #[test]
    fn an_unknown_session_is_told_on_the_error_output() {
        assert_eq!(
            of_start("\u{1b}[91mError: \u{1b}[0mSession not found\n"),
            Some(FailureKind::SessionNotFound)
        );
        assert_eq!(of_start("Error: something else"), None);
    }
}
