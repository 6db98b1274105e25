//! Those who are told what happens in a workflow: the caller's function. Secrets are masked before it hears of anything.
//!
//! Nothing about being told can fail a run: a function that panics is not called again, which is a warning of the run. What
//! agents do is masked by their own runs already.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::super::event::WorkflowEvent;
use super::super::options::{ApprovalReason, ApprovalRequest, Callback};
use super::super::outcome::StepRecord;
use super::discretion::Discretion;
use crate::error::Result;
use crate::model::ModelPiece;
use crate::model_run::ModelRunEvent;
use crate::secret::{Masker, Secrets};

/// Those who are told.
pub(super) struct Audience {
    callback: Option<Callback>,
    discretion: Discretion,
    panicked: AtomicBool,
}

impl Audience {
    pub(super) fn new(callback: Option<Callback>, discretion: Discretion) -> Self {
        Self { callback, discretion, panicked: AtomicBool::new(false) }
    }

    /// Returns what is masked by now.
    pub(super) fn secrets(&self) -> Secrets {
        self.discretion.secrets()
    }

    /// Masks the variables that a step is given, too, as far as their names look secret.
    ///
    /// # Errors
    /// As [`Secrets::of`].
    pub(super) fn learn<'v>(&self, variables: impl IntoIterator<Item = (&'v str, &'v str)>) -> Result<()> {
        self.discretion.learn(variables)
    }

    /// Hides secrets in a text.
    pub(super) fn hide(&self, text: &str) -> String {
        self.secrets().mask(text).into_owned()
    }

    /// Returns a question as somebody is shown it.
    pub(super) fn shown(&self, request: &ApprovalRequest) -> ApprovalRequest {
        let mut shown = request.clone();
        mask_request(&self.secrets(), &mut shown);
        shown
    }

    pub(super) fn has_panicked(&self) -> bool {
        self.panicked.load(Ordering::Relaxed)
    }

    /// Tells it.
    pub(super) fn tell(&self, mut event: WorkflowEvent) {
        let Some(function) = self.callback.as_ref().filter(|_| !self.has_panicked()) else { return };
        let secrets = self.secrets();
        if !secrets.is_empty() {
            mask(&secrets, &mut event);
        }
        if catch_unwind(AssertUnwindSafe(|| function(&event))).is_err() {
            self.panicked.store(true, Ordering::Relaxed);
        }
    }
}

fn mask(secrets: &Secrets, event: &mut WorkflowEvent) {
    match event {
        WorkflowEvent::Started { workflow: text, .. } | WorkflowEvent::Warning { message: text } => {
            mask_text(secrets, text);
        }
        WorkflowEvent::Model { event, .. } => mask_model(secrets, event),
        WorkflowEvent::StepRetried { problems, .. } => mask_all(secrets, problems),
        WorkflowEvent::ApprovalAsked { request } => mask_request(secrets, request),
        WorkflowEvent::StepEnded { record } => mask_record(secrets, record),
        WorkflowEvent::StepStarted { .. } | WorkflowEvent::Agent { .. } | WorkflowEvent::Ended { .. } => {}
    }
}

fn mask_model(secrets: &Secrets, event: &mut ModelRunEvent) {
    match event {
        ModelRunEvent::CallFailed { message, .. }
        | ModelRunEvent::AttemptFailed { message, .. }
        | ModelRunEvent::Warning { message } => mask_text(secrets, message),
        _ => {}
    }
}

fn mask_request(secrets: &Secrets, request: &mut ApprovalRequest) {
    mask_text(secrets, &mut request.message);
    if let ApprovalReason::Guardrail { output, .. } = &mut request.reason {
        secrets.mask_value(output);
    }
}

fn mask_record(secrets: &Secrets, record: &mut StepRecord) {
    record.output.iter_mut().for_each(|output| secrets.mask_value(output));
    record.error.iter_mut().for_each(|error| mask_text(secrets, error));
    record.commits.iter_mut().for_each(|commit| mask_text(secrets, &mut commit.subject));
    mask_all(secrets, &mut record.rejected);
}

fn mask_all(secrets: &Secrets, texts: &mut [String]) {
    texts.iter_mut().for_each(|text| mask_text(secrets, text));
}

fn mask_text(secrets: &Secrets, text: &mut String) {
    if let Cow::Owned(hidden) = secrets.mask(text) {
        *text = hidden;
    }
}

/// Tells what a model does in a step. Its text comes in pieces, so what may be the beginning of a secret is held back.
pub(super) struct ModelTeller {
    audience: Arc<Audience>,
    step: String,
    held: Mutex<Held>,
}

struct Held {
    masker: Masker,
    voice: Voice,
}

/// Which of its texts a piece belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Voice {
    Answer,
    Thoughts,
}

impl ModelTeller {
    pub(super) fn new(audience: &Arc<Audience>, step: &str) -> Self {
        let held = Held { masker: Masker::new(&audience.secrets()), voice: Voice::Answer };
        Self { audience: Arc::clone(audience), step: step.to_owned(), held: Mutex::new(held) }
    }

    pub(super) fn tell(&self, event: &ModelRunEvent) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let said = match event {
            ModelRunEvent::Piece { piece: ModelPiece::Text { text } } => Some((Voice::Answer, text)),
            ModelRunEvent::Piece { piece: ModelPiece::Thinking { text } } => Some((Voice::Thoughts, text)),
            _ => None,
        };
        let mut shown = String::new();
        if said.is_none_or(|(voice, _)| voice != held.voice) {
            held.masker.finish(&mut shown);
            self.pass_on(held.voice, std::mem::take(&mut shown));
        }
        match said {
            Some((voice, text)) => {
                held.voice = voice;
                held.masker.push(text, &mut shown);
                self.pass_on(voice, shown);
            }
            None => {
                let (step, event) = (self.step.clone(), event.clone());
                self.audience.tell(WorkflowEvent::Model { step, event });
            }
        }
    }

    fn pass_on(&self, voice: Voice, text: String) {
        if text.is_empty() {
            return;
        }
        let piece = match voice {
            Voice::Answer => ModelPiece::Text { text },
            Voice::Thoughts => ModelPiece::Thinking { text },
        };
        let event = ModelRunEvent::Piece { piece };
        self.audience.tell(WorkflowEvent::Model { step: self.step.clone(), event });
    }
}
