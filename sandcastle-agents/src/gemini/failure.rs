//! Why a turn of `gemini` failed, as far as its message tells.
//!
//! The program wraps what the service answered into a sentence for a person, as JSON where the service gave some, and
//! has a class of its own for the failures that are its own.

use std::borrow::Cow;

use sandcastle_core::event::FailureKind;
use serde::Deserialize;

use crate::excerpt::message;
use crate::http_status::failure_of;
use crate::json::{Lenient, Text};

/// Parts of messages in the order in which they are looked for: the service answers a bad key with the status of a bad
/// request, and a quota for the day with that of a rate that is too high.
const WORDINGS: &[(&str, FailureKind)] = &[
    ("api key not valid", FailureKind::Authentication),
    ("api_key_invalid", FailureKind::Authentication),
    ("unauthenticated", FailureKind::Authentication),
    ("permission_denied", FailureKind::Authentication),
    ("daily quota", FailureKind::Limit),
    ("exhausted your", FailureKind::Limit),
    ("max session turns", FailureKind::Limit),
    ("maximum session turns", FailureKind::Limit),
    ("exceeded the token limit", FailureKind::OutputLimit),
    ("response was blocked", FailureKind::Filtered),
    ("operation cancelled", FailureKind::Interrupted),
    ("invalid_argument", FailureKind::Request),
    ("is not found", FailureKind::Request),
    ("resource_exhausted", FailureKind::Transport),
    ("please wait and try again later", FailureKind::Transport),
    ("overloaded", FailureKind::Transport),
    ("unavailable", FailureKind::Transport),
    ("fetch failed", FailureKind::Transport),
    ("api error: terminated", FailureKind::Transport),
    ("without a finish reason", FailureKind::Transport),
    ("econnrefused", FailureKind::Transport),
    ("econnreset", FailureKind::Transport),
    ("etimedout", FailureKind::Transport),
    ("timeout", FailureKind::Transport),
];

/// How the program words it that the model has answered with nothing, or has only thought.
const EMPTY: [&str; 2] =
    ["The model returned an empty response", "The model returned reasoning thoughts but no final response"];

/// Tells whether a message says that the answer is empty.
pub(super) fn is_empty_answer(text: &str) -> bool {
    EMPTY.iter().any(|words| text.starts_with(words))
}

/// Classifies a failure by the class that the program gives it and by its message.
pub(super) fn classify(class: &str, text: &str) -> FailureKind {
    let own = match class {
        "FatalTurnLimitedError" => Some(FailureKind::Limit),
        "FatalCancellationError" => Some(FailureKind::Interrupted),
        "FatalAuthenticationError" => Some(FailureKind::Authentication),
        _ => None,
    };
    let lower = message(text).to_ascii_lowercase();
    let worded = || WORDINGS.iter().find(|(words, _)| lower.contains(words)).map(|&(_, kind)| kind);
    let status = || failure_of(reason(unwrapped(text))?.code.0?);
    own.or_else(worded).or_else(status).unwrap_or(FailureKind::Other)
}

/// Classifies a failure that the program reports on its error output before it begins a turn.
pub(super) fn of_start(stderr: &str) -> Option<FailureKind> {
    const STARTS: [(&str, FailureKind); 3] = [
        ("Error resuming session: ", FailureKind::SessionNotFound),
        ("Invalid auth method selected", FailureKind::Authentication),
        ("Please set an Auth method", FailureKind::Authentication),
    ];
    let of_line =
        |line: &str| STARTS.iter().find(|(start, _)| line.starts_with(start)).map(|&(_, kind)| kind);
    stderr.lines().rev().find_map(of_line)
}

/// Takes the sentence of the service out of what is wrapped around it.
pub(super) fn for_a_person(text: &str) -> String {
    let inner = unwrapped(text);
    let sentence = reason(inner).and_then(|reason| {
        let code = reason.code.0.map(|code| format!(" (status {code})")).unwrap_or_default();
        Some(Cow::Owned(format!("{}{code}", &*reason.message.0?)))
    });
    message(&sentence.unwrap_or(Cow::Borrowed(inner)))
}

/// What stands in `[API Error: ...]`; advice may follow it.
fn unwrapped(text: &str) -> &str {
    let Some(inner) = text.trim().strip_prefix("[API Error: ") else { return text };
    let end = inner.find("]\n").or_else(|| inner.rfind(']')).unwrap_or(inner.len());
    &inner[..end]
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Reason<'a> {
    code: Lenient<u16>,
    #[serde(borrow)]
    message: Lenient<Text<'a>>,
}

fn reason(text: &str) -> Option<Reason<'_>> {
    #[derive(Deserialize)]
    struct Body<'a> {
        #[serde(borrow)]
        error: Reason<'a>,
    }
    serde_json::from_str::<Body<'_>>(text).ok().map(|body| body.error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_told_apart() {
        let of_service = |code: u16, message: &str| {
            classify(
                "unknown",
                &format!(r#"[API Error: {{"error":{{"code":{code},"message":"{message}"}}}}]"#),
            )
        };
        assert_eq!(of_service(401, "no"), FailureKind::Authentication);
        assert_eq!(of_service(400, "API key not valid. Please pass one."), FailureKind::Authentication);
        assert_eq!(of_service(400, "too purple"), FailureKind::Request);
        assert_eq!([429, 500, 503].map(|code| of_service(code, "x")), [FailureKind::Transport; 3]);
        let expected = [
            ("[API Error: slow down]\nPlease wait and try again later. To increase", FailureKind::Transport),
            (
                "[API Error: You have exhausted your daily quota on this model.]\nPlease wait",
                FailureKind::Limit,
            ),
            ("[API Error: models/m is not found]", FailureKind::Request),
            ("[API Error: exception TypeError: fetch failed sending request]", FailureKind::Transport),
            ("[API Error: terminated]", FailureKind::Transport),
            ("The model response was blocked due to safety settings.", FailureKind::Filtered),
            ("something else", FailureKind::Other),
        ];
        for (text, kind) in expected {
            assert_eq!(classify("unknown", text), kind, "{text}");
        }
        assert_eq!(classify("FatalTurnLimitedError", "x"), FailureKind::Limit);
    }

    #[test]
    fn a_sentence_is_unwrapped() {
        let wrapped = r#"[API Error: {"error":{"code":500,"message":"boom [1]","status":"INTERNAL"}}]"#;
        assert_eq!(for_a_person(wrapped), "boom [1] (status 500)");
        assert_eq!(for_a_person("[API Error: slow down]\nPlease wait"), "slow down");
        assert_eq!(for_a_person("[API Error: torn"), "torn");
        assert_eq!(for_a_person(" plain "), "plain");
        assert_eq!(for_a_person(r#"[API Error: {"error":{"code":1}}]"#), r#"{"error":{"code":1}}"#);
    }

    #[test]
    fn what_is_reported_before_the_turn_is_told_apart() {
        let unknown =
            "YOLO mode\nError resuming session: Invalid session identifier \"x\".\n  Searched in /x.\n";
        assert_eq!(of_start(unknown), Some(FailureKind::SessionNotFound));
        assert_eq!(of_start("Invalid auth method selected.\n"), Some(FailureKind::Authentication));
        assert_eq!(of_start("tool said: Error resuming session: x"), None);
    }
}
