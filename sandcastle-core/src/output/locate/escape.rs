//! Drops terminal escape sequences from streamed text.
//!
//! Known are control sequences (`ESC [`), the string sequences (`ESC ]`, `P`, `X`, `^` and `_`, which end with BEL, `ESC \`
//! or a line break) and the two-character ones. A sequence may be cut anywhere between pieces. One that does not end
//! within its limit, or that holds what it cannot hold, is over, and what follows is text again: a stray escape
//! character must not swallow an answer. `ESC <` is not taken for a sequence for the same reason. Text without an escape
//! character costs one search for it.

const ESCAPE: char = '\u{1b}';
const BELL: char = '\u{7}';

/// A control sequence that is longer than this is not one.
const MAX_CONTROL: usize = 64;
/// A string sequence, such as a hyperlink or a window title, that is longer than this is not one.
const MAX_STRING: usize = 4096;

/// Removes escape sequences; remembers one that is cut by the end of a piece.
#[derive(Clone, Debug, Default)]
pub(super) struct EscapeFilter {
    state: State,
}

#[derive(Clone, Copy, Debug, Default)]
enum State {
    #[default]
    Text,
    Escape,
    Intermediate(usize),
    Control(usize),
    String(usize),
    StringEscape,
}

/// What one character does to a sequence.
enum Step {
    /// It belongs to the sequence.
    Inside(State),
    /// It is the last one of the sequence.
    Last,
    /// It is no part of the sequence: the sequence is over, and the character is text.
    Outside,
}

impl EscapeFilter {
    /// Calls `sink` with the parts of `text` that are not escape sequences, in order.
    pub(super) fn filter(&mut self, text: &str, sink: &mut impl FnMut(&str)) {
        let mut rest = text;
        loop {
            if !matches!(self.state, State::Text) {
                rest = self.skip_sequence(rest);
            }
            if rest.is_empty() {
                return;
            }
            let end = memchr::memchr(ESCAPE as u8, rest.as_bytes()).unwrap_or(rest.len());
            if end > 0 {
                sink(&rest[..end]);
            }
            match rest.get(end + 1..) {
                Some(behind) => {
                    self.state = State::Escape;
                    rest = behind;
                }
                None => return,
            }
        }
    }

    /// Returns what stands behind the sequence, or nothing if it goes on in the next piece.
    fn skip_sequence<'t>(&mut self, text: &'t str) -> &'t str {
        for (at, c) in text.char_indices() {
            match self.state.step(c) {
                Step::Inside(state) => self.state = state,
                Step::Last => {
                    self.state = State::Text;
                    return &text[at + c.len_utf8()..];
                }
                Step::Outside => {
                    self.state = State::Text;
                    return &text[at..];
                }
            }
        }
        ""
    }
}

impl State {
    fn step(self, c: char) -> Step {
        match self {
            Self::Text => Step::Outside,
            Self::Escape => match c {
                '[' => Step::Inside(Self::Control(0)),
                ']' | 'P' | 'X' | '^' | '_' => Step::Inside(Self::String(0)),
                ' '..='/' => Step::Inside(Self::Intermediate(0)),
                '<' => Step::Outside,
                '0'..='~' => Step::Last,
                _ => Step::Outside,
            },
            Self::Intermediate(length) => match c {
                ' '..='/' if length < MAX_CONTROL => Step::Inside(Self::Intermediate(length + 1)),
                '0'..='~' => Step::Last,
                _ => Step::Outside,
            },
            Self::Control(length) => match c {
                ' '..='?' if length < MAX_CONTROL => Step::Inside(Self::Control(length + 1)),
                '@'..='~' => Step::Last,
                _ => Step::Outside,
            },
            Self::String(length) => match c {
                BELL => Step::Last,
                '\n' | '\r' => Step::Outside,
                ESCAPE => Step::Inside(Self::StringEscape),
                _ if length < MAX_STRING => Step::Inside(Self::String(length + 1)),
                _ => Step::Outside,
            },
            // `ESC \` ends the string; any other escape in it begins a sequence of its own.
            Self::StringEscape if c == '\\' => Step::Last,
            Self::StringEscape => Self::Escape.step(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clean(pieces: &[&str]) -> String {
        let mut filter = EscapeFilter::default();
        let mut text = String::new();
        for piece in pieces {
            filter.filter(piece, &mut |part| text.push_str(part));
        }
        text
    }

    #[test]
    fn sequences_are_dropped_wherever_they_are_cut() {
        let cases = [
            ("\u{1b}[32mgreen\u{1b}[0m", "green"),
            ("a\u{1b}]8;;https://example.org\u{7}b", "ab"),
            ("a\u{1b}]0;title\u{1b}\\b", "ab"),
            ("a\u{1b}]0;title\nb", "a\nb"),
            ("a\u{1b}(Bb\u{1b}7c\u{1b}Md", "abcd"),
            ("a\u{1b}P1;2|data\u{1b}\\b", "ab"),
            ("a\u{1b}\u{1b}[1mb", "ab"),
            ("a\u{1b}[12\nb", "a\nb"),
            ("a\u{1b}日b", "a日b"),
            ("a\u{1b}<result>b", "a<result>b"),
            ("a\u{1b}", "a"),
        ];
        for (text, expected) in cases {
            assert_eq!(clean(&[text]), expected, "{text:?}");
            let pieces: Vec<String> = text.chars().map(String::from).collect();
            let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
            assert_eq!(clean(&pieces), expected, "{text:?} in single characters");
        }
    }

    #[test]
    fn a_sequence_that_never_ends_does_not_swallow_the_text() {
        let text = format!("\u{1b}]{}end", "x".repeat(MAX_STRING + 10));
        assert!(clean(&[&text]).ends_with("xend"));
        let text = format!("\u{1b}[{}end", "1".repeat(MAX_CONTROL + 10));
        assert!(clean(&[&text]).ends_with("1end"));
    }
}
