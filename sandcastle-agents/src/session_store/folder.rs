//! Folders that others may write to, walked by handle.
//!
//! A path that was checked can be another one when it is used. So each folder is opened from the one above it and
//! never through a link, and files are opened, made and renamed in the folder that is held.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Gid, Mode, OFlags, RawMode, Stat, Uid};
use rustix::io::Errno;

/// Only the owner reads and writes what is made here.
const FOLDER_MODE: Mode = Mode::RWXU;
const FILE_MODE: Mode = Mode::RUSR.union(Mode::WUSR);

const AS_FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW);

/// A folder that is held open.
#[derive(Debug)]
pub(super) struct Folder {
    handle: OwnedFd,
    /// For messages only.
    path: PathBuf,
}

/// Says what happens to a folder that is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    Fail,
    Make,
}

/// Tells one state of a file from a later one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    file: (u64, u64),
    size: u64,
    modified: (i64, i64),
}

impl Folder {
    /// Walks from a folder that is trusted down to one that is not.
    pub(super) fn walk(trusted: &Path, below: &Path, missing: Missing) -> io::Result<Self> {
        let handle = rustix::fs::openat(CWD, trusted, AS_FOLDER | OFlags::CLOEXEC, Mode::empty())
            .map_err(|error| at(trusted, error))?;
        let mut folder = Self { handle, path: trusted.to_path_buf() };
        for component in below.components() {
            let Component::Normal(name) = component else {
                return Err(io::Error::other(format!("`{}` is no way down", below.display())));
            };
            folder = folder.folder(name, missing)?;
        }
        Ok(folder)
    }

    fn folder(&self, name: &OsStr, missing: Missing) -> io::Result<Self> {
        let open = || rustix::fs::openat(&self.handle, name, AS_FOLDER | OFlags::CLOEXEC, Mode::empty());
        let path = self.path.join(name);
        let handle = match open() {
            Err(Errno::NOENT) if missing == Missing::Make => {
                match rustix::fs::mkdirat(&self.handle, name, FOLDER_MODE) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(error) => return Err(at(&path, error)),
                }
                let handle = open().map_err(|error| at(&path, error))?;
                self.give(&handle);
                handle
            }
            Err(Errno::NOTDIR | Errno::LOOP) if self.is_link(name) => return Err(is_a_link(&path)),
            other => other.map_err(|error| at(&path, error))?,
        };
        Ok(Self { handle, path })
    }

    /// Opens the file `name` to be read. A link, a pipe or a device is an error, and is not waited for.
    pub(super) fn file(&self, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let path = self.path.join(name);
        let handle = match rustix::fs::openat(&self.handle, name, flags, Mode::empty()) {
            Err(Errno::LOOP) => return Err(is_a_link(&path)),
            other => other.map_err(|error| at(&path, error))?,
        };
        let file = File::from(handle);
        if file.metadata()?.is_file() {
            Ok(file)
        } else {
            Err(io::Error::other(format!("`{}` is no regular file", path.display())))
        }
    }

    /// Opens the file `name`, if there is one.
    pub(super) fn file_if_there(&self, name: &OsStr) -> io::Result<Option<File>> {
        match self.file(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            other => other.map(Some),
        }
    }

    /// Returns the state of the file `name`, if there is one.
    pub(super) fn stamp(&self, name: &OsStr) -> Option<Stamp> {
        self.stat(name).map(|stat| Stamp::of(&stat))
    }

    /// Makes a file that nobody else has, and that is gone unless it is given a name.
    pub(super) fn fresh(&self) -> io::Result<Fresh<'_>> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let name = OsString::from(format!(".sandcastle-{:016x}.part", fastrand::u64(..)));
        let handle = rustix::fs::openat(&self.handle, &name, flags, FILE_MODE)
            .map_err(|error| at(&self.path.join(&name), error))?;
        self.give(&handle);
        Ok(Fresh { folder: self, name: Some(name), file: File::from(handle) })
    }

    /// Gives what was made here to the owner of the folder, who is somebody else where a sandbox has users of its own:
    /// the agent has to go on writing it. Only `root` may, and for everybody else it is not needed.
    fn give(&self, made: &OwnedFd) {
        let (Ok(folder), Ok(own)) = (rustix::fs::fstat(&self.handle), rustix::fs::fstat(made)) else {
            return;
        };
        if (folder.st_uid, folder.st_gid) != (own.st_uid, own.st_gid) {
            let (user, group) = (Uid::from_raw(folder.st_uid), Gid::from_raw(folder.st_gid));
            let _ = rustix::fs::fchown(made, Some(user), Some(group));
        }
    }

    fn is_link(&self, name: &OsStr) -> bool {
        self.stat(name).is_some_and(|stat| file_type(&stat) == FileType::Symlink)
    }

    fn stat(&self, name: &OsStr) -> Option<Stat> {
        rustix::fs::statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW).ok()
    }
}

/// A file that is being written.
#[derive(Debug)]
pub(super) struct Fresh<'a> {
    folder: &'a Folder,
    name: Option<OsString>,
    pub(super) file: File,
}

impl Fresh<'_> {
    /// Gives it its name, in place of the file that has it.
    pub(super) fn name(mut self, name: &OsStr) -> io::Result<()> {
        self.file.sync_data()?;
        if let Some(own) = self.name.take() {
            let renamed = rustix::fs::renameat(&self.folder.handle, &own, &self.folder.handle, name);
            if let Err(error) = renamed {
                self.name = Some(own);
                return Err(at(&self.folder.path.join(name), error));
            }
        }
        Ok(())
    }
}

impl Drop for Fresh<'_> {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            let _ = rustix::fs::unlinkat(&self.folder.handle, name, AtFlags::empty());
        }
    }
}

impl Stamp {
    /// Returns the state of a file that is open.
    pub(super) fn of_file(file: &File) -> io::Result<Self> {
        Ok(Self::of(&rustix::fs::fstat(file)?))
    }

    /// Tells whether both are states of one file.
    pub(super) fn same_file(self, other: Self) -> bool {
        self.file == other.file
    }

    #[expect(clippy::unnecessary_cast, reason = "the types of these fields differ between systems")]
    fn of(stat: &Stat) -> Self {
        Self {
            file: (stat.st_dev as u64, stat.st_ino as u64),
            size: stat.st_size as u64,
            modified: (stat.st_mtime as i64, stat.st_mtime_nsec as i64),
        }
    }
}

fn file_type(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode as RawMode)
}

fn at(path: &Path, error: Errno) -> io::Error {
    let error = io::Error::from(error);
    io::Error::new(error.kind(), format!("`{}`: {error}", path.display()))
}

fn is_a_link(path: &Path) -> io::Error {
    io::Error::other(format!("`{}` is a symbolic link, which is not followed", path.display()))
}
