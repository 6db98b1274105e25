//! Finds the last text answer: from the last opener that has a closer behind it to the last closer.
//!
//! A text may mention the closer, so a block reaches to the last one; closers that are merely repeated at its end are
//! not part of it. An opener behind the block that is never closed is an error, as for JSON.

use super::MAX_BLOCK_BYTES;
use super::diagnosis;
use super::store::Store;
use super::tags::{Tag, TagFinder};
use super::tail::Tail;
use crate::output::{ExtractError, OutputFormat};

/// The locator for [`OutputFormat::Text`](crate::output::OutputFormat::Text).
#[derive(Clone, Debug)]
pub(super) struct TextScan {
    name: String,
    tags: TagFinder,
    position: usize,
    /// The position behind the last opener, if no closer follows it.
    open: Option<usize>,
    block: Option<Range>,
    store: Store,
    /// The text of the block, once it cannot grow any more.
    held: Option<String>,
    tail: Tail,
}

#[derive(Clone, Copy, Debug)]
struct Range {
    start: usize,
    end: usize,
}

impl TextScan {
    pub(super) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            tags: TagFinder::new(name),
            position: 0,
            open: None,
            block: None,
            store: Store::default(),
            held: None,
            tail: Tail::default(),
        }
    }

    pub(super) fn feed(&mut self, part: &str) {
        let begin = self.position;
        self.tail.push(part);
        let mut at = 0;
        while let Some((taken, tag)) = self.tags.skip(&part.as_bytes()[at..]) {
            at += taken;
            self.tag(tag, begin + at);
        }
        self.position = begin + part.len();
        self.keep(part, begin);
    }

    pub(super) fn finish(self) -> Result<String, ExtractError> {
        if let Some(open) = self.open {
            let text = self.store.text(open, None);
            return Err(match diagnosis::last_near_closer(&self.name, text) {
                Some((inside, found)) => ExtractError::unclosed(&self.name, inside, Some(found)),
                None => ExtractError::unclosed(&self.name, text, None),
            });
        }
        let Some(Range { start, end }) = self.block else {
            return Err(diagnosis::missing(&self.name, &self.tail.into_string(), OutputFormat::Text));
        };
        let mut text = self.held.unwrap_or_else(|| self.store.text(start, Some(end)).to_owned());
        if end - start > MAX_BLOCK_BYTES {
            return Err(ExtractError::oversize(&self.name, text, MAX_BLOCK_BYTES));
        }
        let closer = format!("</{}>", self.name);
        while let Some(inside) = text.trim_end().strip_suffix(closer.as_str()) {
            text.truncate(inside.len());
        }
        Ok(text)
    }

    fn tag(&mut self, tag: Tag, end: usize) {
        match tag {
            Tag::Opener => self.open = Some(end),
            Tag::Closer => {
                let end = end - self.tags.closer_len();
                if let Some(start) = self.open.take() {
                    self.block = Some(Range { start, end });
                    self.held = None;
                } else if let Some(block) = &mut self.block
                    && self.held.is_none()
                {
                    block.end = end;
                }
            }
        }
    }

    fn keep(&mut self, part: &str, begin: usize) {
        let block = self.block.filter(|_| self.held.is_none()).map(|block| block.start);
        // Only the beginning of what is too long is kept, to show it.
        let open = self.open.filter(|open| self.position - open <= MAX_BLOCK_BYTES);
        self.store.keep(part, begin, block.into_iter().chain(open).min());
        if let Some(Range { start, end }) = self.block.filter(|_| self.held.is_none())
            && self.position - start > MAX_BLOCK_BYTES
        {
            self.held = Some(self.store.text(start, Some(end)).to_owned());
        }
    }
}
