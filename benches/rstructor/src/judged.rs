//! A type that is held to its whole JSON Schema: with `rstructor`, bounds are for the user to check.
//!
//! The judge is the crate that this project validates with, on the schema that `schemars` makes of the type.

use std::error::Error;

use rstructor::{Instructor, RStructorError, Schema, SchemaType, Schemars};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::cases::Case;

/// A value as `rstructor` wants it, with a validator that asks its schema.
#[derive(Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Judged<T>(T);

impl<T: Case> SchemaType for Judged<T> {
    fn schema() -> Schema {
        Schemars::<T>::schema()
    }

    fn schema_name() -> Option<String> {
        Schemars::<T>::schema_name()
    }
}

impl<T: Case> Instructor for Judged<T> {
    fn validate(&self) -> rstructor::Result<()> {
        let refusal = |message: String| RStructorError::ValidationError(message);
        let value = serde_json::to_value(&self.0).map_err(|error| refusal(error.to_string()))?;
        match problems::<T>(&value).map_err(|error| refusal(error.to_string()))? {
            None => Ok(()),
            Some(problems) => Err(refusal(problems)),
        }
    }
}

/// Says what a type's schema has against a value, each with its place.
pub(crate) fn problems<T: Case>(value: &Value) -> Result<Option<String>, Box<dyn Error>> {
    let schema = schemars::schema_for!(T).to_value();
    let validator = jsonschema::validator_for(&schema)?;
    let found: Vec<_> =
        validator.iter_errors(value).map(|error| format!("`{}`: {error}", error.instance_path())).collect();
    Ok((!found.is_empty()).then(|| found.join("; ")))
}
