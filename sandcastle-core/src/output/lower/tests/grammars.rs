//! What a server of llama.cpp makes of a schema: a grammar, in which a schema that says no type is one of objects, counts
//! take room, and nothing can be referred to but definitions.

use serde_json::{Value, json};

use super::{Dialect, refused, sent};

const GRAMMARS: [Dialect; 2] = [Dialect::Ollama, Dialect::LlamaCpp];

/// Returns the copy of a property, and what a description says instead.
fn property(schema: &Value, dialect: Dialect) -> (Value, Vec<String>) {
    let within = json!({ "type": "object", "properties": { "v": schema }, "required": ["v"] });
    let lowering = sent(&within, dialect);
    let said = lowering.moved.iter().map(|moved| moved.text.clone()).collect();
    (lowering.wire["properties"]["v"].clone(), said)
}

#[test]
fn a_count_that_no_grammar_has_room_for_is_said() {
    for dialect in GRAMMARS {
        for (schema, said) in [
            (json!({ "type": "string", "maxLength": 10_000 }), "At most 10000 characters."),
            (json!({ "type": "string", "minLength": 1001 }), "At least 1001 characters."),
            (
                json!({ "type": "array", "items": { "type": "string" }, "maxItems": 2000 }),
                "At most 2000 items.",
            ),
            (
                json!({ "type": "array", "items": { "type": "string" }, "maxItems": 3.0 }),
                "At most 3.0 items.",
            ),
            (json!({ "type": "array", "minItems": 2 }), "At least 2 items."),
        ] {
            assert_eq!(property(&schema, dialect).1, [said], "{dialect}: {schema}");
        }
        let (kept, said) = property(&json!({ "type": "string", "minLength": 1000 }), dialect);
        assert_eq!((kept["minLength"].as_u64(), said.len()), (Some(1000), 0), "{dialect}");
    }
}

#[test]
fn a_pattern_that_repeats_what_is_repeated_is_weighed() {
    for (pattern, goes) in [
        ("^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$", true),
        ("^([a-z]{1,30}-){1,32}$", true),
        ("^([a-z]{1,40}-){1,40}$", false),
        ("^a{1,2000}$", false),
        ("^(((((a{9}){9}){9}){9}){9})$", false),
    ] {
        for dialect in GRAMMARS {
            let (kept, _) = property(&json!({ "type": "string", "pattern": pattern }), dialect);
            assert_eq!(kept.get("pattern").is_some(), goes, "{dialect}: {pattern}");
        }
    }
}

#[test]
fn a_value_of_any_type_names_them_all_since_a_grammar_would_take_only_objects() {
    let any = json!(["null", "boolean", "number", "string", "array", "object"]);
    for dialect in GRAMMARS {
        for schema in [json!(true), json!({}), json!({ "description": "Anything." }), json!({ "minimum": 3 })]
        {
            assert_eq!(property(&schema, dialect).0["type"], any, "{dialect}: {schema}");
        }
        let list = property(&json!({ "type": "array", "items": {} }), dialect).0;
        assert_eq!(list["items"]["type"], any, "{dialect}: {list}");
        assert_eq!(property(&json!({ "enum": [1, "a"] }), dialect).0.get("type"), None, "{dialect}");
    }
}

#[test]
fn a_bound_that_an_integer_has_no_room_for_is_said() {
    for dialect in GRAMMARS {
        for (schema, said) in [
            (json!({ "type": "integer", "maximum": u64::MAX }), "At most 18446744073709551615."),
            (
                json!({ "type": "integer", "exclusiveMinimum": i64::MIN }),
                "Greater than -9223372036854775808.",
            ),
            (json!({ "type": "integer", "exclusiveMaximum": 0.5 }), "Less than 0.5."),
            (json!({ "type": "integer", "minimum": 0, "exclusiveMinimum": 3 }), "Greater than 3."),
            // Alone, it would ask for more digits than a number may have.
            (
                json!({ "type": "integer", "minimum": 2_000_000_000_000_000_u64 }),
                "At least 2000000000000000.",
            ),
            (
                json!({ "type": "integer", "maximum": -9_007_199_254_740_992_i64 }),
                "At most -9007199254740992.",
            ),
        ] {
            assert_eq!(property(&schema, dialect).1, [said], "{dialect}: {schema}");
        }
        let both = json!({ "type": "integer", "minimum": 2_000_000_000_000_000_u64, "exclusiveMaximum": 1_u64 << 53 });
        assert_eq!(property(&both, dialect).1.len(), 0, "{dialect}");
        let alone = json!({ "type": "integer", "exclusiveMinimum": 999_999_999_999_998_u64 });
        assert_eq!(property(&alone, dialect).1.len(), 0, "{dialect}");
    }
}

#[test]
fn a_key_that_must_be_there_and_is_not_declared_is_refused_where_objects_are_closed() {
    let named = |more: Value| {
        let mut schema =
            json!({ "type": "object", "properties": { "a": { "type": "string" } }, "required": ["b"] });
        schema.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        schema
    };
    for dialect in GRAMMARS {
        let refusals = refused(&named(json!({})), dialect);
        assert_eq!(refusals, ["`required` at the root names `b`, which is not declared"], "{dialect}");
        sent(&named(json!({ "additionalProperties": { "type": "string" } })), dialect);
        sent(&json!({ "type": "object", "required": ["b"] }), dialect);
    }
}

#[test]
fn a_reference_to_the_whole_schema_is_one_to_a_definition() {
    let schema = json!({
        "type": "object",
        "properties": { "kids": { "type": "array", "items": { "$ref": "#" } } },
        "required": ["kids"],
    });
    let wire = sent(&schema, Dialect::LlamaCpp).wire;
    assert_eq!(wire["properties"]["kids"]["items"], json!({ "$ref": "#/$defs/root" }));
    assert_eq!(wire["$defs"]["root"]["properties"]["kids"]["items"], json!({ "$ref": "#/$defs/root" }));
}
