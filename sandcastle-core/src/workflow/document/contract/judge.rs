//! Asks the judge of answers about the values that a schema itself holds.

use serde_json::Value;

use crate::output::OutputSpec;

/// Holds values against a schema, as answers are held against it.
pub(super) struct Judge(Option<OutputSpec>);

impl Judge {
    /// A schema that cannot be used refuses nothing: what is wrong with it is said elsewhere.
    pub(super) fn of(schema: Value) -> Self {
        Self(OutputSpec::json("value", schema).ok())
    }

    /// Says in one line why a value does not fit.
    pub(super) fn objection(&self, value: &Value) -> Option<String> {
        let error = self.0.as_ref()?.read_block(&value.to_string()).err()?;
        let problems: Vec<_> = error.problems.iter().map(ToString::to_string).collect();
        Some(if problems.is_empty() { error.to_string() } else { problems.join("; ") })
    }
}

/// Tells whether a text is a regular expression.
pub(super) fn is_pattern(pattern: &str) -> bool {
    OutputSpec::json("value", serde_json::json!({ "type": "string", "pattern": pattern })).is_ok()
}
