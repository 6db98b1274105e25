//! Finds the last attempt at a JSON answer: drives openers, readers and trailers over the text, in one pass.

use super::MAX_BLOCK_BYTES;
use super::diagnosis;
use super::ledger::{Ledger, Outcome, Verdict};
use super::opener::{Begin, Glyph, Main, Opener};
use super::reader::Readers;
use super::store::Store;
use super::tags::{Tag, TagFinder};
use super::tail::Tail;
use super::trailer::{Trailer, TrailerStep};
use crate::output::{ExtractError, OutputFormat};

/// The locator for [`OutputFormat::Json`](crate::output::OutputFormat::Json).
#[derive(Clone, Debug)]
pub(super) struct JsonScan {
    name: String,
    tags: TagFinder,
    /// The length of the text so far, and so the position of the next byte.
    position: usize,
    ledger: Ledger,
    /// The newest opener, until it is known what follows it, and its position.
    opener: Option<(usize, Opener)>,
    readers: Readers,
    /// The attempt whose number is being read, and the mark of its fence. A second one cannot begin before the end of
    /// the first, and neither can a second trailer.
    number: Option<(usize, Option<u8>)>,
    trailer: Option<Trailer>,
    store: Store,
    /// The text of the outcome that stands, once nothing else is open, and the position of that outcome.
    held: Option<(usize, String)>,
    tail: Tail,
}

impl JsonScan {
    pub(super) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            tags: TagFinder::new(name),
            position: 0,
            ledger: Ledger::default(),
            opener: None,
            readers: Readers::default(),
            number: None,
            trailer: None,
            store: Store::default(),
            held: None,
            tail: Tail::default(),
        }
    }

    pub(super) fn feed(&mut self, part: &str) {
        let begin = self.position;
        self.tail.push(part);
        let mut at = 0;
        while at < part.len() {
            let taken = if self.is_idle() {
                self.skip_idle(&part.as_bytes()[at..])
            } else {
                self.skip_string(part, at)
            };
            at += taken;
            self.position = begin + at;
            if taken == 0 {
                self.step(Glyph::at(part, at));
                at += 1;
                self.position = begin + at;
            }
        }
        self.expire();
        self.keep(part, begin);
    }

    pub(super) fn finish(mut self) -> Result<String, ExtractError> {
        match self.opener.take() {
            Some((attempt, opener)) if !opener.is_begun() => self.ledger.fail(attempt, None),
            _ => {}
        }
        if let Some(trailer) = self.trailer.take() {
            self.ledger.confirm(trailer.attempt);
            self.ledger.fail(trailer.attempt, Some(trailer.value_end));
        }
        let Some(outcome) = self.ledger.finish() else {
            return Err(diagnosis::missing(&self.name, &self.tail.into_string(), OutputFormat::Json));
        };
        let text = match self.held {
            Some((start, text)) if start == outcome.start => text,
            _ => self.store.text(outcome.start, outcome.closer).to_owned(),
        };
        judge(&self.name, &outcome, text)
    }

    /// Nothing but a tag can make a difference now.
    fn is_idle(&self) -> bool {
        self.opener.is_none() && self.readers.is_empty() && self.number.is_none() && self.trailer.is_none()
    }

    /// Takes bytes up to the next tag, at the speed of a memory search.
    fn skip_idle(&mut self, bytes: &[u8]) -> usize {
        let Some((taken, tag)) = self.tags.skip(bytes) else { return bytes.len() };
        self.tag(tag, self.position + taken);
        taken
    }

    /// Takes the bytes of a string that mean nothing to anyone.
    fn skip_string(&self, part: &str, at: usize) -> usize {
        let only_reading = self.opener.is_none() && self.number.is_none() && self.trailer.is_none();
        if !only_reading || self.tags.in_progress() {
            return 0;
        }
        self.readers.skippable(&part.as_bytes()[at..])
    }

    /// Takes one byte. The order matters: a byte that ends a number may begin its trailer, one that begins a value is
    /// also the first that its reader takes, and a tag counts after everything that it interrupts.
    fn step(&mut self, glyph: Glyph) {
        let tag = self.tags.step(glyph.byte);
        self.step_trailer(glyph, tag);
        self.step_number(glyph);
        self.step_opener(glyph);
        self.step_readers(glyph.byte);
        if let Some(tag) = tag {
            self.tag(tag, self.position + 1);
        }
    }

    fn step_trailer(&mut self, glyph: Glyph, tag: Option<Tag>) {
        let Some(trailer) = &mut self.trailer else { return };
        let (attempt, value_end) = (trailer.attempt, trailer.value_end);
        match trailer.step(glyph, tag, self.tags.in_progress()) {
            TrailerStep::Wait => {}
            TrailerStep::Dead => {
                self.trailer = None;
                self.ledger.fail(attempt, Some(value_end));
            }
            TrailerStep::Closed => {
                self.trailer = None;
                self.readers.forget_from(attempt);
                self.number.take_if(|(number, _)| *number >= attempt);
                self.opener.take_if(|(opener, _)| *opener >= attempt);
                self.ledger.succeed(attempt, self.position + 1 - self.tags.closer_len());
            }
        }
    }

    fn step_number(&mut self, glyph: Glyph) {
        if matches!(glyph.byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E') {
            return;
        }
        if let Some((attempt, fence)) = self.number.take() {
            self.begin_trailer(attempt, fence, self.position);
            self.step_trailer(glyph, None);
        }
    }

    fn step_opener(&mut self, glyph: Glyph) {
        let Some((attempt, opener)) = &mut self.opener else { return };
        let attempt = *attempt;
        let step = opener.step(glyph);
        if let Some((begin, mark)) = step.inline {
            self.ledger.fork(attempt);
            self.begin_value(attempt, begin, Some(mark), glyph);
        }
        match step.main {
            Main::Wait => {}
            Main::Prose => {
                self.opener = None;
                self.ledger.fail(attempt, None);
            }
            Main::Value(begin, fence) => {
                self.opener = None;
                self.ledger.confirm(attempt);
                self.begin_value(attempt, begin, fence, glyph);
            }
        }
    }

    fn begin_value(&mut self, attempt: usize, begin: Begin, fence: Option<u8>, glyph: Glyph) {
        match begin {
            Begin::Delimited => {
                if let Some(given_up) = self.readers.begin(attempt, fence) {
                    self.ledger.fail(given_up.attempt, None);
                }
            }
            Begin::Number => self.number = Some((attempt, fence)),
            Begin::Word => {
                self.begin_trailer(attempt, fence, self.position);
                self.step_trailer(glyph, None);
            }
        }
    }

    fn step_readers(&mut self, byte: u8) {
        let step = self.readers.step(byte);
        for start in step.dead {
            self.ledger.fail(start.attempt, None);
        }
        if let Some(start) = step.complete {
            self.begin_trailer(start.attempt, start.fence, self.position + 1);
        }
    }

    fn begin_trailer(&mut self, attempt: usize, fence: Option<u8>, value_end: usize) {
        let other = self.trailer.replace(Trailer::new(attempt, fence, value_end));
        if let Some(other) = other {
            self.ledger.fail(other.attempt, Some(other.value_end));
        }
    }

    /// Takes a tag that ends at `end`.
    fn tag(&mut self, tag: Tag, end: usize) {
        match tag {
            Tag::Closer => self.ledger.closer(end - self.tags.closer_len()),
            Tag::Opener => {
                if let Some((other, _)) = self.opener.replace((end, Opener::new())) {
                    self.ledger.fail(other, None);
                }
                self.ledger.open(end);
            }
        }
    }

    fn expire(&mut self) {
        if let Some(expired) = self.ledger.expire(self.position) {
            self.readers.forget_to(expired);
            self.number.take_if(|(attempt, _)| *attempt <= expired);
            self.opener.take_if(|(attempt, _)| *attempt <= expired);
            self.trailer.take_if(|trailer| trailer.attempt <= expired);
        }
    }

    fn keep(&mut self, part: &str, begin: usize) {
        let standing = self.ledger.standing().map(|outcome| (outcome.start, outcome.closer));
        self.held.take_if(|(start, _)| standing.is_none_or(|(standing, _)| standing != *start));
        let held = self.held.as_ref().map(|(start, _)| *start);
        self.store.keep(part, begin, self.ledger.needed_from(held));
        // Moving the text out of the store is due once for each outcome that nothing open stands behind; openers that
        // go on for ever must not keep it from that.
        let overdue = self.store.len() > 2 * MAX_BLOCK_BYTES + part.len();
        if let Some((start, closer)) = standing
            && held.is_none()
            && (overdue || !self.ledger.is_recording())
        {
            self.held = Some((start, self.store.text(start, closer).to_owned()));
        }
    }
}

/// Turns the outcome that stands into a block or an error.
fn judge(name: &str, outcome: &Outcome, text: String) -> Result<String, ExtractError> {
    if outcome.verdict == Verdict::Good || outcome.verdict == Verdict::Mention {
        return Ok(text);
    }
    if let Some(end) = outcome.value_end
        && let Some((value, found)) = diagnosis::near_closer(name, &text, end - outcome.start)
    {
        return Err(ExtractError::unclosed(name, value, Some(found)));
    }
    match (outcome.verdict, outcome.closer) {
        (_, None) => Err(ExtractError::unclosed(name, text, None)),
        (Verdict::Oversize, Some(_)) => Err(ExtractError::oversize(name, text, MAX_BLOCK_BYTES)),
        _ => Ok(text),
    }
}
