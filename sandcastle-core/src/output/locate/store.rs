//! Holds the part of the text that open attempts and the last outcome need, by absolute position.

use super::MAX_BLOCK_BYTES;

/// A window on the text, from some position to the present one.
#[derive(Clone, Debug, Default)]
pub(super) struct Store {
    text: String,
    base: usize,
}

impl Store {
    /// Takes `part`, which begins at position `at`, and keeps the text from position `from` on.
    ///
    /// `from` is only ever moved back to before `at` when the text since then is still here.
    pub(super) fn keep(&mut self, part: &str, at: usize, from: Option<usize>) {
        let Some(from) = from else {
            self.clear();
            return;
        };
        if self.base + self.text.len() != at || from >= at {
            self.text.clear();
            self.base = from.max(at);
        }
        self.text.push_str(part.get(self.base.saturating_sub(at)..).unwrap_or_default());
        let dead = from.saturating_sub(self.base);
        // Moving the rest to the front only when it is the smaller half keeps the cost per byte constant.
        if dead > self.text.len() / 2 && self.text.is_char_boundary(dead) {
            self.text.drain(..dead);
            self.base = from;
        }
    }

    /// Returns the text from `start` to `end`, at most as much as a block may hold.
    pub(super) fn text(&self, start: usize, end: Option<usize>) -> &str {
        let from = start.saturating_sub(self.base);
        let to = end.map_or(self.text.len(), |end| end.saturating_sub(self.base)).min(from + MAX_BLOCK_BYTES);
        let to = self.text.floor_char_boundary(to);
        self.text.get(from..to).unwrap_or_default()
    }

    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    fn clear(&mut self) {
        self.text.clear();
        // A large block must not be paid for until the end of the run.
        self.text.shrink_to(super::PART_BYTES);
        self.base = 0;
    }
}
