//! Reads what an agent may have put in the place of a file: nothing is followed, nothing blocks, everything is bounded.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

/// How much of one file is looked at; what a longer one holds behind that is told by its length and times.
const MAX_LOOKED_AT: u64 = 4 * 1024 * 1024;

/// What is found at a path.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) enum Found {
    Nothing,
    Folder,
    /// A file with its mode, its length and its beginning; the time of its last change only if that is not all of it.
    File {
        mode: u32,
        length: u64,
        beginning: Vec<u8>,
        changed: Option<(i64, i64)>,
    },
    Link(PathBuf),
    /// A pipe, a socket or a device.
    Special,
    /// Something that cannot be read.
    Unreadable,
}

impl Found {
    /// Looks at a path. A link is not followed, a pipe not opened for reading.
    pub(super) fn at(path: &Path) -> Self {
        let metadata = match fs::symlink_metadata(path) {
            Ok(metadata) => metadata,
            Err(error) if is_absent(&error) => return Self::Nothing,
            Err(_) => return Self::Unreadable,
        };
        if metadata.is_symlink() {
            return fs::read_link(path).map_or(Self::Unreadable, Self::Link);
        }
        if metadata.is_dir() {
            return Self::Folder;
        }
        if !metadata.is_file() {
            return Self::Special;
        }
        let mut beginning = Vec::new();
        let read = open(path).and_then(|file| file.take(MAX_LOOKED_AT).read_to_end(&mut beginning));
        match read {
            Ok(_) => Self::File {
                mode: metadata.mode(),
                length: metadata.len(),
                changed: (metadata.len() > MAX_LOOKED_AT).then(|| (metadata.ctime(), metadata.ctime_nsec())),
                beginning,
            },
            Err(_) => Self::Unreadable,
        }
    }
}

/// Reads a file of at most `limit` bytes; `None` if there is none.
///
/// # Errors
/// As the operating system gives them, and when it is no file or a longer one.
pub(crate) fn read_bounded(path: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let file = match open(path) {
        Ok(file) => file,
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut content = Vec::new();
    file.take(limit + 1).read_to_end(&mut content)?;
    if content.len() as u64 > limit {
        return Err(io::Error::other(format!("`{}` is longer than {limit} bytes", path.display())));
    }
    Ok(Some(content))
}

/// Opens a regular file for reading.
fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::other(format!("`{}` is not a file", path.display())))
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
