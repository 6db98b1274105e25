//! Bytes of a stream to lines, whatever the sizes of the reads.
//!
//! An agent prints one JSON object a line; a line may be megabytes long and a read may end inside a character.
//! [`LineBuffer`] collects the bytes and hands out whole lines. It reads no pipe itself and parses no JSON: a line
//! that is not JSON is the decoder's to report, and one that is too long to keep is reported here, as data.

use std::mem;

/// The longest line that is kept, in bytes: 16 MiB.
pub const MAX_LINE: usize = 16 * 1024 * 1024;

/// Room that a read is offered.
const READ_SIZE: usize = 64 * 1024;

/// Capacity that is kept while there is nothing to keep.
const IDLE_CAPACITY: usize = 1024 * 1024;

/// Collects the bytes of a stream and hands out its lines.
///
/// Lines end with `\n` alone (agents print U+2028 raw), and a `\r` before it is removed. The cost is linear in the
/// bytes, and no more is held than the longest permitted line and one read, as long as the lines are taken out after
/// each read.
///
/// ```
/// use sandcastle_core::jsonl::{Line, LineBuffer};
///
/// let mut lines = LineBuffer::new();
/// lines.push(b"one\r\ntw");
/// assert_eq!(lines.next_line(), Some(Line::Complete(b"one")));
/// assert_eq!(lines.next_line(), None);
/// lines.push(b"o");
/// assert_eq!(lines.finish(), Some(Line::Complete(b"two")));
/// ```
#[derive(Debug)]
pub struct LineBuffer {
    buffer: Vec<u8>,
    /// Where the first line begins that was not handed out.
    start: usize,
    /// How far behind `start` it is known that no line ends.
    searched: usize,
    /// The bytes of the current line that were dropped, because it is too long.
    dropped: u64,
    max_line: usize,
}

/// One line of a stream, without its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// A whole line.
    Complete(&'a [u8]),
    /// A line that was too long to keep and is lost, except for its length.
    Oversized {
        /// How many bytes it had.
        bytes: u64,
    },
}

impl LineBuffer {
    /// Creates a buffer that keeps lines of up to [`MAX_LINE`] bytes.
    #[must_use]
    pub const fn new() -> Self {
        Self::with_max_line(MAX_LINE)
    }

    /// Creates a buffer that keeps lines of up to `max_line` bytes.
    #[must_use]
    pub const fn with_max_line(max_line: usize) -> Self {
        Self { buffer: Vec::new(), start: 0, searched: 0, dropped: 0, max_line }
    }

    /// Appends what one read gave. Take the lines out afterwards, until there is none.
    pub fn push(&mut self, bytes: &[u8]) {
        self.reclaim();
        self.buffer.extend_from_slice(bytes);
    }

    /// Returns the inner buffer with room for a read, to be appended to and nothing else.
    ///
    /// It saves the copy of [`LineBuffer::push`] where a reader can append to a vector.
    pub fn spare(&mut self) -> &mut Vec<u8> {
        self.reclaim();
        self.buffer.reserve(READ_SIZE);
        &mut self.buffer
    }

    /// Hands out the next whole line, or `None` until more bytes come.
    pub fn next_line(&mut self) -> Option<Line<'_>> {
        let unsearched = self.buffer.get(self.searched..).unwrap_or_default();
        let Some(offset) = memchr::memchr(b'\n', unsearched) else {
            self.searched = self.buffer.len();
            self.drop_oversized();
            return None;
        };
        let end = self.searched + offset;
        let start = mem::replace(&mut self.start, end + 1);
        self.searched = self.start;
        Some(self.line(start, end))
    }

    /// Hands out what stands behind the last line feed. Call it at the end of the stream, after the last line.
    pub fn finish(&mut self) -> Option<Line<'_>> {
        let end = self.buffer.len();
        let start = mem::replace(&mut self.start, end);
        self.searched = end;
        (start < end || self.dropped > 0).then(|| self.line(start, end))
    }

    fn line(&mut self, start: usize, end: usize) -> Line<'_> {
        let bytes = mem::take(&mut self.dropped) + (end - start) as u64;
        if bytes > self.max_line as u64 {
            return Line::Oversized { bytes };
        }
        let line = &self.buffer[start..end];
        Line::Complete(line.strip_suffix(b"\r").unwrap_or(line))
    }

    /// Forgets the bytes of an unfinished line that is already too long; only its length goes on growing.
    fn drop_oversized(&mut self) {
        let unfinished = self.buffer.len() - self.start;
        if self.dropped > 0 || unfinished > self.max_line {
            self.dropped += unfinished as u64;
            self.start = self.buffer.len();
        }
    }

    /// Makes room by moving what is left to the front, at a cost that the bytes handed out have paid for.
    fn reclaim(&mut self) {
        let left = self.buffer.len() - self.start;
        if left > self.start {
            return;
        }
        self.buffer.drain(..self.start);
        self.searched -= self.start;
        self.start = 0;
        if self.buffer.capacity() > IDLE_CAPACITY && left < IDLE_CAPACITY / 2 {
            self.buffer.shrink_to(READ_SIZE);
        }
    }
}

impl Default for LineBuffer {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Debug, PartialEq)]
    enum Owned {
        Complete(Vec<u8>),
        Oversized(u64),
    }

    impl From<Line<'_>> for Owned {
        fn from(line: Line<'_>) -> Self {
            match line {
                Line::Complete(bytes) => Self::Complete(bytes.to_vec()),
                Line::Oversized { bytes } => Self::Oversized(bytes),
            }
        }
    }

    fn read<'a>(max_line: usize, reads: impl IntoIterator<Item = &'a [u8]>) -> Vec<Owned> {
        let mut buffer = LineBuffer::with_max_line(max_line);
        let mut lines = Vec::new();
        for read in reads {
            buffer.push(read);
            while let Some(line) = buffer.next_line() {
                lines.push(line.into());
            }
        }
        lines.extend(buffer.finish().map(Owned::from));
        assert_eq!(buffer.finish(), None, "the end is handed out once");
        lines
    }

    fn complete(line: &[u8]) -> Owned {
        Owned::Complete(line.to_vec())
    }

    #[test]
    fn lines_end_with_a_line_feed_alone() {
        let stream = "a\r\n\u{2028}b\u{85}\n\nc\rd\n".as_bytes();
        let expected =
            [complete(b"a"), complete("\u{2028}b\u{85}".as_bytes()), complete(b""), complete(b"c\rd")];
        assert_eq!(read(100, [stream]), expected);
    }

    #[test]
    fn the_last_line_needs_no_end() {
        assert_eq!(read(100, [&b"a\nb"[..]]), [complete(b"a"), complete(b"b")]);
        assert_eq!(read(100, [&b"a\n"[..]]), [complete(b"a")]);
        assert_eq!(read(100, [&b""[..]]), []);
    }

    #[test]
    fn a_line_that_is_too_long_is_counted_and_the_next_is_read() {
        let mut stream = vec![b'x'; 1000];
        stream.extend_from_slice(b"\nok\n");
        for read_size in [1, 7, 10, 11, 2000] {
            let lines = read(10, stream.chunks(read_size));
            assert_eq!(lines, [Owned::Oversized(1000), complete(b"ok")], "reads of {read_size}");
        }
        assert_eq!(read(10, [&b"0123456789\n"[..]]), [complete(b"0123456789")]);
        assert_eq!(read(10, [&b"0123456789x"[..]]), [Owned::Oversized(11)]);
    }

    #[test]
    fn memory_stays_bounded_while_a_line_is_dropped() {
        let mut buffer = LineBuffer::with_max_line(1024);
        for _ in 0..1000 {
            buffer.push(&[b'x'; 4096]);
            assert_eq!(buffer.next_line(), None);
        }
        assert!(buffer.buffer.capacity() <= 16 * 1024, "{}", buffer.buffer.capacity());
        assert_eq!(buffer.finish(), Some(Line::Oversized { bytes: 4_096_000 }));
    }

    #[test]
    fn room_for_a_huge_line_is_given_back() {
        let mut buffer = LineBuffer::new();
        buffer.push(&vec![b'x'; 8 * 1024 * 1024]);
        buffer.push(b"\nsmall");
        assert!(matches!(buffer.next_line(), Some(Line::Complete(_))));
        buffer.spare().extend_from_slice(b"er\n");
        assert_eq!(buffer.next_line(), Some(Line::Complete(b"smaller")));
        assert!(buffer.buffer.capacity() <= IDLE_CAPACITY, "{}", buffer.buffer.capacity());
    }

    #[test]
    fn case_100_a_line_larger_than_the_reads_comes_whole() {
        let line = vec![b'y'; 300 * 1024];
        let stream = [&line[..], b"\n"].concat();
        assert_eq!(read(MAX_LINE, stream.chunks(8192)), [Owned::Complete(line)]);
    }

    #[test]
    fn case_101_three_megabytes_are_an_ordinary_line() {
        let line = vec![b'y'; 3 * 1024 * 1024];
        assert_eq!(read(MAX_LINE, line.chunks(65536)), [Owned::Complete(line.clone())]);
    }

    #[test]
    fn case_103_the_limit_is_of_a_line_and_not_of_the_stream() {
        let line = [&[b'z'; 100][..], b"\n"].concat();
        let stream = line.repeat(200_000);
        assert_eq!(read(1000, stream.chunks(65536)).len(), 200_000);
    }

    #[test]
    fn case_106_a_read_may_end_inside_a_character() {
        let stream = "{\"s\":\"日本\"}\n".as_bytes();
        for at in 0..stream.len() {
            let (head, tail) = stream.split_at(at);
            assert_eq!(read(100, [head, tail]), [complete("{\"s\":\"日本\"}".as_bytes())]);
        }
    }

    /// What the buffer is to do, in the plainest way.
    fn split(stream: &[u8], max_line: usize) -> Vec<Owned> {
        let mut parts: Vec<&[u8]> = stream.split(|&byte| byte == b'\n').collect();
        parts.pop_if(|last| last.is_empty());
        let kind = |part: &[u8]| match part.len() > max_line {
            true => Owned::Oversized(part.len() as u64),
            false => complete(part.strip_suffix(b"\r").unwrap_or(part)),
        };
        parts.into_iter().map(kind).collect()
    }

    proptest! {
        #[test]
        fn any_reads_give_the_same_lines(
            pieces in proptest::collection::vec("[a\r\n]{0,12}", 0..20),
            read_size in 1usize..20,
            max_line in 1usize..10,
        ) {
            let stream = pieces.concat().into_bytes();
            prop_assert_eq!(read(max_line, stream.chunks(read_size)), split(&stream, max_line));
        }

        #[test]
        fn lines_may_be_left_in_the_buffer(stream in "[ab\n]{0,60}", read_size in 1usize..9) {
            let mut buffer = LineBuffer::new();
            let mut lines: Vec<Owned> = Vec::new();
            for read in stream.as_bytes().chunks(read_size) {
                buffer.spare().extend_from_slice(read);
                lines.extend(buffer.next_line().map(Owned::from));
            }
            while let Some(line) = buffer.next_line() {
                lines.push(line.into());
            }
            lines.extend(buffer.finish().map(Owned::from));
            prop_assert_eq!(lines, split(stream.as_bytes(), MAX_LINE));
        }
    }
}
