//! What is staged, and what was begun and not ended: files of a work tree's own state, kept and put back as they were.
//!
//! They are git's own, so they are written as git writes them: an index beside its place, under the name by which git knows that
//! somebody is at it, and then renamed.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::{Error, ErrorKind, Result};
use crate::git::{Repository, path_from, read_bounded};

/// The longest index that is kept.
const MAX_INDEX: u64 = 1 << 30;
/// The longest other file.
const MAX_SMALL: u64 = 16 * 1024 * 1024;
/// How often it is tried to write an index that somebody else is at.
const TRIES: u32 = 20;
/// How long it is waited before that.
const PAUSE: Duration = Duration::from_millis(100);
/// Files that say what was begun: they are put back.
const SMALL: [&str; 7] =
    ["MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "AUTO_MERGE", "SQUASH_MSG", "CHERRY_PICK_HEAD", "REVERT_HEAD"];
/// Folders that do: they are removed if they were not there.
const FOLDERS: [&str; 3] = ["rebase-merge", "rebase-apply", "sequencer"];

/// What is staged and begun.
#[derive(Clone, Debug)]
pub(super) struct Staged {
    /// The index, byte for byte; `None` if there is none.
    index: Option<Vec<u8>>,
    /// What it says of each path. Its bytes change whenever git looks at files.
    listing: Vec<u8>,
    small: BTreeMap<&'static str, Vec<u8>>,
    folders: Vec<PathBuf>,
}

impl Staged {
    pub(super) async fn of(repository: &Repository) -> Result<Self> {
        let read = |name: &str, limit| read_bounded(&repository.git_dir().join(name), limit);
        let index = read("index", MAX_INDEX).map_err(unread)?;
        let mut small = BTreeMap::new();
        for name in SMALL {
            if let Some(bytes) = read(name, MAX_SMALL).map_err(unread)? {
                small.insert(name, bytes);
            }
        }
        let folders = FOLDERS.iter().map(|name| repository.git_dir().join(name));
        let folders = folders.filter(|folder| folder.symlink_metadata().is_ok()).collect();
        let listing =
            repository.git().does("read the index", ["ls-files", "--stage", "-v", "-z"]).await?.stdout;
        Ok(Self { index, listing, small, folders })
    }

    /// Lists the repositories that are part of the work tree.
    pub(super) fn repositories(&self) -> Vec<PathBuf> {
        let lines = self.listing.split(|byte| *byte == 0);
        let modes = lines.filter(|line| line.get(1..).is_some_and(|line| line.starts_with(b" 160000 ")));
        modes.filter_map(|line| line.splitn(2, |byte| *byte == b'\t').nth(1)).map(path_from).collect()
    }

    /// Tells whether the same is staged and begun.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.listing == other.listing && self.small == other.small && self.folders == other.folders
    }

    /// Puts back what was staged and begun.
    ///
    /// # Errors
    /// [`ErrorKind::Git`] when somebody else is at the index and stays, [`ErrorKind::Io`] when it cannot be written.
    pub(super) async fn put_back(&self, repository: &Repository, now: &Self) -> Result<()> {
        let state = repository.git_dir();
        for name in SMALL {
            let written = match (self.small.get(name), now.small.get(name)) {
                (then, now) if then == now => Ok(()),
                (Some(bytes), _) => replace(&state.join(name), bytes),
                (None, _) => fs::remove_file(state.join(name)),
            };
            written.map_err(unwritten)?;
        }
        for folder in now.folders.iter().filter(|folder| !self.folders.contains(folder)) {
            fs::remove_dir_all(folder).map_err(unwritten)?;
        }
        if self.listing == now.listing {
            return Ok(());
        }
        let path = state.join("index");
        let Some(bytes) = &self.index else { return fs::remove_file(path).map_err(unwritten) };
        let lock = state.join("index.lock");
        let mut file = taken(&lock).await?;
        let written = file.write_all(bytes).and_then(|()| fs::rename(&lock, &path));
        written.map_err(|error| {
            let _ = fs::remove_file(&lock);
            unwritten(error)
        })
    }
}

/// Takes the lock of an index, in which its next state is written.
async fn taken(lock: &Path) -> Result<File> {
    for _ in 0..TRIES {
        match OpenOptions::new().write(true).create_new(true).open(lock) {
            Ok(file) => return Ok(file),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => tokio::time::sleep(PAUSE).await,
            Err(error) => return Err(unwritten(error)),
        }
    }
    let what = format!("put back what was staged: `{}` stays", lock.display());
    Err(Error::new(ErrorKind::Git, what).with_hint("remove it if no git is at work in this work tree"))
}

/// Puts a file in the place of whatever is there.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

fn unread(error: io::Error) -> Error {
    Error::new(ErrorKind::Io, "read what is staged").with_source(error)
}

fn unwritten(error: io::Error) -> Error {
    Error::new(ErrorKind::Io, "put back what was staged").with_source(error)
}
