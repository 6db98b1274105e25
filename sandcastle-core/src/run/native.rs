//! What is heard of a program's own structured output while one turn goes on.
//!
//! Only facts are kept: whether the schema was taken, and the value or the text that may be the answer. What they are worth
//! is judged in `retry`.

use serde_json::Value;

use super::plan::{Ask, WhenDropped};
use crate::agent::{AnswerPlace, Confirmation};
use crate::event::AgentEvent;
use crate::output::locate::MAX_BLOCK_BYTES;

/// What one turn with a schema has said so far.
#[derive(Debug)]
pub(super) struct Heard {
    place: AnswerPlace,
    confirmation: Confirmation,
    when_dropped: WhenDropped,
    is_taken: bool,
    has_begun: bool,
    document: Option<Document>,
}

/// An answer of a program's own structured output.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Document {
    Value(Value),
    Text(String),
    /// The beginning of one that is longer than any answer may be.
    Oversize(String),
}

impl Document {
    /// Tells whether there is nothing in it, as in a last message of white space.
    pub(super) fn is_empty(&self) -> bool {
        matches!(self, Self::Text(text) if text.trim().is_empty())
    }

    /// Returns what there is of it, as JSON is written.
    pub(super) fn into_text(self) -> String {
        match self {
            Self::Value(value) => value.to_string(),
            Self::Text(text) | Self::Oversize(text) => text,
        }
    }
}

impl Heard {
    /// Begins to listen, if the turn has a schema.
    pub(super) fn new(ask: &Ask<'_>) -> Option<Self> {
        let native = ask.native?;
        Some(Self {
            place: native.output.answer,
            confirmation: native.output.confirmation,
            when_dropped: ask.when_dropped,
            is_taken: false,
            has_begun: false,
            document: None,
        })
    }

    pub(super) fn take(&mut self, event: &AgentEvent) {
        match (event, self.place) {
            (AgentEvent::SchemaTaken, _) => self.is_taken = true,
            (AgentEvent::Session { .. }, _) => self.has_begun = true,
            (AgentEvent::Text { text }, AnswerPlace::LastMessage) => self.document = Some(document(text)),
            (AgentEvent::TurnCompleted { structured, .. }, AnswerPlace::Value) => {
                // Who gives a value has taken the schema, whatever was said before.
                self.is_taken |= structured.is_some();
                self.document = structured.clone().map(Document::Value);
            }
            _ => {}
        }
    }

    /// Tells whether the turn is over because it can no longer bring what it is for.
    pub(super) fn is_in_vain(&self) -> bool {
        self.is_dropped() && self.when_dropped == WhenDropped::End
    }

    /// Tells whether the program has dropped the schema without a word. One that has not even begun has said nothing.
    pub(super) fn is_dropped(&self) -> bool {
        self.confirmation == Confirmation::Event && self.has_begun && !self.is_taken
    }

    /// Returns where the program gives its answer.
    pub(super) fn place(&self) -> AnswerPlace {
        self.place
    }

    pub(super) fn document(self) -> Option<Document> {
        self.document
    }
}

/// Keeps a text, or as much of it as an answer may have.
fn document(text: &str) -> Document {
    if text.len() <= MAX_BLOCK_BYTES {
        return Document::Text(text.to_owned());
    }
    Document::Oversize(text[..text.floor_char_boundary(MAX_BLOCK_BYTES)].to_owned())
}
