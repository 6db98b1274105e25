//! One session file from one place to another.
//!
//! A file grows into its new place: written beside it, private to its owner, and renamed. What is there already is never
//! lost: a file that holds more than the one that comes stays, and so does one that went on in another way.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use sandcastle_core::session::TransferOutcome;
use sandcastle_core::{Error, ErrorKind, SessionId};

use super::folder::{Folder, Missing, Stamp};
use super::lines::{Relation, Respelled, Rule, first_line, recorded_folder, relate};

/// The largest session that is moved, in bytes.
const MAX_SESSION: u64 = 1024 * 1024 * 1024;

/// How often a copy is begun anew because somebody else has written to the target meanwhile.
const MAX_TRIES: u32 = 3;

/// A file below a folder that is trusted, whether it is there or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    trusted: PathBuf,
    below: PathBuf,
}

impl Spot {
    pub(crate) fn new(trusted: impl Into<PathBuf>, below: impl Into<PathBuf>) -> Self {
        Self { trusted: trusted.into(), below: below.into() }
    }

    /// Names another file, by its path as seen from the folder of this one.
    pub(crate) fn beside(&self, path: &Path) -> Self {
        let folder = self.below.parent().unwrap_or(Path::new(""));
        Self::new(&self.trusted, folder.join(path))
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.trusted.join(&self.below)
    }

    /// Returns the folder that the session says it was held in first.
    pub(crate) fn recorded_folder(&self) -> Option<String> {
        recorded_folder(BufReader::new(self.open().ok()?))
    }

    /// Reads the first line, or the beginning of one that is very long.
    pub(crate) fn first_line(&self) -> io::Result<Vec<u8>> {
        first_line(BufReader::new(self.open()?))
    }

    fn open(&self) -> io::Result<File> {
        self.folder(Missing::Fail)?.file(self.name()?)
    }

    fn folder(&self, missing: Missing) -> io::Result<Folder> {
        Folder::walk(&self.trusted, self.below.parent().unwrap_or(Path::new("")), missing)
    }

    fn name(&self) -> io::Result<&std::ffi::OsStr> {
        self.below
            .file_name()
            .ok_or_else(|| io::Error::other(format!("`{}` is no file", self.path().display())))
    }
}

/// Tells how the session in the first file stands to that in the second, after `rule`.
pub(crate) fn relation(first: &Spot, second: &Spot, rule: Rule<'_>) -> io::Result<Relation> {
    relate(respelled(&first.open()?, rule)?, respelled(&second.open()?, rule)?)
}

/// Says that a session stayed where it was found.
pub(crate) fn not_moved(session: &SessionId, found: &Path, cause: io::Error) -> Error {
    Error::new(ErrorKind::Io, format!("bring the session `{session}` from `{}`", found.display()))
        .with_source(cause)
}

/// Copies a file, with `rule` for its lines. Folders that are missing are made.
///
/// Whether the target holds what the source holds is judged after `rule` as well, so that it does not matter in which of
/// the two places a line was written.
pub(crate) fn copy(from: &Spot, to: &Spot, rule: Rule<'_>) -> io::Result<TransferOutcome> {
    for _ in 0..MAX_TRIES {
        if let Some(copied) = try_to_copy(from, to, rule)? {
            return Ok(copied);
        }
    }
    Err(io::Error::other(format!("`{}` is being written by somebody else", to.path().display())))
}

/// Copies a file, unless the target is another one by the end than at the beginning.
fn try_to_copy(from: &Spot, to: &Spot, rule: Rule<'_>) -> io::Result<Option<TransferOutcome>> {
    let source = from.open()?;
    let (folder, name) = (to.folder(Missing::Make)?, to.name()?);
    let present = folder.file_if_there(name)?;
    let stamp = present.as_ref().map(Stamp::of_file).transpose()?;
    if let (Some(present), Some(stamp)) = (&present, stamp) {
        if stamp.same_file(Stamp::of_file(&source)?) {
            return Ok(Some(TransferOutcome::UpToDate));
        }
        match relate(respelled(&source, rule)?, respelled(present, rule)?)? {
            Relation::Ahead => {}
            Relation::Same | Relation::Behind => return Ok(Some(TransferOutcome::UpToDate)),
            Relation::Parted => return Ok(Some(TransferOutcome::Parted)),
        }
    }
    let mut fresh = folder.fresh()?;
    io::copy(&mut respelled(&source, rule)?, &mut fresh.file)?;
    if folder.stamp(name) != stamp {
        return Ok(None);
    }
    fresh.name(name)?;
    Ok(Some(TransferOutcome::Written))
}

/// Reads a file from its beginning, as long as it is now.
fn respelled<'a>(file: &'a File, rule: Rule<'a>) -> io::Result<Respelled<'a, impl io::BufRead>> {
    let length = file.metadata()?.len();
    if length > MAX_SESSION {
        return Err(io::Error::other(format!("{length} bytes are more than the {MAX_SESSION} of a session")));
    }
    let mut from_start = file;
    io::Seek::rewind(&mut from_start)?;
    Ok(Respelled::new(BufReader::with_capacity(64 * 1024, from_start).take(length), rule))
}
