//! The keywords that each service takes, one table a service.

use serde_json::{Map, Value};

use super::schema::{Cycles, Objects, Rules, Takes};
use Takes::{Anything, If, ListIf, Schema, SchemaOrBool, Schemas};

pub(super) const ANTHROPIC: Rules = Rules {
    keywords: &[
        ("type", Anything),
        ("title", Anything),
        ("description", Anything),
        ("default", Anything),
        ("properties", Schemas),
        ("required", Anything),
        ("additionalProperties", If(is_false)),
        ("enum", If(of_scalars)),
        ("const", If(is_scalar)),
        ("items", Schema),
        ("minItems", If(|value, _| matches!(value.as_u64(), Some(0 | 1)))),
        ("pattern", If(|value, _| is_simple_pattern(text(value)))),
        (
            "format",
            If(|value, _| {
                let known = [
                    "date-time",
                    "time",
                    "date",
                    "duration",
                    "email",
                    "hostname",
                    "uri",
                    "ipv4",
                    "ipv6",
                    "uuid",
                ];
                known.contains(&text(value))
            }),
        ),
        ("$ref", If(is_local)),
        ("$defs", Schemas),
        ("definitions", Schemas),
        ("anyOf", ListIf(always)),
        ("allOf", ListIf(|object| !Value::from(object.clone()).to_string().contains("\"$ref\""))),
    ],
    objects: Objects::Closed,
    cycles: Cycles::Refused,
    limits: Some((24, 16)),
};

pub(super) const OPENAI: Rules = Rules {
    keywords: &[
        ("type", Anything),
        ("title", Anything),
        ("description", Anything),
        ("properties", Schemas),
        ("required", Anything),
        ("additionalProperties", If(is_false)),
        ("enum", If(of_scalars)),
        ("const", If(is_scalar)),
        ("items", Schema),
        ("minItems", Anything),
        ("maxItems", Anything),
        ("pattern", If(|value, _| !text(value).contains("(?"))),
        (
            "format",
            If(|value, _| {
                let known =
                    ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];
                known.contains(&text(value))
            }),
        ),
        ("minimum", Anything),
        ("maximum", Anything),
        ("exclusiveMinimum", Anything),
        ("exclusiveMaximum", Anything),
        ("multipleOf", Anything),
        ("$ref", If(is_local)),
        ("$defs", Schemas),
        ("definitions", Schemas),
        ("anyOf", ListIf(|object| !object.contains_key("properties"))),
    ],
    objects: Objects::ClosedAndWhole,
    cycles: Cycles::Taken,
    limits: None,
};

pub(super) const GEMINI: Rules = Rules {
    keywords: &[
        ("$id", Anything),
        ("$anchor", Anything),
        ("type", If(beside_no_reference)),
        ("title", If(beside_no_reference)),
        ("description", If(beside_no_reference)),
        ("properties", Schemas),
        ("propertyOrdering", Anything),
        ("required", Anything),
        ("additionalProperties", SchemaOrBool),
        ("enum", If(|value, _| elements(value).all(|value| value.is_string() || value.is_number()))),
        ("items", Schema),
        ("prefixItems", ListIf(always)),
        ("minItems", Anything),
        ("maxItems", Anything),
        ("format", If(|value, _| ["date-time", "date", "time"].contains(&text(value)))),
        ("minimum", Anything),
        ("maximum", Anything),
        ("$ref", If(is_local)),
        ("$defs", Schemas),
        ("anyOf", ListIf(always)),
        ("oneOf", ListIf(always)),
    ],
    objects: Objects::MayBeOpen,
    cycles: Cycles::Taken,
    limits: None,
};

pub(super) const OLLAMA: Rules = Rules {
    keywords: &[
        ("type", Anything),
        ("title", Anything),
        ("description", Anything),
        ("properties", Schemas),
        ("required", Anything),
        ("additionalProperties", SchemaOrBool),
        ("enum", If(of_scalars)),
        ("items", Schema),
        ("minItems", Anything),
        ("maxItems", Anything),
        ("minLength", Anything),
        ("maxLength", Anything),
        ("pattern", If(|value, _| is_anchored(text(value)))),
        ("format", If(|value, _| ["date", "time", "date-time", "uuid"].contains(&text(value)))),
        ("minimum", If(of_integer)),
        ("maximum", If(of_integer)),
        ("exclusiveMinimum", If(of_integer)),
        ("exclusiveMaximum", If(of_integer)),
        ("anyOf", ListIf(always)),
    ],
    objects: Objects::MayBeOpen,
    cycles: Cycles::Refused,
    limits: None,
};

pub(super) const LLAMA_CPP: Rules = Rules {
    keywords: &[
        ("type", Anything),
        ("title", Anything),
        ("description", Anything),
        ("properties", Schemas),
        ("required", Anything),
        ("additionalProperties", SchemaOrBool),
        ("enum", If(of_scalars)),
        ("const", If(is_scalar)),
        ("items", Schema),
        ("minItems", Anything),
        ("maxItems", Anything),
        ("minLength", If(|_, object| !object.contains_key("pattern"))),
        ("maxLength", If(|_, object| !object.contains_key("pattern"))),
        ("pattern", If(|value, _| is_anchored(text(value)))),
        ("format", If(|value, _| ["date", "time", "date-time", "uuid"].contains(&text(value)))),
        ("minimum", If(of_integer)),
        ("maximum", If(of_integer)),
        ("exclusiveMinimum", If(of_integer)),
        ("exclusiveMaximum", If(of_integer)),
        ("$ref", If(|value, object| is_local(value, object) && object.len() == 1)),
        ("$defs", Schemas),
        ("definitions", Schemas),
        ("anyOf", ListIf(|object| !object.contains_key("properties"))),
        ("oneOf", ListIf(|object| !object.contains_key("properties"))),
    ],
    objects: Objects::MayBeOpen,
    cycles: Cycles::Taken,
    limits: None,
};

fn always(_: &Map<String, Value>) -> bool {
    true
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn elements(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn is_false(value: &Value, _: &Map<String, Value>) -> bool {
    *value == Value::Bool(false)
}

fn is_scalar(value: &Value, _: &Map<String, Value>) -> bool {
    !value.is_object() && !value.is_array()
}

fn of_scalars(value: &Value, object: &Map<String, Value>) -> bool {
    elements(value).all(|value| is_scalar(value, object))
}

fn is_local(value: &Value, _: &Map<String, Value>) -> bool {
    text(value).starts_with('#')
}

fn beside_no_reference(_: &Value, object: &Map<String, Value>) -> bool {
    !object.contains_key("$ref")
}

fn of_integer(_: &Value, object: &Map<String, Value>) -> bool {
    object.get("type").is_some_and(|kind| *kind == "integer" || elements(kind).any(|kind| *kind == "integer"))
}

/// No groups with a question mark, no back-references, no boundaries, no large counts.
fn is_simple_pattern(pattern: &str) -> bool {
    let references = (1..=9).map(|digit| format!("\\{digit}"));
    let refused = ["(?".to_owned(), "\\b".to_owned(), "\\B".to_owned()];
    let counts = pattern.split('{').skip(1).filter_map(|count| count.split('}').next());
    let mut numbers =
        counts.flat_map(|count| count.split(',')).filter_map(|number| number.parse::<u32>().ok());
    !references.chain(refused).any(|mark| pattern.contains(&mark)) && numbers.all(|number| number <= 100)
}

/// The converter of grammars knows neither patterns without ends nor classes by a letter.
fn is_anchored(pattern: &str) -> bool {
    let refused = ["(?", "\\d", "\\w", "\\s", "\\b", "\\D", "\\W", "\\S"];
    pattern.starts_with('^') && pattern.ends_with('$') && !refused.iter().any(|mark| pattern.contains(mark))
}
