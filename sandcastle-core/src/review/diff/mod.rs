//! Unified diffs as git writes them, and the lines of their new side.
//!
//! Pure: bytes in, files and lines out. `section` cuts a diff into files and has each read; what is kept of it are paths and
//! line numbers, never content. Nothing is guessed: bytes that do not belong to a file or to one of its hunks are an error
//! with their line, because a line that got lost here would be a comment that is dropped for no reason.

mod section;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use self::section::sections;
use crate::error::{Error, ErrorKind, Result};

/// How long a diff may be. What is read of it takes a multiple of that in memory, for as long as it takes.
const MAX_DIFF: usize = 256 * 1024 * 1024;

/// Holds a diff of several files, read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diff {
    files: Vec<DiffFile>,
}

/// One file of a diff.
///
/// A path that is not UTF-8 is shown with a replacement character for what cannot be, and such a file has no lines: what a
/// comment names is text, and would name another file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DiffFile {
    /// Its path on the new side; `None` when it was deleted.
    pub path: Option<String>,
    /// Its path on the old side; `None` when it is new. Of a copy it is the path that it was copied from.
    pub old_path: Option<String>,
    /// The lines of the new side that are in a hunk: added, or around what was changed. Counted from 1.
    pub lines: BTreeSet<u64>,
}

impl Diff {
    /// Reads a diff in git's format, with git's prefixes `a/` and `b/`. An empty one is a diff of no files.
    ///
    /// Renames, copies, changes of mode, binary files and submodules are files like any other, with the lines that are in
    /// their hunks, if they have any. A file whose kind has changed (a link in the place of a file) is there twice, as git has
    /// it: deleted and new.
    ///
    /// # Errors
    /// [`ErrorKind::Git`] when it cannot be read, with the line at which the file begins that is the matter; also when it
    /// is a combined diff, of a merge, which has more than one old side, or longer than 256 MiB.
    ///
    /// # Examples
    /// ```
    /// use sandcastle_core::review::Diff;
    ///
    /// let diff = Diff::parse(b"\
    /// diff --git a/src/main.rs b/src/main.rs
    /// index 5c1f2a9..9b710f3 100644
    /// --- a/src/main.rs
    /// +++ b/src/main.rs
    /// @@ -7 +7,2 @@ fn main() {
    ///      begin();
    /// +    end();
    /// ")?;
    /// let lines = diff.commentable();
    /// assert!(lines.of("src/main.rs").is_some_and(|lines| lines.contains(&8)));
    /// assert!(lines.of("src/lib.rs").is_none());
    /// # Ok::<(), sandcastle_core::Error>(())
    /// ```
    pub fn parse(diff: &[u8]) -> Result<Self> {
        if diff.len() > MAX_DIFF {
            let what = format!("read a diff: it is {} MiB long, and the bound is 256", diff.len() >> 20);
            return Err(Error::new(ErrorKind::Git, what));
        }
        let mut files = Vec::new();
        for section in sections(diff) {
            files.push(section.read().map_err(|fault| section.error(fault))?);
        }
        Ok(Self { files })
    }

    /// Returns the files, in the order of the diff.
    #[must_use]
    pub fn files(&self) -> &[DiffFile] {
        &self.files
    }

    /// Returns the lines that can be commented on.
    #[must_use]
    pub fn commentable(&self) -> CommentableLines {
        let mut by_path: BTreeMap<String, BTreeSet<u64>> = BTreeMap::new();
        for file in &self.files {
            if let Some(path) = &file.path {
                by_path.entry(path.clone()).or_default().extend(&file.lines);
            }
        }
        CommentableLines(by_path)
    }
}

/// Says which lines of which files can be commented on: those of the new side that are in a hunk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommentableLines(BTreeMap<String, BTreeSet<u64>>);

impl CommentableLines {
    /// Returns the lines of a file, or `None` when the diff does not have it.
    #[must_use]
    pub fn of(&self, path: &str) -> Option<&BTreeSet<u64>> {
        self.0.get(path)
    }

    /// Returns the paths of the files, sorted.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}
