//! Looks for all forms of all secrets in one pass over a text.
//!
//! The automaton is stepped byte by byte, so that a text may arrive in pieces, and knows for each of its states how
//! many of the last bytes may be the beginning of a secret.

use std::collections::{BTreeMap, HashMap};

use aho_corasick::automaton::{Automaton as _, StateID};
use aho_corasick::nfa::contiguous::NFA;
use aho_corasick::{Anchored, Input};

use super::Shown;
use super::forms::Origin;
use crate::error::{Error, ErrorKind, Result};

/// An automaton that was built.
pub(super) struct Automaton {
    nfa: NFA,
    start: StateID,
    /// How long the beginning of a secret is that a state stands for; states that are not here stand for none.
    depths: HashMap<StateID, usize>,
    origins: Vec<Origin>,
    /// How many secrets there are, whatever their forms.
    pub(super) count: usize,
}

impl Automaton {
    pub(super) fn build(needles: BTreeMap<String, Origin>, count: usize) -> Result<Self> {
        let too_many =
            || Error::new(ErrorKind::InvalidOptions, "mask the secrets: there is too much of them");
        let nfa = NFA::new(needles.keys()).map_err(|error| too_many().with_source(error))?;
        let start = nfa.start_state(Anchored::No).map_err(|error| too_many().with_source(error))?;
        let mut depths = HashMap::new();
        for needle in needles.keys() {
            // The state behind the first bytes of a needle is the one that stands for exactly them.
            let mut state = start;
            for (read, byte) in needle.bytes().enumerate() {
                state = nfa.next_state(Anchored::No, state, byte);
                depths.insert(state, read + 1);
            }
        }
        Ok(Self { nfa, start, depths, origins: needles.into_values().collect(), count })
    }

    /// Tells whether there is a secret in a text.
    pub(super) fn is_in(&self, text: &str) -> bool {
        matches!(self.nfa.try_find(&Input::new(text)), Ok(Some(_)))
    }

    /// Tells which kind of secret is in a text; a declared one counts more.
    pub(super) fn worst_in(&self, text: &str) -> Option<Shown> {
        let mut worst = None;
        let mut state = self.start;
        for byte in text.bytes() {
            state = self.next(state, byte);
            for index in 0..self.matches(state) {
                let origin = self.origins[self.nfa.match_pattern(state, index).as_usize()];
                worst = worst.max(Some(Shown::from(origin)));
            }
        }
        worst
    }

    /// Returns the state before any text.
    pub(super) fn start(&self) -> StateID {
        self.start
    }

    /// Returns the state behind one more byte.
    pub(super) fn next(&self, state: StateID, byte: u8) -> StateID {
        self.nfa.next_state(Anchored::No, state, byte)
    }

    /// Returns the length of the longest secret that ends here.
    pub(super) fn longest_match(&self, state: StateID) -> Option<usize> {
        let length = |index| self.nfa.pattern_len(self.nfa.match_pattern(state, index));
        (0..self.matches(state)).map(length).max()
    }

    /// Returns how many of the last bytes may be the beginning of a secret.
    pub(super) fn pending(&self, state: StateID) -> usize {
        self.depths.get(&state).copied().unwrap_or(0)
    }

    fn matches(&self, state: StateID) -> usize {
        if self.nfa.is_match(state) { self.nfa.match_len(state) } else { 0 }
    }
}
