//! Keeps the end of the text, to say why nothing was found.

/// How much is kept at least.
const TAIL_BYTES: usize = 8 << 10;

/// The last few kilobytes of the text.
#[derive(Debug, Default)]
pub(super) struct Tail {
    text: String,
}

impl Tail {
    pub(super) fn push(&mut self, part: &str) {
        let kept = &part[part.ceil_char_boundary(part.len().saturating_sub(TAIL_BYTES))..];
        if kept.len() < part.len() {
            self.text.clear();
        } else if self.text.len() + kept.len() > 2 * TAIL_BYTES {
            let begin = self.text.ceil_char_boundary(self.text.len() - TAIL_BYTES.min(self.text.len()));
            self.text.drain(..begin);
        }
        self.text.push_str(kept);
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }
}
