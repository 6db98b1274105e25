//! What the steps of one run share: what is known so far, who is told, what is written down, and how many may run at once.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::super::definition::{AgentStep, RESERVED, Step, StepKind, Text, ToolStep, Workflow};
use super::super::event::WorkflowEvent;
use super::super::expression::{self, Scope};
use super::super::options::{Approver, Decision};
use super::super::outcome::{StepRecord, StepStatus};
use super::super::record::{Deed, Note, Past, Record};
use super::audience::Audience;
use super::fault::{Fault, Halt};
use super::made::Made;
use crate::cancellation::Cancellation;
use crate::id::RunId;

/// All that the steps of one run share.
pub(super) struct Stage<'w> {
    pub(super) workflow: &'w Workflow,
    pub(super) run: RunId,
    /// Where commands run.
    pub(super) folder: PathBuf,
    pub(super) made: Made,
    pub(super) declared_secrets: Vec<String>,
    pub(super) audience: Arc<Audience>,
    pub(super) record: Record,
    /// What an earlier run had done; empty in a new one.
    pub(super) past: Option<Past>,
    pub(super) approver: Option<Approver>,
    pub(super) decisions: HashMap<String, Decision>,
    /// How many steps may run at the same time.
    pub(super) permits: Semaphore,
    /// What ends every step: the caller's token, or a step that failed.
    pub(super) stop: CancellationToken,
    /// What ends the whole run from outside, and why.
    pub(super) cancel: Cancellation,
    state: Mutex<State>,
}

/// What is known so far.
#[derive(Default)]
pub(super) struct State {
    pub(super) scope: Scope,
    pub(super) trace: Vec<StepRecord>,
    pub(super) warnings: Vec<String>,
}

/// What a [`Stage`] is made of, beside what begins empty.
pub(super) struct Props<'w> {
    pub(super) workflow: &'w Workflow,
    pub(super) run: RunId,
    pub(super) folder: PathBuf,
    pub(super) made: Made,
    pub(super) declared_secrets: Vec<String>,
    pub(super) audience: Audience,
    pub(super) record: Record,
    pub(super) past: Option<Past>,
    pub(super) approver: Option<Approver>,
    pub(super) decisions: HashMap<String, Decision>,
    pub(super) max_parallel: usize,
    pub(super) cancel: Cancellation,
    pub(super) scope: Scope,
}

impl<'w> Stage<'w> {
    pub(super) fn new(props: Props<'w>) -> Self {
        Self {
            workflow: props.workflow,
            run: props.run,
            folder: props.folder,
            made: props.made,
            declared_secrets: props.declared_secrets,
            audience: Arc::new(props.audience),
            record: props.record,
            past: props.past,
            approver: props.approver,
            decisions: props.decisions,
            permits: Semaphore::new(props.max_parallel.clamp(1, Semaphore::MAX_PERMITS)),
            stop: props.cancel.token().child_token(),
            cancel: props.cancel,
            state: Mutex::new(State { scope: props.scope, ..State::default() }),
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        // Nothing in there can be left half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn tell(&self, event: WorkflowEvent) {
        self.audience.tell(event);
    }

    pub(super) fn warn(&self, message: impl Into<String>) {
        let message = self.audience.hide(&message.into());
        self.tell(WorkflowEvent::Warning { message: message.clone() });
        self.state().warnings.push(message);
    }

    /// Fills a template in.
    pub(super) fn render_text(&self, text: &Text, what: &str) -> Result<String, Fault> {
        let rendered = expression::render_text(text, self.workflow.version, &self.state().scope);
        rendered.map_err(|why| unreadable(text, what, &why))
    }

    /// Gives the value of a template.
    pub(super) fn render(&self, text: &Text, what: &str) -> Result<Value, Fault> {
        let rendered = expression::render(text, self.workflow.version, &self.state().scope);
        rendered.map_err(|why| unreadable(text, what, &why))
    }

    /// Learns what a step was given for its environment when it was done, since what it gave may show it.
    pub(super) fn learn_env(&self, step: &Step) {
        let (StepKind::Tool(ToolStep { env, .. }) | StepKind::Agent(AgentStep { env, .. })) = &step.kind
        else {
            return;
        };
        for (name, text) in env {
            if let Ok(value) = self.render_text(text, "env")
                && let Err(error) = self.audience.learn([(name.as_str(), value.as_str())])
            {
                self.warn(format!(
                    "the variables of the step `{}` are not masked: failed to {error}",
                    step.name
                ));
            }
        }
    }

    /// Gives the answer of an expression.
    pub(super) fn evaluate(&self, test: &Text) -> Result<bool, Fault> {
        let answer = expression::evaluate(test, self.workflow.version, &self.state().scope);
        answer.map_err(|why| unreadable(test, "if", &why))
    }

    /// Notes that a step begins.
    pub(super) fn begin(&self, step: &Step) -> Result<(), Halt> {
        let name = step.name.as_str();
        self.write(step, &Note::StepStarted { step: name.to_owned() })?;
        let before = self.past.as_ref();
        let does = matches!(step.kind, StepKind::Model(_) | StepKind::Agent(_) | StepKind::Tool(_));
        let again = does && before.is_some_and(|past| past.begun.contains(name));
        self.tell(WorkflowEvent::StepStarted {
            step: name.to_owned(),
            kind: step.kind.name().to_owned(),
            again,
        });
        if before.is_some_and(|past| past.torn.contains(name)) {
            self.warn(format!("the step `{name}` had begun when the run was ended, and is done again"));
        }
        Ok(())
    }

    /// Notes that a step is done, before anything else begins.
    pub(super) fn complete(&self, step: &Step, output: Value, deed: &Deed) -> Result<(), Halt> {
        let name = step.name.as_str().to_owned();
        self.write(step, &Note::StepDone { step: name, output: output.clone(), deed: deed.clone() })?;
        self.know(step, output, deed, StepStatus::Completed);
        Ok(())
    }

    /// Makes the output of a step that is done known.
    pub(super) fn know(&self, step: &Step, output: Value, deed: &Deed, status: StepStatus) {
        let name = step.name.as_str();
        let mut record = deed.record(name, step.kind.name(), status);
        record.output = Some(output.clone());
        {
            let values = &mut self.state().scope.values;
            values.insert(name.to_owned(), output);
            if let Some(facts) = values.get_mut("steps").and_then(Value::as_object_mut) {
                facts.insert(name.to_owned(), deed.facts(&step.kind));
            }
        }
        self.end(record);
    }

    /// Notes that a step has ended without being done.
    pub(super) fn give_up(
        &self,
        step: &Step,
        deed: &Deed,
        status: StepStatus,
        said: Option<&str>,
    ) -> Result<(), Halt> {
        let name = step.name.as_str();
        let mut record = deed.record(name, step.kind.name(), status);
        record.error = said.map(|said| self.audience.hide(said));
        let status = word(status).to_owned();
        let note = Note::StepEnded { step: name.to_owned(), status, error: record.error.clone() };
        let written = self.write(step, &note);
        self.end(record);
        written
    }

    fn end(&self, mut record: StepRecord) {
        // What was wrong with an answer quotes it.
        record.rejected.iter_mut().for_each(|line| *line = self.audience.hide(line));
        self.state().trace.push(record.clone());
        self.tell(WorkflowEvent::StepEnded { record: Box::new(record) });
    }

    /// Writes a note. What cannot be written down cannot be resumed, so that fails the step.
    pub(super) fn write(&self, step: &Step, note: &Note) -> Result<(), Halt> {
        let failed = |error| Halt::Failed { step: step.name.to_string(), fault: Fault::from(error) };
        self.record.write(note).map_err(failed)
    }

    /// Returns the outputs of the steps that are done, by their names.
    pub(super) fn outputs(&self) -> Map<String, Value> {
        let state = self.state();
        let is_output = |name: &str| !RESERVED.contains(&name);
        let outputs = state.scope.values.iter().filter(|(name, _)| is_output(name));
        outputs.map(|(name, value)| (name.clone(), value.clone())).collect()
    }
}

/// Returns a status as it is written.
fn word(status: StepStatus) -> &'static str {
    match status {
        StepStatus::Completed => "completed",
        StepStatus::Resumed => "resumed",
        StepStatus::Failed => "failed",
        StepStatus::AwaitingApproval => "awaiting-approval",
        StepStatus::Rejected => "rejected",
        StepStatus::Cancelled => "cancelled",
    }
}

fn unreadable(text: &Text, what: &str, why: &str) -> Fault {
    let place = text.place(0).map(|place| format!(" at {place}")).unwrap_or_default();
    Fault::ruled(format!("has no value for `{what}`{place}: {why}"))
}
