//! Those who are told what happens in a workflow: the caller's function. Secrets are masked before it hears of anything.
//!
//! Nothing about being told can fail a run: a function that panics is not called again, which is a warning of the run. What
//! agents do is masked by their own runs already.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use super::super::event::WorkflowEvent;
use super::super::options::{ApprovalReason, ApprovalRequest, Callback};
use super::super::outcome::StepRecord;
use crate::model::ModelPiece;
use crate::model_run::ModelRunEvent;
use crate::secret::{Masker, Secrets};

/// Those who are told.
pub(super) struct Audience {
    callback: Option<Callback>,
    secrets: Secrets,
    panicked: AtomicBool,
}

impl Audience {
    pub(super) fn new(callback: Option<Callback>, secrets: Secrets) -> Self {
        Self { callback, secrets, panicked: AtomicBool::new(false) }
    }

    /// Returns what is masked.
    pub(super) fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    /// Hides secrets in a text.
    pub(super) fn hide(&self, text: &str) -> String {
        self.secrets.mask(text).into_owned()
    }

    pub(super) fn has_panicked(&self) -> bool {
        self.panicked.load(Ordering::Relaxed)
    }

    /// Tells it.
    pub(super) fn tell(&self, mut event: WorkflowEvent) {
        let Some(function) = self.callback.as_ref().filter(|_| !self.has_panicked()) else { return };
        if !self.secrets.is_empty() {
            self.mask(&mut event);
        }
        if catch_unwind(AssertUnwindSafe(|| function(&event))).is_err() {
            self.panicked.store(true, Ordering::Relaxed);
        }
    }

    fn mask(&self, event: &mut WorkflowEvent) {
        match event {
            WorkflowEvent::Started { workflow: text, .. } | WorkflowEvent::Warning { message: text } => {
                self.mask_text(text);
            }
            WorkflowEvent::Model { event, .. } => self.mask_model(event),
            WorkflowEvent::StepRetried { problems, .. } => self.mask_all(problems),
            WorkflowEvent::ApprovalAsked { request } => self.mask_request(request),
            WorkflowEvent::StepEnded { record } => self.mask_record(record),
            WorkflowEvent::StepStarted { .. } | WorkflowEvent::Agent { .. } | WorkflowEvent::Ended { .. } => {
            }
        }
    }

    fn mask_model(&self, event: &mut ModelRunEvent) {
        match event {
            ModelRunEvent::CallFailed { message, .. }
            | ModelRunEvent::AttemptFailed { message, .. }
            | ModelRunEvent::Warning { message } => self.mask_text(message),
            _ => {}
        }
    }

    fn mask_request(&self, request: &mut ApprovalRequest) {
        self.mask_text(&mut request.message);
        if let ApprovalReason::Guardrail { output, .. } = &mut request.reason {
            self.mask_value(output);
        }
    }

    fn mask_record(&self, record: &mut StepRecord) {
        record.output.iter_mut().for_each(|output| self.mask_value(output));
        record.error.iter_mut().for_each(|error| self.mask_text(error));
        self.mask_all(&mut record.rejected);
    }

    fn mask_all(&self, texts: &mut [String]) {
        texts.iter_mut().for_each(|text| self.mask_text(text));
    }

    fn mask_text(&self, text: &mut String) {
        if let Cow::Owned(hidden) = self.secrets.mask(text) {
            *text = hidden;
        }
    }

    fn mask_value(&self, value: &mut Value) {
        match value {
            Value::String(text) => self.mask_text(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.mask_value(item)),
            Value::Object(fields) => fields.values_mut().for_each(|field| self.mask_value(field)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
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
        let held = Held { masker: Masker::new(audience.secrets()), voice: Voice::Answer };
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
