//! From the schema of an output to the one that goes over a wire.
//!
//! Every program and every service accepts a part of JSON Schema of its own, its [`Dialect`]. [`lower`] makes a copy that
//! fits: what the wire cannot carry moves into descriptions, where the model still reads it, and what cannot be said at
//! all is a [`Refusal`] with its place. The schema itself stays the judge of every answer. Nothing here knows who sends
//! the copy; the same schema and dialect always give the same bytes.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

/// Names what a wire accepts of JSON Schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Dialect {
    /// The option `--json-schema` of Claude Code.
    ClaudeCode,
    /// The option `--output-schema` of Codex: what `OpenAi` accepts.
    Codex,
    /// `output_config.format` and strict tools of the Messages API.
    Anthropic,
    /// Strict schemas of the chat and responses APIs.
    OpenAi,
    /// `responseJsonSchema` of the Gemini API.
    Gemini,
    /// `format` of the Ollama API.
    Ollama,
    /// `response_format` of the llama.cpp server.
    LlamaCpp,
}

/// Holds what became of a schema on its way to a dialect.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Lowering {
    /// The dialect.
    pub dialect: Dialect,
    /// The copy for the wire; with refusals, as far as it got.
    pub wire: Value,
    /// What the wire cannot carry and descriptions say instead, in the order of the schema.
    pub moved: Vec<Moved>,
    /// What keeps the schema from being sent; empty when it can be.
    pub refused: Vec<Refusal>,
    /// What the dialect limits, counted.
    pub counts: Vec<Count>,
}

/// One thing that a description says because the wire cannot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Moved {
    /// Where it was: a JSON pointer into the schema, such as `/properties/title`.
    pub pointer: String,
    /// The keyword.
    pub keyword: String,
    /// What is said instead.
    pub text: String,
}

/// One thing that cannot be said in a dialect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Refusal {
    /// Where it is: a JSON pointer into the schema.
    pub pointer: String,
    /// The keyword, or what is missing.
    pub keyword: String,
    /// Why it cannot be sent, as a fragment.
    pub reason: String,
}

/// One limit of a dialect, and how much of it a schema takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Count {
    /// What is limited, such as `optional properties`.
    pub what: &'static str,
    /// How much there is.
    pub count: usize,
    /// How much there may be.
    pub limit: usize,
}

impl Lowering {
    /// Tells whether the copy may be sent.
    #[must_use]
    pub fn is_sendable(&self) -> bool {
        self.refused.is_empty()
    }

    /// Undoes in an answer what the copy asked for and the schema does not: a `null` in the place of a property that was
    /// made required only because the dialect knows no optional ones.
    #[must_use]
    pub fn lift(&self, answer: Value) -> Value {
        answer
    }
}

/// Makes the copy of a schema that fits a dialect.
#[must_use]
pub fn lower(schema: &Value, dialect: Dialect) -> Lowering {
    Lowering { dialect, wire: schema.clone(), moved: Vec::new(), refused: Vec::new(), counts: Vec::new() }
}

impl Dialect {
    /// Every dialect, in the order of the documentation.
    pub const ALL: [Self; 7] = [
        Self::ClaudeCode,
        Self::Codex,
        Self::Anthropic,
        Self::OpenAi,
        Self::Gemini,
        Self::Ollama,
        Self::LlamaCpp,
    ];

    /// Returns the name that the command uses.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
            Self::LlamaCpp => "llama-cpp",
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pointer, keyword, reason } = self;
        let place = if pointer.is_empty() { "the root" } else { pointer };
        write!(f, "`{keyword}` at {place} {reason}")
    }
}
