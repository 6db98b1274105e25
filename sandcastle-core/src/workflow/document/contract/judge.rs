//! Asks the judge of answers about the values that a schema itself holds.

use serde_json::Value;

use crate::output::OutputSpec;

/// Tells whether a value fits a schema.
///
/// # Errors
/// What does not fit, in one line; nothing if the schema cannot be used at all.
pub(super) fn fits(schema: Value, value: &Value) -> Result<(), Option<String>> {
    let spec = OutputSpec::json("value", schema).map_err(|_| None)?;
    spec.read_block(&value.to_string()).map(drop).map_err(|error| {
        let problems: Vec<_> = error.problems.iter().map(ToString::to_string).collect();
        Some(if problems.is_empty() { error.to_string() } else { problems.join("; ") })
    })
}

/// Tells whether a text is a regular expression.
pub(super) fn is_pattern(pattern: &str) -> bool {
    OutputSpec::json("value", serde_json::json!({ "type": "string", "pattern": pattern })).is_ok()
}
