//! Session files, line by line.
//!
//! What a line says of the place is respelled; every other byte stays as it is, a torn last line included. A line that
//! is too long to be held passes through untouched.

use std::fs;
use std::io::{self, BufRead, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

use memchr::memmem;
use sandcastle_core::agent::SessionPlace;
use sandcastle_core::jsonl::MAX_LINE;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::copy::Spot;
use crate::json::{Lenient, Text};

/// How much of a file is read to learn where its session was held.
const MAX_HEAD: u64 = 4 * 1024 * 1024;

/// Returns what becomes of a line, given without its end, or `None` if it stays as it is.
pub(crate) type Rule<'a> = &'a dyn Fn(&[u8]) -> Option<Vec<u8>>;

/// A file whose lines are respelled while it is read.
pub(super) struct Respelled<'a, R> {
    source: R,
    rule: Rule<'a>,
    piece: Vec<u8>,
    /// How much of the piece has been handed out.
    given: usize,
    /// Whether the piece that comes next goes on with a line that is too long.
    inside_long_line: bool,
    max_line: usize,
}

impl<'a, R: BufRead> Respelled<'a, R> {
    pub(super) fn new(source: R, rule: Rule<'a>) -> Self {
        Self::with_max_line(source, rule, MAX_LINE)
    }

    fn with_max_line(source: R, rule: Rule<'a>, max_line: usize) -> Self {
        Self { source, rule, piece: Vec::new(), given: 0, inside_long_line: false, max_line }
    }

    /// Reads a line, or a part of one that is too long. At the end of the file the piece is empty.
    fn next_piece(&mut self) -> io::Result<()> {
        self.piece.clear();
        self.given = 0;
        let limit = self.max_line as u64 + 1;
        (&mut self.source).take(limit).read_until(b'\n', &mut self.piece)?;
        let ends = self.piece.ends_with(b"\n");
        let whole = !self.inside_long_line && (ends || (self.piece.len() as u64) < limit);
        self.inside_long_line = !ends && !self.piece.is_empty();
        if whole {
            let line = self.piece.strip_suffix(b"\n").unwrap_or(&self.piece);
            if let Some(mut respelled) = (self.rule)(line) {
                respelled.extend(ends.then_some(b'\n'));
                self.piece = respelled;
            }
        }
        Ok(())
    }
}

impl<R: BufRead> Read for Respelled<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let count = available.len().min(buffer.len());
        buffer[..count].copy_from_slice(&available[..count]);
        self.consume(count);
        Ok(count)
    }
}

impl<R: BufRead> BufRead for Respelled<'_, R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.given == self.piece.len() {
            self.next_piece()?;
        }
        Ok(&self.piece[self.given..])
    }

    fn consume(&mut self, amount: usize) {
        self.given = (self.given + amount).min(self.piece.len());
    }
}

/// How one state of a session stands to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relation {
    Same,
    /// The first holds the second and goes on.
    Ahead,
    /// The second holds the first and goes on.
    Behind,
    /// Each holds lines that the other has not.
    Parted,
}

/// Compares two states. A last line that has no end counts for nothing against one that has.
pub(super) fn relate(mut first: impl BufRead, mut second: impl BufRead) -> io::Result<Relation> {
    loop {
        let (a, b) = (first.fill_buf()?, second.fill_buf()?);
        match (a.is_empty(), b.is_empty()) {
            (true, true) => return Ok(Relation::Same),
            (true, false) => return Ok(Relation::Behind),
            (false, true) => return Ok(Relation::Ahead),
            (false, false) => {}
        }
        let length = a.len().min(b.len());
        let same = a[..length] == b[..length];
        let common = if same { length } else { a.iter().zip(b).take_while(|(a, b)| a == b).count() };
        first.consume(common);
        second.consume(common);
        if !same {
            return Ok(match (line_ends(first)?, line_ends(second)?) {
                (true, true) => Relation::Parted,
                (true, false) => Relation::Ahead,
                (false, true) => Relation::Behind,
                (false, false) => Relation::Same,
            });
        }
    }
}

fn line_ends(mut rest: impl BufRead) -> io::Result<bool> {
    loop {
        let available = rest.fill_buf()?;
        if available.is_empty() {
            return Ok(false);
        }
        if memchr::memchr(b'\n', available).is_some() {
            return Ok(true);
        }
        let length = available.len();
        rest.consume(length);
    }
}

/// Respells the folder that a session was held in: `cwd` of a line, and of the `payload` of a `session_meta` line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Moving {
    from: Vec<String>,
    /// As JSON; `None` if the folder cannot be spelled in JSON. Then lines stay as they are.
    to: Option<String>,
}

#[derive(Deserialize)]
struct Entry<'a> {
    #[serde(borrow, default)]
    cwd: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "type")]
    kind: Lenient<Text<'a>>,
    #[serde(borrow, default)]
    payload: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Payload<'a> {
    #[serde(borrow, default)]
    cwd: Option<&'a RawValue>,
}

impl Moving {
    /// Names the folder that takes the place of others.
    pub(crate) fn to(folder: &Path) -> Self {
        let to = folder.to_str().and_then(|folder| serde_json::to_string(folder).ok());
        Self { from: Vec::new(), to }
    }

    /// Brings the session in `source` from one place to another, where `target` may hold an earlier state of it.
    pub(crate) fn between(
        (from, source): (&SessionPlace<'_>, &Spot),
        (to, target): (&SessionPlace<'_>, &Spot),
    ) -> Self {
        let spelled = |folder: &Path| folder.to_str().map(str::to_owned);
        Self::to(&real(to.cwd))
            .from(spelled(from.cwd))
            .from(spelled(&real(from.cwd)))
            .from(source.recorded_folder())
            .from(target.recorded_folder())
    }

    /// Adds a folder whose name is respelled.
    pub(crate) fn from(mut self, folder: Option<String>) -> Self {
        self.from.extend(folder);
        self
    }

    /// Respells one line.
    pub(crate) fn line(&self, line: &[u8]) -> Option<Vec<u8>> {
        let to = self.to.as_deref()?;
        let places = places(line);
        let old: Vec<_> = places.into_iter().flatten().filter(|raw| self.is_left(raw)).collect();
        (!old.is_empty()).then(|| respelled(line, &old, to))
    }

    fn is_left(&self, folder: &RawValue) -> bool {
        self.to.as_deref() != Some(folder.get())
            && serde_json::from_str::<Text<'_>>(folder.get())
                .is_ok_and(|folder| self.from.iter().any(|from| **from == *folder))
    }
}

/// Returns the path that programs see of a folder; of one that is not on this host, or no more, the name it was given.
pub(crate) fn real(folder: &Path) -> PathBuf {
    fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned())
}

/// Returns where a line names the folder.
fn places(line: &[u8]) -> [Option<&RawValue>; 2] {
    if memmem::find(line, b"\"cwd\"").is_none() {
        return [None, None];
    }
    let Ok(entry) = serde_json::from_slice::<Entry<'_>>(line) else { return [None, None] };
    let is_meta = entry.kind.as_deref() == Some("session_meta");
    let payload = entry.payload.filter(|_| is_meta);
    let payload = payload.and_then(|payload| serde_json::from_str::<Payload<'_>>(payload.get()).ok());
    [entry.cwd, payload.and_then(|payload| payload.cwd)]
}

/// Returns the folder that a session says it was held in first.
pub(super) fn recorded_folder(file: impl BufRead) -> Option<String> {
    let mut lines = Respelled::new(file.take(MAX_HEAD), &|_| None);
    loop {
        lines.next_piece().ok()?;
        if lines.piece.is_empty() {
            return None;
        }
        let found = places(&lines.piece).into_iter().flatten().next();
        if let Some(folder) = found.and_then(|raw| serde_json::from_str(raw.get()).ok()) {
            return Some(folder);
        }
    }
}

/// Returns the first line without its end.
pub(super) fn first_line(file: impl BufRead) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    file.take(MAX_HEAD).read_until(b'\n', &mut line)?;
    line.pop_if(|last| *last == b'\n');
    Ok(line)
}

/// Puts `new` in the place of values that were read from this very line, and leaves every other byte.
pub(crate) fn respelled(line: &[u8], old: &[&RawValue], new: &str) -> Vec<u8> {
    let mut ranges: Vec<Range<usize>> = old.iter().filter_map(|value| place_in(line, value)).collect();
    ranges.sort_unstable_by_key(|range| range.start);
    let mut respelled = Vec::with_capacity(line.len() + new.len() * ranges.len());
    let mut copied = 0;
    for range in ranges {
        respelled.extend_from_slice(line.get(copied..range.start).unwrap_or_default());
        respelled.extend_from_slice(new.as_bytes());
        copied = range.end;
    }
    respelled.extend_from_slice(line.get(copied..).unwrap_or_default());
    respelled
}

/// Returns where a value stands that borrows from the line.
fn place_in(line: &[u8], value: &RawValue) -> Option<Range<usize>> {
    let value = value.get();
    let start = value.as_ptr().addr().checked_sub(line.as_ptr().addr())?;
    let end = start.checked_add(value.len())?;
    (end <= line.len()).then_some(start..end)
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use proptest::prelude::*;

    use super::*;

    fn moving() -> Moving {
        Moving::to(Path::new("/new \"place\"")).from(Some("/old".to_owned()))
    }

    fn respell(text: &[u8]) -> Vec<u8> {
        let (mut out, moving) = (Vec::new(), moving());
        let rule = |line: &[u8]| moving.line(line);
        Respelled::new(text, &rule).read_to_end(&mut out).unwrap();
        out
    }

    fn related(first: &str, second: &str) -> Relation {
        relate(first.as_bytes(), BufReader::with_capacity(3, second.as_bytes())).unwrap()
    }

    #[test]
    fn only_the_folder_itself_is_respelled() {
        for (line, expected) in [
            (r#"{ "cwd" : "/old", "x":1.0 }"#, r#"{ "cwd" : "/new \"place\"", "x":1.0 }"#),
            (r#"{"cwd":"\/old"}"#, r#"{"cwd":"/new \"place\""}"#),
            (
                r#"{"type":"session_meta","payload":{"id":1,"cwd":"/old"},"cwd":"/old"}"#,
                r#"{"type":"session_meta","payload":{"id":1,"cwd":"/new \"place\""},"cwd":"/new \"place\""}"#,
            ),
        ] {
            assert_eq!(String::from_utf8(respell(line.as_bytes())).unwrap(), expected);
        }
    }

    #[test]
    fn every_other_line_stays_as_it_is() {
        for line in [
            "",
            "\r",
            r#"{"cwd":"/old/below"}"#,
            r#"{"cwd":"/older"}"#,
            r#"{"cwd":null}"#,
            r#"{"cwd":["/old"]}"#,
            r#"{"message":{"cwd":"/old"}}"#,
            r#"{"type":"turn_context","payload":{"cwd":"/old"}}"#,
            r#"{"type":7,"payload":"/old","text":"\"cwd\""}"#,
            r#"["cwd","/old"]"#,
            r#"{"cwd":"/old","cwd":"/old"}"#,
            r#"{"cwd":"/old","torn"#,
        ] {
            let text = format!("{line}\n{line}");
            assert_eq!(String::from_utf8(respell(text.as_bytes())).unwrap(), text);
        }
        let foreign = b"{\"cwd\":\"/old\xff\"}\n\xfe\x00\n";
        assert_eq!(respell(foreign), foreign);
    }

    #[test]
    fn a_folder_that_json_cannot_spell_is_not_written() {
        use std::os::unix::ffi::OsStrExt;
        let odd = Moving::to(Path::new(std::ffi::OsStr::from_bytes(b"/\xff"))).from(Some("/old".to_owned()));
        assert_eq!(odd.line(br#"{"cwd":"/old"}"#), None);
    }

    #[test]
    fn a_line_that_is_too_long_passes_through() {
        let moving = moving();
        let rule = |line: &[u8]| moving.line(line);
        let long = format!("{{\"cwd\":\"/old\",\"x\":\"{}\"}}", "x".repeat(500));
        let text = format!("{long}\n{{\"cwd\":\"/old\"}}\n{long}");
        let mut out = Vec::new();
        let mut lines = Respelled::with_max_line(text.as_bytes(), &rule, 100);
        lines.read_to_end(&mut out).unwrap();
        let expected = format!("{long}\n{{\"cwd\":\"/new \\\"place\\\"\"}}\n{long}");
        assert_eq!(String::from_utf8(out).unwrap(), expected);
        assert!(lines.piece.capacity() < 1000, "{}", lines.piece.capacity());
    }

    #[test]
    fn states_of_one_session_are_told_apart() {
        use Relation::{Ahead, Behind, Parted, Same};
        for (first, second, expected) in [
            ("", "", Same),
            ("a\nb\n", "a\nb\n", Same),
            ("a\nb\n", "a\n", Ahead),
            ("a\n", "", Ahead),
            ("a\n", "a\nb\n", Behind),
            ("a\nb\n", "a\nc\n", Parted),
            ("a\nb\n", "c\n", Parted),
            // A torn end is overtaken by the whole line, whatever stood in it.
            ("a\nbcd\n", "a\nbx", Ahead),
            ("a\nbx", "a\nbcd\ne\n", Behind),
            ("a\nb", "a\n", Ahead),
            ("a\nx", "a\ny", Same),
        ] {
            assert_eq!(related(first, second), expected, "{first:?} {second:?}");
        }
    }

    #[test]
    fn the_first_folder_that_is_named_is_the_recorded_one() {
        let text = "{\"type\":\"mode\"}\nnot json\n{\"x\":\"\\\"cwd\\\"\",\"cwd\":\"/a\\u0062\"}\n{\"cwd\":\"/c\"}\n";
        assert_eq!(recorded_folder(text.as_bytes()).as_deref(), Some("/ab"));
        let meta = br#"{"type":"session_meta","payload":{"cwd":"/m"}}"#;
        assert_eq!(recorded_folder(meta.as_slice()).as_deref(), Some("/m"));
        assert_eq!(recorded_folder(b"{}\n".as_slice()), None);
    }

    proptest! {
        #[test]
        fn what_is_no_session_is_never_changed(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            prop_assert_eq!(respell(&bytes), bytes);
        }

        #[test]
        fn comparing_is_symmetrical(a in "[ab\n]{0,8}", b in "[ab\n]{0,8}") {
            let turned = match related(&b, &a) {
                Relation::Ahead => Relation::Behind,
                Relation::Behind => Relation::Ahead,
                other => other,
            };
            prop_assert_eq!(related(&a, &b), turned);
        }
    }
}
