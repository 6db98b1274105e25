//! The runs of workflows, for whoever wants to know what ran: a glance at their records.
//!
//! A record is written and resumed by the room of workflows. Here it is read as far as it tells what ran, how far it came and
//! how it ended: its first line, and of every other one `note`, `step`, `status` and `error`. What the steps were given and
//! gave is left where it is.

use serde::{Deserialize, Serialize};

use super::note::StoredPath;
use super::writer;
use crate::id::RunId;
use crate::process::ProcessIdentity;

/// The name of the record of a workflow, in the folder of its run.
pub(crate) const WORKFLOW_RECORD: &str = "workflow.jsonl";
/// The version of what is written there.
pub(crate) const WORKFLOW_VERSION: u32 = 1;

/// What the first line of a record has for everybody.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct WorkflowHead {
    /// The version of the record.
    pub(crate) workflow: u32,
    pub(crate) run: String,
    pub(crate) started_at: String,
    /// The process that drives the run.
    pub(crate) owner: ProcessIdentity,
    /// What the workflow is called.
    pub(crate) name: String,
    /// The folder that it was run in.
    pub(crate) cwd: StoredPath,
}

impl WorkflowHead {
    /// Begins a record of this process.
    pub(crate) fn of(run: &RunId, name: &str, cwd: &std::path::Path) -> Self {
        Self {
            workflow: WORKFLOW_VERSION,
            run: run.to_string(),
            started_at: writer::now(),
            owner: ProcessIdentity::own(),
            name: name.to_owned(),
            cwd: cwd.into(),
        }
    }
}
