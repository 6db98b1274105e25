//! The schema itself: one line, in order, without what only Rust understands.

use serde_json::{Value, json};

use super::shape;
use crate::output::snippet::SnippetStyle;

#[track_caller]
fn check(schema: Value, expected: &str) {
    assert_eq!(shape(schema, SnippetStyle::JsonSchema), expected);
}

#[test]
fn case_062_the_dialect_is_left_out() {
    let schema = json!({ "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object" });
    check(schema, r#"{"type":"object"}"#);
}

#[test]
fn case_063_and_064_formats_of_rust_are_left_out() {
    let schema = json!({ "properties": {
        "t": { "type": "integer", "format": "uint64", "minimum": 0 },
        "d": { "type": "string", "format": "date" },
    } });
    check(
        schema,
        r#"{"properties":{"t":{"type":"integer","minimum":0},"d":{"type":"string","format":"date"}}}"#,
    );
}

#[test]
fn case_085_the_order_is_kept() {
    let schema =
        json!({ "properties": { "reasoning": {}, "answer": {} }, "required": ["reasoning", "answer"] });
    check(schema, r#"{"properties":{"reasoning":{},"answer":{}},"required":["reasoning","answer"]}"#);
}

#[test]
fn values_and_names_of_properties_are_data() {
    let schema = json!({
        "properties": { "format": { "const": { "format": "uint8", "$schema": "x" } }, "$schema": { "default": { "format": "int8" } } },
    });
    check(schema.clone(), &schema.to_string());
}

#[test]
fn strings_are_escaped_only_where_they_would_name_the_tag() {
    check(json!({ "pattern": "<b></result>\u{7f}" }), r#"{"pattern":"<b>\u003c/result>\u007f"}"#);
}
