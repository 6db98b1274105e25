//! The folder of the journals: which there are, and which of them are forgotten.
//!
//! Runs that ended and left nothing are history. The newest hundred are kept for `runs list`; whoever ends a run forgets
//! what is older. Runs that left something are never forgotten here, and of a folder only what a journal puts there is
//! removed, so that two who tidy up at once cannot harm each other or anything else.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;
use serde::Deserialize;

use super::note::Note;
use super::workflow::{self, WORKFLOW_RECORD, WORKFLOW_UNBORN};
use super::writer::{JOURNAL, UNBORN};
use crate::id::RunId;

/// How many runs are kept as history.
const KEPT: usize = 100;
/// How far from its end a journal says how it ended.
const TAIL: u64 = 16 * 1024;

/// Lists the runs that have a folder, the oldest first. Whatever has another name is not ours.
pub(super) fn ids(runs: &Path) -> io::Result<Vec<RunId>> {
    let entries = match fs::read_dir(runs) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut ids: Vec<RunId> =
        entries.flatten().filter_map(|entry| RunId::new(entry.file_name().to_str()?).ok()).collect();
    ids.sort_unstable();
    Ok(ids)
}

/// Forgets the oldest of the runs that left nothing.
pub(crate) fn trim(runs: &Path) {
    let Ok(ids) = ids(runs) else { return };
    for id in ids.iter().take(ids.len().saturating_sub(KEPT)) {
        let folder = runs.join(id.as_str());
        if left_nothing(&folder.join(JOURNAL)).unwrap_or_default()
            || came_to_its_end(&folder.join(WORKFLOW_RECORD)).unwrap_or_default()
        {
            let _ = forget(&folder);
        }
    }
}

/// Removes the journal and its folder, unless there is something else in it.
pub(super) fn forget(folder: &Path) -> io::Result<()> {
    if !fs::symlink_metadata(folder)?.is_dir() {
        return Err(io::Error::other("it is not a folder"));
    }
    for name in [JOURNAL, UNBORN, WORKFLOW_RECORD, WORKFLOW_UNBORN] {
        match fs::remove_file(folder.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    fs::remove_dir(folder)
}

/// Tells whether the last thing that the journal in a folder says is that the run came to its end.
pub(super) fn has_ended(folder: &Path) -> bool {
    matches!(last_note(&folder.join(JOURNAL)), Ok(Some(Note::Ended { .. })))
}

/// Tells whether a journal says that nothing was left.
fn left_nothing(journal: &Path) -> io::Result<bool> {
    Ok(matches!(last_note(journal)?, Some(Note::Ended { keeps: false, .. })))
}

/// Reads the last line of a journal, if it is a note.
fn last_note(journal: &Path) -> io::Result<Option<Note>> {
    #[derive(Deserialize)]
    struct Last {
        #[serde(flatten)]
        note: Note,
    }
    Ok(serde_json::from_slice::<Last>(last_line(&tail(journal)?)).ok().map(|last| last.note))
}

/// Tells whether the record of a workflow says that there is nothing to go on with.
fn came_to_its_end(record: &Path) -> io::Result<bool> {
    Ok(workflow::is_final(last_line(&tail(record)?)))
}

/// Reads the end of a file alone, since there may be a whole answer before it.
fn tail(file: &Path) -> io::Result<Vec<u8>> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let mut file = File::options().read(true).custom_flags(flags.bits().cast_signed()).open(file)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
    let mut tail = Vec::new();
    file.take(TAIL).read_to_end(&mut tail)?;
    Ok(tail)
}

fn last_line(tail: &[u8]) -> &[u8] {
    tail.trim_ascii_end().rsplit(|byte| *byte == b'\n').next().unwrap_or_default()
}
