//! The keywords that each service takes, one table a service.

use serde_json::{Map, Value};

use super::grammar;
use super::schema::{Cycles, Makes, Objects, Rules, Takes};
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
    makes: Makes::Something,
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
    makes: Makes::Something,
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
    makes: Makes::Something,
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
        ("minItems", If(grammar::is_count)),
        ("maxItems", If(grammar::is_count)),
        ("minLength", If(grammar::is_count)),
        ("maxLength", If(grammar::is_count)),
        ("pattern", If(grammar::is_pattern)),
        ("format", If(|value, _| ["date", "time", "date-time", "uuid"].contains(&text(value)))),
        ("minimum", If(grammar::is_bound)),
        ("maximum", If(grammar::is_bound)),
        ("exclusiveMinimum", If(grammar::is_bound)),
        ("exclusiveMaximum", If(grammar::is_bound)),
        ("anyOf", ListIf(always)),
    ],
    objects: Objects::MayBeOpen,
    cycles: Cycles::Refused,
    limits: None,
    makes: Makes::Grammar,
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
        ("minItems", If(grammar::is_count)),
        ("maxItems", If(grammar::is_count)),
        ("minLength", If(is_count_alone)),
        ("maxLength", If(is_count_alone)),
        ("pattern", If(grammar::is_pattern)),
        ("format", If(|value, _| ["date", "time", "date-time", "uuid"].contains(&text(value)))),
        ("minimum", If(grammar::is_bound)),
        ("maximum", If(grammar::is_bound)),
        ("exclusiveMinimum", If(grammar::is_bound)),
        ("exclusiveMaximum", If(grammar::is_bound)),
        ("$ref", If(grammar::is_reference)),
        ("$defs", Schemas),
        ("definitions", Schemas),
        ("anyOf", ListIf(|object| !object.contains_key("properties"))),
        ("oneOf", ListIf(|object| !object.contains_key("properties"))),
    ],
    objects: Objects::MayBeOpen,
    cycles: Cycles::Taken,
    limits: None,
    makes: Makes::Grammar,
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

/// Beside a pattern, a length is not looked at.
fn is_count_alone(value: &Value, object: &Map<String, Value>) -> bool {
    grammar::is_count(value, object) && !object.contains_key("pattern")
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
