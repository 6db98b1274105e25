//! Version 1.0: `{step.field}` in texts, and conditions of the form `<step>.<field> <op> <literal>`. Neither is an expression.

use serde_json::{Map, Value};

use super::syntax::Flaw;
use super::value::{MAX_SIZE, too_large};
use crate::workflow::nearest::{instead_of, shortened};

/// A place in a text that stands for a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Placeholder<'s> {
    /// Where its brace stands.
    pub(crate) offset: usize,
    /// As it is written, with its braces.
    pub(crate) written: &'s str,
    pub(crate) step: &'s str,
    pub(crate) field: &'s str,
}

/// Finds the placeholders of a text. Other braces mean nothing.
pub(crate) fn placeholders(source: &str) -> impl Iterator<Item = Placeholder<'_>> {
    source.match_indices('{').filter_map(|(offset, _)| {
        let rest = &source[offset + 1..];
        let inner = &rest[..rest.find(['}', '{', '\n'])?];
        let (step, field) = inner.split_once('.')?;
        let closed = rest[inner.len()..].starts_with('}');
        let written = source.get(offset..offset + inner.len() + 2)?;
        (closed && is_name(step) && is_name(field)).then_some(Placeholder { offset, written, step, field })
    })
}

/// Puts the fields that are scalars in the place of their placeholders; the others stay as they are written.
pub(super) fn fill(source: &str, values: &Map<String, Value>) -> Result<String, String> {
    let (mut text, mut done) = (String::new(), 0);
    for place in placeholders(source) {
        let Some(value) = values.get(place.step).and_then(|step| step.get(place.field)).and_then(scalar)
        else {
            continue;
        };
        text.push_str(&source[done..place.offset]);
        text.push_str(&value);
        done = place.offset + place.written.len();
        if text.len() > MAX_SIZE {
            return Err(too_large());
        }
    }
    text.push_str(&source[done..]);
    if text.len() > MAX_SIZE { Err(too_large()) } else { Ok(text) }
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(_) | Value::Object(_) => None,
        scalar => Some(scalar.to_string()),
    }
}

fn is_name(word: &str) -> bool {
    let begins = word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    begins && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Equal,
    NotEqual,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
}

/// A condition.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Comparison<'s> {
    /// Where the step is written.
    pub(crate) offset: usize,
    pub(crate) step: &'s str,
    pub(crate) field: &'s str,
    pub(crate) operator: Operator,
    pub(crate) literal: Value,
}

/// The operators; those that begin like others come first.
const OPERATORS: &[(&str, Operator)] = &[
    ("==", Operator::Equal),
    ("!=", Operator::NotEqual),
    (">=", Operator::GreaterOrEqual),
    ("<=", Operator::LessOrEqual),
    (">", Operator::Greater),
    ("<", Operator::Less),
];

/// Reads a condition.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn comparison(source: &str) -> Result<Comparison<'_>, Flaw> {
    let hint = "version 1.0 compares a field with a literal, as in `triage.severity == \"high\"`";
    let offset = source.len() - source.trim_start().len();
    let rest = &source[offset..];
    let end = rest.find(|c: char| c.is_whitespace() || "=!<>".contains(c)).unwrap_or(rest.len());
    let Some((step, field)) =
        rest[..end].split_once('.').filter(|(step, field)| is_name(step) && is_name(field))
    else {
        return Err(Flaw::new(offset, "a condition begins with a step and one of its fields", hint));
    };
    let behind = rest[end..].trim_start();
    let at = source.len() - behind.len();
    let Some((sign, operator)) = OPERATORS.iter().find(|(sign, _)| behind.starts_with(sign)) else {
        return Err(Flaw::new(at, "one of `==`, `!=`, `>`, `>=`, `<`, `<=` is missing", hint));
    };
    let word = behind[sign.len()..].trim();
    let Some(literal) = literal(word) else {
        let at = at + sign.len();
        return Err(Flaw::new(at, "a text in quotes, a number, `true`, `false` or `null` is missing", hint));
    };
    Ok(Comparison { offset, step, field, operator: *operator, literal })
}

fn literal(word: &str) -> Option<Value> {
    if let Some(text) = word.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        return (!text.contains('\'')).then(|| Value::String(text.to_owned()));
    }
    let value: Value = serde_json::from_str(word).ok()?;
    (!value.is_array() && !value.is_object()).then_some(value)
}

/// Gives the answer of a condition.
pub(super) fn compare(source: &str, values: &Map<String, Value>) -> Result<bool, String> {
    let test = comparison(source).map_err(|flaw| flaw.to_string())?;
    let step = values
        .get(test.step)
        .ok_or_else(|| not_run(test.step, values).unwrap_or_else(|| missing(test.step, values)))?;
    let fields = step.as_object().ok_or_else(|| format!("the output of `{}` is no object", test.step))?;
    let value = fields.get(test.field).ok_or_else(|| missing(test.field, fields))?;
    let ordering = match (value, &test.literal) {
        (Value::Number(one), Value::Number(other)) => match (integer(one), integer(other)) {
            (Some(one), Some(other)) => Some(one.cmp(&other)),
            _ => one.as_f64().partial_cmp(&other.as_f64()),
        },
        (Value::String(one), Value::String(other)) => Some(one.cmp(other)),
        _ => None,
    };
    let equal = ordering.map_or_else(|| *value == test.literal, std::cmp::Ordering::is_eq);
    let ordered = || {
        ordering.ok_or_else(|| {
            format!("`{}.{}` cannot be less or greater than {}", test.step, test.field, test.literal)
        })
    };
    Ok(match test.operator {
        Operator::Equal => equal,
        Operator::NotEqual => !equal,
        Operator::Greater => ordered()?.is_gt(),
        Operator::GreaterOrEqual => ordered()?.is_ge(),
        Operator::Less => ordered()?.is_lt(),
        Operator::LessOrEqual => ordered()?.is_le(),
    })
}

fn integer(number: &serde_json::Number) -> Option<i128> {
    number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
}

/// Says of a name that is not known by now that it is a step which has not run. In a workflow it is no other: whatever no step has
/// as its name was refused when that was checked.
pub(super) fn not_run(name: &str, values: &Map<String, Value>) -> Option<String> {
    let is_of_a_workflow = values.contains_key("steps");
    (is_of_a_workflow && is_name(name) && !values.contains_key(name))
        .then(|| format!("the step `{}` has not run", shortened(name)))
}

fn missing(name: &str, known: &Map<String, Value>) -> String {
    format!("`{}` is not there; {}", shortened(name), instead_of(name, known.keys().map(String::as_str)))
}
