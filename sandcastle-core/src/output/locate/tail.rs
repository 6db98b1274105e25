//! Keeps the end of the text, to say why nothing was found.

/// How much is kept at least.
const TAIL_BYTES: usize = 8 << 10;

/// The last few kilobytes of the text.
#[derive(Clone, Debug, Default)]
pub(super) struct Tail {
    /// Goes before `current`; long enough together with it, unless the text is short.
    previous: String,
    current: String,
}

impl Tail {
    /// Takes the next part. Two buffers take turns, so that no byte is copied twice.
    pub(super) fn push(&mut self, part: &str) {
        let kept = &part[part.ceil_char_boundary(part.len().saturating_sub(TAIL_BYTES))..];
        if self.current.len() + kept.len() > TAIL_BYTES {
            std::mem::swap(&mut self.previous, &mut self.current);
            self.current.clear();
        }
        self.current.push_str(kept);
    }

    pub(super) fn into_string(self) -> String {
        self.previous + &self.current
    }
}
