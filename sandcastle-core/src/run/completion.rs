//! The completion signal: a text that ends a run and carries no data.

use memchr::memmem::Finder;

/// Looks for signals in text that arrives in pieces, in one pass.
#[derive(Debug)]
pub(super) struct Completion {
    signals: Vec<Finder<'static>>,
    overlap: usize,
    carry: Vec<u8>,
    /// The first one that was given.
    found: Option<usize>,
    /// Whether the agent has done nothing since it gave one.
    stands: bool,
}

impl Completion {
    pub(super) fn new(signals: &[String]) -> Self {
        let longest = signals.iter().map(String::len).max().unwrap_or(0);
        let signals = signals.iter().map(|signal| Finder::new(signal.as_bytes()).into_owned()).collect();
        Self { signals, overlap: longest.saturating_sub(1), carry: Vec::new(), found: None, stands: false }
    }

    /// Reads a piece. The first signal that is complete counts.
    pub(super) fn push(&mut self, text: &str) {
        if self.stands || self.signals.is_empty() {
            return;
        }
        let text = text.as_bytes();
        let seam = &text[..text.len().min(self.overlap)];
        self.carry.extend_from_slice(seam);
        let given = self.find(&self.carry).or_else(|| self.find(text));
        self.stands = given.is_some();
        self.found = self.found.or(given);
        if seam.len() < text.len() {
            self.carry.clear();
            self.carry.extend_from_slice(&text[text.len() - self.overlap.min(text.len())..]);
        } else {
            let surplus = self.carry.len().saturating_sub(self.overlap);
            self.carry.drain(..surplus);
        }
    }

    /// Notes that the agent goes on to work: what it said before was not its last word. Tells whether a signal stood until now.
    pub(super) fn goes_on(&mut self) -> bool {
        self.carry.clear();
        std::mem::take(&mut self.stands)
    }

    /// Tells whether a signal was given and the agent has done nothing since.
    pub(super) fn stands(&self) -> bool {
        self.stands
    }

    /// Returns the first signal that was given.
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
    fn w_17_a_signal_is_found_however_it_is_cut() {
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
    fn w_17_a_signal_stands_until_the_agent_goes_on_to_work() {
        let mut completion = Completion::new(&["DONE".to_owned(), "STOP".to_owned()]);
        completion.push("I will say STOP at the end.");
        completion.push(" So.");
        assert!(completion.stands());
        assert!(completion.goes_on() && !completion.stands() && !completion.goes_on());
        completion.push("DO");
        completion.goes_on();
        completion.push("NE");
        assert!(!completion.stands(), "words before and after work are not one");
        completion.push("DONE");
        assert!(completion.stands());
        assert_eq!(completion.found().as_deref(), Some("STOP"));
    }

    #[test]
    fn the_first_one_counts_and_a_part_does_not() {
        assert_eq!(found(&["DONE", "STOP"], &["STOP DONE"]), Some("STOP".to_owned()));
        assert_eq!(found(&["DONE"], &["DON", "X", "E"]), None);
        assert_eq!(found(&[], &["anything"]), None);
    }
}
