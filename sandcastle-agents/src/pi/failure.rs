//! Why a turn of `pi` failed.
//!
//! The program gives one sentence for a person, which begins with the HTTP status if there was one, and exits as after
//! a success. What it says before a turn begins stands on its error output.

use sandcastle_core::event::FailureKind;

use crate::excerpt::message;
use crate::http_status::failure_of;

/// Parts of messages in lower case, in the order in which they are looked for.
const WORDINGS: &[(&str, FailureKind)] = &[
    ("finish_reason: content_filter", FailureKind::Filtered),
    ("finish_reason: max_tokens", FailureKind::OutputLimit),
    ("finish_reason: network_error", FailureKind::Transport),
    ("insufficient_quota", FailureKind::Limit),
    ("usage limit", FailureKind::Limit),
    ("quota exceeded", FailureKind::Limit),
    ("prompt is too long", FailureKind::Request),
    ("context window", FailureKind::Request),
    ("context length", FailureKind::Request),
    ("no api key", FailureKind::Authentication),
    ("unauthorized", FailureKind::Authentication),
    ("rate limit", FailureKind::Transport),
    ("too many requests", FailureKind::Transport),
    ("overloaded", FailureKind::Transport),
    ("connection", FailureKind::Transport),
    ("fetch failed", FailureKind::Transport),
    ("socket hang up", FailureKind::Transport),
    ("ended without", FailureKind::Transport),
    ("terminated", FailureKind::Transport),
    ("timed out", FailureKind::Transport),
    ("timeout", FailureKind::Transport),
    ("aborted", FailureKind::Interrupted),
];

/// What the program says on its error output when it does not begin a turn.
const AT_THE_START: &[(&str, FailureKind)] = &[
    ("No session found matching", FailureKind::SessionNotFound),
    // It would ask whether to copy the session, hears no answer and exits as after a success.
    ("Session found in different project", FailureKind::SessionNotFound),
    ("Stored session working directory does not exist", FailureKind::SessionNotFound),
    ("No API key found", FailureKind::Authentication),
    ("No models available", FailureKind::Authentication),
];

pub(super) fn classify(text: &str) -> FailureKind {
    let lower = message(text).to_ascii_lowercase();
    let worded = || WORDINGS.iter().find(|(words, _)| lower.contains(words)).map(|&(_, kind)| kind);
    status(&lower).and_then(failure_of).or_else(worded).unwrap_or(FailureKind::Other)
}

/// Classifies a failure that the program reports on its error output.
pub(super) fn of_start(stderr: &str) -> Option<FailureKind> {
    AT_THE_START.iter().find(|(words, _)| stderr.contains(words)).map(|&(_, kind)| kind)
}

/// Reads the HTTP status that a message begins with.
fn status(text: &str) -> Option<u16> {
    let word = text.split(|c: char| !c.is_ascii_digit()).next()?;
    (word.len() == 3).then(|| word.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_told_apart() {
        let expected = [
            ("401 invalid x-api-key", FailureKind::Authentication),
            ("429 slow down", FailureKind::Transport),
            ("500 boom", FailureKind::Transport),
            ("400 prompt is too long: 250000 tokens > 200000 maximum", FailureKind::Request),
            ("Connection error.", FailureKind::Transport),
            ("Provider finish_reason: max_tokens", FailureKind::OutputLimit),
            ("Provider finish_reason: content_filter", FailureKind::Filtered),
            ("Request was aborted", FailureKind::Interrupted),
            ("4290 is no status", FailureKind::Other),
            ("something else", FailureKind::Other),
        ];
        for (text, kind) in expected {
            assert_eq!(classify(text), kind, "{text}");
        }
    }

    #[test]
    fn a_turn_that_never_began_is_told_on_the_error_output() {
        let kind = |stderr| of_start(stderr);
        assert_eq!(
            kind("\u{1b}[31mNo session found matching '0'\u{1b}[39m"),
            Some(FailureKind::SessionNotFound)
        );
        assert_eq!(kind("Session found in different project: /x\n"), Some(FailureKind::SessionNotFound));
        assert_eq!(kind("No API key found for openai."), Some(FailureKind::Authentication));
        assert_eq!(kind("Warning: something"), None);
    }
}
