//! The shapes that schemars gives to types of Rust, in the dialects that are strict about them.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Dialect, each_schema, lower, refused, sent};

const STRICT: [Dialect; 2] = [Dialect::Codex, Dialect::OpenAi];

fn schema_of<T: JsonSchema>() -> Value {
    crate::__private::schema_for::<T>().into()
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct B {
    x: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct A {
    xs: Vec<B>,
    o: Option<B>,
}

#[test]
fn case_062_a_copy_declares_no_draft() {
    let schema = schema_of::<A>();
    assert!(schema.get("$schema").is_some(), "schemars declares one: {schema}");
    for dialect in Dialect::ALL {
        each_schema("", &lower(&schema, dialect).wire, &mut |at, schema| {
            assert!(schema.get("$schema").is_none(), "{dialect} {at}: {schema}");
        });
    }
}

#[test]
fn case_063_and_064_no_copy_has_formats_of_rust_and_bounds_stay_where_they_can() {
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Numbers {
        t: u64,
        a: u32,
        b: u8,
        c: f32,
        d: Option<i64>,
    }
    let schema = schema_of::<Numbers>();
    for dialect in Dialect::ALL {
        let lowering = sent(&schema, dialect);
        assert!(!lowering.wire.to_string().contains("\"format\""), "{dialect}: {}", lowering.wire);
        let small = &lowering.wire["properties"]["b"];
        match dialect {
            Dialect::Anthropic => assert_eq!(small["description"], "At least 0. At most 255."),
            _ => assert_eq!((&small["minimum"], &small["maximum"]), (&json!(0), &json!(255)), "{dialect}"),
        }
    }
}

#[test]
fn case_065_every_object_is_closed() {
    for dialect in [Dialect::Codex, Dialect::OpenAi, Dialect::Anthropic] {
        let lowering = sent(&schema_of::<A>(), dialect);
        let mut objects = 0;
        each_schema("", &lowering.wire, &mut |at, schema| {
            if schema.get("properties").is_some() {
                objects += 1;
                assert_eq!(schema["additionalProperties"], false, "{dialect} {at}: {schema}");
            }
        });
        assert_eq!(objects, 2, "{}", lowering.wire);
    }
}

#[test]
fn case_066_objects_in_alternatives_are_closed() {
    let inlined = json!({ "type": "object", "properties": { "meta": { "anyOf": [
        { "type": "object", "properties": { "x": { "type": "string" } }, "required": ["x"] },
        { "type": "null" },
    ] } } });
    for dialect in STRICT {
        let lowering = sent(&inlined, dialect);
        let closed = &lowering.wire["properties"]["meta"]["anyOf"][0];
        assert_eq!((&closed["additionalProperties"], &closed["required"]), (&json!(false), &json!(["x"])));
    }
}

#[test]
fn case_067_every_key_is_required_and_an_absent_one_is_still_right() {
    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    struct O {
        a: i64,
        b: Option<String>,
        #[serde(default)]
        c: Vec<String>,
    }
    let schema = schema_of::<O>();
    for dialect in STRICT {
        let lowering = sent(&schema, dialect);
        assert_eq!(lowering.wire["required"], json!(["a", "b", "c"]));
        assert_eq!(lowering.wire["properties"]["b"]["type"], json!(["string", "null"]));
        assert_eq!(lowering.wire["properties"]["c"]["type"], json!(["array", "null"]));
        let lifted = lowering.lift(json!({ "a": 1, "b": null, "c": null }));
        assert_eq!(lifted, json!({ "a": 1, "b": null }), "`null` is a value of `b`, and no value of `c`");
        assert!(jsonschema::is_valid(&schema, &lifted));
        assert_eq!(serde_json::from_value::<O>(lifted).unwrap(), O { a: 1, b: None, c: Vec::new() });
    }
}

#[test]
fn case_068_nothing_stands_beside_a_reference_and_its_text_stays() {
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Documented {
        /// Where it was seen.
        place: B,
        /// Where else.
        other: Option<B>,
    }
    let schema = schema_of::<Documented>();
    for dialect in [Dialect::Codex, Dialect::OpenAi, Dialect::Gemini, Dialect::Anthropic] {
        let lowering = sent(&schema, dialect);
        each_schema("", &lowering.wire, &mut |at, schema| {
            let alone = schema.get("$ref").is_none() || schema.as_object().unwrap().len() == 1;
            assert!(alone, "{dialect} {at}: {schema}");
        });
        let place = &lowering.wire["properties"]["place"];
        assert_eq!(place["description"], "Where it was seen.", "{dialect}");
        assert_eq!(lowering.wire["properties"]["other"]["description"], "Where else.", "{dialect}");
    }
}

#[test]
fn case_070_only_any_of_is_sent() {
    #[derive(Serialize, Deserialize, JsonSchema)]
    enum E {
        A,
        B(i32),
        C { z: bool },
    }
    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Has {
        e: E,
        es: Vec<E>,
    }
    let schema = schema_of::<Has>();
    let value = json!(Has { e: E::A, es: vec![E::B(1), E::C { z: true }] });
    for dialect in [Dialect::Codex, Dialect::OpenAi, Dialect::Anthropic] {
        let lowering = sent(&schema, dialect);
        let text = lowering.wire.to_string();
        assert!(!text.contains("oneOf") && !text.contains("allOf") && text.contains("anyOf"), "{text}");
        assert!(lowering.moved.is_empty(), "they cannot both fit: {:?}", lowering.moved);
        assert!(jsonschema::is_valid(&lowering.wire, &value));
    }
}

#[test]
fn case_072_an_enum_at_the_root_is_refused_with_its_place() {
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    enum Outcome {
        Done { n: i64 },
        Blocked { why: String },
    }
    for dialect in Dialect::ALL {
        let lowering = lower(&schema_of::<Outcome>(), dialect);
        let [refusal] = lowering.refused.as_slice() else { panic!("{:?}", lowering.refused) };
        assert_eq!((refusal.pointer.as_str(), refusal.keyword.as_str()), ("", "oneOf"), "{dialect}");
    }
}

#[test]
fn case_073_alternatives_at_the_root_are_refused_with_their_place() {
    #[derive(JsonSchema)]
    #[serde(untagged)]
    #[expect(dead_code, reason = "only its schema is used")]
    enum Either {
        A(A),
        B(B),
    }
    for dialect in Dialect::ALL {
        let lowering = lower(&schema_of::<Either>(), dialect);
        let [refusal] = lowering.refused.as_slice() else { panic!("{:?}", lowering.refused) };
        assert_eq!((refusal.pointer.as_str(), refusal.keyword.as_str()), ("", "anyOf"), "{dialect}");
    }
}

#[test]
fn case_076_a_map_is_refused_at_its_place_and_never_closed() {
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct M {
        m: HashMap<String, u32>,
        any: serde_json::Map<String, Value>,
    }
    for dialect in [Dialect::Codex, Dialect::OpenAi, Dialect::Anthropic] {
        let pointers: Vec<_> =
            lower(&schema_of::<M>(), dialect).refused.into_iter().map(|refusal| refusal.pointer).collect();
        assert_eq!(pointers, ["/properties/m", "/properties/any"], "{dialect}");
    }
    for dialect in [Dialect::ClaudeCode, Dialect::Gemini, Dialect::Ollama, Dialect::LlamaCpp] {
        let wire = sent(&schema_of::<M>(), dialect).wire;
        assert_eq!(wire["properties"]["m"]["additionalProperties"]["type"], "integer", "{dialect}");
    }
}

#[test]
fn case_080_items_without_a_type_are_refused_at_their_place() {
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Anything {
        xs: Vec<Value>,
    }
    for dialect in [Dialect::Codex, Dialect::OpenAi, Dialect::Anthropic] {
        assert_eq!(
            refused(&schema_of::<Anything>(), dialect),
            ["`type` at /properties/xs/items is missing: this wire carries no value of any type"],
            "{dialect}"
        );
    }
}

#[test]
fn case_080_a_list_of_which_nothing_is_said_has_items_without_a_type() {
    for list in [json!({ "type": "array" }), json!({ "type": ["array", "null"], "minItems": 1 })] {
        let schema = json!({ "type": "object", "properties": { "xs": list }, "required": ["xs"] });
        for dialect in [Dialect::Codex, Dialect::OpenAi, Dialect::Anthropic] {
            assert_eq!(
                refused(&schema, dialect),
                ["`type` at /properties/xs/items is missing: this wire carries no value of any type"],
                "{dialect}"
            );
        }
    }
}

#[test]
fn case_085_copies_keep_the_order_of_fields() {
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Reasoned {
        reasoning: String,
        answer: i32,
        #[serde(default)]
        doubts: Vec<String>,
    }
    for dialect in Dialect::ALL {
        let wire = sent(&schema_of::<Reasoned>(), dialect).wire;
        let keys: Vec<_> = wire["properties"].as_object().unwrap().keys().collect();
        assert_eq!(keys, ["reasoning", "answer", "doubts"], "{dialect}");
    }
}

#[test]
fn an_enum_with_documented_variants_is_one_list_with_its_texts() {
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    enum Severity {
        Low,
        /// Somebody may get hurt.
        High,
    }
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Finding {
        /// How bad it is.
        severity: Severity,
    }
    let schema = schema_of::<Finding>();
    let lowering = sent(&schema, Dialect::Anthropic);
    assert_eq!(
        lowering.wire["properties"]["severity"],
        json!({
            "description": "How bad it is. `\"High\"`: Somebody may get hurt.",
            "type": "string",
            "enum": ["Low", "High"],
        })
    );
    assert_eq!(lowering.counts.iter().find(|count| count.what == "unions").unwrap().count, 0);
    let severity = &sent(&schema, Dialect::Codex).wire["$defs"]["Severity"];
    assert_eq!(severity["enum"], json!(["Low", "High"]));
}

#[test]
fn a_tagged_enum_in_a_property_stays_told_apart_by_its_tag() {
    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(tag = "kind")]
    enum Event {
        Opened { by: String },
        Closed { reason: Option<String> },
    }
    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Log {
        events: Vec<Event>,
    }
    let schema = schema_of::<Log>();
    let log = json!({ "events": [{ "kind": "Opened", "by": "x" }, { "kind": "Closed", "reason": null }] });
    for dialect in Dialect::ALL {
        let lowering = sent(&schema, dialect);
        assert!(jsonschema::is_valid(&lowering.wire, &log), "{dialect}: {}", lowering.wire);
        assert!(lowering.moved.is_empty(), "{dialect}: {:?}", lowering.moved);
        assert_eq!(lowering.lift(log.clone()), log, "`null` is a value of `reason`");
    }
}

#[test]
fn a_tree_goes_where_recursion_does() {
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Tree {
        label: String,
        kids: Vec<Tree>,
    }
    let schema = schema_of::<Tree>();
    let tree = json!({ "label": "a", "kids": [{ "label": "b", "kids": [] }] });
    for dialect in [Dialect::ClaudeCode, Dialect::Codex, Dialect::OpenAi, Dialect::LlamaCpp] {
        assert!(jsonschema::is_valid(&sent(&schema, dialect).wire, &tree), "{dialect}");
    }
    for dialect in [Dialect::Anthropic, Dialect::Gemini, Dialect::Ollama] {
        let lowering = lower(&schema, dialect);
        let [refusal] = lowering.refused.as_slice() else { panic!("{dialect}: {:?}", lowering.refused) };
        assert_eq!((refusal.pointer.as_str(), refusal.keyword.as_str()), ("/properties/kids/items", "$ref"));
    }
}

#[test]
fn a_flattened_enum_is_merged_into_its_alternatives() {
    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(tag = "kind")]
    enum Shape {
        Circle { r: i32 },
        Square { a: i32 },
    }
    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Named {
        name: String,
        #[serde(flatten)]
        shape: Shape,
    }
    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Drawing {
        parts: Vec<Named>,
    }
    let drawing = json!(Drawing { parts: vec![Named { name: "a".into(), shape: Shape::Circle { r: 1 } }] });
    let schema = schema_of::<Drawing>();
    for dialect in Dialect::ALL {
        let wire = sent(&schema, dialect).wire;
        assert!(jsonschema::is_valid(&wire, &drawing), "{dialect}: {wire}");
    }
    let wire = sent(&schema, Dialect::OpenAi).wire;
    assert!(!jsonschema::is_valid(&wire, &json!({ "parts": [{ "name": "a", "kind": "Circle" }] })), "{wire}");
}

#[test]
fn two_types_of_one_name_stay_two() {
    mod other {
        #[derive(schemars::JsonSchema)]
        #[expect(dead_code, reason = "only its schema is used")]
        pub(super) struct B {
            y: bool,
        }
    }
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Both {
        one: B,
        two: other::B,
    }
    for dialect in Dialect::ALL {
        let wire = sent(&schema_of::<Both>(), dialect).wire;
        let value = json!({ "one": { "x": "a" }, "two": { "y": true } });
        assert!(jsonschema::is_valid(&wire, &value), "{dialect}: {wire}");
        let swapped = json!({ "one": { "y": true }, "two": { "x": "a" } });
        assert!(!jsonschema::is_valid(&wire, &swapped), "{dialect}: {wire}");
    }
}
