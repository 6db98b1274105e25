//! The folder that results are written to. What is in it already may have been put there by anybody, the agent included.
//!
//! The folder is opened once, and everything goes through that handle, so it stays the same folder even if something else takes
//! its name meanwhile. A file is written under a name that nobody knows and then moved to its place: whoever reads it finds all
//! of it or nothing, and a link that stands in its place is replaced, not followed.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};

use super::{NAMES, ResultFiles};
use crate::{Error, ErrorKind, Result};

/// A folder that results are written to.
///
/// Open it before the agent starts, which may be able to change what its path leads to.
///
/// # Examples
/// ```no_run
/// use sandcastle::review::{ResultFiles, ResultFolder};
///
/// let folder = ResultFolder::open("out")?;
/// folder.write(&ResultFiles::of_failure("the agent could not be started"))?;
/// # Ok::<(), sandcastle::Error>(())
/// ```
#[derive(Debug)]
pub struct ResultFolder {
    folder: Dir,
    path: PathBuf,
}

impl ResultFolder {
    /// Opens a folder, or makes it, and removes the results that an earlier run has left there, of whatever kind: those by the
    /// names of [`ResultFiles`], and nothing else. Whoever reads the folder afterwards reads results of one run.
    ///
    /// # Errors
    /// [`ErrorKind::Io`], with the path.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self> {
        let path = path.into();
        let opened =
            std::fs::create_dir_all(&path).and_then(|()| Dir::open_ambient_dir(&path, ambient_authority()));
        let folder = opened.map_err(|error| {
            failed("make or open the folder", &path, error)
                .with_hint("results go to a folder: name one that is there, or one that can be made")
        })?;
        for name in NAMES {
            match folder.remove_file(name) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(failed("remove", &path.join(name), error));
                }
                _ => {}
            }
        }
        Ok(Self { folder, path })
    }

    /// Returns its path, as it was given.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes files in the place of those that there may be. None of them is there before all could be written.
    ///
    /// # Errors
    /// [`ErrorKind::Io`], with the path.
    pub fn write(&self, files: &ResultFiles) -> Result<()> {
        let unborn =
            files.iter().map(|(name, contents)| self.unborn(name, contents)).collect::<Result<Vec<_>>>();
        unborn?.into_iter().try_for_each(Unborn::place)
    }

    /// Writes a file under a name of its own.
    fn unborn(&self, name: &'static str, contents: &str) -> Result<Unborn<'_>> {
        let hidden = format!(".{name}.{:016x}", RandomState::new().build_hasher().finish());
        let unborn = Unborn { folder: self, hidden, name };
        let file = self.folder.open_with(&unborn.hidden, OpenOptions::new().write(true).create_new(true));
        let written = file.and_then(|mut file| file.write_all(contents.as_bytes()));
        written.map_err(|error| failed("write", &self.path.join(name), error))?;
        Ok(unborn)
    }
}

/// A file that is written and not in its place yet; it is gone if it does not get there.
struct Unborn<'a> {
    folder: &'a ResultFolder,
    hidden: String,
    name: &'static str,
}

impl Unborn<'_> {
    fn place(self) -> Result<()> {
        let ResultFolder { folder, path } = self.folder;
        let placed = folder.rename(&self.hidden, folder, self.name);
        placed.map_err(|error| failed("write", &path.join(self.name), error))
    }
}

impl Drop for Unborn<'_> {
    fn drop(&mut self) {
        // Once it is in its place there is nothing under this name.
        _ = self.folder.folder.remove_file(&self.hidden);
    }
}

fn failed(what: &str, path: &Path, error: io::Error) -> Error {
    Error::new(ErrorKind::Io, format!("{what} `{}`", path.display())).with_source(error)
}
