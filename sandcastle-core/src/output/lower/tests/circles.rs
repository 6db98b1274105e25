//! References that lead back to themselves without a value in between.

use serde_json::{Value, json};

use super::{Dialect, refused, sent};

fn with(defs: Value, value: &Value) -> Value {
    let mut schema = json!({ "type": "object", "properties": { "v": value }, "required": ["v"], "additionalProperties": false });
    schema["$defs"] = defs;
    schema
}

#[test]
fn a_reference_that_only_leads_to_itself_is_refused_with_its_place() {
    let a = json!({ "$ref": "#/$defs/A" });
    for (defs, value, place) in [
        (json!({ "A": a }), &a, "/$defs/A"),
        (json!({ "A": { "$ref": "#/$defs/B" }, "B": a }), &a, "/$defs/B"),
        (json!({ "A": { "allOf": [a, { "type": "string" }] } }), &a, "/$defs/A/allOf/0"),
        (json!({ "A": { "anyOf": [a, { "type": "string" }] } }), &a, "/$defs/A/anyOf/0"),
        (
            json!({ "A": { "$ref": "#/$defs/B" }, "B": { "oneOf": [{ "type": "null" }, a] } }),
            &a,
            "/$defs/B/oneOf/1",
        ),
        (json!({ "A": { "type": "string", "not": a } }), &a, "/$defs/A/not"),
        (json!({ "A": { "type": "string" } }), &json!({ "$ref": "#/properties/v" }), "/properties/v"),
        (json!({ "A": { "type": "array", "items": { "$ref": "#/$defs/A/items" } } }), &a, "/$defs/A/items"),
    ] {
        let schema = with(defs, value);
        for dialect in Dialect::ALL {
            let refusals = refused(&schema, dialect);
            let first = format!(
                "`$ref` at {place} leads back to itself without a value in between, so it says nothing"
            );
            assert_eq!(refusals.first(), Some(&first), "{dialect}: {schema}");
        }
    }
    assert!(refused(&json!({ "$ref": "#" }), Dialect::Codex)[0].starts_with("`$ref` at the root leads back"));
}

#[test]
fn a_reference_with_a_value_in_between_and_one_that_nobody_follows_are_none() {
    let a = json!({ "$ref": "#/$defs/A" });
    for defs in [
        json!({ "A": { "type": "object", "properties": { "a": a }, "additionalProperties": false } }),
        json!({ "A": { "anyOf": [{ "type": "array", "items": a }, { "type": "null" }] } }),
        json!({ "A": { "type": "string" }, "B": { "$ref": "#/$defs/B" } }),
        // Twice the same is no circle.
        json!({ "A": { "allOf": [{ "$ref": "#/$defs/B" }, { "$ref": "#/$defs/B" }] }, "B": { "type": "string" } }),
    ] {
        for dialect in [Dialect::ClaudeCode, Dialect::Codex, Dialect::OpenAi, Dialect::LlamaCpp] {
            sent(&with(defs.clone(), &a), dialect);
        }
    }
    // Before 2019, nothing beside a reference counted.
    let old = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": { "v": { "$ref": "#/definitions/A", "allOf": [{ "$ref": "#/properties/v" }] } },
        "required": ["v"],
        "definitions": { "A": { "type": "string" } },
    });
    sent(&old, Dialect::OpenAi);
}

#[test]
fn a_long_way_in_a_circle_is_gone_once() {
    let mut defs = serde_json::Map::new();
    for index in 0..20_000 {
        defs.insert(format!("d{index}"), json!({ "$ref": format!("#/$defs/d{}", (index + 1) % 20_000) }));
    }
    let refusals = refused(&with(defs.into(), &json!({ "$ref": "#/$defs/d0" })), Dialect::OpenAi);
    assert!(refusals[0].starts_with("`$ref` at /$defs/d19999 leads back to itself"), "{refusals:?}");
}
