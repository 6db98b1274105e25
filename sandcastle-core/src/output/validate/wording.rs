//! One sentence for each way in which a value does not fit.

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{JsonType, ValidationError};
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::output::quote::{clip, literal, one_line, option};

/// The most allowed values that are listed.
const MAX_OPTIONS: usize = 30;

/// Returns what is wrong, as a sentence without a period whose subject is the place.
pub(super) fn sentence(error: &ValidationError<'_>) -> String {
    use ValidationErrorKind as Kind;
    match error.kind() {
        Kind::Type { kind } => wrong_type(&types_of(kind), error.instance()),
        Kind::Enum { options } => one_of(options.as_array().into_iter().flatten()),
        Kind::Constant { expected_value } => one_of([&**expected_value]),
        Kind::Minimum { limit } => format!("must be at least {limit}"),
        Kind::Maximum { limit } => format!("must be at most {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("must be more than {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("must be less than {limit}"),
        Kind::MultipleOf { multiple_of } => format!("must be a multiple of {multiple_of}"),
        Kind::MinLength { limit } => format!("must be at least {} long", count(*limit, "character")),
        Kind::MaxLength { limit } => format!("must be at most {} long", count(*limit, "character")),
        Kind::MinItems { limit } => format!("must have at least {}", count(*limit, "item")),
        Kind::MaxItems { limit } => format!("must have at most {}", count(*limit, "item")),
        Kind::AdditionalItems { limit } => format!("must have at most {}", count(*limit as u64, "item")),
        Kind::MinProperties { limit } => format!("must have at least {}", count(*limit, "field")),
        Kind::MaxProperties { limit } => format!("must have at most {}", count(*limit, "field")),
        Kind::UnevaluatedItems { .. } => "has more items than allowed".to_owned(),
        Kind::UniqueItems => "must not have the same item twice".to_owned(),
        Kind::Contains => "has no item of the kind that it must have".to_owned(),
        Kind::Pattern { pattern } => format!("must match the pattern `{}`", clip(&one_line(pattern), 200)),
        Kind::Format { format } => format!("must be a valid `{format}`"),
        Kind::ContentEncoding { content_encoding } => format!("must be encoded as `{content_encoding}`"),
        Kind::ContentMediaType { content_media_type } => format!("must be valid `{content_media_type}`"),
        Kind::FromUtf8 { .. } => "must be UTF-8 when it is decoded".to_owned(),
        Kind::FalseSchema => "is not allowed here".to_owned(),
        Kind::Not { .. } => "is one of the values that are excluded".to_owned(),
        Kind::OneOfMultipleValid { .. } => "fits several alternatives where it must fit one".to_owned(),
        Kind::PropertyNames { error } => {
            format!(
                "has a field whose name is not allowed: {} {}",
                literal(error.instance()),
                sentence(error)
            )
        }
        Kind::BacktrackLimitExceeded { .. } | Kind::RegexEngineFailure { .. } => {
            "is too complex to be held against its pattern".to_owned()
        }
        Kind::Referencing(error) => error.to_string(),
        Kind::Custom { message, .. } => message.clone(),
        // Said by `explain`, with the place of each field.
        Kind::AdditionalProperties { .. } | Kind::UnevaluatedProperties { .. } => {
            "has fields that are not allowed".to_owned()
        }
        Kind::Required { property } => format!("must have the field {}", option(property)),
        Kind::AnyOf { .. } | Kind::OneOfNotValid { .. } => "fits none of the alternatives".to_owned(),
    }
}

/// Returns the types that would have been right.
pub(super) fn types_of(kind: &TypeKind) -> Vec<JsonType> {
    match kind {
        TypeKind::Single(expected) => vec![*expected],
        TypeKind::Multiple(expected) => expected.iter().collect(),
    }
}

/// Says which types would have been right, and what there is instead.
pub(super) fn wrong_type(expected: &[JsonType], found: &Value) -> String {
    let mut names: Vec<_> = expected.iter().map(|expected| with_article(*expected)).collect();
    // "null" comes first in jsonschema's order, but is rarely what is meant.
    names.sort_by_key(|name| *name == "null");
    let message = format!("must be {}, got {}", alternatives(&names), literal(found));
    let is_nested = expected.iter().any(|expected| matches!(expected, JsonType::Array | JsonType::Object));
    match found {
        Value::String(text) if is_nested && holds_json(text) => {
            format!("{message}: it is JSON encoded twice, give the value itself")
        }
        _ => message,
    }
}

fn with_article(expected: JsonType) -> &'static str {
    match expected {
        JsonType::Array => "an array",
        JsonType::Boolean => "a boolean",
        JsonType::Integer => "an integer",
        JsonType::Null => "null",
        JsonType::Number => "a number",
        JsonType::Object => "an object",
        JsonType::String => "a string",
    }
}

/// Lists the values that would have been right.
pub(super) fn one_of<'v>(options: impl IntoIterator<Item = &'v Value>) -> String {
    let mut options: Vec<_> = options.into_iter().map(option).collect();
    options.dedup();
    if let [only] = options.as_slice() {
        return format!("must be {only}");
    }
    let more = options.len().saturating_sub(MAX_OPTIONS);
    options.truncate(MAX_OPTIONS);
    let list = options.join(", ");
    if more > 0 {
        format!("must be one of {list} and {more} others")
    } else {
        format!("must be one of {list}")
    }
}

/// Lists words as alternatives.
pub(super) fn alternatives(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

fn holds_json(text: &str) -> bool {
    let text = text.trim();
    text.starts_with(['{', '[']) && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

fn count(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}
