//! What a caller says when a workflow is run.

use std::fmt;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value};

use super::definition::StepName;
use super::event::WorkflowEvent;
use super::providers::Providers;
use crate::cancellation::Cancellation;
use crate::id::RunId;

/// Says how a workflow is run.
///
/// | option | default |
/// |---|---|
/// | [`input`](Self::input) | the empty text |
/// | [`trigger`](Self::trigger) | `null` |
/// | [`providers`](Self::providers) | none: a workflow that names models, agents or sandboxes is refused |
/// | [`var`](Self::var) | the default of the variable; one without a default has to be set |
/// | [`max_parallel`](Self::max_parallel) | what the workflow says, otherwise 4 |
/// | [`on_approval`](Self::on_approval) | nobody is there: the workflow stops where it asks, and can be resumed |
#[derive(Clone)]
#[must_use = "options do nothing until a workflow is run with them"]
pub struct WorkflowOptions {
    pub(crate) folder: PathBuf,
    pub(crate) input: Value,
    pub(crate) trigger: Value,
    pub(crate) vars: Map<String, Value>,
    pub(crate) providers: Option<Arc<dyn Providers>>,
    pub(crate) approver: Option<Approver>,
    pub(crate) decisions: Vec<(StepName, Decision)>,
    pub(crate) max_parallel: Option<usize>,
    pub(crate) resume: Option<RunId>,
    pub(crate) callback: Option<Callback>,
    pub(crate) cancel: Cancellation,
    pub(crate) secrets: Vec<String>,
}

pub(crate) type Callback = Arc<dyn Fn(&WorkflowEvent) + Send + Sync>;
pub(crate) type Approver = Arc<dyn Fn(ApprovalRequest) -> ApprovalFuture + Send + Sync>;

/// Waits for a decision.
pub type ApprovalFuture = Pin<Box<dyn Future<Output = Decision> + Send>>;

/// Asks somebody whether a workflow may go on.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ApprovalRequest {
    /// The step that asks.
    pub step: String,
    /// Why.
    pub reason: ApprovalReason,
    /// What is asked.
    pub message: String,
}

/// Says why somebody is asked.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ApprovalReason {
    /// The workflow has a step for it.
    Step,
    /// An answer is not certain enough.
    Guardrail {
        /// How certain it is, from 0 to 1.
        confidence: f64,
        /// How certain it has to be.
        threshold: f64,
        /// The answer.
        output: Value,
    },
}

/// Says what became of a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "decision", rename_all = "kebab-case")]
pub enum Decision {
    /// The workflow goes on.
    Approve {
        /// What was said about it; later steps can read it.
        note: String,
    },
    /// The workflow ends here.
    Reject {
        /// Why.
        note: String,
    },
    /// Nobody can say now: the workflow stops, and can be resumed.
    Later,
}

impl WorkflowOptions {
    /// Runs the workflow in a folder: commands run in it, agents in the repository that it is in, and its records are in
    /// that repository's `.sandcastle/runs`, or in the folder's own where there is no repository.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            input: Value::String(String::new()),
            trigger: Value::Null,
            vars: Map::new(),
            providers: None,
            approver: None,
            decisions: Vec::new(),
            max_parallel: None,
            resume: None,
            callback: None,
            cancel: Cancellation::new(),
            secrets: Vec::new(),
        }
    }

    /// Sets what expressions know as `input`.
    pub fn input(mut self, input: impl Into<Value>) -> Self {
        self.input = input.into();
        self
    }

    /// Sets what expressions know as `trigger`: what made somebody run the workflow, such as an event of a webhook.
    pub fn trigger(mut self, trigger: impl Into<Value>) -> Self {
        self.trigger = trigger.into();
        self
    }

    /// Sets a variable that the workflow declares.
    pub fn var(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.vars.insert(name.into(), value.into());
        self
    }

    /// Sets what makes the models, agents and sandboxes that the workflow names.
    pub fn providers(mut self, providers: impl Providers) -> Self {
        self.providers = Some(Arc::new(providers));
        self
    }

    /// Sets who is asked. The workflow waits for the answer; dropping the run drops the question.
    pub fn on_approval<F, R>(mut self, ask: F) -> Self
    where
        F: Fn(ApprovalRequest) -> R + Send + Sync + 'static,
        R: Future<Output = Decision> + Send + 'static,
    {
        self.approver = Some(Arc::new(move |request| Box::pin(ask(request))));
        self
    }

    /// Decides in advance what a step will ask; nobody is asked then. In a run that is resumed, what was decided before stands:
    /// another decision about the same step is refused.
    pub fn decide(mut self, step: impl Into<String>, decision: Decision) -> Self {
        self.decisions.push((StepName::of(step), decision));
        self
    }

    /// Sets how many steps run at the same time at the most, whatever the workflow says.
    pub fn max_parallel(mut self, steps: usize) -> Self {
        self.max_parallel = Some(steps);
        self
    }

    /// Goes on with a run that stopped for an approval, failed or was killed. Its finished steps are not done again; its
    /// input, trigger and variables are those that it began with.
    pub fn resume(mut self, run: RunId) -> Self {
        self.resume = Some(run);
        self
    }

    /// Sets a function that is told what happens. It is called in the run, so it should be quick.
    pub fn on_event(mut self, function: impl Fn(&WorkflowEvent) + Send + Sync + 'static) -> Self {
        self.callback = Some(Arc::new(function));
        self
    }

    /// Sets what ends the run when it is cancelled, a token or a [`Cancellation`] that says why; it can be resumed.
    pub fn cancel(mut self, cancel: impl Into<Cancellation>) -> Self {
        self.cancel = cancel.into();
        self
    }

    /// Hides a value in events, errors and warnings; see [`Secrets`](crate::Secrets). A command that would have it as an argument is
    /// not started. The record of the run keeps what the run was given and what its steps gave as it is, since a resumed run
    /// goes on with that; only its owner may read it.
    pub fn secret(mut self, value: impl Into<String>) -> Self {
        self.secrets.push(value.into());
        self
    }
}

impl fmt::Debug for WorkflowOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkflowOptions")
            .field("folder", &self.folder)
            .field("providers", &self.providers)
            .field("resume", &self.resume)
            .finish_non_exhaustive()
    }
}
