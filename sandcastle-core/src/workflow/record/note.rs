//! The lines of a record: what a run was given, and what happened in it.
//!
//! Field names are fixed by this file. `runs list` reads `note`, `step` and `status` of every line, see `journal`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::deed::Deed;
use crate::journal::{StoredPath, WorkflowHead};
use crate::process::ProcessIdentity;

/// What a run is given to go on with, as it was given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(in crate::workflow) struct Given {
    pub(in crate::workflow) input: Value,
    pub(in crate::workflow) trigger: Value,
    pub(in crate::workflow) vars: Map<String, Value>,
}

/// The first line.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Head {
    #[serde(flatten)]
    pub(super) head: WorkflowHead,
    #[serde(flatten)]
    pub(super) given: Given,
    /// What the workflow was, see [`describe`](super::describe).
    pub(super) document: Value,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "note", rename_all = "kebab-case")]
pub(in crate::workflow) enum Note {
    /// Another process goes on with the run, by what the workflow is now.
    Resumed {
        owner: ProcessIdentity,
        document: Value,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        file: Option<StoredPath>,
    },
    /// A step begins.
    StepStarted { step: String },
    /// An answer waits for a person, who is asked whether it is good enough.
    Held { step: String, output: Value, deed: Deed },
    /// A step is done.
    StepDone { step: String, output: Value, deed: Deed },
    /// A step has ended without being done; `status` is that of its record.
    StepEnded { step: String, status: String, error: Option<String> },
    /// Somebody has decided.
    Decided { step: String, verdict: Verdict, remark: String },
    /// The run has ended.
    Ended { status: String, error: Option<String> },
}

/// What somebody has decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::workflow) enum Verdict {
    Approved,
    Rejected,
}

impl Verdict {
    /// Returns it as it is written.
    pub(in crate::workflow) fn as_str(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::Rejected => "rejected",
        }
    }
}

impl Note {
    /// Tells whether something is lost with the note that cannot be had again.
    pub(super) fn is_precious(&self) -> bool {
        matches!(self, Self::Held { .. } | Self::StepDone { .. } | Self::Decided { .. })
    }
}
