//! The completion signal: a text that ends a run and carries no data.

use memchr::memmem::Finder;

/// Looks for signals in text that arrives in pieces, in one pass.
#[derive(Debug)]
pub(super) struct Completion {
    signals: Vec<Finder<'static>>,
    overlap: usize,
    carry: Vec<u8>,
    found: Option<usize>,
}

impl Completion {
    pub(super) fn new(signals: &[String]) -> Self {
        let longest = signals.iter().map(String::len).max().unwrap_or(0);
        let signals = signals.iter().map(|signal| Finder::new(signal.as_bytes()).into_owned()).collect();
        Self { signals, overlap: longest.saturating_sub(1), carry: Vec::new(), found: None }
    }

    /// Reads a piece. The first signal that is complete counts.
    pub(super) fn push(&mut self, text: &str) {
        if self.found.is_some() || self.signals.is_empty() {
            return;
        }
        let text = text.as_bytes();
        let seam = &text[..text.len().min(self.overlap)];
        self.carry.extend_from_slice(seam);
        self.found = self.find(&self.carry).or_else(|| self.find(text));
        if seam.len() < text.len() {
            self.carry.clear();
            self.carry.extend_from_slice(&text[text.len() - self.overlap.min(text.len())..]);
        } else {
            let surplus = self.carry.len().saturating_sub(self.overlap);
            self.carry.drain(..surplus);
        }
    }

    /// Tells whether a signal was found.
    pub(super) fn is_found(&self) -> bool {
        self.found.is_some()
    }

    /// Returns the signal that was found.
    pub(super) fn found(&self) -> Option<String> {
        let signal = self.signals[self.found?].needle();
        Some(String::from_utf8_lossy(signal).into_owned())
    }

    fn find(&self, text: &[u8]) -> Option<usize> {
        let places =
            self.signals.iter().enumerate().filter_map(|(index, signal)| Some((signal.find(text)?, index)));
        places.min().map(|(_, index)| index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(signals: &[&str], pieces: &[&str]) -> Option<String> {
        let signals: Vec<String> = signals.iter().map(ToString::to_string).collect();
        let mut completion = Completion::new(&signals);
        for piece in pieces {
            completion.push(piece);
        }
        completion.found()
    }

    #[test]
    fn a_signal_is_found_however_it_is_cut() {
        let text = "working... <promise>COMPLETE</promise> bye";
        for cut in 0..text.len() {
            for next in cut..text.len() {
                let pieces = [&text[..cut], &text[cut..next], &text[next..]];
                assert!(found(&["<promise>COMPLETE</promise>"], &pieces).is_some(), "{pieces:?}");
            }
        }
        let single: Vec<&str> = text.split_inclusive(|_| true).collect();
        assert!(found(&["<promise>COMPLETE</promise>"], &single).is_some());
    }

    #[test]
    fn the_first_one_counts_and_a_part_does_not() {
        assert_eq!(found(&["DONE", "STOP"], &["STOP DONE"]), Some("STOP".to_owned()));
        assert_eq!(found(&["DONE"], &["DON", "X", "E"]), None);
        assert_eq!(found(&[], &["anything"]), None);
    }
}
