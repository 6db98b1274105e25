//! Unified diffs as git writes them, and the lines of their new side.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::{Error, ErrorKind, Result};

/// Holds a diff of several files, read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diff {
    files: Vec<DiffFile>,
}

/// One file of a diff.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DiffFile {
    /// Its path on the new side; `None` when it was deleted.
    pub path: Option<String>,
    /// Its path on the old side; `None` when it is new.
    pub old_path: Option<String>,
    /// The lines of the new side that are in a hunk: added, or around what was changed.
    pub lines: BTreeSet<u64>,
}

impl Diff {
    /// Reads a diff in git's format.
    ///
    /// # Errors
    /// [`ErrorKind::Git`] when it cannot be read, with the line.
    pub fn parse(diff: &[u8]) -> Result<Self> {
        let _ = diff;
        Err(Error::new(ErrorKind::Git, "read a diff"))
    }

    /// Returns the files, in the order of the diff.
    #[must_use]
    pub fn files(&self) -> &[DiffFile] {
        &self.files
    }

    /// Returns the lines that can be commented on.
    #[must_use]
    pub fn commentable(&self) -> CommentableLines {
        let named = |file: &DiffFile| file.path.clone().map(|path| (path, file.lines.clone()));
        CommentableLines(self.files.iter().filter_map(named).collect())
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
