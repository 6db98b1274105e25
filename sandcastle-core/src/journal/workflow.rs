//! The runs of workflows, for whoever wants to know what ran: a glance at their records.
//!
//! A record is written and resumed by the room of workflows. Here it is read as far as it tells what ran, how far it came and
//! how it ended: its first line, and of every other one `note`, `step`, `status` and `error`. What the steps were given and
//! gave is left where it is.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

use super::ground::Force;
use super::note::StoredPath;
use super::report::{Cleaned, CleanedItem, Outcome, RunReport, RunState};
use super::runs::Removal;
use super::shelf;
#[cfg(feature = "workflow")]
use super::writer;
use crate::error::{Error, ErrorKind};
use crate::id::RunId;
#[cfg(feature = "workflow")]
use crate::process::Mark;
use crate::process::ProcessIdentity;

/// The name of the record of a workflow, in the folder of its run.
pub(crate) const WORKFLOW_RECORD: &str = "workflow.jsonl";
/// Its name until its first line is written.
pub(super) const WORKFLOW_UNBORN: &str = ".workflow.jsonl";
/// How much of a record is read.
const MAX_BYTES: u64 = 256 << 20;
/// The most steps that are told of.
const MAX_STEPS: usize = 1000;
/// The version of what is written there.
pub(crate) const WORKFLOW_VERSION: u32 = 1;

/// Tells how far the run of a workflow came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct WorkflowLeft {
    /// How it stands: `running`, `completed`, `awaiting-approval`, `rejected`, `failed`, `cancelled`, or `interrupted` if its
    /// process is gone and never said how it ended.
    pub status: String,
    /// Whether there is something to go on with.
    pub can_be_resumed: bool,
    /// The document that it was read from; `None` if it was built by a program.
    pub file: Option<PathBuf>,
    /// The steps that had begun, in that order.
    pub steps: Vec<WorkflowStepLeft>,
}

/// Tells how a step of a workflow stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct WorkflowStepLeft {
    /// Its name.
    pub step: String,
    /// How it stands: `running`, `completed`, `awaiting-approval`, `rejected`, `failed`, `cancelled`, or `interrupted`.
    pub status: String,
}

/// What the first line of a record has for everybody.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct WorkflowHead {
    /// The version of the record.
    pub(crate) workflow: u32,
    pub(crate) run: String,
    pub(crate) started_at: String,
    /// The mark of every command that the run starts itself; agents have those of their own runs.
    pub(crate) mark: String,
    /// The process that drives the run.
    pub(crate) owner: ProcessIdentity,
    /// What the workflow is called.
    pub(crate) name: String,
    /// The folder that it was run in.
    pub(crate) cwd: StoredPath,
    /// The document, if it was read from a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<StoredPath>,
}

#[cfg(feature = "workflow")]
impl WorkflowHead {
    /// Begins a record of this process.
    pub(crate) fn of(run: &RunId, name: &str, cwd: &Path, file: Option<&Path>) -> Self {
        Self {
            workflow: WORKFLOW_VERSION,
            run: run.to_string(),
            started_at: writer::now(),
            mark: Mark::random().name().to_owned(),
            owner: ProcessIdentity::own(),
            name: name.to_owned(),
            cwd: cwd.into(),
            file: file.map(Into::into),
        }
    }
}

/// A line, as far as it is looked at.
#[derive(Deserialize)]
struct Seen {
    note: String,
    step: Option<String>,
    status: Option<String>,
    error: Option<String>,
    owner: Option<ProcessIdentity>,
    file: Option<StoredPath>,
}

/// Tells whether the folder of a run is that of a workflow.
pub(super) fn is_in(folder: &Path) -> bool {
    fs::symlink_metadata(folder.join(WORKFLOW_RECORD)).is_ok()
}

/// Tells whether the last line of a record says that there is nothing to go on with.
pub(super) fn is_final(line: &[u8]) -> bool {
    let seen = serde_json::from_slice::<Seen>(line);
    seen.is_ok_and(|seen| seen.note == "ended" && seen.status.as_deref().is_some_and(is_over))
}

/// Tells whether nothing follows such an end.
fn is_over(status: &str) -> bool {
    matches!(status, "completed" | "rejected")
}

/// Tells of the run of a workflow whose folder this is.
pub(super) fn report(id: &RunId, folder: &Path) -> RunReport {
    read(id, folder).unwrap_or_else(|reason| RunReport::unreadable(id.clone(), reason))
}

fn read(id: &RunId, folder: &Path) -> Result<RunReport, String> {
    let file = open(folder).map_err(|error| error.to_string())?;
    let is_locked = matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock));
    let mut bytes = Vec::new();
    file.take(MAX_BYTES).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    let mut lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let first = lines.next().ok_or("its first line was never written")?;
    let mut head: WorkflowHead =
        serde_json::from_slice(first).map_err(|error| format!("its first line cannot be read: {error}"))?;
    if head.workflow > WORKFLOW_VERSION {
        let version = head.workflow;
        return Err(format!("its record is of version {version}, which is newer than this program"));
    }
    if head.run != id.as_str() {
        return Err("its record is that of another run".to_owned());
    }
    let mut history = History::default();
    let mut damaged = 0;
    for line in lines {
        match serde_json::from_slice::<Seen>(line) {
            Ok(seen) => history.take(seen, &mut head),
            Err(_) => damaged += 1,
        }
    }
    Ok(history.report(id, head, damaged, is_locked))
}

/// Forgets the run of a workflow that nobody can go on with, or that a person has named.
///
/// # Errors
/// [`ErrorKind::InvalidOptions`] if one is named that goes on.
pub(super) fn clean(
    report: &RunReport,
    folder: &Path,
    (removal, force): (Removal, Force),
    cleaned: &mut Cleaned,
) -> Result<(), Error> {
    let can_be_resumed = report.workflow.as_ref().is_some_and(|workflow| workflow.can_be_resumed);
    let is_named = force == Force::Yes;
    let (list, why) = match report.state {
        RunState::Running if is_named => {
            let message = format!("remove the run {}: it goes on", report.id);
            return Err(Error::new(ErrorKind::InvalidOptions, message)
                .with_hint("wait for it, or end the process that drives it first"));
        }
        RunState::Running => (&mut cleaned.kept, "it goes on".to_owned()),
        RunState::Unreadable if !is_named => {
            let reason = report.error.as_deref().unwrap_or_default();
            (&mut cleaned.kept, format!("it cannot be read: {reason}"))
        }
        _ if can_be_resumed && !is_named => (&mut cleaned.kept, "its workflow can be resumed".to_owned()),
        _ => {
            let forgotten = if removal == Removal::Real { shelf::forget(folder) } else { Ok(()) };
            match forgotten {
                Ok(()) if is_named => (&mut cleaned.removed, "it was named".to_owned()),
                Ok(()) => (&mut cleaned.removed, "its workflow is over".to_owned()),
                Err(error) => (&mut cleaned.kept, format!("it cannot be removed: {error}")),
            }
        }
    };
    list.push(CleanedItem { run: Some(report.id.clone()), what: "the record".to_owned(), why });
    Ok(())
}

/// Opens a record without following a link, waiting for a pipe, or taking a folder for one.
fn open(folder: &Path) -> io::Result<File> {
    if !fs::symlink_metadata(folder)?.is_dir() {
        return Err(io::Error::other("it is not a folder"));
    }
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = File::options().read(true).custom_flags(flags).open(folder.join(WORKFLOW_RECORD))?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("its record is not a file")) }
}

/// What a record says, summed up.
#[derive(Default)]
struct History {
    steps: Vec<WorkflowStepLeft>,
    ended: Option<(String, Option<String>)>,
}

impl History {
    fn take(&mut self, seen: Seen, head: &mut WorkflowHead) {
        let status = match (&*seen.note, seen.status) {
            ("ended", status) => {
                self.ended = Some((status.unwrap_or_default(), seen.error));
                return;
            }
            ("resumed", _) => {
                self.ended = None;
                head.owner = seen.owner.unwrap_or_else(|| head.owner.clone());
                head.file = seen.file.or_else(|| head.file.take());
                return;
            }
            ("step-started", _) => "running".to_owned(),
            ("held", _) => "awaiting-approval".to_owned(),
            ("step-done", _) => "completed".to_owned(),
            ("step-ended", Some(status)) => status,
            _ => return,
        };
        let Some(step) = seen.step else { return };
        if let Some(known) = self.steps.iter_mut().find(|known| known.step == step) {
            known.status = status;
        } else if self.steps.len() < MAX_STEPS {
            self.steps.push(WorkflowStepLeft { step, status });
        }
    }

    fn report(mut self, id: &RunId, head: WorkflowHead, damaged_lines: usize, is_locked: bool) -> RunReport {
        let is_running = self.ended.is_none() && (is_locked || head.owner.is_alive());
        let state = match (is_running, &self.ended) {
            (true, _) => RunState::Running,
            (false, Some(_)) => RunState::Finished,
            (false, None) => RunState::Died,
        };
        if !is_running {
            // Nobody does it any more.
            let begun = self.steps.iter_mut().filter(|step| step.status == "running");
            begun.for_each(|step| step.status = "interrupted".to_owned());
        }
        let (status, error) = self.ended.unzip();
        let status = status.unwrap_or_else(|| if is_running { "running" } else { "interrupted" }.to_owned());
        RunReport {
            state,
            outcome: match &*status {
                "completed" => Some(Outcome::Done),
                "failed" | "rejected" => Some(Outcome::Failed),
                "cancelled" => Some(Outcome::Cancelled),
                _ => None,
            },
            error: error.flatten(),
            started_at: Some(head.started_at),
            name: Some(head.name),
            cwd: Some(head.cwd.to_path_buf()),
            pid: Some(head.owner.pid),
            damaged_lines,
            workflow: Some(WorkflowLeft {
                can_be_resumed: !is_running && !is_over(&status),
                file: head.file.map(|file| file.to_path_buf()),
                status,
                steps: self.steps,
            }),
            ..RunReport::unreadable(id.clone(), String::new())
        }
    }
}
