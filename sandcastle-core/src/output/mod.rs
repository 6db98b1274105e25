//! Typed outputs: from an agent's text to a value, or to every reason why not.
//!
//! Everything here is pure: text and schema in, value or problems out. No async, no files, no processes. The steps are
//! one file each and run in this order: [`locate`] finds the last block with the tag while the text streams, `unfence`
//! and `read` turn it into JSON, which a function of the caller's may prepare, `defaults` fills in what it left out where that
//! is wanted, `validate` holds it against the schema, and `typed` reads it into the type. `alias` and `numbers` help where
//! schema and type see things differently. What went wrong is an [`ExtractError`] with its [`Problem`]s; `excerpt` shows the
//! place, `feedback` words what a retry tells an agent and `check` what it tells a model. `snippet` words what the prompt
//! says. [`OutputSpec`] ties them together; the derived [`AgentOutput`] is the same thing for a type known at compile time.

mod alias;
mod check;
mod defaults;
pub(crate) mod document;
mod error;
mod excerpt;
mod feedback;
pub(crate) mod ladder;
pub mod locate;
pub mod lower;
mod numbers;
mod pointer;
mod problem;
mod quote;
mod read;
mod schema;
mod snippet;
mod spec;
mod tag;
#[cfg(test)]
mod tests;
pub(crate) mod typed;
mod unfence;
mod validate;

pub use self::check::is_output_check;
pub(crate) use self::error::Seen;
pub use self::error::{ExtractError, Stage};
pub use self::problem::Problem;
pub(crate) use self::quote::{clip, one_line};
pub(crate) use self::schema::mended as mended_schema;
#[cfg(feature = "workflow")]
pub(crate) use self::schema::type_of;
use self::snippet::is_rust_format;
pub use self::snippet::{Snippet, SnippetStyle};
pub use self::spec::OutputSpec;

/// Says how the inside of a block is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OutputFormat {
    /// A JSON value, checked against the schema.
    Json,
    /// Text, trimmed and never parsed.
    Text,
}

/// Says in which form an answer was asked for, for the words of a correction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnswerForm {
    /// A block in a tag.
    Block,
    /// The whole text is the value, as a program's or a service's own structured output gives it.
    Document,
    /// The arguments of a tool.
    Arguments,
}

/// A type that an agent can answer with.
///
/// Derive it: `#[derive(Deserialize, JsonSchema, AgentOutput)] #[output(tag = "result")]`. The derive's own page has an example
/// and every key of the attribute.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an agent output",
    label = "an agent cannot answer with this type",
    note = "add `#[derive(serde::Deserialize, schemars::JsonSchema, AgentOutput)]` and `#[output(tag = \"...\")]` to it"
)]
pub trait AgentOutput: Sized + Send + 'static {
    /// The name of the tag that the answer stands in.
    const TAG: &'static str;
    /// How the inside of the tag is read.
    const FORMAT: OutputFormat;
    /// How often a run may ask again after an invalid answer; 0 by default.
    const MAX_RETRIES: u32;
    /// What puts an answer into the form that the schema has, before it is judged; nothing by default.
    ///
    /// It gets every answer that is JSON, of whatever kind, leaves alone what it does not know, and depends on nothing else.
    const PREPARE: Option<fn(&mut serde_json::Value)> = None;

    /// Returns the JSON Schema of this type. A run builds it once.
    fn schema() -> schemars::Schema;

    /// Reads the last block in `agent_text`.
    ///
    /// # Errors
    /// Says at which stage the answer failed, with every problem and the exact block.
    fn extract(agent_text: &str) -> Result<Self, ExtractError>;

    /// Checks what a schema cannot say.
    ///
    /// # Errors
    /// Every problem, each with its path.
    fn validate(&self) -> Result<(), Vec<Problem>> {
        Ok(())
    }

    /// Returns the text that tells a model how to answer: the tag and the shape.
    fn prompt_snippet() -> String;

    /// Reads a block that a run has located. The derive does so with the schema that `spec` holds compiled; the
    /// provided method wraps the block in the tag again and calls [`AgentOutput::extract`].
    ///
    /// # Errors
    /// As [`AgentOutput::extract`].
    #[doc(hidden)]
    fn read_block(block: &str, spec: &OutputSpec) -> Result<Self, ExtractError> {
        let _ = spec;
        Self::extract(&format!("<{tag}>{block}</{tag}>", tag = Self::TAG))
    }
}
