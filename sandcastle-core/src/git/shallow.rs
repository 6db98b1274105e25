//! Where the history of a shallow clone ends, and how the rest of it comes.
//!
//! Git keeps a list of the commits whose parents it does not have, and takes them for commits without any. What is worked out
//! from such a history can be wrong without a sign of it.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::time::Duration;

use super::borrowed::read_shallow;
use super::remote::Remote;
use super::repository::Repository;
use crate::error::{Error, ErrorKind, Result};
use crate::id::CommitId;

impl Repository {
    /// Lists the commits whose parents are missing because the repository is a shallow clone.
    ///
    /// # Errors
    /// [`ErrorKind::Git`] when the list cannot be read.
    pub(crate) fn shallow_ends(&self) -> Result<Vec<CommitId>> {
        let list = read_shallow(self.common_dir()).map_err(incomplete)?;
        String::from_utf8_lossy(list.as_deref().unwrap_or_default()).lines().map(CommitId::new).collect()
    }
}

impl Remote {
    /// As [`Remote::fetch`], with all that a shallow clone has left out of its history.
    ///
    /// # Errors
    /// As there, and [`ErrorKind::Git`] when another git writes down meanwhile where the history ends.
    pub(crate) async fn fetch_whole(
        &self,
        repository: &Repository,
        wanted: &[&str],
        limit: Duration,
    ) -> Result<Vec<CommitId>> {
        let borrowed = self.borrow_knowing(repository).await?;
        let known = read_shallow(borrowed.folder()).map_err(incomplete)?;
        // Git refuses to complete what is complete.
        let option = known.as_ref().map(|_| "--unshallow");
        let commits = self.fetch_into(&borrowed, repository, wanted, option, limit).await?;
        let new = read_shallow(borrowed.folder()).map_err(incomplete)?.filter(|list| !list.is_empty());
        if known != new {
            replace(repository.common_dir(), known.as_deref(), new.as_deref()).map_err(incomplete)?;
        }
        Ok(commits)
    }
}

/// Puts a list in the place of another, if that is still what git goes by; `None` stands for a whole history.
fn replace(git_dir: &Path, known: Option<&[u8]>, new: Option<&[u8]>) -> io::Result<()> {
    let (list, lock) = (git_dir.join("shallow"), git_dir.join("shallow.lock"));
    // Git itself holds this file while it writes the list.
    let mut file = fs::OpenOptions::new().write(true).create_new(true).open(&lock)?;
    let written = (|| {
        if read_shallow(git_dir)?.as_deref() != known {
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

fn incomplete(error: io::Error) -> Error {
    Error::new(ErrorKind::Git, "complete the history of the shallow clone").with_source(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_replaced_only_if_it_is_the_one_that_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        fs::write(at.join("shallow"), "a\n").unwrap();
        assert!(replace(at, Some(b"b\n"), None).is_err() && replace(at, None, Some(b"c\n")).is_err());
        assert_eq!(read_shallow(at).unwrap().as_deref(), Some(&b"a\n"[..]));
        replace(at, Some(b"a\n"), Some(b"c\n")).unwrap();
        assert_eq!(read_shallow(at).unwrap().as_deref(), Some(&b"c\n"[..]));
        fs::write(at.join("shallow.lock"), "").unwrap();
        assert!(replace(at, Some(b"c\n"), None).is_err(), "another git is at it");
        assert!(at.join("shallow.lock").exists());
        fs::remove_file(at.join("shallow.lock")).unwrap();
        replace(at, Some(b"c\n"), None).unwrap();
        assert!(fs::read_dir(at).unwrap().next().is_none());
    }
}
