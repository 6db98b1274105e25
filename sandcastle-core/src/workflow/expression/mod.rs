//! Expressions and templates: pure, bounded in time, size and depth.
//!
//! Under version 1.1 they are a part of the language of `minijinja` (`language`): `syntax` reads them and refuses everything
//! else, `evaluation` runs them over JSON that is looked at but never read as a template (`value`). Version 1.0 has placeholders
//! and comparisons (`placeholder`). Types are no business of this room: `check` holds what was read against them.

mod evaluation;
mod filters;
mod language;
mod placeholder;
mod rules;
mod syntax;
mod value;

use serde_json::{Map, Value};

use self::evaluation::Rendered;
pub(crate) use self::language::{Gives, LOOP, Takes, WORDS, filter_named};
pub(crate) use self::placeholder::{Operator, comparison, placeholders};
pub(crate) use self::rules::text_of;
pub(crate) use self::syntax::{Flaw, Template, offset_of, range, read_expression};
use super::definition::{Text, WorkflowVersion};

/// What expressions can read: `input`, `vars`, `trigger`, `steps`, and the outputs of the steps that are done by their names.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scope {
    pub(crate) values: Map<String, Value>,
}

/// Gives the value of a template: that of its expression, if it is exactly one, and a text otherwise.
///
/// # Errors
/// One lowercase line that says what is wrong with it.
pub(crate) fn render(text: &Text, version: WorkflowVersion, scope: &Scope) -> Result<Value, String> {
    match version {
        WorkflowVersion::V1_0 => Ok(Value::String(placeholder::fill(&text.source, &scope.values)?)),
        WorkflowVersion::V1_1 => Ok(match evaluation::render(&text.source, &scope.values)? {
            Rendered::Value(value) => value,
            Rendered::Text(text) => Value::String(text),
        }),
    }
}

/// Gives the text of a template; a value that is no string becomes JSON.
///
/// # Errors
/// As [`render`].
pub(crate) fn render_text(text: &Text, version: WorkflowVersion, scope: &Scope) -> Result<String, String> {
    render(text, version, scope).map(|value| match value {
        Value::String(text) => text,
        value => value.to_string(),
    })
}

/// Gives the answer of a condition.
///
/// # Errors
/// As [`render`], and if the value is no boolean.
pub(crate) fn evaluate(test: &Text, version: WorkflowVersion, scope: &Scope) -> Result<bool, String> {
    let value = match version {
        WorkflowVersion::V1_0 => return placeholder::compare(&test.source, &scope.values),
        WorkflowVersion::V1_1 => evaluation::evaluate(&test.source, &scope.values)?,
    };
    let kind = match value {
        Value::Bool(answer) => return Ok(answer),
        Value::Null => "null",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    Err(format!("the condition gives {kind}, not true or false"))
}

#[cfg(test)]
mod tests;
