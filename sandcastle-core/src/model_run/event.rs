//! What a model run tells while it goes on.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde::Serialize;

use super::trace;
use crate::event::FailureKind;
use crate::model::{Model, ModelPiece, ModelStop, ToolCall};
use crate::strategy::{AnswerGuarantee, StrategyChoice};
use crate::work::{AttemptOutcome, Usage};

/// Names a model, and whose it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[non_exhaustive]
pub struct ServedBy {
    /// The service, in kebab case.
    pub provider: String,
    /// The model.
    pub model: String,
}

impl ServedBy {
    pub(super) fn of(model: &dyn Model) -> Self {
        Self { provider: model.provider().to_owned(), model: model.name().to_owned() }
    }
}

impl fmt::Display for ServedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { provider, model } = self;
        write!(f, "the model `{model}` of `{provider}`")
    }
}

/// Reports one thing that happened in a model run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ModelRunEvent {
    /// The checks are passed; the model is asked next.
    Started {
        /// The name of the run.
        name: String,
    },
    /// It is decided how the schema reaches a model; told again for each model that is gone on to.
    StrategyChosen {
        /// Which model.
        served_by: ServedBy,
        /// How, and why.
        choice: StrategyChoice,
    },
    /// A model was left out, since it cannot be asked in the way that was asked for.
    ModelSkipped {
        /// Which model.
        served_by: ServedBy,
        /// Why.
        reason: String,
    },
    /// A request is sent.
    CallStarted {
        /// Counts from 1. A call that is made again, because the service failed, keeps its number.
        number: u32,
        /// Who is asked.
        served_by: ServedBy,
    },
    /// A piece of an answer has arrived. If the call fails, its pieces count for nothing.
    Piece {
        /// The piece.
        piece: ModelPiece,
    },
    /// The model begins to give its answer as the arguments of the tool that was made for it.
    AnswerBegun,
    /// An answer is there.
    CallEnded {
        /// The number of the call.
        number: u32,
        /// How the answer ended.
        stop: ModelStop,
        /// What the call used, with its cost where that is known.
        usage: Usage,
    },
    /// The service gave no answer.
    CallFailed {
        /// The number of the call.
        number: u32,
        /// Why, for a program.
        failure: FailureKind,
        /// Why, for a person.
        message: String,
        /// What was used nonetheless.
        usage: Usage,
        /// When it is asked again; `None` if it is not.
        #[serde(serialize_with = "seconds", rename = "again_after_seconds")]
        again_after: Option<Duration>,
    },
    /// A tool of the caller is called.
    ToolCalled {
        /// By this call.
        call: ToolCall,
    },
    /// A tool of the caller has come back.
    ToolReturned {
        /// The tool.
        name: String,
        /// Whether it failed.
        is_error: bool,
    },
    /// An answer was accepted.
    AttemptAccepted {
        /// Counts from 1.
        number: u32,
        /// How the answer was held to its schema.
        answer_guarantee: AnswerGuarantee,
    },
    /// An answer was not accepted.
    AttemptFailed {
        /// Counts from 1.
        number: u32,
        /// How it failed.
        outcome: AttemptOutcome,
        /// What is wrong, in one line.
        message: String,
        /// How many attempts are left; 0 when nothing more is asked.
        remaining: u32,
    },
    /// No answer was accepted, and the value of the fallback function was taken.
    FallbackUsed {
        /// What was wrong with the last answer, in one line.
        message: String,
    },
    /// No answer was accepted, and the value that was put by was taken.
    CannedUsed {
        /// What was wrong with the last answer, in one line.
        message: String,
    },
    /// Something went wrong that does not fail the run.
    Warning {
        /// What.
        message: String,
    },
    /// The run is over.
    Finished {
        /// What all of it used.
        usage: Usage,
    },
}

fn seconds<S: serde::Serializer>(duration: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    duration.as_ref().map(Duration::as_secs_f64).serialize(serializer)
}

type Function = dyn Fn(&ModelRunEvent) + Send + Sync;

/// The function that is told what happens, if there is one.
#[derive(Clone, Default)]
pub(super) struct Callback(Option<Arc<Function>>);

impl Callback {
    pub(super) fn new(function: impl Fn(&ModelRunEvent) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(function)))
    }
}

impl fmt::Debug for Callback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Callback").field(&self.0.is_some()).finish()
    }
}

/// Who is told. A panic of it stays here: a mistake of who looks on is no reason to lose a run.
#[derive(Debug, Default)]
pub(super) struct Audience {
    callback: Callback,
    panicked: AtomicBool,
}

impl Audience {
    pub(super) fn new(callback: Callback) -> Self {
        Self { callback, panicked: AtomicBool::new(false) }
    }

    /// Tells it; one that has panicked is told no more.
    pub(super) fn tell(&self, event: &ModelRunEvent) {
        trace::event(event);
        let Some(function) = self.callback.0.as_ref().filter(|_| !self.has_panicked()) else { return };
        if catch_unwind(AssertUnwindSafe(|| function(event))).is_err() {
            self.panicked.store(true, Ordering::Relaxed);
        }
    }

    pub(super) fn has_panicked(&self) -> bool {
        self.panicked.load(Ordering::Relaxed)
    }
}
