//! Bounded pieces of what an agent printed, or a service said.
//!
//! Everything from an agent may be of any length; what goes into a message, a log line or an event that nobody reads
//! whole is cut here, and always between two characters.

use std::borrow::Cow;

use sandcastle_core::event::AgentEvent;
#[cfg(any(feature = "github", feature = "models"))]
use sandcastle_core::secret::{MASK, Secrets};

/// The longest piece of an unknown line that is kept, in bytes.
const UNKNOWN: usize = 2000;

/// The longest message for a person, in bytes.
const MESSAGE: usize = 2000;

/// Cuts `text` to at most `limit` bytes.
pub(crate) fn cut(text: &str, limit: usize) -> &str {
    &text[..text.floor_char_boundary(limit)]
}

/// Cuts a message for a person and drops the white space around it.
pub(crate) fn message(text: &str) -> String {
    cut(text.trim(), MESSAGE).to_owned()
}

/// Puts a mask over every one of `secrets` in a text of which nobody knows what it repeats.
#[cfg(any(feature = "github", feature = "models"))]
pub(crate) fn masked<'s>(text: &str, secrets: impl Iterator<Item = &'s str>) -> String {
    match Secrets::declared(secrets) {
        Ok(secrets) => secrets.mask(text).into_owned(),
        // There are too many to look for: rather no text than one that shows a secret.
        Err(_) => MASK.to_owned(),
    }
}

/// Words on one line, without what a terminal would take for a command.
#[cfg(any(feature = "github", feature = "models"))]
pub(crate) fn one_line(text: &str) -> String {
    let visible = text.chars().map(|character| if character.is_control() { ' ' } else { character });
    let visible: String = visible.collect();
    visible.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Reports a line that its decoder does not know. A blank line says nothing and is not reported.
pub(crate) fn unknown(line: &[u8], events: &mut Vec<AgentEvent>) {
    if line.trim_ascii().is_empty() {
        return;
    }
    let text = match str::from_utf8(line) {
        Ok(line) => Cow::Borrowed(line),
        // Cut early: the replacement of a whole line could be three times as long.
        Err(_) => String::from_utf8_lossy(line.get(..UNKNOWN).unwrap_or(line)),
    };
    events.push(AgentEvent::Unknown { line: cut(&text, UNKNOWN).to_owned() });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_stand_between_characters() {
        assert_eq!(cut("日本", 5), "日");
        assert_eq!(cut("日本", 6), "日本");
        assert_eq!(cut("日本", 2), "");
        assert_eq!(cut("ab", 9), "ab");
    }

    #[test]
    fn an_unknown_line_is_cut_and_made_readable() {
        let mut events = Vec::new();
        unknown(&[0xff; 5000], &mut events);
        unknown(" \t".as_bytes(), &mut events);
        let [AgentEvent::Unknown { line }] = events.as_slice() else { panic!("{events:?}") };
        assert!(line.len() <= UNKNOWN && line.chars().all(|c| c == '\u{fffd}'));
    }
}
