//! Runs a workflow.
//!
//! `entry` checks all that can be checked before anything begins, with what the steps work with made (`made`) and their answers
//! known (`contract`). Then `flow` goes through the steps: `work` does one, by way of `model`, `agent` or `tool`, and
//! holds its answer against the threshold; `approval` asks somebody. All of them share a `stage`: what is known so far, who is
//! told (`audience`) and what nobody is (`discretion`), and the record, which has a step before the next one begins. `fault`
//! is why it does not go on, in the words of `wording`, and `ending` what the caller gets.
//!
//! Nothing is spawned: dropping the run drops every step with all that it started.

mod agent;
mod approval;
mod audience;
mod contract;
mod discretion;
mod ending;
mod entry;
mod fault;
mod flow;
mod made;
mod model;
mod stage;
#[cfg(test)]
mod tests;
mod tool;
mod trace;
mod vars;
mod wording;
mod work;

use tracing::Instrument as _;

use super::definition::Workflow;
use super::options::WorkflowOptions;
use super::outcome::WorkflowResult;
use crate::error::Result;

impl Workflow {
    /// Runs the workflow to its end, to a question that nobody is there to answer, or to its first failure.
    ///
    /// Everything is checked first, and what is wrong is said at once: the [workflow itself](Self::check), variables that
    /// are missing or do not fit, models, agents and sandboxes that cannot be made, schemas that a strategy cannot carry.
    ///
    /// Then the steps are done in their order; the ways of a `parallel` at the same time, within the limit of the whole
    /// workflow, and the first of them that fails ends the others. Each step that is done is written down before the next
    /// thing begins, so a run that stopped, failed or was killed goes on with [`WorkflowOptions::resume`] and does no
    /// finished step again. The record, `.sandcastle/runs/<run>/workflow.jsonl`, has the input, the variables and the outputs as
    /// they are, secrets included, since a resumed run needs them; nobody but its owner may read it, and git ignores it.
    ///
    /// Commands run on this host, with its environment. An argument that a template makes up entirely can look like an option
    /// to a command: write `--` before it where that matters.
    ///
    /// # Errors
    /// Before anything is started, as [`ErrorKind::InvalidWorkflow`](crate::ErrorKind::InvalidWorkflow) or
    /// [`ErrorKind::InvalidOptions`](crate::ErrorKind::InvalidOptions), with all that is wrong in
    /// [`Error::workflow_findings`](crate::Error::workflow_findings). Afterwards when a step fails: the error is of the kind of
    /// that step's own, [`Error::workflow_failure`](crate::Error::workflow_failure) has what was done by then, and
    /// [`Error::structured_output`](crate::Error::structured_output) the answer that was not valid, if that is why. That
    /// nobody could be asked, or said no, is no error but a [`WorkflowStatus`](super::WorkflowStatus).
    ///
    /// # Cancel safety
    /// Dropping the future ends every step with all that it started. The run can be resumed.
    ///
    /// # Examples
    /// ```
    /// # use sandcastle_core as sandcastle;
    /// use sandcastle::testing::ScriptedModel;
    /// use sandcastle::workflow::{Step, Workflow, WorkflowOptions};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> sandcastle::Result<()> {
    /// # let folder = sandcastle::testing::ScratchRepo::new().await?;
    /// let model = ScriptedModel::new().answer("It ends at once.");
    /// let workflow = Workflow::new("triage")
    ///     .step(Step::model("summary", model).prompt("Summarise in one sentence:\n\n{{ input }}"))
    ///     .step(Step::tool("count", ["wc", "-w"]).stdin("{{ summary.text }}"));
    /// let result = workflow.run(WorkflowOptions::new(folder.path()).input("The program ends.")).await?;
    /// assert_eq!(result.output["count"]["stdout"].as_str().map(str::trim), Some("4"));
    /// # Ok(()) }
    /// ```
    pub async fn run(&self, options: WorkflowOptions) -> Result<WorkflowResult> {
        let (stage, doubts) = entry::check(self, options).await?;
        let span = trace::workflow(&self.name, &stage.run);
        stage.play(doubts).instrument(span).await
    }
}
