//! What a workflow tells while it goes on.

use serde::Serialize;

use super::options::ApprovalRequest;
use super::outcome::StepRecord;
use crate::id::RunId;
use crate::model_run::ModelRunEvent;
use crate::run::RunEvent;

/// Reports one thing that happened in a workflow.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum WorkflowEvent {
    /// The checks are passed.
    Started {
        /// The run.
        run: RunId,
        /// The name of the workflow.
        workflow: String,
        /// How many steps were taken from the record of an earlier run.
        resumed: usize,
    },
    /// A step begins.
    StepStarted {
        /// Its name.
        step: String,
        /// What it is, such as `model`.
        kind: String,
        /// Whether it is done again: a model, an agent or a command that had begun before the run went on, and not ended well.
        again: bool,
    },
    /// A model step did something.
    Model {
        /// The step.
        step: String,
        /// What.
        event: ModelRunEvent,
    },
    /// An agent step did something.
    Agent {
        /// The step.
        step: String,
        /// What.
        event: Box<RunEvent>,
    },
    /// An answer does not fit its schema, and the model is asked once more.
    StepRetried {
        /// The step.
        step: String,
        /// What was wrong, such as `output.severity must be one of low, high`.
        problems: Vec<String>,
    },
    /// Somebody is asked.
    ApprovalAsked {
        /// What.
        request: ApprovalRequest,
    },
    /// A step has ended, in whatever way. Told also of one that was taken from the record of an earlier run, and began there.
    StepEnded {
        /// How.
        record: Box<StepRecord>,
    },
    /// Something went wrong without failing the workflow.
    Warning {
        /// What.
        message: String,
    },
    /// The workflow has ended.
    Ended {
        /// `completed`, `awaiting-approval`, `rejected` or `failed`.
        status: String,
    },
}
