//! How a run of a workflow comes to its end, and what it gives back then.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::super::event::WorkflowEvent;
use super::super::outcome::{StepRecord, WorkflowFailure, WorkflowResult, WorkflowStatus};
use super::fault::{Fault, Halt};
use super::stage::Stage;
use crate::error::{Error, ErrorKind, Result};
use crate::output::one_line;
use crate::run;
use crate::work::{Usage, Work};

impl Stage<'_> {
    /// Goes through the workflow, from its first step or from where an earlier run came to.
    pub(super) async fn play(self, doubts: Vec<String>) -> Result<WorkflowResult> {
        let resumed = self.past.as_ref().map_or(0, |past| past.done.len());
        let (run, workflow) = (self.run.clone(), self.workflow.name.clone());
        self.tell(WorkflowEvent::Started { run, workflow, resumed });
        doubts.into_iter().for_each(|doubt| self.warn(doubt));
        let ended = self.steps(&self.workflow.steps).await;
        let given = match ended {
            Ok(()) => self.given().map(|output| (WorkflowStatus::Completed, output)),
            Err(Halt::Awaiting(approvals)) => {
                Ok((WorkflowStatus::AwaitingApproval { approvals }, self.outputs().into()))
            }
            Err(Halt::Rejected { step, note }) => {
                Ok((WorkflowStatus::Rejected { step, note }, self.outputs().into()))
            }
            Err(Halt::Failed { step, fault }) => Err((Some(step), fault)),
            Err(Halt::Cancelled) => Err((None, cancelled())),
        };
        match given {
            Ok((status, output)) => self.conclude(status, output),
            Err((step, fault)) => Err(self.failed(step, fault)),
        }
    }

    /// Returns what a workflow gives that is completed.
    fn given(&self) -> Result<Value, (Option<String>, Fault)> {
        if self.workflow.outputs.is_empty() {
            return Ok(self.outputs().into());
        }
        let mut given = Map::new();
        for (name, text) in &self.workflow.outputs {
            let value = self.render(text, name).map_err(|fault| (None, fault))?;
            given.insert(name.clone(), value);
        }
        Ok(given.into())
    }

    fn conclude(self, status: WorkflowStatus, output: Value) -> Result<WorkflowResult> {
        let word = match &status {
            WorkflowStatus::Completed => "completed",
            WorkflowStatus::AwaitingApproval { .. } => "awaiting-approval",
            WorkflowStatus::Rejected { .. } => "rejected",
        };
        if let Err(error) = self.record.end(word, None) {
            self.warn(format!("the end of the run was not written down: it was not possible to {error}"));
        }
        if self.audience.has_panicked() {
            self.state().warnings.push("the function that is told what happens panicked".to_owned());
        }
        self.tell(WorkflowEvent::Ended { status: word.to_owned() });
        let (trace, warnings) = self.drained();
        let (usage, secrets) = (sum(&trace), self.audience.secrets());
        Ok(WorkflowResult { run_id: self.run, status, output, usage, trace, warnings, secrets })
    }

    /// Makes the error of a run that failed. Who fails by mistake of the caller's after all has begun, fails as a step.
    fn failed(self, step: Option<String>, fault: Fault) -> Error {
        let secrets = self.audience.secrets();
        let (said, cause) = (secrets.mask(&fault.said).into_owned(), run::masked(fault.error, &secrets));
        let name = &self.workflow.name;
        let message = match &step {
            Some(step) => format!("run the workflow `{name}`: the step `{step}` {said}"),
            None => format!("run the workflow `{name}`: it {said}"),
        };
        let message = match self.cancel.reason().filter(|_| cause.is_cancelled()) {
            Some(why) => format!("{message}: {}", secrets.mask(&one_line(why))),
            None => message,
        };
        let _ =
            self.record.end(if cause.is_cancelled() { "cancelled" } else { "failed" }, Some(message.clone()));
        self.tell(WorkflowEvent::Ended { status: "failed".to_owned() });
        let outputs = self.outputs();
        let (trace, warnings) = self.drained();
        let kind = if cause.is_entry_check() { ErrorKind::WorkflowStep } else { cause.kind() };
        let error = cause.hints().iter().fold(Error::new(kind, message), Error::with_hint);
        let error = error.with_hint(format!("the steps that are done are kept: resume the run {}", self.run));
        let work = Work {
            run_id: Some(self.run.clone()),
            commits: trace.iter().flat_map(|record| record.commits.clone()).collect(),
            usage: sum(&trace),
            warnings,
            ..Work::default()
        };
        let usage = work.usage;
        let cause = Some(Arc::new(cause));
        let failure = WorkflowFailure { run_id: self.run, step, outputs, trace, usage, secrets, cause };
        error.with_work(work).with_source(failure)
    }

    fn drained(&self) -> (Vec<StepRecord>, Vec<String>) {
        let mut state = self.state();
        (std::mem::take(&mut state.trace), std::mem::take(&mut state.warnings))
    }
}

fn sum(trace: &[StepRecord]) -> Usage {
    trace.iter().fold(Usage::default(), |sum, record| sum + record.usage)
}

fn cancelled() -> Fault {
    Fault {
        said: "was cancelled".to_owned(),
        error: Error::new(ErrorKind::Cancelled, "finish the workflow: it was cancelled"),
    }
}
