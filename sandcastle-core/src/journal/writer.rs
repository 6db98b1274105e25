//! Writes the journal of one run.
//!
//! Each note is one line in one `write`, so a reader sees whole lines and a kill can tear only the last one. Nothing is
//! forced to the disk: what the kernel has taken survives any death of this process. After a crash of the *machine* the
//! last seconds may be missing or torn, as they may be from the files of the agent; git brings its own commits to the
//! disk before it names them, and a worktree of which the journal says nothing is still listed by git.
//!
//! The file is locked for as long as the run lives, by the kernel, which lets go of it in whatever way the process ends.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rustix::fs::OFlags;
use serde::Serialize;

use super::note::{Begun, Fate, Head, Note, VERSION};
use super::report::Outcome;
use super::shelf;
use crate::config::{ConfigDir, Kept};
use crate::error::{Error, ErrorKind, Result};
use crate::id::RunId;
use crate::process::{Mark, ProcessIdentity};

/// The name of the file.
pub(super) const JOURNAL: &str = "journal.jsonl";
/// Its name until its first line is written: the same, hidden.
pub(super) const UNBORN: &str = ".journal.jsonl";

/// How much of an error is noted, in characters.
const MAX_ERROR: usize = 2000;

/// The journal of a run that goes on.
///
/// When it is dropped before [`Journal::end`], the run was dropped, and that is what it notes.
#[derive(Debug)]
pub(crate) struct Journal {
    file: File,
    runs: PathBuf,
    mark: Mark,
    /// How many things the run owns now.
    owned: AtomicUsize,
    /// Whether a note was lost.
    failed: AtomicBool,
    ended: bool,
}

#[derive(Serialize)]
struct Line<'a> {
    at: String,
    #[serde(flatten)]
    note: &'a Note,
}

impl Journal {
    /// Begins the journal of a run, before the run makes or starts anything.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] when it cannot be written.
    pub(crate) fn begin(config: &ConfigDir, run: &RunId, begun: &Begun) -> Result<Self> {
        let mark = Mark::random();
        let head = Head {
            journal: VERSION,
            run: run.to_string(),
            started_at: now(),
            owner: ProcessIdentity::own(),
            mark: mark.name().to_owned(),
            begun: begun.clone(),
        };
        let runs = config.make(Kept::Runs)?;
        let folder = runs.join(run.as_str());
        let file = create(&runs, run, JOURNAL, &head).map_err(|error| {
            Error::new(ErrorKind::Io, format!("begin the journal `{}`", folder.display())).with_source(error)
        })?;
        Ok(Self {
            file,
            runs,
            mark,
            owned: AtomicUsize::new(0),
            failed: AtomicBool::new(false),
            ended: false,
        })
    }

    /// Returns the mark that everything which the run starts has to carry: it is in the first line, so no moment is
    /// left in which a program runs that the journal does not lead to.
    pub(crate) fn mark(&self) -> &Mark {
        &self.mark
    }

    /// Writes a note. The first one that cannot be written gives a warning; none fails the run.
    #[must_use]
    pub(crate) fn note(&self, note: &Note) -> Option<String> {
        self.count(note);
        let line = Line { at: now(), note };
        let written = encoded(&line).and_then(|mut bytes| {
            // What is left of a line that was not written whole must not spoil this one.
            if self.failed.load(Ordering::Relaxed) {
                bytes.insert(0, b'\n');
            }
            write_at_once(&self.file, &bytes)
        });
        let error = written.err()?;
        let is_first = !self.failed.swap(true, Ordering::Relaxed);
        is_first.then(|| {
            format!("the journal cannot be written, so `runs recover` may not find everything: {error}")
        })
    }

    /// Writes how the run ended, and forgets the oldest of the runs that left nothing.
    #[must_use]
    pub(crate) fn end(mut self, outcome: Outcome, error: Option<String>) -> Option<String> {
        let error = error.map(|error| error.chars().take(MAX_ERROR).collect());
        let warning = self.ends(outcome, error);
        shelf::trim(&self.runs);
        warning
    }

    fn ends(&mut self, outcome: Outcome, error: Option<String>) -> Option<String> {
        self.ended = true;
        let keeps = self.owned.load(Ordering::Relaxed) > 0;
        self.note(&Note::Ended { outcome, error, keeps })
    }

    /// Counts what the run owns.
    fn count(&self, note: &Note) {
        match note {
            Note::Worktree { .. } | Note::Sandbox { .. } | Note::Landing { .. } => {
                self.owned.fetch_add(1, Ordering::Relaxed);
            }
            Note::WorktreeClosed { fate: Fate::Removed, .. }
            | Note::SandboxClosed { .. }
            | Note::Landed { .. } => {
                let less = |owned: usize| Some(owned.saturating_sub(1));
                let _ = self.owned.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
            }
            _ => {}
        }
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        if !self.ended {
            let _ = self.ends(Outcome::Cancelled, Some("finish: the run was dropped".to_owned()));
        }
        // Closing is not enough: a program that is just being started may have a copy of the descriptor.
        let _ = self.file.unlock();
    }
}

/// Makes the folder of a run and its record. That gets its name when it is locked and has its first line, so nobody sees less.
pub(crate) fn create(runs: &Path, run: &RunId, name: &str, head: &impl Serialize) -> io::Result<File> {
    if fs::symlink_metadata(runs)?.is_symlink() {
        return Err(io::Error::other("the folder of the journals is a symbolic link"));
    }
    let folder = runs.join(run.as_str());
    DirBuilder::new().mode(0o700).create(&folder)?;
    let unborn = folder.join(format!(".{name}"));
    let file = File::options()
        .append(true)
        .create_new(true)
        .mode(0o600)
        .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
        .open(&unborn)?;
    // Without locks in this file system, the process id has to do.
    let _ = file.try_lock();
    write_at_once(&file, &encoded(head)?)?;
    fs::rename(&unborn, folder.join(name))?;
    Ok(file)
}

/// Adds a note to the journal of a run that is over.
pub(super) fn append(file: &Path, note: &Note) -> io::Result<()> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = File::options().append(true).custom_flags(flags.bits().cast_signed()).open(file)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    let mut bytes = encoded(&Line { at: now(), note })?;
    // The last line of a run that was killed may be torn.
    bytes.insert(0, b'\n');
    write_at_once(&file, &bytes)
}

/// Encodes a line.
pub(crate) fn encoded(line: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec(line)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Writes a line in one piece.
pub(crate) fn write_at_once(mut file: &File, bytes: &[u8]) -> io::Result<()> {
    match file.write(bytes)? {
        count if count == bytes.len() => Ok(()),
        count => Err(io::Error::other(format!("{count} of {} bytes were written", bytes.len()))),
    }
}

/// Tells the time as it is noted.
pub(crate) fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begun() -> Begun {
        Begun {
            name: None,
            agent: "scripted".to_owned(),
            model: None,
            sandbox: "none".to_owned(),
            strategy: "head".to_owned(),
            cwd: "/r".into(),
            repository: "/r".into(),
            source_branch: None,
            target_branch: None,
        }
    }

    #[test]
    fn a_lost_note_warns_once_and_spoils_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let config = ConfigDir::in_folder(folder.path());
        let id = RunId::generate();
        let mut journal = Journal::begin(&config, &id, &begun()).unwrap();
        let full = File::options().append(true).open("/dev/full").unwrap();
        let file = std::mem::replace(&mut journal.file, full);
        assert!(journal.note(&Note::Recovered { tip: None }).unwrap().contains("No space left"));
        assert_eq!(journal.note(&Note::Recovered { tip: None }), None);
        journal.file = file;
        (&journal.file).write_all(b"{\"note\":\"torn").unwrap();
        assert_eq!(journal.end(Outcome::Done, None), None);
        let path = folder.path().join(".sandcastle/runs").join(id.as_str()).join(JOURNAL);
        let text = fs::read_to_string(path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3, "{text}");
        assert!(lines[2].contains("\"note\":\"ended\""), "{text}");
    }

    #[test]
    fn nobody_else_can_read_it_and_git_does_not_see_it() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let config = ConfigDir::in_folder(folder.path());
        let id = RunId::generate();
        let _journal = Journal::begin(&config, &id, &begun()).unwrap();
        let runs = folder.path().join(".sandcastle/runs");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&runs.join(id.as_str())), 0o700);
        assert_eq!(mode(&runs.join(id.as_str()).join(JOURNAL)), 0o600);
        assert_eq!(fs::read_to_string(runs.join(".gitignore")).unwrap(), "*\n");
        assert!(Journal::begin(&config, &id, &begun()).is_err(), "an id is used once");
    }
}
