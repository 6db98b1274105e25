//! What a model is asked.

use serde_json::Value;

use super::ToolCall;

/// Asks a model for one answer.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ModelRequest {
    /// What it is told about its part, outside of the conversation.
    pub system: Option<String>,
    /// The conversation, oldest first.
    pub messages: Vec<Message>,
    /// The tools that it may call, in the order in which they are sent.
    pub tools: Vec<ToolSpec>,
    /// Which of them it has to call.
    pub tool_choice: ToolChoice,
    /// The schema that the service is to hold the text of the answer to.
    pub schema: Option<WireSchema>,
    /// The most tokens of the answer. Without it the service's own limit holds, or the provider's default where the
    /// service wants one.
    pub max_output_tokens: Option<u32>,
    /// How free the choice of words is, in the service's own scale.
    pub temperature: Option<f32>,
}

/// A schema for a service's own structured output, as its dialect wants it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct WireSchema {
    /// A name for it: letters, digits, `_` and `-`, at most 64.
    pub name: String,
    /// The schema, lowered.
    pub schema: Value,
}

impl WireSchema {
    /// Names a schema.
    #[must_use]
    pub fn new(name: impl Into<String>, schema: Value) -> Self {
        Self { name: name.into(), schema }
    }
}

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Message {
    /// Somebody says something to the model.
    User {
        /// What.
        text: String,
    },
    /// The model has said something.
    Assistant {
        /// What.
        text: String,
        /// The tools that it called.
        calls: Vec<ToolCall>,
        /// What its service wants to see again unchanged, such as signed thoughts; only for the provider that it is from.
        replay: Option<Value>,
    },
    /// A tool has come back.
    ToolResult {
        /// The id of the call.
        call: String,
        /// The tool.
        name: String,
        /// What it says.
        content: String,
        /// Whether it failed.
        is_error: bool,
    },
}

impl Message {
    /// Says something to the model.
    #[must_use]
    pub fn user(text: impl Into<String>) -> Self {
        Self::User { text: text.into() }
    }
}

/// Describes a tool to a model.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolSpec {
    /// Its name: letters, digits, `_` and `-`, at most 64.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// The schema of its arguments: an object.
    pub input_schema: Value,
    /// Whether the schema is lowered for the service, which may then hold the arguments to it as they are written.
    pub strict: bool,
}

impl ToolSpec {
    /// Describes a tool.
    #[must_use]
    pub fn new(name: impl Into<String>, description: impl Into<String>, input_schema: Value) -> Self {
        Self { name: name.into(), description: description.into(), input_schema, strict: false }
    }

    /// Says that the schema is lowered for the service, so that the service may hold the arguments to it.
    #[must_use]
    pub fn strictly(mut self) -> Self {
        self.strict = true;
        self
    }
}

/// Says which tool a model has to call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolChoice {
    /// It may call any, or none.
    #[default]
    Auto,
    /// It must call at least one.
    Any,
    /// It must call this one.
    Named(String),
}
