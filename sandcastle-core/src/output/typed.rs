//! From a block to a Rust type: JSON first, then the schema, then serde, then the type's own validation.
//!
//! serde reads the block's own text, so numbers keep all their digits. It is asked last, because it says less than the
//! schema: only the first problem, and below `flatten` not where.

use std::borrow::Cow;

use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::Segment;

use super::problem::Problems;
use super::quote::one_line;
use super::read::Reading;
use super::{AgentOutput, ExtractError, OutputSpec, Problem, alias, numbers, pointer};

/// Reads a located block into `T`.
pub(crate) fn read<T: AgentOutput + DeserializeOwned>(
    block: &str,
    spec: &OutputSpec,
) -> Result<T, ExtractError> {
    let mut shape = Typed::<T>(None);
    let value = judge(block, spec, &mut shape)?;
    let Some(read) = shape.0 else {
        return Err(ExtractError::rejected(spec.tag(), block, Some(value), Vec::new()));
    };
    match read.validate() {
        Ok(()) => Ok(read),
        Err(problems) => Err(ExtractError::rejected(spec.tag(), block, Some(value), problems)),
    }
}

/// Reads a located block of text into `T`: trimmed, and never parsed.
pub(crate) fn read_text<T: AgentOutput>(
    block: &str,
    spec: &OutputSpec,
    make: fn(String) -> T,
) -> Result<T, ExtractError> {
    let text = block.trim();
    let read = make(text.to_owned());
    match read.validate() {
        Ok(()) => Ok(read),
        Err(problems) => Err(ExtractError::rejected(spec.tag(), block, Some(text.into()), problems)),
    }
}

/// A type as far as judging needs it, so that the judging is compiled once and not for each type.
pub(super) trait Shape {
    /// Reads JSON text and keeps the value.
    fn read(&mut self, text: &str) -> Result<(), serde_path_to_error::Error<serde_json::Error>>;

    /// Tells whether the type would accept a value.
    fn accepts(&self, value: &Value) -> bool;
}

struct Typed<T>(Option<T>);

impl<T: DeserializeOwned> Shape for Typed<T> {
    fn read(&mut self, text: &str) -> Result<(), serde_path_to_error::Error<serde_json::Error>> {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        self.0 = Some(serde_path_to_error::deserialize(&mut deserializer)?);
        Ok(())
    }

    fn accepts(&self, value: &Value) -> bool {
        T::deserialize(value).is_ok()
    }
}

/// Judges a block, and lets `shape` keep what it holds.
fn judge(block: &str, spec: &OutputSpec, shape: &mut dyn Shape) -> Result<Value, ExtractError> {
    let reading = spec.read_prepared(block)?;
    let checker = spec.checker(block)?;
    let problems = checker.problems(&reading.value);
    let read = shape.read(&reading.text);
    if !problems.is_empty() {
        let problems = match &read {
            Ok(()) => alias::reconcile(&reading, spec.schema(), checker, &*shape, problems).err(),
            Err(error) => Some(with_serdes(problems, misread(&reading, spec.schema(), error))),
        };
        if let Some(problems) = problems {
            return Err(ExtractError::schema(spec.tag(), block, Some(reading.value), problems));
        }
    }
    match read {
        Ok(()) => Ok(reading.value),
        Err(error) => {
            let problems = misread(&reading, spec.schema(), &error);
            let Reading { value, .. } = reading;
            Err(ExtractError::schema(spec.tag(), block, Some(value), problems)
                .with_source(error.into_inner()))
        }
    }
}

/// Adds what only serde says of a value that does not fit the schema, such as what is wrong under an alias.
fn with_serdes(mut problems: Vec<Problem>, serdes: Vec<Problem>) -> Vec<Problem> {
    let is_new = |serdes: &Problem| {
        let is_around = |path: &str| path.starts_with(&serdes.path) || serdes.path.starts_with(path);
        serdes.message != "is required" && !problems.iter().any(|problem| is_around(&problem.path))
    };
    let new: Vec<_> = serdes.into_iter().filter(is_new).collect();
    problems.extend(new);
    problems
}

/// Says why serde refused a value.
fn misread(
    reading: &Reading<'_>,
    schema: &Value,
    error: &serde_path_to_error::Error<serde_json::Error>,
) -> Vec<Problem> {
    let mut problems = Problems::default();
    let message = serdes_message(error.inner());
    if numbers::is_about_a_number(&message) {
        numbers::explain(&reading.value, schema, &mut problems);
    }
    if problems.is_empty() {
        let path = pointer_of(error.path(), &reading.value);
        match message.strip_prefix("missing field `").and_then(|rest| rest.strip_suffix('`')) {
            Some(field) => problems.add(&pointer::join(&path, field), "is required"),
            None => problems.add(&path, &in_our_words(&message)),
        }
    }
    problems.into_vec()
}

/// Returns serde's message without the place, which is not one of the value.
fn serdes_message(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    one_line(message.strip_suffix(&place).unwrap_or(&message)).into_owned()
}

fn in_our_words(message: &str) -> Cow<'_, str> {
    let wrong = ["invalid type: ", "invalid value: ", "invalid length "];
    let rest = wrong.iter().find_map(|start| message.strip_prefix(start));
    match rest.and_then(|rest| rest.rsplit_once(", expected ")) {
        Some((found, expected)) => Cow::Owned(format!("must be {expected}, got {found}")),
        None => Cow::Borrowed(message),
    }
}

/// Turns serde's path into a pointer, as far as the value has it: enums and newtypes may or may not be a level in JSON.
fn pointer_of(path: &serde_path_to_error::Path, value: &Value) -> String {
    let (mut pointer, mut here) = (String::new(), value);
    for segment in path {
        let (token, next) = match segment {
            Segment::Seq { index } => (index.to_string(), here.get(index)),
            Segment::Map { key } => (key.clone(), here.get(key)),
            Segment::Enum { variant } => (variant.clone(), here.get(variant)),
            Segment::Unknown => break,
        };
        match next {
            Some(next) => here = next,
            None if matches!(segment, Segment::Enum { .. }) => continue,
            None => break,
        }
        pointer::push(&mut pointer, &token);
    }
    pointer
}
