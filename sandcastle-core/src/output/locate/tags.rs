//! Finds the opener and the closer of one tag in streamed bytes.
//!
//! Both end with `name>`, so one memory search for that finds both. A tag that is cut by the end of a piece is followed
//! byte by byte; since a name holds no `<`, a mismatch can only begin anew at a `<`.

use memchr::memmem::Finder;

/// What was found; the last byte of it was the last byte looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tag {
    /// `<name>`
    Opener,
    /// `</name>`
    Closer,
}

/// Follows one tag through the text.
#[derive(Clone, Debug)]
pub(super) struct TagFinder {
    /// Finds `name>`.
    finder: Finder<'static>,
    progress: Option<Progress>,
}

/// A tag of which the beginning was seen.
#[derive(Clone, Copy, Debug)]
struct Progress {
    tag: Tag,
    /// How many bytes of `name>` were seen.
    matched: usize,
}

impl TagFinder {
    pub(super) fn new(name: &str) -> Self {
        let finder = Finder::new(format!("{name}>").as_bytes()).into_owned();
        Self { finder, progress: None }
    }

    /// Tells whether the last bytes may be the beginning of a tag.
    pub(super) fn in_progress(&self) -> bool {
        self.progress.is_some()
    }

    /// Returns the length of the closer.
    pub(super) fn closer_len(&self) -> usize {
        self.finder.needle().len() + 2
    }

    /// Takes one byte.
    pub(super) fn step(&mut self, byte: u8) -> Option<Tag> {
        let name = self.finder.needle();
        self.progress = match self.progress {
            _ if byte == b'<' => Some(Progress { tag: Tag::Opener, matched: 0 }),
            Some(Progress { tag: Tag::Opener, matched: 0 }) if byte == b'/' => {
                Some(Progress { tag: Tag::Closer, matched: 0 })
            }
            Some(Progress { tag, matched }) if name.get(matched) == Some(&byte) => {
                if matched + 1 == name.len() {
                    self.progress = None;
                    return Some(tag);
                }
                Some(Progress { tag, matched: matched + 1 })
            }
            _ => None,
        };
        None
    }

    /// Takes bytes up to and including the next tag; returns how many and which, or takes all of them.
    pub(super) fn skip(&mut self, bytes: &[u8]) -> Option<(usize, Tag)> {
        let mut at = 0;
        while self.in_progress() && at < bytes.len() {
            let tag = self.step(bytes[at]);
            at += 1;
            if let Some(tag) = tag {
                return Some((at, tag));
            }
        }
        let name_len = self.finder.needle().len();
        while let Some(found) = self.finder.find(&bytes[at..]) {
            let (before, end) = (&bytes[..at + found], at + found + name_len);
            if before.ends_with(b"<") {
                return Some((end, Tag::Opener));
            }
            if before.ends_with(b"</") {
                return Some((end, Tag::Closer));
            }
            at += found + 1;
        }
        let end = &bytes[at.max(bytes.len().saturating_sub(name_len + 1))..];
        if let Some(begin) = memchr::memrchr(b'<', end) {
            for byte in &end[begin..] {
                self.step(*byte);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str, piece: usize) -> Vec<(usize, Tag)> {
        let mut tags = TagFinder::new("a-b");
        let (mut found, mut base) = (Vec::new(), 0);
        for piece in text.as_bytes().chunks(piece) {
            let mut at = 0;
            while let Some((taken, tag)) = tags.skip(&piece[at..]) {
                at += taken;
                found.push((base + at, tag));
            }
            base += piece.len();
        }
        found
    }

    #[test]
    fn skip_finds_what_single_steps_find_in_pieces_of_any_size() {
        let text = "<a-b></a-b> a-b> <<a-b>< a-b></<a-b><//a-b><a-b<a-b></a-b<a-b>a-b><a-B><a-b";
        let mut tags = TagFinder::new("a-b");
        let expected: Vec<_> =
            text.bytes().enumerate().filter_map(|(at, byte)| Some((at + 1, tags.step(byte)?))).collect();
        assert_eq!(expected.len(), 6);
        for size in 1..=text.len() {
            assert_eq!(all(text, size), expected, "pieces of {size}");
        }
    }
}
