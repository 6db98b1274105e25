//! Why a turn of `claude` failed.
//!
//! No single field says so: a rejected request ends with `subtype` `success`, a limit has a subtype of its own, and a
//! lost connection has neither a status nor a class. What is surest is asked first.

use sandcastle_core::event::FailureKind;

use crate::http_status::failure_of;
use crate::native::is_refusal_of_schema;

/// How the program words that it has no such session, on both of its outputs: by an id, and by what is no id of its.
const UNKNOWN_SESSION: [&str; 2] =
    ["No conversation found with session ID", "does not match any session title"];

/// Tells whether a message says that there is no such session.
fn is_unknown_session(message: &str) -> bool {
    UNKNOWN_SESSION.iter().any(|words| message.contains(words))
}

/// Classifies a failure that the program reports on its error output before it begins a turn.
pub(super) fn of_start(stderr: &str) -> Option<FailureKind> {
    if is_unknown_session(stderr) {
        return Some(FailureKind::SessionNotFound);
    }
    stderr.lines().any(is_about_the_schema).then_some(FailureKind::SchemaRefused)
}

/// Tells whether the program says that it has no option for a schema, or cannot take what it was given.
fn is_about_the_schema(line: &str) -> bool {
    let lower = line.trim_start().to_ascii_lowercase();
    let is_error =
        lower.starts_with("error") && ["--json-schema", "json schema"].iter().any(|it| lower.contains(it));
    is_error || lower.starts_with("--json-schema")
}

/// What is known of a failed turn; an empty text is unknown.
#[derive(Debug, Default)]
pub(super) struct Symptoms<'a> {
    pub subtype: &'a str,
    /// The class of the error that was reported in place of an answer.
    pub class: &'a str,
    pub message: &'a str,
    /// The HTTP status of the model's service.
    pub status: Option<u16>,
    pub stop_reason: &'a str,
    pub terminal_reason: &'a str,
}

pub(super) fn classify(symptoms: &Symptoms<'_>) -> FailureKind {
    by_outcome(symptoms)
        .or_else(|| refused_schema(symptoms))
        .or_else(|| symptoms.status.and_then(failure_of))
        .or_else(|| by_class(symptoms.class))
        .or_else(|| by_message(symptoms.message))
        .unwrap_or(FailureKind::Other)
}

fn by_outcome(symptoms: &Symptoms<'_>) -> Option<FailureKind> {
    if is_unknown_session(symptoms.message) {
        return Some(FailureKind::SessionNotFound);
    }
    match (symptoms.subtype, symptoms.terminal_reason, symptoms.stop_reason) {
        ("error_max_turns", ..) => Some(FailureKind::Limit),
        ("error_max_budget_usd", ..) => Some(FailureKind::Budget),
        ("error_max_structured_output_retries", ..) => Some(FailureKind::InvalidAnswer),
        (_, "prompt_too_long", _) => Some(FailureKind::Request),
        (_, reason, _) if reason.starts_with("aborted") => Some(FailureKind::Interrupted),
        (_, _, "refusal") => Some(FailureKind::Refused),
        (_, _, "max_tokens") => Some(FailureKind::OutputLimit),
        _ => None,
    }
}

fn refused_schema(symptoms: &Symptoms<'_>) -> Option<FailureKind> {
    let may_be = symptoms.status.is_none_or(|status| matches!(status, 400 | 422));
    (may_be && is_refusal_of_schema(symptoms.message)).then_some(FailureKind::SchemaRefused)
}

fn by_class(class: &str) -> Option<FailureKind> {
    match class {
        "authentication_failed" => Some(FailureKind::Authentication),
        "max_output_tokens" => Some(FailureKind::OutputLimit),
        "rate_limit" | "server_error" | "overloaded" => Some(FailureKind::Transport),
        "invalid_request" => Some(FailureKind::Request),
        "billing_error" => Some(FailureKind::Limit),
        _ => None,
    }
}

fn by_message(message: &str) -> Option<FailureKind> {
    const WORDING: &[(&str, FailureKind)] = &[
        ("output token maximum", FailureKind::OutputLimit),
        ("Unable to connect to API", FailureKind::Transport),
        ("Connection error", FailureKind::Transport),
        ("Request timed out", FailureKind::Transport),
        ("Invalid API key", FailureKind::Authentication),
        ("Please run /login", FailureKind::Authentication),
        ("Prompt is too long", FailureKind::Request),
    ];
    WORDING.iter().find(|(words, _)| message.contains(words)).map(|&(_, kind)| kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_of_the_service_decides_among_rejections() {
        let kind = |status| classify(&Symptoms { status: Some(status), ..Symptoms::default() });
        assert_eq!([401, 403].map(kind), [FailureKind::Authentication; 2]);
        assert_eq!([429, 500, 529].map(kind), [FailureKind::Transport; 3]);
        assert_eq!([400, 404, 413].map(kind), [FailureKind::Request; 3]);
        assert_eq!(kind(200), FailureKind::Other);
    }

    #[test]
    fn a_lost_connection_is_known_by_its_wording() {
        let message = "API Error: Unable to connect to API (ECONNRESET)";
        assert_eq!(classify(&Symptoms { message, ..Symptoms::default() }), FailureKind::Transport);
        assert_eq!(
            classify(&Symptoms { class: "server_error", ..Symptoms::default() }),
            FailureKind::Transport
        );
    }

    #[test]
    fn what_keeps_a_turn_from_beginning_is_on_the_error_output() {
        assert_eq!(
            of_start("No conversation found with session ID: x\n"),
            Some(FailureKind::SessionNotFound)
        );
        for refusal in [
            "Error: --json-schema is not a valid JSON Schema: x",
            "--json-schema must be a JSON object",
            "error: option '--json-schema <schema>' argument is invalid",
            "error: unknown option '--json-schema'",
            "Error: Invalid JSON schema: unknown format \"uint32\"",
        ] {
            assert_eq!(
                of_start(&format!("note\n{refusal}\n")),
                Some(FailureKind::SchemaRefused),
                "{refusal}"
            );
        }
        assert_eq!(of_start("a tool said: --json-schema is odd"), None);
    }

    #[test]
    fn case_075_a_refusal_of_the_schema_by_the_service_is_known_by_its_wording() {
        let kind = |status, message| classify(&Symptoms { status, message, ..Symptoms::default() });
        let message = "API Error: 400 The compiled grammar is too large";
        assert_eq!([Some(400), None].map(|status| kind(status, message)), [FailureKind::SchemaRefused; 2]);
        assert_eq!(kind(Some(529), message), FailureKind::Transport);
        assert_eq!(kind(Some(400), "API Error: 400 messages.1: bad"), FailureKind::Request);
    }

    #[test]
    fn a_limit_is_known_by_its_subtype() {
        let kind = |subtype| classify(&Symptoms { subtype, ..Symptoms::default() });
        assert_eq!(kind("error_max_turns"), FailureKind::Limit);
        assert_eq!(kind("error_max_budget_usd"), FailureKind::Budget);
    }
}
