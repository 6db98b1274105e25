//! Where the history of a shallow clone ends.
//!
//! Git keeps a list of the commits whose parents it does not have, and takes them for commits without any. What is worked out
//! from such a history can be wrong without a sign of it.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use super::repository::Repository;
use super::wall::read_bounded;
use crate::error::{Error, ErrorKind, Result};
use crate::id::CommitId;

/// How long the list may be.
const MAX_LIST: u64 = 16 * 1024 * 1024;
/// The file that it is in.
const LIST: &str = "shallow";

/// Reads the list of a git folder; `None` when the history is whole.
pub(super) fn read(git_dir: &Path) -> io::Result<Option<Vec<u8>>> {
    read_bounded(&git_dir.join(LIST), MAX_LIST)
}

/// Puts a list in the place of another, if that is still what git goes by; `None` stands for a whole history.
#[cfg(feature = "review")]
pub(super) fn replace(git_dir: &Path, known: Option<&[u8]>, new: Option<&[u8]>) -> io::Result<()> {
    let (list, lock) = (git_dir.join(LIST), git_dir.join("shallow.lock"));
    // Git itself holds this file while it writes the list.
    let mut file = fs::OpenOptions::new().write(true).create_new(true).open(&lock)?;
    let written = (|| {
        if read(git_dir)?.as_deref() != known {
            return Err(io::Error::other("it was changed meanwhile"));
        }
        match new {
            Some(new) => {
                file.write_all(new)?;
                fs::rename(&lock, &list)
            }
            None => fs::remove_file(&list).and_then(|()| fs::remove_file(&lock)),
        }
    })();
    if written.is_err() {
        let _ = fs::remove_file(&lock);
    }
    written
}

#[cfg(feature = "review")]
impl Repository {
    /// Lists the commits whose parents are missing because the repository is a shallow clone.
    ///
    /// # Errors
    /// [`ErrorKind::Git`] when the list cannot be read.
    pub(crate) fn shallow_ends(&self) -> Result<Vec<CommitId>> {
        let list = read(self.common_dir()).map_err(|error| {
            Error::new(ErrorKind::Git, "read where the history of the shallow clone ends").with_source(error)
        })?;
        let text = String::from_utf8_lossy(list.as_deref().unwrap_or_default()).into_owned();
        text.lines().map(CommitId::new).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_replaced_only_if_it_is_the_one_that_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        fs::write(at.join(LIST), "a\n").unwrap();
        assert!(replace(at, Some(b"b\n"), None).is_err() && replace(at, None, Some(b"c\n")).is_err());
        assert_eq!(read(at).unwrap().as_deref(), Some(&b"a\n"[..]));
        replace(at, Some(b"a\n"), Some(b"c\n")).unwrap();
        assert_eq!(read(at).unwrap().as_deref(), Some(&b"c\n"[..]));
        fs::write(at.join("shallow.lock"), "").unwrap();
        assert!(replace(at, Some(b"c\n"), None).is_err(), "another git is at it");
        assert!(at.join("shallow.lock").exists());
        fs::remove_file(at.join("shallow.lock")).unwrap();
        replace(at, Some(b"c\n"), None).unwrap();
        assert!(fs::read_dir(at).unwrap().next().is_none());
    }
}
