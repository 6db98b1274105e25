//! A folder that somebody else may be writing to, seen so that no link in it leads out of it.

use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt as _};
use rustix::fs::OFlags;

/// The folder of a stand-in.
#[derive(Debug)]
pub(super) struct Folder(Dir);

/// What an entry of a folder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Folder,
    File,
    /// A link, a pipe, a device.
    Odd,
}

impl Folder {
    /// Opens the folder, which must not be a link.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW;
        let file =
            std::fs::OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)?;
        Ok(Self(Dir::from_std_file(file)))
    }

    /// Reads a regular file of at most `limit` bytes; `None` if there is none.
    pub(super) fn read(&self, path: impl AsRef<Path>, limit: u64) -> io::Result<Option<Vec<u8>>> {
        let path = path.as_ref();
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(flags.bits().cast_signed());
        let file = match self.0.open_with(path, &options) {
            Ok(file) => file,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        if !file.metadata()?.is_file() {
            return Err(io::Error::other(format!("`{}` is no file", path.display())));
        }
        let mut bytes = Vec::new();
        file.take(limit + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > limit {
            return Err(io::Error::other(format!("`{}` is longer than {limit} bytes", path.display())));
        }
        Ok(Some(bytes))
    }

    /// Puts a file in the place of whatever is there.
    pub(super) fn replace(&self, path: impl AsRef<Path>, bytes: &[u8]) -> io::Result<()> {
        let path = path.as_ref();
        let unborn = path.with_extension(format!("{:016x}", fastrand::u64(..)));
        let mut file = self.0.open_with(&unborn, OpenOptions::new().write(true).create_new(true))?;
        file.write_all(bytes)?;
        self.0.rename(&unborn, &self.0, path)
    }

    /// Makes an empty folder in the place of whatever is there.
    pub(super) fn empty(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let path = path.as_ref();
        match self.0.symlink_metadata(path) {
            Ok(found) if found.is_dir() => self.0.remove_dir_all(path)?,
            Ok(_) => self.0.remove_file(path)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        self.0.create_dir_all(path)
    }

    /// Makes a folder if it is not there.
    pub(super) fn make(&self, path: impl AsRef<Path>) -> io::Result<()> {
        self.0.create_dir_all(path)
    }

    /// Tells whether there is something.
    pub(super) fn has(&self, path: impl AsRef<Path>) -> bool {
        self.0.symlink_metadata(path).is_ok()
    }

    /// Goes through a folder.
    pub(super) fn entries(
        &self,
        path: impl AsRef<Path>,
    ) -> io::Result<impl Iterator<Item = io::Result<(std::ffi::OsString, Kind)>>> {
        let entries = self.0.read_dir(path)?;
        Ok(entries.map(|entry| {
            let entry = entry?;
            let kind = match entry.file_type()? {
                kind if kind.is_dir() => Kind::Folder,
                kind if kind.is_file() => Kind::File,
                _ => Kind::Odd,
            };
            Ok((entry.file_name(), kind))
        }))
    }
}
