//! What comes back from a model.

use std::fmt;
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use crate::event::FailureKind;
use crate::work::Usage;

/// The most characters of an end that is not known which are shown.
const MAX_WORDS: usize = 200;

/// Holds one answer of a model, whole.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ModelAnswer {
    /// The text, exactly as it came; thoughts are no part of it.
    pub text: String,
    /// The tools that it calls, in order.
    pub calls: Vec<ToolCall>,
    /// How it ended.
    pub stop: ModelStop,
    /// What was used. The cost is present only where the service itself says it.
    pub usage: Usage,
    /// What the service wants to see again unchanged in the next request.
    pub replay: Option<Value>,
    /// The model that answered, as the service names it.
    pub served_by: Option<String>,
}

/// One call of a tool.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ToolCall {
    /// Names the call; the service's own, or made up where it has none.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments exactly as the model wrote them: JSON if it made no mistake.
    pub arguments: String,
}

impl ToolCall {
    /// Describes a call.
    #[must_use]
    pub fn new(id: impl Into<String>, name: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self { id: id.into(), name: name.into(), arguments: arguments.into() }
    }
}

/// Tells how an answer ended, in one vocabulary for all services.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ModelStop {
    /// The model had said everything, or wants tools to be called.
    #[default]
    Complete,
    /// The model refused.
    Refused,
    /// The service held the answer back, or broke it off, because of what it says.
    Filtered,
    /// The limit of the answer was reached.
    OutputLimit,
    /// The conversation fills all that the model can see.
    ContextLimit,
    /// Something that is not known here, in the service's words.
    Other(String),
}

impl ModelStop {
    /// Returns the service's own words for an end that is not known here, fit to be shown.
    pub(crate) fn unknown(&self) -> Option<String> {
        match self {
            Self::Other(how) => Some(how.escape_debug().take(MAX_WORDS).collect()),
            _ => None,
        }
    }
}

/// Reports a piece of an answer that is still arriving.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ModelPiece {
    /// Text of the answer.
    Text {
        /// The piece.
        text: String,
    },
    /// The model thinks aloud; never part of an answer.
    Thinking {
        /// The piece.
        text: String,
    },
    /// A tool call begins.
    ToolCall {
        /// The tool.
        name: String,
    },
}

/// Says why a service gave no answer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ModelFailure {
    /// Why, for a program.
    pub kind: FailureKind,
    /// Why, for a person; without secrets.
    pub message: String,
    /// What can be done about it, where that is known.
    pub hint: Option<String>,
    /// The HTTP status, if there was an answer at all.
    pub status: Option<u16>,
    /// When the service wants to be asked again.
    pub retry_after: Option<Duration>,
    /// What was used before it failed, as far as the service had said it.
    pub usage: Usage,
}

impl ModelFailure {
    /// Describes a failure.
    #[must_use]
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        let (hint, status, retry_after) = (None, None, None);
        Self { kind, message: message.into(), hint, status, retry_after, usage: Usage::default() }
    }

    /// Says what can be done about it.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Sets the HTTP status.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.status = Some(status);
        self
    }

    /// Sets when the service wants to be asked again.
    #[must_use]
    pub fn with_retry_after(mut self, after: Duration) -> Self {
        self.retry_after = Some(after);
        self
    }
}

impl fmt::Display for ModelFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.status {
            Some(status) => write!(f, "{} (HTTP {status})", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for ModelFailure {}
