//! Keeps the order of the attempts at an answer: which are still open, and which outcome stands.
//!
//! An attempt begins at an opener and ends good, bad, or as a mere mention of the tag. The rule is sequential: a good
//! one takes everything up to its closer with it, a bad one leaves everything behind its opener to be tried. Attempts
//! inside an open one are therefore followed at the same time, and what comes of them waits beside it until its own
//! fate is known. Only the last outcome can ever count, so one place to wait is enough for each.

use std::collections::VecDeque;

use super::MAX_BLOCK_BYTES;

/// An attempt whose fate is open.
#[derive(Clone, Debug)]
struct Attempt {
    /// The position behind its opener; also its name.
    start: usize,
    /// In how many ways it is still being read.
    readings: usize,
    /// Whether the beginning of a value was seen.
    kind: Kind,
    closer: Option<usize>,
    value_end: Option<usize>,
    /// The last outcome of an attempt inside this one, and before the next open one.
    waiting: Option<Outcome>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Tentative,
    Confirmed,
}

/// How an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// A value with its closer.
    Good,
    /// The beginning of a value, and then something else than a value with its closer.
    Bad,
    /// Longer than a block may be.
    Oversize,
    /// No value began: the tag is only mentioned.
    Mention,
}

/// The end of an attempt.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcome {
    pub(super) verdict: Verdict,
    /// The position behind the opener.
    pub(super) start: usize,
    /// The position of the first closer behind it that is no part of its value.
    pub(super) closer: Option<usize>,
    /// Where the last complete value in it ends.
    pub(super) value_end: Option<usize>,
}

/// All open attempts, and the outcome that stands.
#[derive(Clone, Debug, Default)]
pub(super) struct Ledger {
    open: VecDeque<Attempt>,
    /// The outcome of the last attempt.
    last: Option<Outcome>,
    /// The last mention that has a closer; counts only as long as there is no attempt.
    pair: Option<Outcome>,
    /// The last mention, as long as it has no closer.
    mention: Option<Outcome>,
}

impl Ledger {
    pub(super) fn open(&mut self, start: usize) {
        self.open.push_back(Attempt {
            start,
            readings: 1,
            kind: Kind::Tentative,
            closer: None,
            value_end: None,
            waiting: None,
        });
    }

    /// Notes that the attempt is read in one more way.
    pub(super) fn fork(&mut self, attempt: usize) {
        if let Some(at) = self.find(attempt) {
            self.open[at].readings += 1;
        }
    }

    /// Notes that a value begins in the attempt.
    pub(super) fn confirm(&mut self, attempt: usize) {
        if let Some(at) = self.find(attempt) {
            self.open[at].kind = Kind::Confirmed;
        }
    }

    /// Notes that one way to read the attempt has failed, behind a value if one was complete.
    pub(super) fn fail(&mut self, attempt: usize, value_end: Option<usize>) {
        let Some(at) = self.find(attempt) else { return };
        let open = &mut self.open[at];
        open.readings = open.readings.saturating_sub(1);
        open.value_end = value_end.or(open.value_end);
        if open.readings == 0 {
            let verdict = if open.kind == Kind::Confirmed { Verdict::Bad } else { Verdict::Mention };
            self.close(at, verdict);
        }
    }

    /// Notes that the attempt is good, and forgets all attempts inside it.
    pub(super) fn succeed(&mut self, attempt: usize, closer: usize) {
        let Some(at) = self.find(attempt) else { return };
        self.open.truncate(at + 1);
        self.open[at].closer = Some(closer);
        self.open[at].waiting = None;
        self.close(at, Verdict::Good);
    }

    /// Ends the attempts that are too long at `position`; returns the last of them.
    pub(super) fn expire(&mut self, position: usize) -> Option<usize> {
        let mut expired = None;
        while let Some(first) = self.open.front()
            && position - first.start > MAX_BLOCK_BYTES
        {
            expired = Some(first.start);
            self.close(0, Verdict::Oversize);
        }
        if let Some(last) = &mut self.last
            && last.closer.is_none()
            && position - last.start > MAX_BLOCK_BYTES
        {
            last.verdict = Verdict::Oversize;
        }
        self.mention.take_if(|mention| position - mention.start > MAX_BLOCK_BYTES);
        expired
    }

    /// Notes a closer at this position.
    pub(super) fn closer(&mut self, position: usize) {
        if let Some(mut mention) = self.mention.take() {
            mention.closer = Some(position);
            self.pair = Some(mention);
        }
        // Whatever has a closer already began before everything that has none.
        for attempt in self.open.iter_mut().rev() {
            if let Some(waiting) = &mut attempt.waiting {
                if waiting.closer.is_some() {
                    return;
                }
                waiting.closer = Some(position);
            }
            if attempt.closer.is_some() {
                return;
            }
            attempt.closer = Some(position);
        }
        if let Some(last) = &mut self.last {
            last.closer.get_or_insert(position);
        }
    }

    /// Ends all open attempts as bad, since the text has ended, and returns the outcome that stands.
    pub(super) fn finish(mut self) -> Option<Outcome> {
        while !self.open.is_empty() {
            self.close(0, Verdict::Bad);
        }
        self.last.or(self.pair)
    }

    /// Returns the position from which on the text may still be needed; that of the attempt `held` is kept elsewhere.
    pub(super) fn needed_from(&self, held: Option<usize>) -> Option<usize> {
        let candidates = [
            self.open.front().map(|attempt| attempt.start),
            self.standing().map(|outcome| outcome.start).filter(|start| Some(*start) != held),
            self.mention.map(|mention| mention.start),
        ];
        candidates.into_iter().flatten().min()
    }

    /// Returns the outcome that would stand if the text ended here, apart from open attempts.
    pub(super) fn standing(&self) -> Option<&Outcome> {
        self.last.as_ref().or(self.pair.as_ref())
    }

    /// Tells whether text that is still to come may be needed.
    pub(super) fn is_recording(&self) -> bool {
        !self.open.is_empty()
            || self.mention.is_some()
            || self.last.is_some_and(|last| last.closer.is_none() && last.verdict != Verdict::Oversize)
    }

    fn find(&self, attempt: usize) -> Option<usize> {
        match self.open.back() {
            Some(last) if last.start == attempt => Some(self.open.len() - 1),
            _ => self.open.binary_search_by_key(&attempt, |open| open.start).ok(),
        }
    }

    fn close(&mut self, at: usize, verdict: Verdict) {
        let Some(attempt) = self.open.remove(at) else { return };
        let Attempt { start, closer, value_end, waiting, .. } = attempt;
        let own = Outcome { verdict, start, closer, value_end };
        let outcome = match (waiting, verdict) {
            (Some(inside), _) => inside,
            (None, Verdict::Mention) => {
                self.note_mention(own);
                return;
            }
            (None, _) => own,
        };
        match at.checked_sub(1).and_then(|before| self.open.get_mut(before)) {
            Some(before) => before.waiting = Some(outcome),
            None => self.last = Some(outcome),
        }
    }

    /// A mention counts only if there is no attempt at all, so it is not kept where one may come of an open one.
    fn note_mention(&mut self, own: Outcome) {
        if self.last.is_some() {
            return;
        }
        let slot = if own.closer.is_some() { &mut self.pair } else { &mut self.mention };
        if slot.is_none_or(|other| other.start < own.start) {
            *slot = Some(own);
        }
    }
}
