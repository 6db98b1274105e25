//! Runs a workflow.

use super::definition::Workflow;
use super::options::WorkflowOptions;
use super::outcome::WorkflowResult;
use crate::error::{Error, ErrorKind, Result};

impl Workflow {
    /// Runs the workflow.
    ///
    /// # Errors
    /// TODO by its owner.
    pub async fn run(&self, options: WorkflowOptions) -> Result<WorkflowResult> {
        let _ = options;
        Err(Error::new(ErrorKind::WorkflowStep, "run the workflow"))
    }
}
