//! The schema of an output, compiled; and what corrects and searches schemas.
//!
//! `mend` corrects what schemars says wrongly of a type; `places` tells which parts of a schema apply where.

mod mend;
pub(super) mod places;

use serde_json::Value;

pub(crate) use self::mend::mended;
use super::Problem;
use super::validate::Checker;

/// Returns the narrowest `type` of a schema that has the value.
pub(crate) fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// A schema, and what came of compiling it.
#[derive(Debug)]
pub(super) struct CompiledSchema {
    value: Value,
    checker: Result<Checker, Vec<Problem>>,
}

impl CompiledSchema {
    pub(super) fn new(value: Value) -> Self {
        Self { checker: Checker::new(&value), value }
    }

    pub(super) fn value(&self) -> &Value {
        &self.value
    }

    pub(super) fn checker(&self) -> Result<&Checker, &[Problem]> {
        self.checker.as_ref().map_err(Vec::as_slice)
    }
}
