//! Masks a text that arrives in pieces.
//!
//! What may be the beginning of a secret is held back until it is known to be one or not. However a text is split, what
//! is shown is the same.

use std::fmt;
use std::ops::Range;

use aho_corasick::automaton::StateID;

use super::{MASK, Secrets};

/// The shortest beginning of a secret that is hidden where a text was cut off.
const SHORTEST_BEGINNING: usize = 4;

/// Masks one text piece by piece, in linear time.
///
/// It keeps no more than the longest secret in its longest form is long. What it holds back comes with a later piece or with
/// [`Masker::finish`].
///
/// ```
/// use sandcastle_core::secret::{Masker, Secrets};
///
/// let secrets = Secrets::declared(["s3cret"])?;
/// let (mut masker, mut shown) = (Masker::new(&secrets), String::new());
/// masker.push("it is s3c", &mut shown);
/// assert_eq!(shown, "it is ");
/// masker.push("ret!", &mut shown);
/// masker.finish(&mut shown);
/// assert_eq!(shown, "it is ***!");
/// # Ok::<(), sandcastle_core::Error>(())
/// ```
pub struct Masker {
    secrets: Secrets,
    state: StateID,
    /// The end of the text so far that is not shown yet.
    held: String,
    /// What of it is secret: ranges in order that do not touch.
    covered: Vec<Range<usize>>,
    /// Whether what was shown last is a mask that stands for all that touches it.
    under_mask: bool,
}

impl Masker {
    /// Starts a text.
    #[must_use]
    pub fn new(secrets: &Secrets) -> Self {
        let state = secrets.0.as_ref().map(|automaton| automaton.start()).unwrap_or_default();
        Self { secrets: secrets.clone(), state, held: String::new(), covered: Vec::new(), under_mask: false }
    }

    /// Reads a piece, and appends to `shown` what can be shown by now.
    pub fn push(&mut self, piece: &str, shown: &mut String) {
        let Some(automaton) = self.secrets.0.clone() else { return shown.push_str(piece) };
        let before = self.held.len();
        self.held.push_str(piece);
        for (at, byte) in piece.bytes().enumerate() {
            self.state = automaton.next(self.state, byte);
            if let Some(length) = automaton.longest_match(self.state) {
                let end = before + at + 1;
                self.cover(end.saturating_sub(length)..end);
            }
        }
        self.show(self.held.len() - automaton.pending(self.state), shown);
    }

    /// Ends the text, and appends the rest of it to `shown`. The next piece begins another text.
    pub fn finish(&mut self, shown: &mut String) {
        self.show(self.held.len(), shown);
        *self = Self::new(&self.secrets);
    }

    /// Ends a text whose end was cut off, and hides what may be the beginning of a secret there.
    pub fn finish_cut(&mut self, shown: &mut String) {
        let pending = self.secrets.0.as_ref().map_or(0, |automaton| automaton.pending(self.state));
        if pending >= SHORTEST_BEGINNING {
            self.cover(self.held.len() - pending..self.held.len());
        }
        self.finish(shown);
    }

    /// Notes that a part of what is held is secret. Parts are noted in the order of their ends.
    fn cover(&mut self, mut part: Range<usize>) {
        while let Some(last) = self.covered.pop_if(|last| last.end >= part.start) {
            part.start = part.start.min(last.start);
        }
        self.covered.push(part);
    }

    /// Shows the first `length` bytes of what is held.
    fn show(&mut self, length: usize, shown: &mut String) {
        let mut at = 0;
        for part in &self.covered {
            let end = part.end.min(length);
            if part.start >= length {
                break;
            }
            if at < part.start {
                shown.push_str(&self.held[at..part.start]);
                self.under_mask = false;
            }
            if !self.under_mask {
                shown.push_str(MASK);
                self.under_mask = true;
            }
            at = end;
        }
        if at < length {
            shown.push_str(&self.held[at..length]);
            self.under_mask = false;
        }
        self.held.drain(..length);
        self.covered.retain_mut(|part| {
            *part = part.start.saturating_sub(length)..part.end.saturating_sub(length);
            part.start < part.end
        });
    }
}

impl fmt::Debug for Masker {
    /// Shows how much is held back, and nothing of it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Masker")
            .field("secrets", &self.secrets)
            .field("held", &self.held.len())
            .finish_non_exhaustive()
    }
}
