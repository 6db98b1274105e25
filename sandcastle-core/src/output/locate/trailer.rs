//! Looks behind a complete value for the closing fence, if one was opened, and the closer.

use super::opener::{Glyph, GlyphKind};
use super::tags::Tag;

/// Follows the text behind the value of one attempt.
#[derive(Clone, Debug)]
pub(super) struct Trailer {
    /// The position of the attempt.
    pub(super) attempt: usize,
    /// Where its value ends.
    pub(super) value_end: usize,
    phase: Phase,
}

#[derive(Clone, Debug)]
enum Phase {
    /// A closing fence with this mark has to come.
    Unfenced(u8),
    Fence {
        mark: u8,
        run: usize,
    },
    /// The closer has to come.
    Open,
    Closer,
}

/// What one byte told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TrailerStep {
    Wait,
    /// The closer ends here.
    Closed,
    Dead,
}

impl Trailer {
    pub(super) fn new(attempt: usize, fence: Option<u8>, value_end: usize) -> Self {
        Self { attempt, value_end, phase: fence.map_or(Phase::Open, Phase::Unfenced) }
    }

    /// Takes one byte, with the tag that ends in it and whether a tag may be under way behind it.
    pub(super) fn step(&mut self, glyph: Glyph, tag: Option<Tag>, tag_in_progress: bool) -> TrailerStep {
        if glyph.kind == GlyphKind::Continuation {
            return TrailerStep::Wait;
        }
        match (&mut self.phase, glyph.byte) {
            (Phase::Unfenced(_) | Phase::Open, _) if glyph.is_space() => {}
            (Phase::Unfenced(mark), byte) if byte == *mark => {
                self.phase = Phase::Fence { mark: byte, run: 1 }
            }
            (Phase::Fence { mark, run }, byte) if byte == *mark => *run += 1,
            (Phase::Fence { run: 3.., .. }, _) if glyph.is_space() => self.phase = Phase::Open,
            (Phase::Fence { run: 3.., .. } | Phase::Open, b'<') => self.phase = Phase::Closer,
            (Phase::Closer, b'>') if tag == Some(Tag::Closer) => return TrailerStep::Closed,
            (Phase::Closer, byte) if byte != b'<' && tag_in_progress => {}
            _ => return TrailerStep::Dead,
        }
        TrailerStep::Wait
    }
}
