//! What derived code reaches, and the command where it draws. Not for anybody else, and free to change in every version.
//!
//! `derived` holds the traits that stand for what a type must bring; here are the functions behind them and the names
//! that derived code must not take from its surroundings.

mod derived;

pub use core::convert::From;
pub use core::marker::Send;
pub use core::option::Option::{self, Some};
pub use core::primitive::{str, u32};
pub use core::result::Result;
pub use core::unreachable;
pub use std::string::String;
pub use std::vec::Vec;

pub use schemars::{JsonSchema, Schema};
pub use serde::de::DeserializeOwned;
pub use serde_json::Value;

pub use self::derived::{Described, FromText, Readable};
use crate::output::locate::Block;
pub use crate::output::{AgentOutput, ExtractError, OutputFormat, OutputSpec, Problem};
use crate::output::{Snippet, mended_schema, typed};
pub use crate::run::progress_target;

/// Returns the JSON Schema of a type: what schemars says of it, where that is what serde does.
#[must_use]
pub fn schema_for<T: JsonSchema>() -> Schema {
    mended_schema(schemars::schema_for!(T))
}

/// Returns the text that tells a model how to answer with a type.
#[must_use]
pub fn snippet<T: AgentOutput>() -> String {
    Snippet::of::<T>().render()
}

/// Reads the last block of JSON in a text.
///
/// # Errors
/// As [`AgentOutput::extract`].
pub fn extract_json<T: AgentOutput + DeserializeOwned>(text: &str) -> Result<T, ExtractError> {
    let spec = OutputSpec::of::<T>();
    read_json(&located(text, &spec)?, &spec)
}

/// Reads a located block of JSON.
///
/// # Errors
/// As [`AgentOutput::extract`].
pub fn read_json<T: AgentOutput + DeserializeOwned>(
    block: &str,
    spec: &OutputSpec,
) -> Result<T, ExtractError> {
    typed::read(block, spec)
}

/// Reads the last block of text in a text.
///
/// # Errors
/// As [`AgentOutput::extract`].
pub fn extract_text<T: AgentOutput>(text: &str, make: fn(String) -> T) -> Result<T, ExtractError> {
    let spec = OutputSpec::of::<T>();
    read_text(&located(text, &spec)?, &spec, make)
}

/// Reads a located block of text.
///
/// # Errors
/// As [`AgentOutput::extract`].
pub fn read_text<T: AgentOutput>(
    block: &str,
    spec: &OutputSpec,
    make: fn(String) -> T,
) -> Result<T, ExtractError> {
    typed::read_text(block, spec, make)
}

fn located(text: &str, spec: &OutputSpec) -> Result<String, ExtractError> {
    let mut locator = spec.locator();
    locator.push(text);
    locator.finish().map(Block::into_string)
}
