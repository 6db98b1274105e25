//! Follows JSON byte by byte: strings, escapes and nesting, nothing else.
//!
//! This is no parser. Its only purpose is to know which tags and fences are inside strings, and where the value ends;
//! whether the value is valid is judged when it is read, with a better message than "no answer found".
//!
//! An answer can begin inside a string of an earlier, broken one, so several values may have to be followed at once.
//! Two readers are always enough. Outside a string, `<` and `\` cannot stand in JSON and end the reader. An opener
//! begins with `<`, so every reader that survives it is in a string, where the new one is outside; each `"` swaps the
//! two, and after an escape only the one in a string is left. Two readers outside a string at the same time agree on
//! everything but the depth at which they began, and are therefore one reader with several starts.

use std::collections::VecDeque;

/// More starts than this in one reader are an attack; the oldest is given up.
const MAX_STARTS: usize = 64;

/// A value that is being read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    /// The position of the attempt that it belongs to.
    pub(super) attempt: usize,
    /// The mark of the code fence around it.
    pub(super) fence: Option<u8>,
    base: usize,
}

/// All values whose next byte means the same.
#[derive(Clone, Debug, Default)]
struct Reader {
    place: Place,
    depth: usize,
    /// By position, and therefore by depth.
    starts: VecDeque<Start>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Outside,
    InString,
    Escaped,
}

/// The readers of all open values.
#[derive(Clone, Debug, Default)]
pub(super) struct Readers {
    readers: Vec<Reader>,
}

/// What became of the values in reading one byte.
#[derive(Clone, Debug, Default)]
pub(super) struct ReadStep {
    /// The value that ended with this byte.
    pub(super) complete: Option<Start>,
    /// The values that cannot be JSON.
    pub(super) dead: VecDeque<Start>,
}

impl Readers {
    pub(super) fn is_empty(&self) -> bool {
        self.readers.is_empty()
    }

    /// Begins to read a value with the next byte; returns a value that is given up for it.
    pub(super) fn begin(&mut self, attempt: usize, fence: Option<u8>) -> Option<Start> {
        let at = self.readers.iter().position(|reader| reader.place == Place::Outside);
        let at = at.unwrap_or_else(|| {
            self.readers.push(Reader::default());
            self.readers.len() - 1
        });
        let reader = &mut self.readers[at];
        reader.starts.push_back(Start { attempt, fence, base: reader.depth });
        if reader.starts.len() > MAX_STARTS { reader.starts.pop_front() } else { None }
    }

    /// Takes one byte.
    pub(super) fn step(&mut self, byte: u8) -> ReadStep {
        let mut step = ReadStep::default();
        for reader in &mut self.readers {
            reader.step(byte, &mut step);
        }
        self.readers.retain(|reader| !reader.starts.is_empty());
        step
    }

    /// Returns how many of the bytes change nothing for any value.
    pub(super) fn skippable(&self, bytes: &[u8]) -> usize {
        match self.readers.as_slice() {
            [Reader { place: Place::InString, .. }] => {
                memchr::memchr3(b'"', b'\\', b'<', bytes).unwrap_or(bytes.len())
            }
            _ => 0,
        }
    }

    /// Forgets every value of attempts from this position on.
    pub(super) fn forget_from(&mut self, attempt: usize) {
        for reader in &mut self.readers {
            while reader.starts.pop_back_if(|start| start.attempt >= attempt).is_some() {}
        }
        self.readers.retain(|reader| !reader.starts.is_empty());
    }

    /// Forgets every value of attempts up to this position.
    pub(super) fn forget_to(&mut self, attempt: usize) {
        for reader in &mut self.readers {
            while reader.starts.pop_front_if(|start| start.attempt <= attempt).is_some() {}
        }
        self.readers.retain(|reader| !reader.starts.is_empty());
    }
}

impl Reader {
    fn step(&mut self, byte: u8, step: &mut ReadStep) {
        match (self.place, byte) {
            (Place::Escaped, _) => self.place = Place::InString,
            (Place::InString, b'\\') => self.place = Place::Escaped,
            (Place::InString, b'"') => {
                self.place = Place::Outside;
                step.complete = step.complete.or(self.complete());
            }
            (Place::Outside, b'"') => self.place = Place::InString,
            (Place::Outside, b'{' | b'[') => self.depth += 1,
            (Place::Outside, b'}' | b']') => {
                self.depth = self.depth.saturating_sub(1);
                step.complete = step.complete.or(self.complete());
            }
            (Place::Outside, b'<' | b'\\') => step.dead.append(&mut self.starts),
            _ => {}
        }
    }

    /// Takes the value that ends at this depth; the depths of the starts are distinct.
    fn complete(&mut self) -> Option<Start> {
        self.starts.pop_back_if(|start| start.base == self.depth)
    }
}
