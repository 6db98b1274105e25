//! Writes the record of one run.
//!
//! Each note is one line in one `write`, and what cannot be had again is forced to the disk before the run goes on. A kill can
//! tear only the last line. The file is locked for as long as the run lives, by the kernel, which lets go of it in whatever
//! way the process ends.

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::fs::OFlags;
use serde::Serialize;
use serde_json::Value;

use super::note::{Given, Head, Note};
use super::reader::{self, Past};
use crate::config::{ConfigDir, Kept};
use crate::error::{Error, ErrorKind, Result};
use crate::id::RunId;
use crate::journal::{self, WORKFLOW_RECORD, WorkflowHead};
use crate::process::{Mark, ProcessIdentity};

/// The largest record that is read.
const MAX_BYTES: u64 = 256 << 20;
/// How often is tried to lock a record, since who only looks holds it for a moment, and how long it is waited each time.
const TRIES: u32 = 40;
const PAUSE: Duration = Duration::from_millis(10);

/// The record of a run that goes on.
///
/// When it is dropped before [`Record::end`], the run was dropped, and that is what it notes.
#[derive(Debug)]
pub(in crate::workflow) struct Record {
    file: File,
    path: PathBuf,
    runs: PathBuf,
    /// What everything carries that the run starts.
    mark: Option<Mark>,
    ended: AtomicBool,
}

#[derive(Serialize)]
struct Line<'a> {
    at: String,
    #[serde(flatten)]
    note: &'a Note,
}

impl Record {
    /// Begins the record of a run, before its first step.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] if it cannot be written.
    pub(in crate::workflow) fn begin(
        config: &ConfigDir,
        head: WorkflowHead,
        given: &Given,
        document: Value,
    ) -> Result<Self> {
        let (run, mark) = (RunId::new(&head.run)?, Mark::parse(&head.mark));
        let head = Head { head, given: given.clone(), document };
        let runs = config.make(Kept::Runs)?;
        let path = runs.join(run.as_str()).join(WORKFLOW_RECORD);
        let made = journal::create(&runs, &run, WORKFLOW_RECORD, &head);
        let made = made.and_then(|file| file.sync_data().map(|()| file));
        let file = made.map_err(|error| io_error("begin", &path, error))?;
        Ok(Self { file, path, runs, mark, ended: AtomicBool::new(false) })
    }

    /// Goes on with the record of a run that is over, and returns what is in it.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidOptions`] if there is no such run of a workflow, or it goes on; [`ErrorKind::Io`] if its record cannot
    /// be used.
    pub(in crate::workflow) async fn resume(config: &ConfigDir, run: &RunId) -> Result<(Self, Past)> {
        let runs = config.place_of(Kept::Runs);
        let path = runs.join(run.as_str()).join(WORKFLOW_RECORD);
        let file = config.refuse_links(Kept::Runs).and_then(|()| open(&path));
        let file = file.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => unknown(run, &path),
            _ => io_error("open", &path, error),
        })?;
        let lock = lock(&file).await;
        let mut bytes = Vec::new();
        let read = (&file).take(MAX_BYTES + 1).read_to_end(&mut bytes);
        read.map_err(|error| io_error("read", &path, error))?;
        let past = if bytes.len() as u64 > MAX_BYTES {
            Err(format!("it is longer than {MAX_BYTES} bytes"))
        } else {
            reader::read(&bytes, run)
        };
        let past = past.map_err(|reason| {
            Error::new(ErrorKind::Io, format!("resume the run {run}: its record cannot be used: {reason}"))
                .with_hint(format!("it is `{}`", path.display()))
        })?;
        if lock == Locked::ByAnother || lock == Locked::Never && past.owner.is_alive() {
            return Err(Error::new(ErrorKind::InvalidOptions, format!("resume the run {run}: it goes on"))
                .with_hint(format!("wait for it, or end the process {} first", past.owner.pid)));
        }
        // What follows must not be joined to a line that was torn.
        file.set_len(past.whole).map_err(|error| io_error("mend", &path, error))?;
        // Until it is gone on with, there is no end to be noted.
        Ok((Self { file, path, runs, mark: past.mark.clone(), ended: AtomicBool::new(true) }, past))
    }

    /// Writes a note.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] if that fails.
    pub(in crate::workflow) fn write(&self, note: &Note) -> Result<()> {
        let line = Line { at: journal::now(), note };
        let write = || {
            journal::write_at_once(&self.file, &journal::encoded(&line)?)?;
            if note.is_precious() { self.file.sync_data() } else { Ok(()) }
        };
        // The step that could not be noted passes on this message alone, so it has to say why.
        write().map_err(|error| {
            let message = format!("write the record `{}`: {error}", self.path.display());
            Error::new(ErrorKind::Io, message).with_source(error)
        })
    }

    /// Returns the variable by which what the run starts is found again.
    pub(in crate::workflow) fn mark(&self) -> Option<(OsString, OsString)> {
        self.mark.as_ref().map(Mark::variable)
    }

    /// Notes that this process goes on with the run, by the document that was read from `file`.
    ///
    /// # Errors
    /// As [`Record::write`].
    pub(in crate::workflow) fn resumed(&self, document: Value, file: Option<&Path>) -> Result<()> {
        let file = file.map(Into::into);
        self.write(&Note::Resumed { owner: ProcessIdentity::own(), document, file })?;
        self.ended.store(false, Ordering::Relaxed);
        Ok(())
    }

    /// Writes how the run ended, and forgets the oldest of those that left nothing.
    ///
    /// # Errors
    /// As [`Record::write`].
    pub(in crate::workflow) fn end(&self, status: &str, error: Option<String>) -> Result<()> {
        self.ended.store(true, Ordering::Relaxed);
        let written = self.write(&Note::Ended { status: status.to_owned(), error });
        journal::trim(&self.runs);
        written
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        if !self.ended.load(Ordering::Relaxed) {
            let error = Some("finish: the run was dropped".to_owned());
            let _ = self.write(&Note::Ended { status: "cancelled".to_owned(), error });
        }
        // Closing is not enough: a program that is just being started may have a copy of the descriptor.
        let _ = self.file.unlock();
    }
}

/// What came of locking a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Locked {
    Here,
    ByAnother,
    /// There are no locks in this file system.
    Never,
}

async fn lock(file: &File) -> Locked {
    for _ in 0..TRIES {
        match file.try_lock() {
            Ok(()) => return Locked::Here,
            Err(TryLockError::Error(_)) => return Locked::Never,
            Err(TryLockError::WouldBlock) => tokio::time::sleep(PAUSE).await,
        }
    }
    Locked::ByAnother
}

/// Opens a record without following a link, waiting for a pipe, or taking a folder for one.
fn open(path: &Path) -> io::Result<File> {
    let folder = path.parent().unwrap_or(path);
    if !fs::symlink_metadata(folder)?.is_dir() {
        return Err(io::Error::other("it is not in a folder"));
    }
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = File::options().read(true).append(true).custom_flags(flags).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("it is not a file")) }
}

fn unknown(run: &RunId, path: &Path) -> Error {
    let is_another = path.parent().is_some_and(Path::exists);
    let why = if is_another { "it is not the run of a workflow" } else { "there is no such run" };
    Error::new(ErrorKind::InvalidOptions, format!("resume the run {run}: {why}")).with_hint(format!(
        "the records of workflows are `{WORKFLOW_RECORD}` in the folders of `.sandcastle/runs`"
    ))
}

fn io_error(what: &str, path: &Path, error: io::Error) -> Error {
    Error::new(ErrorKind::Io, format!("{what} the record `{}`: {error}", path.display())).with_source(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The device that is always full.
    #[cfg(target_os = "linux")]
    #[test]
    fn what_a_full_disk_does_not_take_says_why() {
        let path = PathBuf::from("/dev/full");
        let file = File::options().write(true).open(&path).unwrap();
        let record = Record { file, path, runs: PathBuf::new(), mark: None, ended: AtomicBool::new(true) };
        let error = record.write(&Note::StepStarted { step: "a".to_owned() }).unwrap_err();
        assert!(error.to_string().contains("No space left"), "{error}");
    }
}
