//! Reads the journal of a run, whoever wrote it.
//!
//! An agent without a sandbox can write here too, so a journal is a claim and no more: everything that it names is looked
//! for in git or in `/proc` before anything is done about it. What cannot be read is counted and skipped, memory is
//! bounded, and neither a link nor a pipe is followed.

use std::collections::HashSet;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use serde_json::Value;

use super::note::{Fate, Format, Head, Note, NotedCommit, Origin, VERSION};
use super::report::Outcome;
use super::writer::JOURNAL;
use crate::id::RunId;
use crate::jsonl::{Line, LineBuffer};
use crate::process::Mark;
use crate::work::TurnMode;

/// The longest note that is read: an answer may have 8 MiB, and JSON may write a byte in six.
const MAX_LINE: usize = 64 << 20;
/// How much of a journal is read.
const MAX_BYTES: u64 = 512 << 20;
/// The most entries of each kind that are kept.
const MAX_KEPT: usize = 1000;
/// The most notes that nobody here knows, of those that are kept.
const MAX_UNKNOWN: usize = 20;
/// The longest note that nobody here knows, of those that are kept.
const MAX_UNKNOWN_BYTES: usize = 4096;

/// What a journal says, summed up.
#[derive(Clone, Debug)]
pub(super) struct History {
    pub(super) id: RunId,
    pub(super) head: Head,
    /// Whether the run lives.
    pub(super) life: Life,
    /// Worktrees, whether they were noted as removed or not.
    pub(super) worktrees: Vec<Noted>,
    /// The user's own work tree, if it works in that.
    pub(super) in_place: Option<InPlace>,
    pub(super) marks: HashSet<Mark>,
    /// Sandboxes that were not noted as gone: provider and id.
    pub(super) sandboxes: Vec<(String, String)>,
    /// Its scratch folder, unless that was noted as gone.
    pub(super) scratch: Option<PathBuf>,
    pub(super) session: Option<(String, Option<PathBuf>)>,
    /// What its agent was there for last.
    pub(super) mode: TurnMode,
    pub(super) contract: Option<(String, Format, Value)>,
    pub(super) block: Option<String>,
    pub(super) accepted: Option<Value>,
    pub(super) commits: Vec<NotedCommit>,
    pub(super) landing: Option<Landing>,
    pub(super) ended: Option<(Outcome, Option<String>)>,
    /// Whether something was left when it ended.
    pub(super) keeps: bool,
    pub(super) recovered: bool,
    /// Where its branch in the user's own work tree stood when it was recovered.
    pub(super) recovered_at: Option<String>,
    pub(super) unknown: Vec<Value>,
    /// Lines that are no notes.
    pub(super) damaged: usize,
}

/// Whether the process that writes a journal lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Life {
    Alive,
    Gone,
}

/// A worktree as it was noted.
#[derive(Clone, Debug)]
pub(super) struct Noted {
    pub(super) path: PathBuf,
    pub(super) branch: String,
    pub(super) base: Option<String>,
    pub(super) origin: Origin,
    pub(super) fate: Option<Fate>,
}

/// A work tree of the user's as it was noted.
#[derive(Clone, Debug)]
pub(super) struct InPlace {
    pub(super) path: PathBuf,
    pub(super) branch: String,
    pub(super) base: Option<String>,
    pub(super) log_end: u64,
}

/// A landing as it was noted.
#[derive(Clone, Debug)]
pub(super) struct Landing {
    pub(super) source: String,
    pub(super) tip: String,
    pub(super) target: String,
    pub(super) landed: Option<String>,
}

/// Reads the journal in the folder of a run. What goes wrong is said as the reason why the run is unreadable.
pub(super) fn read(folder: &Path, id: &RunId) -> Result<History, String> {
    let mut file = open(folder).map_err(|error| error.to_string())?;
    let is_locked = matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock));
    let mut history: Option<History> = None;
    let mut lines = LineBuffer::with_max_line(MAX_LINE);
    let mut rest = (&mut file).take(MAX_BYTES);
    loop {
        let count =
            rest.by_ref().take(1 << 20).read_to_end(lines.spare()).map_err(|error| error.to_string())?;
        while let Some(line) = lines.next_line() {
            take(&mut history, &line, id)?;
        }
        if count == 0 {
            break;
        }
    }
    let torn = lines.finish();
    let Some(mut history) = history else { return Err("its first line was never written".to_owned()) };
    if let Some(line) = torn {
        // A line without an end is whole only if it was cut off right before the line feed.
        history.line(&line);
    }
    if is_locked || history.head.owner.is_alive() {
        history.life = Life::Alive;
    }
    Ok(history)
}

/// Opens the journal without following a link, waiting for a pipe, or taking a folder for one.
fn open(folder: &Path) -> io::Result<File> {
    if !fs::symlink_metadata(folder)?.is_dir() {
        return Err(io::Error::other("it is not a folder"));
    }
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file =
        File::options().read(true).custom_flags(flags.bits().cast_signed()).open(folder.join(JOURNAL))?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("its journal is not a file")) }
}

fn take(history: &mut Option<History>, line: &Line<'_>, id: &RunId) -> Result<(), String> {
    match history {
        Some(history) => history.line(line),
        None => *history = Some(begin(line, id)?),
    }
    Ok(())
}

fn begin(line: &Line<'_>, id: &RunId) -> Result<History, String> {
    let Line::Complete(bytes) = line else { return Err("its first line is too long".to_owned()) };
    let version = serde_json::from_slice::<Value>(bytes).ok().and_then(|head| head.get("journal")?.as_u64());
    let head: Head = match (serde_json::from_slice(bytes), version) {
        (Ok(head), _) => head,
        (Err(_), Some(version)) if version > u64::from(VERSION) => {
            return Err(format!("its journal is of version {version}, which is newer than this program"));
        }
        (Err(error), _) => return Err(format!("its first line cannot be read: {error}")),
    };
    if head.run != id.as_str() {
        return Err("its journal is that of another run".to_owned());
    }
    Ok(History {
        id: id.clone(),
        marks: Mark::parse(&head.mark).into_iter().collect(),
        head,
        life: Life::Gone,
        worktrees: Vec::new(),
        in_place: None,
        sandboxes: Vec::new(),
        scratch: None,
        session: None,
        mode: TurnMode::Work,
        contract: None,
        block: None,
        accepted: None,
        commits: Vec::new(),
        landing: None,
        ended: None,
        keeps: false,
        recovered: false,
        recovered_at: None,
        unknown: Vec::new(),
        damaged: 0,
    })
}

impl History {
    fn line(&mut self, line: &Line<'_>) {
        let Line::Complete(bytes) = line else {
            self.damaged += 1;
            return;
        };
        if bytes.is_empty() {
            return;
        }
        if let Ok(note) = serde_json::from_slice(bytes) {
            return self.note(note);
        }
        match serde_json::from_slice::<Value>(bytes) {
            Ok(value) if value.get("note").is_some() => {
                if self.unknown.len() < MAX_UNKNOWN && bytes.len() <= MAX_UNKNOWN_BYTES {
                    self.unknown.push(value);
                }
            }
            _ => self.damaged += 1,
        }
    }

    fn note(&mut self, note: Note) {
        match note {
            Note::Worktree { path, branch, base, origin } => {
                if self.worktrees.len() < MAX_KEPT {
                    let path = path.to_path_buf();
                    self.worktrees.push(Noted { path, branch, base, origin, fate: None });
                }
            }
            Note::WorktreeClosed { path, fate } => {
                for known in self.worktrees.iter_mut().filter(|known| known.path == *path) {
                    known.fate = Some(fate);
                }
            }
            Note::InPlace { path, branch, base, log_end } => {
                self.in_place = Some(InPlace { path: path.to_path_buf(), branch, base, log_end });
            }
            Note::ProcessEnded { .. } => {}
            Note::Process { mark, .. } => {
                // What the program left behind may live on when it is gone, so its mark is kept.
                if self.marks.len() < MAX_KEPT {
                    self.marks.extend(Mark::parse(&mark));
                }
            }
            Note::Sandbox { provider, id } => {
                if self.sandboxes.len() < MAX_KEPT {
                    self.sandboxes.push((provider, id));
                }
            }
            Note::SandboxClosed { id } => self.sandboxes.retain(|(_, known)| *known != id),
            Note::Scratch { path } => self.scratch = Some(path.to_path_buf()),
            Note::ScratchRemoved => self.scratch = None,
            Note::Session { id, file } => self.session = Some((id, file.map(|file| file.to_path_buf()))),
            Note::Extracting { .. } => self.mode = TurnMode::SpeakOnly,
            Note::Output { tag, format, schema } => self.contract = Some((tag, format, schema)),
            Note::Answered { block } => self.block = Some(block),
            Note::Accepted { value } => self.accepted = Some(value),
            Note::Commits { mut commits } => {
                // The last one leads to all others.
                let surplus = commits.len().saturating_sub(MAX_KEPT);
                commits.drain(..surplus);
                self.commits = commits;
            }
            Note::Landing { source, tip, target, .. } => {
                self.landing = Some(Landing { source, tip, target, landed: None });
            }
            Note::Landed { commit, .. } => {
                if let Some(landing) = &mut self.landing {
                    landing.landed = Some(commit);
                }
            }
            Note::Ended { outcome, error, keeps } => {
                self.ended = Some((outcome, error));
                self.keeps = keeps;
            }
            Note::Recovered { tip } => {
                self.recovered = true;
                // What it has committed is what it had when it was recovered first.
                self.recovered_at = self.recovered_at.take().or(tip);
            }
        }
    }

    /// Tells whether the run goes on. One that noted its end does not, whatever else its process does.
    pub(super) fn is_running(&self) -> bool {
        self.life == Life::Alive && self.ended.is_none()
    }
}
