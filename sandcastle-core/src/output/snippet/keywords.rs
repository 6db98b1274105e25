//! The keywords of one schema object, taken one by one.
//!
//! Whoever understands a keyword takes it; what is left at the end is shown as it is, so nothing is lost by being
//! unknown.

use serde_json::{Map, Value};

use super::quote::Quote;

/// Keywords that say nothing about the value: which dialect the schema is in, how it is addressed, where its definitions
/// are, and remarks to those who maintain it.
const SILENT: [&str; 5] = ["$schema", "$id", "$comment", "$defs", "definitions"];

const OF_OBJECTS: [&str; 7] = [
    "properties",
    "required",
    "additionalProperties",
    "patternProperties",
    "propertyNames",
    "minProperties",
    "maxProperties",
];
const OF_ARRAYS: [&str; 5] = ["items", "prefixItems", "minItems", "maxItems", "uniqueItems"];

/// Formats that schemars gives to the number types of Rust. They are unknown to validators and to models, and the bounds
/// that follow from them stand beside them.
const RUST_FORMATS: [&str; 14] = [
    "int", "int8", "int16", "int32", "int64", "int128", "uint", "uint8", "uint16", "uint32", "uint64",
    "uint128", "float", "double",
];

#[derive(Debug)]
pub(super) struct Keywords<'s> {
    left: Vec<(&'s str, &'s Value)>,
}

impl<'s> Keywords<'s> {
    pub(super) fn of(schema: &'s Map<String, Value>) -> Self {
        let left = schema.iter().map(|(key, value)| (key.as_str(), value));
        Self { left: left.filter(|(key, _)| !SILENT.contains(key)).collect() }
    }

    /// Returns the value of `key` if it is there.
    pub(super) fn get(&self, key: &str) -> Option<&'s Value> {
        self.left.iter().find(|(name, _)| *name == key).map(|(_, value)| *value)
    }

    /// Takes `key` if `read` understands its value; otherwise leaves it to be shown.
    pub(super) fn take<T>(&mut self, key: &str, read: impl FnOnce(&'s Value) -> Option<T>) -> Option<T> {
        let at = self.left.iter().position(|(name, _)| *name == key)?;
        let taken = read(self.left[at].1)?;
        self.left.remove(at);
        Some(taken)
    }

    /// Takes the title and the description, as comments; but not a title that is the name of a Rust type, which
    /// schemars gives to every schema and which tells a model nothing.
    pub(super) fn take_notes(&mut self, quote: Quote<'_>) -> Vec<String> {
        let title = self.take("title", Value::as_str).filter(|title| !is_type_name(title));
        let description = self.take("description", Value::as_str);
        let notes = title.into_iter().chain(description).map(|note| quote.comment(note));
        notes.filter(|note| !note.is_empty()).collect()
    }

    /// Returns the types that a schema without `type` is about, from the keywords it has.
    pub(super) fn implied_types(&self) -> Vec<&'static str> {
        let has = |keys: &[&str]| self.left.iter().any(|(key, _)| keys.contains(key));
        let implied = [("object", has(&OF_OBJECTS)), ("array", has(&OF_ARRAYS))];
        implied.into_iter().filter(|(_, implied)| *implied).map(|(name, _)| name).collect()
    }

    /// Returns what nobody took, in the order of the schema.
    pub(super) fn rest(self) -> Vec<(&'s str, &'s Value)> {
        self.left
    }
}

/// Says whether a format is known to Rust alone.
pub(in crate::output) fn is_rust_format(format: &str) -> bool {
    RUST_FORMATS.contains(&format)
}

fn is_type_name(title: &str) -> bool {
    title.starts_with(|c: char| c.is_ascii_uppercase())
        && title.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
