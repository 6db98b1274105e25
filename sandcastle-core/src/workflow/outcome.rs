//! What a run of a workflow gives back, and what it leaves when it fails.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value};

use super::options::ApprovalRequest;
use crate::error::Error;
use crate::id::{BranchName, RunId};
use crate::secret::Secrets;
use crate::strategy::AnswerGuarantee;
use crate::work::{Commit, Usage};

/// Holds what a workflow gave, and what each of its steps did.
///
/// It is data, and not masked: what a command printed is in it as it was printed. Before it is shown to anybody, or written where
/// others read, [`secrets`](Self::secrets) masks it.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct WorkflowResult {
    /// Its run, by which it is resumed.
    #[serde(rename = "run")]
    pub run_id: RunId,
    /// How it ended.
    #[serde(flatten)]
    pub status: WorkflowStatus,
    /// What it gives: what the workflow says it does, or the outputs of all steps by their names; of a workflow that is not
    /// completed, the outputs so far.
    pub output: Value,
    /// The steps that began, in the order in which they ended.
    pub trace: Vec<StepRecord>,
    /// What all of them used.
    pub usage: Usage,
    /// Things that went wrong without failing the workflow.
    pub warnings: Vec<String>,
    #[serde(skip)]
    pub(crate) secrets: Secrets,
}

/// Says how a workflow ended that did not fail.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "status", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum WorkflowStatus {
    /// All of its steps are done.
    Completed,
    /// It stopped because nobody was there to be asked, and goes on when it is resumed with decisions.
    AwaitingApproval {
        /// What is asked; more than one where steps ran at the same time.
        approvals: Vec<ApprovalRequest>,
    },
    /// Somebody said no.
    Rejected {
        /// The step that asked.
        step: String,
        /// What was said.
        note: String,
    },
}

/// Records one step.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StepRecord {
    /// Its name.
    pub step: String,
    /// What it is: `model`, `agent`, `tool`, `condition`, `approval` or `parallel`.
    pub kind: String,
    /// How it ended.
    pub status: StepStatus,
    /// Its output, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    /// How certain the model was, if it was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// How many answers were judged; 0 where nothing was to be judged.
    pub attempts: u32,
    /// What was wrong with the answers that were not accepted, one line each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rejected: Vec<String>,
    /// Whether a command printed more on its standard output than is kept; then `stdout` is only the end of it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub stdout_truncated: bool,
    /// The same of its standard error.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub stderr_truncated: bool,
    /// Why it failed, in one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// How the answer was held to its schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer_guarantee: Option<AnswerGuarantee>,
    /// The branch that an agent worked on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<BranchName>,
    /// The commits that an agent made.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commits: Vec<Commit>,
    /// The run of an agent, for `sandcastle runs show`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// What it used.
    pub usage: Usage,
    /// How long it took.
    #[serde(rename = "seconds", serialize_with = "seconds")]
    pub time: Duration,
}

/// Says how a step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum StepStatus {
    /// It is done.
    Completed,
    /// It was done in an earlier run, and taken from its record.
    Resumed,
    /// It failed.
    Failed,
    /// It waits for a decision.
    AwaitingApproval,
    /// Somebody said no.
    Rejected,
    /// It was ended because the workflow was.
    Cancelled,
}

fn seconds<S: serde::Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(time.as_secs_f64())
}

impl WorkflowResult {
    /// Tells whether all steps are done.
    #[must_use]
    pub fn is_completed(&self) -> bool {
        self.status == WorkflowStatus::Completed
    }

    /// Returns what is masked in events and errors of the run: declared secrets, and the values of variables whose names look
    /// secret, of this process, of the workflow and of its steps.
    ///
    /// ```no_run
    /// # use sandcastle_core as sandcastle;
    /// # fn show(result: &sandcastle::workflow::WorkflowResult) {
    /// let mut shown = serde_json::json!(result);
    /// result.secrets().mask_value(&mut shown);
    /// println!("{shown}");
    /// # }
    /// ```
    #[must_use]
    pub fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    /// Returns the record of a step.
    #[must_use]
    pub fn step(&self, name: &str) -> Option<&StepRecord> {
        self.trace.iter().rev().find(|record| record.step == name)
    }
}

/// Says which step failed a workflow, and what there is to go on with. Its source is the error of that step.
///
/// The outputs in it are data and not masked, see [`WorkflowResult`].
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct WorkflowFailure {
    /// The run, by which the workflow is resumed.
    #[serde(rename = "run")]
    pub run_id: RunId,
    /// The step that failed; `None` if the workflow itself was ended.
    pub step: Option<String>,
    /// The outputs of the steps that are done, by their names.
    pub outputs: Map<String, Value>,
    /// The steps that began, in the order in which they ended.
    pub trace: Vec<StepRecord>,
    /// What all of them used.
    pub usage: Usage,
    #[serde(skip)]
    pub(crate) secrets: Secrets,
    #[serde(skip)]
    pub(crate) cause: Option<Arc<Error>>,
}

impl WorkflowFailure {
    /// Returns what is masked in events and errors of the run, as [`WorkflowResult::secrets`] does.
    #[must_use]
    pub fn secrets(&self) -> &Secrets {
        &self.secrets
    }
}

impl fmt::Display for WorkflowFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.step {
            Some(step) => write!(f, "the step `{step}` of the run {} failed", self.run_id),
            None => write!(f, "the run {} was ended", self.run_id),
        }
    }
}

impl std::error::Error for WorkflowFailure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause.as_deref().map(|cause| cause as &(dyn std::error::Error + 'static))
    }
}

impl Error {
    /// Returns what a workflow had done before it failed, if one did.
    #[must_use]
    pub fn workflow_failure(&self) -> Option<&WorkflowFailure> {
        self.source_as()
    }

    /// Returns what is wrong with a workflow, if that is why it was not run.
    #[must_use]
    pub fn workflow_findings(&self) -> Option<&super::finding::Findings> {
        self.source_as()
    }
}
