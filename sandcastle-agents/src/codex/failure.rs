//! Why a turn of `codex` failed, as far as its message tells.
//!
//! The program gives one sentence for a person and nothing for a program; a rejected request is the service's own JSON
//! body. The wordings are those of the program, the statuses those of the service.

use sandcastle_core::event::FailureKind;
use serde::Deserialize;

use crate::excerpt::message;
use crate::http_status::failure_of;
use crate::json::{Lenient, Text};
use crate::native::is_refusal_of_schema;

/// Parts of messages in the order in which they are looked for: what is told of a stream that broke off is surer than
/// that it did, and the service's own words are surer than a number.
const WORDINGS: &[(&str, FailureKind)] = &[
    ("max_output_tokens", FailureKind::OutputLimit),
    ("content_filter", FailureKind::Filtered),
    ("no rollout found", FailureKind::SessionNotFound),
    ("usage limit", FailureKind::Limit),
    ("usage_limit", FailureKind::Limit),
    ("insufficient_quota", FailureKind::Limit),
    ("quota exceeded", FailureKind::Limit),
    ("invalid_request_error", FailureKind::Request),
    ("context window", FailureKind::Request),
    ("context_length_exceeded", FailureKind::Request),
    ("unauthorized", FailureKind::Authentication),
    ("forbidden", FailureKind::Authentication),
    ("not logged in", FailureKind::Authentication),
    ("too many requests", FailureKind::Transport),
    ("rate limit", FailureKind::Transport),
    ("high demand", FailureKind::Transport),
    ("at capacity", FailureKind::Transport),
    ("overloaded", FailureKind::Transport),
    ("stream disconnected", FailureKind::Transport),
    ("connection failed", FailureKind::Transport),
    ("error sending request", FailureKind::Transport),
    ("timed out", FailureKind::Transport),
    ("timeout", FailureKind::Transport),
    ("interrupted", FailureKind::Interrupted),
];

pub(super) fn classify(text: &str) -> FailureKind {
    if is_refusal_of_schema(text) {
        return FailureKind::SchemaRefused;
    }
    let lower = message(text).to_ascii_lowercase();
    let worded = WORDINGS.iter().find(|(words, _)| lower.contains(words)).map(|&(_, kind)| kind);
    worded.or_else(|| status(&lower).and_then(failure_of)).unwrap_or(FailureKind::Other)
}

/// Classifies a failure that the program reports on its error output before it begins a turn.
pub(super) fn of_start(stderr: &str) -> Option<FailureKind> {
    if stderr.lines().any(is_about_the_schema) {
        return Some(FailureKind::SchemaRefused);
    }
    let line = stderr.lines().rev().find(|line| line.starts_with("Error: "))?;
    Some(classify(line)).filter(|kind| *kind == FailureKind::SessionNotFound)
}

/// Tells whether the program says that it has no option for a schema, or cannot read what it was given.
fn is_about_the_schema(line: &str) -> bool {
    let said = line.trim_start_matches("Error: ").to_ascii_lowercase();
    let beginnings = [
        "error: unexpected argument '--output-schema'",
        "failed to read output schema",
        "output schema file",
    ];
    beginnings.iter().any(|beginning| said.starts_with(beginning))
}

/// Takes the sentence out of a JSON body.
pub(super) fn for_a_person(text: &str) -> String {
    #[derive(Deserialize)]
    struct Body<'a> {
        #[serde(borrow)]
        error: Reason<'a>,
    }
    #[derive(Deserialize)]
    struct Reason<'a> {
        #[serde(borrow)]
        message: Lenient<Text<'a>>,
    }
    let body = serde_json::from_str::<Body<'_>>(text).ok();
    body.and_then(|body| body.error.message.0).map_or_else(|| message(text), |sentence| message(&sentence))
}

/// Finds an HTTP status behind the word `status`.
fn status(text: &str) -> Option<u16> {
    text.split("status").skip(1).find_map(|after| {
        let digits = after.trim_start_matches([':', ' ', '"', '=']);
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        digits[..end].parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_told_apart() {
        let expected = [
            (
                "unexpected status 401 Unauthorized: invalid x-api-key, url: http://x",
                FailureKind::Authentication,
            ),
            ("exceeded retry limit, last status: 429 Too Many Requests", FailureKind::Transport),
            (
                "We’re currently experiencing high demand, which may cause temporary errors.",
                FailureKind::Transport,
            ),
            ("unexpected status 502: bad gateway", FailureKind::Transport),
            ("unexpected status 404: no such model", FailureKind::Request),
            ("stream disconnected before completion: closed", FailureKind::Transport),
            (
                "stream disconnected before completion: Incomplete response returned, reason: max_output_tokens",
                FailureKind::OutputLimit,
            ),
            (
                "stream disconnected before completion: Incomplete response returned, reason: content_filter",
                FailureKind::Filtered,
            ),
            ("You've hit your usage limit. Try again at 9 pm.", FailureKind::Limit),
            (r#"{"error":{"type":"invalid_request_error","message":"no"}}"#, FailureKind::Request),
            (
                r#"{"error":{"type":"invalid_request_error","code":"invalid_json_schema","param":"text.format.schema"}}"#,
                FailureKind::SchemaRefused,
            ),
            (
                "Invalid schema for response_format 'codex_output_schema': In context=(), 'required' is missing.",
                FailureKind::SchemaRefused,
            ),
            ("Invalid schema for function 'shell': schema must have type 'object'", FailureKind::Other),
            ("something else", FailureKind::Other),
        ];
        for (text, kind) in expected {
            assert_eq!(classify(text), kind, "{text}");
        }
    }

    #[test]
    fn a_body_is_reduced_to_its_sentence() {
        let body = r#"{"type":"error","error":{"type":"x","message":"prompt is too long"}}"#;
        assert_eq!(for_a_person(body), "prompt is too long");
        assert_eq!(for_a_person(r#"{"error":{"message":1}}"#), r#"{"error":{"message":1}}"#);
        assert_eq!(for_a_person(" plain "), "plain");
    }

    #[test]
    fn an_unknown_session_is_reported_before_the_turn() {
        let stderr = "WARNING: x\nError: thread/resume: thread/resume failed: no rollout found for thread id 1 (code -3)\n";
        assert_eq!(of_start(stderr), Some(FailureKind::SessionNotFound));
        assert_eq!(of_start("Error: something else"), None);
        assert_eq!(of_start("tool said: no rollout found"), None);
    }
}
