//! What a derived output needs of its type, in traits that the derive's code goes through.
//!
//! Each stands for one trait of another crate and is implemented wherever that is. They exist for the compiler's
//! messages: if the type lacks the other trait, the user reads which derive to add instead of a list of types that have
//! it, and reads it once, since all calls of one trait fail in the same words.

use schemars::{JsonSchema, Schema};
use serde::de::DeserializeOwned;

use super::{extract_json, read_json, schema_for};
use crate::output::{AgentOutput, ExtractError, OutputSpec};

/// A type whose shape can be told to an agent.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no JSON Schema to tell the agent",
    label = "does not implement `schemars::JsonSchema`",
    note = "add `#[derive(schemars::JsonSchema)]` to `{Self}`"
)]
pub trait Described: Sized {
    /// Returns the JSON Schema of the type.
    fn schema() -> Schema;
}

#[diagnostic::do_not_recommend]
impl<T: JsonSchema> Described for T {
    fn schema() -> Schema {
        schema_for::<T>()
    }
}

/// A type that can be read from an agent's JSON.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be read from JSON",
    label = "does not implement `serde::Deserialize`",
    note = "add `#[derive(serde::Deserialize)]` to `{Self}`"
)]
pub trait Readable: Sized {
    /// Reads the last block in a text, as [`AgentOutput::extract`].
    ///
    /// # Errors
    /// As there.
    fn extract(text: &str) -> Result<Self, ExtractError>
    where
        Self: AgentOutput;

    /// Reads a block that was located already.
    ///
    /// # Errors
    /// As [`AgentOutput::extract`].
    fn read_block(block: &str, spec: &OutputSpec) -> Result<Self, ExtractError>
    where
        Self: AgentOutput;
}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned> Readable for T {
    fn extract(text: &str) -> Result<Self, ExtractError>
    where
        Self: AgentOutput,
    {
        extract_json(text)
    }

    fn read_block(block: &str, spec: &OutputSpec) -> Result<Self, ExtractError>
    where
        Self: AgentOutput,
    {
        read_json(block, spec)
    }
}

/// A type that the text of an answer can become.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be made from the text of an answer",
    label = "does not implement `From<String>`",
    note = "use `String`, or implement `From<String>` for `{Self}`"
)]
pub trait FromText: Sized {
    /// Makes the value from the trimmed text.
    fn from_text(text: String) -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: From<String>> FromText for T {
    fn from_text(text: String) -> Self {
        Self::from(text)
    }
}
