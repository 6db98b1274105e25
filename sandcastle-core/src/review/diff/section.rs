//! The part of a diff that is about one file.
//!
//! What a section says is read by `diffy`. It is handed to it file by file, since it passes over what it does not know on its
//! way to the next file, and says of an error at most how many bytes into a hunk it is. What it was given and what it made of
//! that are counted against each other here.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::RangeInclusive;

use diffy::patch_set::{FileOperation, FilePatch, ParseOptions, PatchSet, PatchSetParseError};
use memchr::{memchr_iter, memmem};

use super::DiffFile;
use crate::error::{Error, ErrorKind};

/// How the section of a file begins. A line of a hunk has a sign or a space in front of it.
const BEGIN: &[u8] = b"diff --";
/// How the lines begin that stand between that and the hunks.
const HEADERS: [&[u8]; 14] = [
    b"old mode ",
    b"new mode ",
    b"new file mode ",
    b"deleted file mode ",
    b"similarity index ",
    b"dissimilarity index ",
    b"rename from ",
    b"rename to ",
    b"copy from ",
    b"copy to ",
    b"index ",
    b"Binary files ",
    b"--- ",
    b"+++ ",
];
/// How many spaces may be in the line that names a file twice. Where it is all that names the file, each is tried as the one
/// between the names, which takes the square of their number if an attacker chose them.
const MAX_SPACES: usize = 256;

/// What a diff says of one file, or what is in front of the first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Section<'d> {
    /// Where it begins, counted from 1.
    line: usize,
    text: &'d [u8],
}

/// What is wrong with a section.
#[derive(Debug)]
pub(super) enum Fault {
    NoFile,
    Combined,
    Spaces,
    Unreadable(PatchSetParseError),
    /// There is more in it than its header and its hunks.
    Leftover,
    LineZero,
    /// A name has none of git's prefixes.
    Prefix(&'static str),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoFile => f.write_str("no file begins there"),
            Self::Combined => f.write_str("it is the combined diff of a merge"),
            Self::Spaces => write!(f, "there are more than {MAX_SPACES} spaces in the name of a file"),
            Self::Unreadable(_) => f.write_str("the file that begins there cannot be read"),
            Self::Leftover => {
                f.write_str("the file that begins there has lines that are in none of its hunks")
            }
            Self::LineZero => f.write_str("the file that begins there has a hunk with a line 0"),
            Self::Prefix(prefix) => {
                write!(f, "a name of the file that begins there has no prefix `{prefix}`")
            }
        }
    }
}

/// Cuts a diff where files begin. Bytes in front of the first make a section, too, which nothing can be read from.
pub(super) fn sections(diff: &[u8]) -> impl Iterator<Item = Section<'_>> {
    let mut rest = diff;
    let mut line = 1;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let next = memmem::find_iter(rest, b"\ndiff --").next().map_or(rest.len(), |at| at + 1);
        let section = Section { line, text: &rest[..next] };
        line += memchr_iter(b'\n', section.text).count();
        rest = &rest[next..];
        Some(section)
    })
}

impl Section<'_> {
    /// Reads it.
    pub(super) fn read(&self) -> Result<DiffFile, Fault> {
        self.check_begin()?;
        let patch = PatchSet::parse_bytes(self.text, ParseOptions::gitdiff()).next();
        let patch = patch.ok_or(Fault::NoFile)?.map_err(Fault::Unreadable)?;
        let lines = self.new_lines(&patch)?;
        let (old, new) = names(patch.operation())?;
        let is_text = new.is_none_or(|path| std::str::from_utf8(path).is_ok());
        let shown = |path: &[u8]| String::from_utf8_lossy(path).into_owned();
        let lines = if is_text && new.is_some() { lines } else { BTreeSet::new() };
        Ok(DiffFile { path: new.map(shown), old_path: old.map(shown), lines })
    }

    /// Puts what is wrong into words.
    pub(super) fn error(&self, fault: Fault) -> Error {
        let error = Error::new(ErrorKind::Git, format!("read a diff: line {}: {fault}", self.line));
        match fault {
            Fault::Unreadable(source) => error.with_source(source),
            Fault::Combined => error.with_hint("compare two commits; a merge has several old sides at once"),
            Fault::Prefix(_) => error.with_hint("have git write it with `--src-prefix=a/ --dst-prefix=b/`"),
            _ => error,
        }
    }

    fn check_begin(&self) -> Result<(), Fault> {
        let kind = self.text.strip_prefix(BEGIN).ok_or(Fault::NoFile)?;
        let Some(names) = kind.strip_prefix(b"git ") else {
            let is_combined = kind.starts_with(b"cc ") || kind.starts_with(b"combined ");
            return Err(if is_combined { Fault::Combined } else { Fault::NoFile });
        };
        let names = names.split(|byte| *byte == b'\n').next().unwrap_or_default();
        if memchr_iter(b' ', names).count() > MAX_SPACES { Err(Fault::Spaces) } else { Ok(()) }
    }

    /// Lists the lines of the new side that are in hunks, if everything in the section belongs to one.
    fn new_lines(&self, patch: &FilePatch<'_, [u8]>) -> Result<BTreeSet<u64>, Fault> {
        let Some(text) = patch.patch().as_text() else { return Ok(BTreeSet::new()) };
        let (hunks, lines) = self.count();
        let read: usize = text.hunks().iter().map(|hunk| hunk.lines().len()).sum();
        if hunks != text.hunks().len() || !lines.contains(&read) || !self.is_header_known() {
            return Err(Fault::Leftover);
        }
        let ranges = text.hunks().iter().map(|hunk| hunk.new_range().range());
        if ranges.clone().any(|range| range.contains(&0)) {
            return Err(Fault::LineZero);
        }
        Ok(ranges.flatten().map(|line| line as u64).collect())
    }

    fn lines(&self) -> impl Iterator<Item = &[u8]> {
        self.text.split_inclusive(|byte| *byte == b'\n')
    }

    fn is_header_known(&self) -> bool {
        let header = self.lines().skip(1).take_while(|line| !line.starts_with(b"@@"));
        let mut lines = header.filter(|line| *line != b"\n");
        lines.all(|line| HEADERS.iter().any(|begin| line.starts_with(begin)))
    }

    /// Counts the hunks, and their lines: at least without the empty ones at the end, which may belong to nothing.
    fn count(&self) -> (usize, RangeInclusive<usize>) {
        let (mut hunks, mut lines_in_hunks, mut empty_at_end) = (0, 0, 0);
        for line in self.lines().skip_while(|line| !line.starts_with(b"@@")) {
            match line {
                [b'@', b'@', ..] => hunks += 1,
                [b'\\', ..] => {}
                _ => {
                    lines_in_hunks += 1;
                    empty_at_end = if line == b"\n" { empty_at_end + 1 } else { 0 };
                }
            }
        }
        (hunks, lines_in_hunks - empty_at_end..=lines_in_hunks)
    }
}

type Name<'p> = Option<&'p [u8]>;

/// Returns the old and the new name of a file.
fn names<'p>(operation: &'p FileOperation<'_, [u8]>) -> Result<(Name<'p>, Name<'p>), Fault> {
    let old = |name| without(name, "a/");
    let new = |name| without(name, "b/");
    Ok(match operation {
        FileOperation::Delete(name) => (Some(old(name)?), None),
        FileOperation::Create(name) => (None, Some(new(name)?)),
        FileOperation::Modify { original, modified } => (Some(old(original)?), Some(new(modified)?)),
        // These are written without prefixes.
        FileOperation::Rename { from, to } | FileOperation::Copy { from, to } => (Some(from), Some(to)),
    })
}

fn without<'p>(name: &'p [u8], prefix: &'static str) -> Result<&'p [u8], Fault> {
    name.strip_prefix(prefix.as_bytes()).ok_or(Fault::Prefix(prefix))
}
