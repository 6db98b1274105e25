//! The folders in which agents keep their sessions, and how a session gets from one to another.
//!
//! A sandboxed agent can write what it likes there, so nothing below the agent's own folder is followed through a
//! symbolic link, no search reads more than a bounded number of entries, and no file is trusted to be a file. Here a
//! session is looked for; `copy` moves one, by way of `folder`, which holds what it walks through, and of `lines`,
//! which reads files line by line. Which file is whose, and what in a line depends on the place, is said by each agent.

mod copy;
mod folder;
mod lines;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use sandcastle_core::agent::SessionPlace;

pub(crate) use self::copy::{Spot, copy, not_moved, relation};
pub(crate) use self::lines::{Moving, Relation, real, respelled};

/// How many folder entries one search may read.
const MAX_ENTRIES: usize = 50_000;

/// How many copies of a session are read to find the one that went on furthest.
const MAX_COPIES: usize = 16;

/// Where an agent program keeps its sessions in a home folder.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// The variable that names the program's own folder.
    variable: &'static str,
    /// The program's own folder below the home folder, without that variable.
    own: &'static str,
    /// The folder of the sessions in it.
    sessions: &'static str,
}

impl Layout {
    pub(crate) const fn new(variable: &'static str, own: &'static str, sessions: &'static str) -> Self {
        Self { variable, own, sessions }
    }

    /// Returns the folder of the sessions, whether it is there or not.
    pub(crate) fn sessions(&self, place: &SessionPlace<'_>) -> PathBuf {
        self.own(place).join(self.sessions)
    }

    /// Opens the folder of the sessions to look for some, if it is there and no link.
    pub(crate) fn store(&self, place: &SessionPlace<'_>) -> Option<SessionStore> {
        let own = fs::canonicalize(self.own(place)).ok()?;
        let root = own.join(self.sessions);
        let store = SessionStore { layout: *self, own, root, entries_left: MAX_ENTRIES };
        fs::symlink_metadata(&store.root).ok()?.is_dir().then_some(store)
    }

    /// Names a file of `from` that was found, and the file `target` below the folder of the sessions of `to`, which is
    /// laid out in this way, whatever the store of `from` is.
    ///
    /// Where the two places have one own folder, whatever is done stays in it. Where they have not, an own folder that
    /// is a link out of its home folder is refused: the agent may have put it there to have a file of somebody else
    /// read, or written.
    pub(crate) fn spots(
        &self,
        (from, store, found): (&SessionPlace<'_>, &SessionStore, &Path),
        (to, target): (&SessionPlace<'_>, &Path),
    ) -> io::Result<(Spot, Spot)> {
        let target = Path::new(self.sessions).join(target);
        let own = self.own(to);
        if fs::canonicalize(&own).is_ok_and(|own| own == store.own) {
            return Ok((store.spot(found)?, Spot::new(&store.own, target)));
        }
        let source = store.below_own(found)?;
        let (border, below) = store.layout.border(from)?;
        let (to_border, to_below) = self.border(to)?;
        Ok((Spot::new(border, below.join(source)), Spot::new(to_border, to_below.join(target))))
    }

    fn own(&self, place: &SessionPlace<'_>) -> PathBuf {
        let named = place.env.iter().rev().find(|(key, value)| key == self.variable && !value.is_empty());
        named.map_or_else(|| place.home.join(self.own), |(_, value)| place.cwd.join(value))
    }

    /// Returns the folder that must not be left, and the way from there to the program's own folder.
    fn border(&self, place: &SessionPlace<'_>) -> io::Result<(PathBuf, PathBuf)> {
        let own = self.own(place);
        let Ok(below_home) = own.strip_prefix(place.home) else {
            // The caller has named a folder outside of the home folder, and means it.
            fs::DirBuilder::new().recursive(true).mode(0o700).create(&own)?;
            return Ok((fs::canonicalize(own)?, PathBuf::new()));
        };
        let home = fs::canonicalize(place.home)?;
        match fs::canonicalize(&own) {
            Ok(real) => match real.strip_prefix(&home) {
                Ok(below) => Ok((home.clone(), below.to_path_buf())),
                Err(_) => {
                    let (own, home) = (own.display(), home.display());
                    Err(io::Error::other(format!("`{own}` leads out of the home folder `{home}`")))
                }
            },
            // The way there is walked without following links, so a dangling one is found.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok((home, below_home.to_path_buf())),
            Err(error) => Err(error),
        }
    }
}

/// Sorts files, the longest first.
pub(crate) fn longest_first(files: impl Iterator<Item = PathBuf>) -> Vec<PathBuf> {
    let length = |path: &Path| fs::symlink_metadata(path).map_or(0, |metadata| metadata.len());
    let mut files: Vec<_> = files.map(|path| (length(&path), path)).collect();
    files.sort_by_key(|(length, _)| std::cmp::Reverse(*length));
    files.into_iter().map(|(_, path)| path).collect()
}

/// A folder of session files that is there.
#[derive(Debug)]
pub(crate) struct SessionStore {
    layout: Layout,
    own: PathBuf,
    root: PathBuf,
    entries_left: usize,
}

impl SessionStore {
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
    pub(crate) fn names(&mut self, parent: &Path) -> Vec<OsString> {
        let Ok(entries) = fs::read_dir(parent) else { return Vec::new() };
        let mut names: Vec<_> =
            entries.take(self.entries_left).flatten().map(|entry| entry.file_name()).collect();
        self.entries_left -= names.len();
        names.sort_unstable_by(|a, b| b.cmp(a));
        names
    }

    /// Returns the one of the files of a session that went on furthest: that of the place, or without it the first of
    /// `copies`, unless another holds all of it and more.
    pub(crate) fn furthest(
        &self,
        expected: Option<PathBuf>,
        copies: Vec<PathBuf>,
        is_ahead: impl Fn(&Spot, &Spot) -> bool,
    ) -> Option<PathBuf> {
        let mut best = expected.or_else(|| copies.first().cloned())?;
        // Their lengths do not tell: each names another folder in its lines.
        for copy in copies.into_iter().take(MAX_COPIES) {
            if copy != best && is_ahead(&self.spot(&copy).ok()?, &self.spot(&best).ok()?) {
                best = copy;
            }
        }
        Some(best)
    }

    /// Returns the way from the folder of the sessions to a file that was found here.
    pub(crate) fn below_sessions<'a>(&self, found: &'a Path) -> io::Result<&'a Path> {
        found.strip_prefix(&self.root).map_err(io::Error::other)
    }

    fn spot(&self, found: &Path) -> io::Result<Spot> {
        Ok(Spot::new(&self.own, self.below_own(found)?))
    }

    fn below_own<'a>(&self, found: &'a Path) -> io::Result<&'a Path> {
        found.strip_prefix(&self.own).map_err(io::Error::other)
    }
}

#[cfg(test)]
mod tests;
