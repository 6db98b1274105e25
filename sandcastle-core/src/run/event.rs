//! What a run tells while it goes on.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use crate::event::AgentEvent;
use crate::id::BranchName;
use crate::work::{AttemptOutcome, Exit};

/// Reports one thing that happened in a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum RunEvent {
    /// The checks are passed; the sandbox is made next.
    Started {
        /// The agent's name.
        agent: String,
        /// The branch it works on.
        branch: BranchName,
    },
    /// An agent process begins.
    IterationStarted {
        /// Counts from 1.
        number: u32,
    },
    /// The agent did or said something.
    Agent {
        /// What.
        event: AgentEvent,
    },
    /// An agent process has ended.
    IterationEnded {
        /// How.
        exit: Exit,
    },
    /// An attempt at a structured output was not accepted.
    AttemptFailed {
        /// Counts from 1.
        number: u32,
        /// How it failed.
        outcome: AttemptOutcome,
        /// What is wrong, in one line.
        message: String,
        /// How many retries are left; 0 when the run ends here.
        remaining: u32,
    },
    /// Something went wrong that does not fail the run.
    Warning {
        /// What.
        message: String,
    },
}

/// A function that is told what happens.
#[derive(Clone)]
pub(super) struct Callback(Arc<dyn Fn(&RunEvent) + Send + Sync>);

impl Callback {
    pub(super) fn new(function: impl Fn(&RunEvent) + Send + Sync + 'static) -> Self {
        Self(Arc::new(function))
    }

    pub(super) fn call(&self, event: &RunEvent) {
        (self.0)(event);
    }
}

impl fmt::Debug for Callback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Callback")
    }
}
