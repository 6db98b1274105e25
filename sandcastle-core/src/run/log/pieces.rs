//! Makes whole lines of the pieces that an agent's text arrives in, for a terminal that shows lines.

/// The most characters that wait for the end of their line.
const MOST: usize = 80;

/// Text that is not shown yet.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    waiting: String,
    /// How many characters that are.
    count: usize,
}

impl Pieces {
    /// Reads a piece, and returns the lines that are to be shown now: those that have ended, what ends in the end of a
    /// sentence, and as much of a longer one as fits into a line.
    pub(super) fn push(&mut self, piece: &str) -> Vec<String> {
        let mut lines = Vec::new();
        for c in piece.chars() {
            if c == '\n' {
                lines.push(self.take());
                continue;
            }
            if self.count == MOST {
                lines.push(self.full_line());
            }
            self.waiting.push(c);
            self.count += 1;
        }
        if [". ", "! ", "? "].iter().any(|end| self.waiting.ends_with(end)) {
            lines.push(self.take().trim_end().to_owned());
        }
        lines
    }

    /// Returns what is left.
    pub(super) fn flush(&mut self) -> Option<String> {
        Some(self.take()).filter(|rest| !rest.trim().is_empty())
    }

    /// Returns what waits.
    pub(super) fn waiting(&self) -> &str {
        &self.waiting
    }

    fn take(&mut self) -> String {
        self.count = 0;
        std::mem::take(&mut self.waiting)
    }

    /// Takes as much as fits into a line. Words stay whole where there are any.
    fn full_line(&mut self) -> String {
        let end = self.waiting.rfind(' ').filter(|at| *at > 0).unwrap_or(self.waiting.len());
        let rest = self.waiting.split_off(end);
        let line = self.take();
        self.waiting.push_str(rest.trim_start());
        self.count = self.waiting.chars().count();
        line
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(pieces: &[&str]) -> Vec<String> {
        let mut all = Pieces::default();
        let mut lines: Vec<String> = pieces.iter().flat_map(|piece| all.push(piece)).collect();
        lines.extend(all.flush());
        lines
    }

    #[test]
    fn row_177_lines_sentences_and_full_lines_are_shown() {
        assert_eq!(shown(&["Hel", "lo\nwor", "ld"]), ["Hello", "world"]);
        assert_eq!(shown(&["a\n\nb"]), ["a", "", "b"]);
        assert_eq!(shown(&["It works. ", "So it ", "does"]), ["It works.", "So it does"]);
        let lines = shown(&[&"word ".repeat(20)]);
        assert_eq!(lines.len(), 2);
        assert!(lines.iter().all(|line| line.chars().count() <= MOST), "{lines:?}");
        assert_eq!(shown(&[&"ä".repeat(200)]).len(), 3);
        assert_eq!(shown(&["  ", "\t"]), Vec::<String>::new());
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_no_line_is_longer_than_one(pieces in prop::collection::vec("[aä. \n]{0,50}", 0..12)) {
            let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
            let lines = shown(&pieces);
            prop_assert!(lines.iter().all(|line| line.chars().count() <= MOST));
            let solid = |text: &str| text.replace([' ', '\n'], "");
            prop_assert_eq!(solid(&lines.concat()), solid(&pieces.concat()));
        }
    }
}
