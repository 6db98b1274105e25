//! Why a turn of `copilot` failed.
//!
//! An error has a class and, where the service answered, a status; a request that got no answer has a sentence only.

use sandcastle_core::event::FailureKind;

use crate::http_status::failure_of;

/// Parts of messages that tell of a service that could not be reached, or was not for long enough.
const TRANSPORT: &[&str] =
    &["Failed to get response from the AI model", "HTTP request", "rate limit", "timed out", "connect"];

/// Classifies an error by its class, the status of the service, and its message.
pub(super) fn classify(class: &str, status: Option<u16>, text: &str) -> FailureKind {
    let by_class = match class {
        "authentication" | "authorization" => Some(FailureKind::Authentication),
        "quota" => Some(FailureKind::Limit),
        "rate_limit" => Some(FailureKind::Transport),
        "context_limit" => Some(FailureKind::Request),
        "policy" => Some(FailureKind::Refused),
        _ => None,
    };
    let by_text = || TRANSPORT.iter().any(|words| text.contains(words)).then_some(FailureKind::Transport);
    by_class.or_else(|| failure_of(status?)).or_else(by_text).unwrap_or(FailureKind::Other)
}

/// Classifies a failure that the program reports on its error output before it begins a turn.
pub(super) fn of_start(stderr: &str) -> Option<FailureKind> {
    const STARTS: [(&str, FailureKind); 2] = [
        ("Error: No session, task, or name matched", FailureKind::SessionNotFound),
        ("Error: No authentication information found", FailureKind::Authentication),
    ];
    let of_line =
        |line: &str| STARTS.iter().find(|(start, _)| line.starts_with(start)).map(|&(_, kind)| kind);
    stderr.lines().rev().find_map(of_line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_told_apart() {
        assert_eq!(classify("authentication", Some(401), ""), FailureKind::Authentication);
        assert_eq!(classify("quota", Some(429), ""), FailureKind::Limit);
        assert_eq!(classify("rate_limit", Some(429), ""), FailureKind::Transport);
        assert_eq!(classify("query", Some(500), ""), FailureKind::Transport);
        assert_eq!(classify("query", Some(400), ""), FailureKind::Request);
        let lost = "Failed to get response from the AI model; retried 5 times";
        assert_eq!(classify("query", None, lost), FailureKind::Transport);
        assert_eq!(classify("query", None, "No response was returned."), FailureKind::Other);
    }

    #[test]
    fn what_is_reported_before_the_turn_is_told_apart() {
        let unknown = "Error: No session, task, or name matched 'x'.\n\nTo resume by name: copilot\n";
        assert_eq!(of_start(unknown), Some(FailureKind::SessionNotFound));
        assert_eq!(of_start("it said Error: No session, task, or name matched"), None);
    }
}
