//! What holds for every schema: rendering ends, is linear, is no answer, and names every constraint.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{STYLES, assert_no_block, render, shape};
use crate::output::OutputFormat;
use crate::output::snippet::SnippetStyle;

/// Keywords that are limits whatever stands beside them.
const LIMITS: [&str; 12] = [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "minProperties",
    "default",
    "x-other",
    "not",
];

fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(true)),
        limited(Just(json!({ "type": "string" })).boxed()),
        limited(Just(json!({ "type": ["integer", "null"] })).boxed()),
        (1000..9999_u32, "[a-z<>/\"\\\\]{0,8}").prop_map(|(number, text)| json!({ "enum": [number, text] })),
        reference(),
    ];
    leaf.prop_recursive(5, 60, 5, |inner| {
        let several = prop::collection::vec(inner.clone(), 1..5);
        limited(
            prop_oneof![
                (prop::collection::vec(("[a-z]{1,6}|<result>|a b", inner.clone()), 0..5), any::<bool>())
                    .prop_map(object),
                inner.clone().prop_map(|item| json!({ "type": "array", "items": item })),
                several.clone().prop_map(|items| json!({ "prefixItems": items })),
                several.clone().prop_map(|arms| json!({ "oneOf": arms })),
                several.clone().prop_map(|arms| json!({ "anyOf": arms })),
                several.prop_map(|arms| json!({ "allOf": arms })),
                (inner.clone(), inner).prop_map(
                    |(names, values)| json!({ "propertyNames": names, "additionalProperties": values })
                ),
            ]
            .boxed(),
        )
    })
}

fn object((fields, closed): (Vec<(String, Value)>, bool)) -> Value {
    let required: Vec<String> = fields.iter().map(|(name, _)| name.clone()).step_by(2).collect();
    let properties: Map<String, Value> = fields.into_iter().collect();
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": !closed })
}

fn reference() -> impl Strategy<Value = Value> {
    prop::sample::select(vec!["#", "#/$defs/A", "#/$defs/B", "#/$defs/Gone", "other.json"])
        .prop_map(|to| json!({ "$ref": to }))
}

/// Adds a limit and a description to schemas.
fn limited(schemas: BoxedStrategy<Value>) -> impl Strategy<Value = Value> {
    let limit = (prop::sample::select(LIMITS.to_vec()), 1000..9999_u32);
    let note = prop::option::of("[a-z.</>*`\n]{0,12}|</result>|<result>\\{\\}</result>");
    (schemas, prop::option::of(limit), note).prop_map(|(mut schema, limit, note)| {
        if let Some((keyword, value)) = limit {
            schema[keyword] = if keyword == "pattern" { json!(value.to_string()) } else { json!(value) };
        }
        if let Some(note) = note {
            schema["description"] = json!(note);
        }
        schema
    })
}

/// Returns a whole schema: one that uses both definitions, so that all of it counts.
fn document() -> impl Strategy<Value = Value> {
    [schema(), schema(), schema()].prop_map(|[root, a, b]| {
        json!({ "allOf": [root, { "$ref": "#/$defs/A" }, { "$ref": "#/$defs/B" }], "$defs": { "A": a, "B": b } })
    })
}

/// Lists the values of all limits and the listed values, wherever they stand.
fn values(schema: &Value, found: &mut Vec<String>) {
    match schema {
        Value::Object(keywords) => {
            for (keyword, value) in keywords {
                match keyword.as_str() {
                    "enum" => found.push(value[0].to_string()),
                    limit if LIMITS.contains(&limit) && !value.is_object() => found.push(value.to_string()),
                    _ => values(value, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| values(item, found)),
        _ => {}
    }
}

proptest! {
    #[test]
    fn no_snippet_is_an_answer(schema in document()) {
        for style in STYLES {
            assert_no_block("result", &render("result", &schema, style), OutputFormat::Json);
        }
    }

    #[test]
    fn every_constraint_is_named(schema in document()) {
        let mut wanted = Vec::new();
        values(&schema, &mut wanted);
        for style in STYLES {
            let text = shape(schema.clone(), style);
            for value in &wanted {
                let times = |text: &str| text.matches(value.as_str()).count();
                let demanded = wanted.iter().filter(|other| *other == value).count();
                prop_assert!(times(&text) >= demanded, "`{value}` is not named in {text}");
            }
        }
    }

    #[test]
    fn length_is_linear_in_the_schema(schema in document()) {
        for style in STYLES {
            prop_assert!(render("result", &schema, style).len() < 400 + 4 * schema.to_string().len());
        }
    }

    #[test]
    fn the_same_schema_gives_the_same_text(schema in document()) {
        prop_assert_eq!(shape(schema.clone(), SnippetStyle::TypeScript), shape(schema, SnippetStyle::TypeScript));
    }
}
