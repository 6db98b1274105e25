//! Why a step failed, and why a workflow does not go on.

use super::super::options::ApprovalRequest;
use super::super::outcome::StepStatus;
use crate::error::{Error, ErrorKind};

/// Why a step failed.
#[derive(Debug)]
pub(super) struct Fault {
    /// What happened, as a fragment that follows the name of the step.
    pub(super) said: String,
    pub(super) error: Error,
}

impl Fault {
    /// A failure by the rules of the workflow.
    pub(super) fn ruled(said: impl Into<String>) -> Self {
        let said = said.into();
        Self { error: Error::new(ErrorKind::WorkflowStep, said.clone()), said }
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self { said: format!("failed to {error}"), error }
    }
}

/// Why a workflow does not go on, from the least to the most.
#[derive(Debug)]
pub(super) enum Halt {
    /// Nobody is there to be asked.
    Awaiting(Vec<ApprovalRequest>),
    /// It was told to stop.
    Cancelled,
    /// Somebody said no.
    Rejected {
        step: String,
        note: String,
    },
    Failed {
        step: String,
        fault: Fault,
    },
}

impl Halt {
    /// Tells whether nothing else may go on either.
    pub(super) fn ends_all(&self) -> bool {
        matches!(self, Self::Rejected { .. } | Self::Failed { .. })
    }

    /// Returns how a step ended that it went through.
    pub(super) fn status(&self) -> StepStatus {
        match self {
            Self::Awaiting(_) => StepStatus::AwaitingApproval,
            Self::Cancelled => StepStatus::Cancelled,
            Self::Rejected { .. } => StepStatus::Rejected,
            Self::Failed { .. } => StepStatus::Failed,
        }
    }

    /// Joins it with that of another way: what matters more counts.
    pub(super) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Awaiting(mut first), Self::Awaiting(more)) => {
                first.extend(more);
                Self::Awaiting(first)
            }
            (first, other) if other.rank() > first.rank() => other,
            (first, _) => first,
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Awaiting(_) => 0,
            Self::Cancelled => 1,
            Self::Rejected { .. } => 2,
            Self::Failed { .. } => 3,
        }
    }
}
