//! Why a turn of Cursor's `agent` failed, as far as its message tells.
//!
//! The program documents no classes of failure; a message for a person on its error output is all there is.

use sandcastle_core::event::FailureKind;

use crate::excerpt::message;

/// Parts of messages in the order in which they are looked for.
const WORDINGS: &[(&str, FailureKind)] = &[
    ("authentication required", FailureKind::Authentication),
    ("not logged in", FailureKind::Authentication),
    ("api key is invalid", FailureKind::Authentication),
    ("invalid api key", FailureKind::Authentication),
    ("unauthenticated", FailureKind::Authentication),
    ("usage limit", FailureKind::Limit),
    ("rate limit", FailureKind::Transport),
    ("resource_exhausted", FailureKind::Transport),
    ("connection stalled", FailureKind::Transport),
    ("connection lost", FailureKind::Transport),
    ("unavailable", FailureKind::Transport),
    ("cannot use this model", FailureKind::Request),
    ("aborted", FailureKind::Interrupted),
];

pub(super) fn classify(text: &str) -> FailureKind {
    by_wording(text).unwrap_or(FailureKind::Other)
}

/// Classifies what stands on the error output by its last lines.
pub(super) fn of_stderr(stderr: &str) -> Option<FailureKind> {
    stderr.lines().rev().filter(|line| !line.trim().is_empty()).take(3).find_map(by_wording)
}

fn by_wording(text: &str) -> Option<FailureKind> {
    let lower = message(text).to_ascii_lowercase();
    WORDINGS.iter().find(|(words, _)| lower.contains(words)).map(|&(_, kind)| kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_told_apart() {
        let expected = [
            ("Error: Authentication required. Please run 'agent login' first", FailureKind::Authentication),
            ("You've hit your usage limit", FailureKind::Limit),
            ("Connection lost, reconnecting", FailureKind::Transport),
            ("something else", FailureKind::Other),
        ];
        for (text, kind) in expected {
            assert_eq!(classify(text), kind, "{text}");
        }
    }

    #[test]
    fn the_last_lines_of_the_error_output_count() {
        assert_eq!(of_stderr("warning\nNot logged in\n\n"), Some(FailureKind::Authentication));
        assert_eq!(of_stderr("Not logged in\na\nb\nc\n"), None);
    }
}
