//! Opens the file of a log.
//!
//! What is made is the user's own: a log holds what agents said, which is nobody else's business.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::LogName;
use crate::config::{ConfigDir, Kept};
use crate::error::{Error, ErrorKind, Result};

/// How many runs of one name may go on at once.
const MOST_AT_ONCE: u32 = 1000;

/// Opens the file that a caller has named; links and devices are the caller's affair.
pub(super) fn open_at(path: &Path) -> Result<(File, PathBuf)> {
    let open = || {
        if let Some(folder) = path.parent() {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        // A pipe that nobody reads is an error and not a reason to wait.
        append(path, OFlags::NONBLOCK)
    };
    open().map(|file| (file, path.to_path_buf())).map_err(|error| not_opened(path, error))
}

/// Opens the default file. Its folder hides itself from git, so that no agent commits it.
///
/// Runs of one name that go on at once have files of their own, numbered from 2: their lines would be mixed up in one.
pub(super) fn open_default(config: &ConfigDir, name: &LogName<'_>) -> Result<(File, PathBuf)> {
    let folder = config.make(Kept::Logs).map_err(with_advice)?;
    let stem = name.stem();
    for number in 1..=MOST_AT_ONCE {
        let number = if number == 1 { String::new() } else { format!("-{number}") };
        let path = folder.join(format!("{stem}{number}.log"));
        match open_own(&path) {
            Ok(Some(file)) => return Ok((file, path)),
            Ok(None) => {}
            Err(error) => return Err(not_opened(&path, error)),
        }
    }
    let path = folder.join(format!("{stem}.log"));
    Err(not_opened(&path, io::Error::other(format!("{MOST_AT_ONCE} runs write such logs"))))
}

/// Opens a log for this run alone; `None` if another run writes it.
///
/// An agent that works in place can put things where the log will be. It is to be a plain file: a link would let the next run
/// write to wherever the agent has aimed it.
fn open_own(path: &Path) -> io::Result<Option<File>> {
    let file = append(path, OFlags::NOFOLLOW | OFlags::NONBLOCK)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        // Some file systems know no locks.
        Err(TryLockError::Error(_)) => Ok(Some(file)),
    }
}

fn append(path: &Path, flags: OFlags) -> io::Result<File> {
    let flags = i32::try_from(flags.bits()).unwrap_or_default();
    File::options().create(true).append(true).mode(0o600).custom_flags(flags).open(path)
}

fn not_opened(path: &Path, error: io::Error) -> Error {
    let what = format!("open the run log `{}`", path.display());
    with_advice(Error::new(ErrorKind::Io, what).with_source(error))
}

fn with_advice(error: Error) -> Error {
    error.with_hint("name another file with `Logging::file`, or use `Logging::off`")
}
