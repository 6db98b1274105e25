//! From the schema of an output to the one that goes over a wire.
//!
//! Every program and every service accepts a part of JSON Schema of its own, its [`Dialect`]. [`lower`] makes a copy that
//! fits: what the wire cannot carry moves into descriptions, where the model still reads it, and what cannot be said at
//! all is a [`Refusal`] with its place. The schema itself stays the judge of every answer. Nothing here knows who sends
//! the copy; the same schema and dialect always give the same bytes.
//!
//! `dialect` has what each wire accepts, as data; `rules` are its columns, and `treatment` is what they make of one
//! keyword. A schema is read by `node` with the `keyword`s that there are, `circle` looks for references that lead nowhere,
//! `walk` follows the others into `definitions`, `merge` makes one demand of several, in `order`, `union`, `members` and
//! `write` make the copy, which is a `wire` tree, and `sentence`, `pattern`, `name` and `null` know about texts, regular
//! expressions, what may be called how and what may be left out. `limits` counts what is there in the end; `lift` undoes
//! in an answer what the copy asked for.

mod circle;
mod definitions;
mod dialect;
mod keyword;
mod lift;
mod limits;
mod members;
mod merge;
mod name;
mod node;
mod null;
mod order;
mod pattern;
mod report;
mod rules;
mod sentence;
#[cfg(test)]
mod tests;
mod treatment;
mod union;
mod walk;
mod wire;
mod write;

use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use self::walk::Walker;
use self::wire::Wire;

/// How deep the JSON of a schema may be. Parsed JSON is never deeper than 128; only a value built in memory can be.
const MAX_DEPTH: usize = 512;
/// How many bytes the pointers to everything in a schema may have together: each is written down where something is read.
const MAX_POINTERS: usize = 64 << 20;

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
    #[serde(rename = "openai")]
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
    /// The copy as a tree, if there is something that [`Lowering::lift`] may have to undo.
    #[serde(skip)]
    shape: Option<Arc<Wire>>,
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
    fn new(dialect: Dialect, wire: &Wire, moved: Vec<Moved>, mut refused: Vec<Refusal>) -> Self {
        let counts = limits::counts(dialect, wire);
        refused.extend(limits::refusals(&counts));
        let shape = lift::is_needed(wire).then(|| Arc::new(wire.clone()));
        Self { dialect, wire: wire.to_value(), moved, refused, counts, shape }
    }

    /// Tells whether the copy may be sent.
    #[must_use]
    pub fn is_sendable(&self) -> bool {
        self.refused.is_empty()
    }

    /// Undoes in an answer what the copy asked for and the schema does not: a `null` in the place of a property that was
    /// made required only because the dialect knows no optional ones.
    ///
    /// Nothing else is touched, and nothing at all in an answer that is more than 200 values deep.
    #[must_use]
    pub fn lift(&self, answer: Value) -> Value {
        match &self.shape {
            Some(wire) if !is_deeper_than(&answer, lift::MAX_DEPTH) => lift::lift(wire, answer),
            _ => answer,
        }
    }
}

/// Makes the copy of a schema that fits a dialect.
///
/// Whatever the schema is, this ends, in time that is bounded by a few megabytes of schema.
///
/// # Examples
/// ```
/// use sandcastle_core::output::lower::{Dialect, lower};
/// use serde_json::json;
///
/// let schema = json!({
///     "type": "object",
///     "properties": { "title": { "type": "string", "maxLength": 80 } },
///     "required": ["title"],
/// });
/// let lowering = lower(&schema, Dialect::Anthropic);
/// assert!(lowering.is_sendable());
/// assert_eq!(lowering.wire["properties"]["title"]["description"], "At most 80 characters.");
/// assert_eq!(lowering.moved[0].pointer, "/properties/title");
/// ```
#[must_use]
pub fn lower(schema: &Value, dialect: Dialect) -> Lowering {
    let refused_whole = |keyword: &str, reason: String| {
        let refusal = Refusal { pointer: String::new(), keyword: keyword.to_owned(), reason };
        Lowering::new(dialect, &Wire::default(), Vec::new(), vec![refusal])
    };
    if is_deeper_than(schema, MAX_DEPTH) {
        return refused_whole("depth", format!("is more than {MAX_DEPTH} values deep"));
    }
    if have_more_bytes(schema, MAX_POINTERS) {
        return refused_whole("size", "has too long names on the way to what is in it".to_owned());
    }
    let (wire, report) = Walker::new(schema, dialect.rules()).copy();
    Lowering::new(dialect, &wire, report.moved, report.refused)
}

/// Tells how deep a value is, without going deep itself.
fn is_deeper_than(value: &Value, most: usize) -> bool {
    let mut waiting = vec![(value, 0)];
    while let Some((value, depth)) = waiting.pop() {
        if depth > most {
            return true;
        }
        match value {
            Value::Array(items) => waiting.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(fields) => waiting.extend(fields.values().map(|field| (field, depth + 1))),
            _ => {}
        }
    }
    false
}

/// Tells whether the pointers to everything in a value have more bytes, without writing them.
fn have_more_bytes(value: &Value, most: usize) -> bool {
    let (mut bytes, mut waiting) = (0_usize, vec![(value, 0_usize)]);
    while let Some((value, pointer)) = waiting.pop() {
        bytes = bytes.saturating_add(pointer);
        if bytes > most {
            return true;
        }
        match value {
            Value::Array(items) => waiting.extend(items.iter().map(|item| (item, pointer + 8))),
            Value::Object(fields) => {
                waiting.extend(fields.iter().map(|(name, field)| (field, pointer + 1 + name.len())));
            }
            _ => {}
        }
    }
    false
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
