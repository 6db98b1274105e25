//! One landing at a time, in this process and in others.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt;
use std::sync::Arc;

use rustix::fs::OFlags;
use tokio::time::Instant;

use super::PAUSE;
use crate::config::{ConfigDir, Kept};
use crate::error::{Error, ErrorKind, Result};
use crate::git::Repository;

/// Held while a landing goes on; the operating system lets go of it when the process ends.
#[derive(Clone, Debug)]
pub(super) struct LandingLock {
    _file: Arc<File>,
}

impl LandingLock {
    /// Waits for the landings that began before.
    pub(super) async fn acquire(repository: &Repository, deadline: Instant) -> Result<Self> {
        let path = ConfigDir::of(repository).make(Kept::Locks)?.join("landing.lock");
        let failed = |source: std::io::Error| {
            Error::new(ErrorKind::Io, format!("lock `{}`", path.display())).with_source(source)
        };
        // An agent on the host may have put a pipe there, or a link to a file of the user.
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false).custom_flags(flags);
        let file = options.open(&path).map_err(failed)?;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _file: Arc::new(file) }),
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => tokio::time::sleep(PAUSE).await,
                Err(TryLockError::WouldBlock) => {
                    let what = format!("wait for another merge, which holds `{}`", path.display());
                    return Err(Error::new(ErrorKind::StepTimeout, what));
                }
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
        }
    }
}
