//! The schema of an output: as it is, compiled, and as a prompt shows it.
//!
//! `mend` corrects what schemars says wrongly of a type; `places` tells which parts of a schema apply where.

mod mend;
pub(super) mod places;

use schemars::Schema;
use schemars::transform::{RecursiveTransform, Transform};
use serde_json::Value;

use super::Problem;
use super::validate::Checker;

/// Names that schemars gives to the sizes of numbers. They are in no standard, and some validators and models refuse
/// schemas with them.
const NUMBER_FORMATS: [&str; 14] = [
    "int8", "int16", "int32", "int64", "int128", "int", "uint8", "uint16", "uint32", "uint64", "uint128",
    "uint", "float", "double",
];

/// A schema, and what came of compiling it.
#[derive(Debug)]
pub(super) struct CompiledSchema {
    value: Value,
    checker: Result<Checker, Vec<Problem>>,
}

impl CompiledSchema {
    /// Compiles a schema that a user wrote.
    pub(super) fn new(value: Value) -> Self {
        Self { checker: Checker::new(&value), value }
    }

    /// Compiles a schema that schemars wrote.
    pub(super) fn of_type(mut value: Value) -> Self {
        mend::mend(&mut value);
        Self::new(value)
    }

    pub(super) fn value(&self) -> &Value {
        &self.value
    }

    pub(super) fn checker(&self) -> Result<&Checker, &[Problem]> {
        self.checker.as_ref().map_err(Vec::as_slice)
    }

    /// Returns the schema without its dialect and without formats that are in no standard.
    pub(super) fn for_prompt(&self) -> Value {
        let Ok(mut schema) = Schema::try_from(self.value.clone()) else { return self.value.clone() };
        schema.remove("$schema");
        RecursiveTransform(|schema: &mut Schema| {
            if schema
                .get("format")
                .and_then(Value::as_str)
                .is_some_and(|format| NUMBER_FORMATS.contains(&format))
            {
                schema.remove("format");
            }
        })
        .transform(&mut schema);
        schema.into()
    }
}
