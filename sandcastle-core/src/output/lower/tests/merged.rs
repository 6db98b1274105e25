//! Where demands are put together, they stay the same demand: neither more nor less.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{Dialect, lower, refused, sent};

/// What may be demanded of a property.
fn scalar() -> impl Strategy<Value = Value> {
    let bounded = (0..3_i64, 2..5_i64);
    prop_oneof![
        6 => bounded.prop_map(|(least, most)| json!({ "type": "integer", "minimum": least, "maximum": most })),
        2 => prop::collection::vec(0..4_i64, 1..3).prop_map(|all| json!({ "type": "integer", "enum": all })),
        1 => (1..5_i64).prop_map(|most| json!({ "type": ["integer", "null"], "exclusiveMaximum": most })),
        1 => Just(json!({ "type": ["string", "null"], "minLength": 2 })),
        1 => Just(json!({ "type": "string" })),
        1 => Just(json!({ "$ref": "#/$defs/I" })),
        1 => Just(json!(true)),
    ]
}

fn object() -> impl Strategy<Value = Value> {
    let properties = prop::collection::btree_map("[ab]", scalar(), 0..3);
    let required = prop::collection::btree_set("[ab]", 0..2);
    let rest = prop_oneof![Just(None), Just(Some(json!(false))), scalar().prop_map(Some)];
    (properties, required, rest).prop_map(|(properties, required, rest)| {
        let mut object = json!({ "type": "object", "properties": properties, "required": required });
        if let Some(rest) = rest {
            object["additionalProperties"] = rest;
        }
        object
    })
}

/// Demands that stand side by side, in each way in which they can.
fn together() -> impl Strategy<Value = Value> {
    let beside = |mut base: Value, key: &str, parts: Value| {
        base[key] = parts;
        base
    };
    prop_oneof![
        prop::collection::vec(object(), 1..4).prop_map(|parts| json!({ "allOf": parts })),
        (object(), prop::collection::vec(object(), 1..3)).prop_map(move |(base, parts)| beside(
            base,
            "allOf",
            parts.into()
        )),
        (object(), prop::collection::vec(object(), 1..3)).prop_map(move |(base, parts)| beside(
            base,
            "anyOf",
            parts.into()
        )),
        object().prop_map(move |base| beside(base, "$ref", json!("#/$defs/O"))),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let field = prop_oneof![
        4 => (0..5_i64).prop_map(|number| json!(number)),
        1 => prop::sample::select(vec![json!("x"), json!("xyz"), json!(null), json!(true)]),
    ];
    prop::collection::btree_map("[abc]", field, 0..3).prop_map(|fields| json!(fields))
}

fn document(part: &Value) -> Value {
    json!({
        "type": "object",
        "properties": { "v": part },
        "required": ["v"],
        "$defs": {
            "I": { "type": "integer", "minimum": 1 },
            "O": { "type": "object", "properties": { "a": { "type": "integer" } }, "required": ["b"] },
        },
    })
}

proptest! {
    #[test]
    fn together_they_accept_what_they_accept_apart(part in together(), values in prop::collection::vec(value(), 12)) {
        let schema = document(&part);
        // These wires close nothing, so the copy can say exactly the same.
        for dialect in [Dialect::LlamaCpp, Dialect::ClaudeCode] {
            let lowering = lower(&schema, dialect);
            if !lowering.is_sendable() {
                continue;
            }
            for value in values.iter().map(|value| json!({ "v": value })) {
                let (wanted, sent) = (jsonschema::is_valid(&schema, &value), jsonschema::is_valid(&lowering.wire, &value));
                let is_right = if lowering.moved.is_empty() { wanted == sent } else { sent || !wanted };
                prop_assert!(is_right, "{dialect}: {schema}\n{}\n{value}", lowering.wire);
            }
        }
    }
}

#[test]
fn a_closed_part_forbids_the_keys_of_the_others() {
    let part = |name: &str, more: Value| {
        let mut part = json!({ "type": "object", "properties": { name: { "type": "string" } } });
        part.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        part
    };
    let closed = part("a", json!({ "additionalProperties": false }));
    let optional = document(&json!({ "allOf": [closed, part("b", json!({}))] }));
    let wire = &sent(&optional, Dialect::Anthropic).wire["properties"]["v"];
    assert_eq!(wire["properties"], json!({ "a": { "type": "string" } }));
    let required = document(&json!({ "allOf": [closed, part("b", json!({ "required": ["b"] }))] }));
    assert_eq!(
        refused(&required, Dialect::Anthropic),
        [
            "`allOf` at /properties/v demands more of one value than one schema can say: two of `additionalProperties` do not become one"
        ]
    );
}

#[test]
fn what_is_said_of_both_is_joined() {
    let schema = document(&json!({ "description": "Outer", "title": "T", "allOf": [
        { "description": "Inner.", "title": "U", "type": "integer", "minimum": 3, "enum": [1, 2, 3, 9] },
        { "type": "number", "minimum": 1, "maximum": 7, "enum": [9, 3, 4] },
    ] }));
    let wire = &sent(&schema, Dialect::OpenAi).wire["properties"]["v"];
    let expected: Map<String, Value> = serde_json::from_str(
        r#"{"description":"Outer. Inner.","title":"T","type":"integer","minimum":3,"enum":[3,9],"maximum":7}"#,
    )
    .unwrap();
    assert_eq!(wire.as_object().unwrap().iter().collect::<Vec<_>>(), expected.iter().collect::<Vec<_>>());
}
