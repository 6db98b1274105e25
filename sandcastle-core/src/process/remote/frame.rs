//! The lines of the launcher in a stream that is otherwise the program's.

use memchr::memmem;

/// The longest line that the launcher says; what is longer is the program's own.
const MAX_LINE: usize = 64 * 1024;

/// What its lines begin with: no text ends with it, so that nothing of a text is held back.
const SEPARATOR: char = '\u{1e}';

/// Takes the launcher's lines out of a stream that arrives in pieces.
#[derive(Debug)]
pub(super) struct Frame {
    opening: Vec<u8>,
    held: Vec<u8>,
}

impl Frame {
    /// Reads a stream in which the launcher's lines begin with `word`.
    pub(super) fn new(word: &str) -> Self {
        Self { opening: format!("{SEPARATOR}{word} ").into_bytes(), held: Vec::new() }
    }

    /// Takes a piece: what is the program's goes to `rest`, and the lines of the launcher are returned.
    pub(super) fn push(&mut self, piece: &[u8], rest: &mut Vec<u8>) -> Vec<String> {
        self.held.extend_from_slice(piece);
        let mut lines = Vec::new();
        let mut begin = 0;
        while let Some(at) = memmem::find(&self.held[begin..], &self.opening).map(|at| begin + at) {
            let text = at + self.opening.len();
            let end = memchr::memchr(b'\n', &self.held[text..]).map(|end| text + end);
            match end {
                Some(end) => {
                    rest.extend_from_slice(&self.held[begin..at]);
                    lines.push(String::from_utf8_lossy(&self.held[text..end]).into_owned());
                    begin = end + 1;
                }
                None if self.held.len() - text > MAX_LINE => {
                    rest.extend_from_slice(&self.held[begin..text]);
                    begin = text;
                }
                None => {
                    rest.extend_from_slice(&self.held[begin..at]);
                    self.held.drain(..at);
                    return lines;
                }
            }
        }
        let kept = self.beginning_of_an_opening(begin);
        rest.extend_from_slice(&self.held[begin..kept]);
        self.held.drain(..kept);
        lines
    }

    /// Finds where the end of what is held may be the beginning of a line of the launcher.
    fn beginning_of_an_opening(&self, from: usize) -> usize {
        let length = self.held.len();
        let earliest = length.saturating_sub(self.opening.len() - 1).max(from);
        (earliest..length).find(|at| self.opening.starts_with(&self.held[*at..])).unwrap_or(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_wherever_the_stream_is_cut() {
        let stream = b"a\n\x1eW start\nb\x1eW\n\x1eWx W \n\x1eW ended 0 1\n";
        for size in 1..=stream.len() {
            let (mut frame, mut rest, mut lines) = (Frame::new("W"), Vec::new(), Vec::new());
            for piece in stream.chunks(size) {
                lines.extend(frame.push(piece, &mut rest));
            }
            assert_eq!(lines, ["start", "ended 0 1"], "{size}");
            assert_eq!(rest, b"a\nb\x1eW\n\x1eWx W \n", "{size}");
        }
    }

    #[test]
    fn what_only_begins_like_a_line_is_the_programs_own() {
        let (mut frame, mut rest) = (Frame::new("W"), Vec::new());
        assert!(frame.push(b"x\n\x1eW", &mut rest).is_empty());
        assert_eq!(rest, b"x\n");
        assert!(frame.push(b"x", &mut rest).is_empty());
        assert_eq!(rest, b"x\n\x1eWx");
    }

    #[test]
    fn a_line_without_an_end_is_not_held_for_ever() {
        let (mut frame, mut rest) = (Frame::new("W"), Vec::new());
        frame.push(b"\x1eW ", &mut rest);
        for _ in 0..100 {
            frame.push(&[b'x'; 1024], &mut rest);
        }
        assert!(rest.len() > 30 * 1024, "{}", rest.len());
        assert!(frame.held.len() <= MAX_LINE + 1024);
    }
}
