//! The folders in which agents keep their sessions.
//!
//! A sandboxed agent can write what it likes there, so nothing below the agent's own folder is followed through a
//! symbolic link, and no search reads more than a bounded number of entries.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use sandcastle_core::agent::SessionPlace;

/// How many folder entries one search may read.
const MAX_ENTRIES: usize = 50_000;

/// A folder of session files that is there.
#[derive(Debug)]
pub(crate) struct SessionStore {
    root: PathBuf,
    entries_left: usize,
}

impl SessionStore {
    /// Opens `folder` in the agent's own folder: the one that `variable` names, or `default` in the home folder.
    pub(crate) fn open(
        place: &SessionPlace<'_>,
        variable: &str,
        default: &str,
        folder: &str,
    ) -> Option<Self> {
        let named = place.env.iter().rev().find(|(key, value)| key == variable && !value.is_empty());
        let own = named.map_or_else(|| place.home.join(default), |(_, value)| place.cwd.join(value));
        let root = fs::canonicalize(own).ok()?;
        let store = Self { root, entries_left: MAX_ENTRIES };
        let root = store.folder(&store.root, folder)?;
        Some(Self { root, ..store })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the folder `name` in `parent`, if it is one and no link.
    pub(crate) fn folder(&self, parent: &Path, name: impl AsRef<OsStr>) -> Option<PathBuf> {
        let path = parent.join(name.as_ref());
        fs::symlink_metadata(&path).ok()?.is_dir().then_some(path)
    }

    /// Returns the file `name` in `parent`, if it is one and no link.
    pub(crate) fn file(&self, parent: &Path, name: impl AsRef<OsStr>) -> Option<PathBuf> {
        let path = parent.join(name.as_ref());
        fs::symlink_metadata(&path).ok()?.is_file().then_some(path)
    }

    /// Returns the names in `parent`, the last in the order of names first.
    pub(crate) fn names(&mut self, parent: &Path) -> Vec<std::ffi::OsString> {
        let Ok(entries) = fs::read_dir(parent) else { return Vec::new() };
        let mut names: Vec<_> =
            entries.take(self.entries_left).flatten().map(|entry| entry.file_name()).collect();
        self.entries_left -= names.len();
        names.sort_unstable_by(|a, b| b.cmp(a));
        names
    }
}
