//! Holds a value against a schema and says everything that does not fit.
//!
//! The schema is compiled once. Whether a value fits is jsonschema's business; what is said about one that does not is
//! ours: `branch` picks the alternative that was meant, `wording` makes the sentence. Where that would take too long,
//! `focus` finds one place to explain.

mod branch;
mod focus;
mod wording;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use serde_json::Value;

use super::problem::Problems;
use super::{Problem, pointer};

/// A schema that values can be held against.
#[derive(Debug)]
pub(super) struct Checker {
    schema: Value,
    validator: Validator,
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
        let validator =
            jsonschema::options().offline().build(schema).map_err(|error| problems_of([error]))?;
        Ok(Self { schema: schema.clone(), validator })
    }

    /// Tells whether the value fits.
    pub(super) fn fits(&self, value: &Value) -> bool {
        self.validator.is_valid(value)
    }

    /// Returns everything that does not fit, or the first thing if the value is too large; nothing if the value fits.
    pub(super) fn problems(&self, value: &Value) -> Vec<Problem> {
        if self.fits(value) {
            return Vec::new();
        }
        let problems = if focus::is_needed(value, &self.schema) {
            self.first_problem(value)
        } else {
            problems_of(self.validator.iter_errors(value))
        };
        if problems.is_empty() { vec![Problem::new("", "does not fit the schema")] } else { problems }
    }

    fn first_problem(&self, value: &Value) -> Vec<Problem> {
        let Ok(validators) = jsonschema::options().offline().build_map(&self.schema) else {
            return Vec::new();
        };
        let focus = focus::find(value, &self.schema, &validators);
        let errors = focus.validator.into_iter().flat_map(|validator| validator.iter_errors(focus.value));
        let mut problems = problems_of(errors);
        for problem in &mut problems {
            problem.path.insert_str(0, &focus.path);
        }
        problems
            .push(Problem::new("", "may have more problems: it is too large to be searched for all of them"));
        problems
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
