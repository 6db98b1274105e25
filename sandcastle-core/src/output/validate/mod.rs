//! Holds a value against a schema and says everything that does not fit.
//!
//! The schema is compiled once. Whether a value fits is jsonschema's business; what is said about one that does not is
//! ours: `branch` picks the alternative that was meant, `wording` makes the sentence. `effort` tells when to give up.

mod branch;
mod effort;
mod wording;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use serde_json::Value;

use super::problem::Problems;
use super::read::Size;
use super::{Problem, pointer};

/// How large a value may be, in values times levels, to be searched for every problem. What jsonschema reports about
/// nested alternatives holds a copy of the value for each of them.
const MAX_EFFORT: usize = 2_000_000;

/// What is said of a value that is not searched.
pub(super) const TOO_LARGE: &str = "does not fit the schema, and is too large to say where";

/// A schema that values can be held against.
#[derive(Debug)]
pub(super) struct Checker {
    validator: Validator,
    schema: Value,
}

impl Checker {
    /// Compiles a schema: draft 2020-12 unless it names another, and nothing outside of it is fetched.
    ///
    /// # Errors
    /// What is wrong with the schema, with the place in it.
    pub(super) fn new(schema: &Value) -> Result<Self, Vec<Problem>> {
        if !matches!(schema, Value::Object(_) | Value::Bool(_)) {
            return Err(vec![Problem::new("", "must be an object or a boolean")]);
        }
        let validator = jsonschema::options().offline().build(schema);
        let validator = validator.map_err(|error| problems_of([error]))?;
        Ok(Self { validator, schema: schema.clone() })
    }

    /// Tells whether the value fits.
    pub(super) fn fits(&self, value: &Value) -> bool {
        self.validator.is_valid(value)
    }

    /// Returns everything that does not fit; nothing if the value does.
    pub(super) fn problems(&self, value: &Value, size: Size) -> Vec<Problem> {
        if self.fits(value) {
            return Vec::new();
        }
        let is_large = size.values.saturating_mul(size.depth + 1) > MAX_EFFORT;
        if is_large || !effort::is_bearable(value, &self.schema) {
            return vec![Problem::new("", TOO_LARGE)];
        }
        let problems = problems_of(self.validator.iter_errors(value));
        if problems.is_empty() { vec![Problem::new("", "does not fit the schema")] } else { problems }
    }
}

fn problems_of<'a>(errors: impl IntoIterator<Item = ValidationError<'a>>) -> Vec<Problem> {
    let mut problems = Problems::default();
    for error in errors {
        explain(&error, &mut problems);
    }
    problems.into_vec()
}

/// Adds what one error means; it may be several problems, or one deep in an alternative.
fn explain(error: &ValidationError<'_>, problems: &mut Problems) {
    let path = error.instance_path().as_str();
    match error.kind() {
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            branch::explain(path, error.instance(), context, problems);
        }
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            for key in unexpected {
                problems.add(&pointer::join(path, key), "is not allowed here");
            }
        }
        ValidationErrorKind::Required { property } => {
            problems.add(&pointer::join(path, property.as_str().unwrap_or_default()), "is required");
        }
        _ => problems.add(path, &wording::sentence(error)),
    }
}
