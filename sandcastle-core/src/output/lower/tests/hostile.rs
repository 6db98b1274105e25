//! Schemas that are made to do harm, or were made without care: each ends, soon, with a refusal that names the place.

use serde_json::{Map, Value, json};

use super::{Dialect, lower, refused, sent};

/// Lowers to every dialect, which comes to its end.
fn all_refused(schema: &Value) -> Vec<Vec<String>> {
    Dialect::ALL.into_iter().map(|dialect| refused(schema, dialect)).collect()
}

fn within(schema: &Value) -> Value {
    json!({ "type": "object", "properties": { "v": schema }, "required": ["v"], "additionalProperties": false })
}

#[test]
fn wrong_values_of_keywords_are_refused_where_they_stand() {
    for (schema, refusal) in [
        (json!({ "type": "text" }), "`type` at /properties/v is neither a type nor a list of types"),
        (json!({ "type": [] }), "`type` at /properties/v is neither a type nor a list of types"),
        (
            json!({ "type": "string", "minLength": -1 }),
            "`minLength` at /properties/v is not a whole number from zero",
        ),
        (json!({ "type": "string", "pattern": 5 }), "`pattern` at /properties/v is not a text"),
        (json!({ "type": "integer", "minimum": "0" }), "`minimum` at /properties/v is not a number"),
        (
            json!({ "type": "integer", "multipleOf": 0 }),
            "`multipleOf` at /properties/v is not a number above zero",
        ),
        (json!({ "type": "string", "enum": [] }), "`enum` at /properties/v is not a list of values"),
        (json!({ "anyOf": [] }), "`anyOf` at /properties/v is not a list of schemas"),
        (
            json!({ "type": "object", "properties": [] }),
            "`properties` at /properties/v is not a schema for each name",
        ),
        (
            json!({ "type": "object", "properties": { "a~/b": 5 } }),
            "`schema` at /properties/v/properties/a~0~1b is neither an object nor a boolean",
        ),
        (json!({ "type": "array", "items": 5 }), "`items` at /properties/v is not a schema"),
        (
            json!({ "type": "string", "enum": [5] }),
            "`enum` at /properties/v has no value of the type beside it",
        ),
        (json!({ "$ref": 5 }), "`$ref` at /properties/v is not a text"),
        (
            json!({ "$dynamicRef": "#a" }),
            "`$dynamicRef` at /properties/v is understood only by who resolves names of schemas",
        ),
        (
            json!({ "$id": "b.json", "type": "string" }),
            "`$id` at /properties/v is understood only by who resolves names of schemas",
        ),
        (json!(false), "`false` at /properties/v fits no value"),
        (json!([1]), "`schema` at /properties/v is neither an object nor a boolean"),
    ] {
        for (dialect, refused) in Dialect::ALL.into_iter().zip(all_refused(&within(&schema))) {
            assert_eq!(refused.first().map(String::as_str), Some(refusal), "{dialect}: {schema}");
        }
    }
}

#[test]
fn what_is_no_schema_at_all_is_refused() {
    for value in [json!(null), json!(5), json!("object"), json!([]), json!(false)] {
        assert!(all_refused(&value).iter().all(|refused| refused.len() == 1), "{value}");
    }
}

#[test]
fn everything_that_is_wrong_is_said_at_once() {
    let schema = json!({
        "type": "object",
        "properties": {
            "map": { "type": "object", "additionalProperties": true },
            "any": {},
            "tuple": { "type": "array", "prefixItems": [{ "type": "string" }] },
        },
        "required": ["map", "any", "tuple"],
    });
    let pointers: Vec<_> =
        lower(&schema, Dialect::Codex).refused.into_iter().map(|one| one.pointer).collect();
    assert_eq!(pointers, ["/properties/map", "/properties/any", "/properties/tuple"]);
}

#[test]
fn references_that_go_in_circles_end() {
    for defs in [
        json!({ "A": { "$ref": "#/$defs/A" } }),
        json!({ "A": { "$ref": "#/$defs/B" }, "B": { "$ref": "#/$defs/A" } }),
        json!({ "A": { "allOf": [{ "$ref": "#/$defs/A" }] } }),
        json!({ "A": { "anyOf": [{ "$ref": "#/$defs/A" }, { "type": "string" }] } }),
        json!({ "A": { "not": { "$ref": "#/$defs/A" }, "type": "string" } }),
        json!({ "A": { "type": "array", "maxItems": 1, "items": { "$ref": "#/$defs/A", "minItems": 1 } } }),
        json!({ "A": { "type": "object", "properties": { "a": { "allOf": [{ "$ref": "#" }, { "$ref": "#/$defs/A" }] } } } }),
    ] {
        let mut schema = within(&json!({ "$ref": "#/$defs/A" }));
        schema["$defs"] = defs;
        all_refused(&schema);
    }
    assert!(all_refused(&json!({ "$ref": "#" })).iter().all(|refused| refused.len() == 1));
}

#[test]
fn a_chain_of_references_is_followed_as_far_as_anybody_would_make_one() {
    let chain = |length: usize| {
        let link = |index| (format!("d{index}"), json!({ "$ref": format!("#/$defs/d{}", index + 1) }));
        let mut defs: Map<String, Value> = (0..length).map(link).collect();
        defs.insert(format!("d{length}"), json!({ "type": "string" }));
        let mut schema = within(&json!({ "$ref": "#/$defs/d0" }));
        schema["$defs"] = defs.into();
        schema
    };
    assert_eq!(sent(&chain(900), Dialect::LlamaCpp).wire, within(&json!({ "type": "string" })));
    let refused = all_refused(&chain(5_000));
    assert_eq!(refused[6], ["`$ref` at /properties/v leads through more than 1000 references"]);
    // Where they stay, an answer is looked up through them.
    let mut optional = chain(5_000);
    optional["required"] = json!([]);
    let lowering = lower(&optional, Dialect::OpenAi);
    assert_eq!(lowering.lift(json!({ "v": "a" })), json!({ "v": "a" }));
}

#[test]
fn what_unfolds_without_end_is_refused_by_its_size() {
    let mut defs: Map<String, Value> = (0..64)
        .map(|index| {
            let next = json!({ "$ref": format!("#/$defs/d{}", index + 1) });
            let both =
                json!({ "type": "object", "properties": { "a": next, "b": next }, "required": ["a", "b"] });
            (format!("d{index}"), both)
        })
        .collect();
    defs.insert("d64".to_owned(), json!({ "type": "string" }));
    let mut schema = within(&json!({ "$ref": "#/$defs/d0" }));
    schema["$defs"] = defs.into();
    for dialect in [Dialect::Ollama, Dialect::LlamaCpp] {
        let refused = lower(&schema, dialect).refused;
        assert_eq!((refused[0].pointer.as_str(), refused[0].keyword.as_str()), ("", "size"), "{refused:?}");
        assert_eq!(refused.len(), 1, "{refused:?}");
    }
    let conjoined: Vec<_> = (0..30).map(|_| json!({ "$ref": "#/$defs/A" })).collect();
    let mut schema = within(&json!({ "$ref": "#/$defs/A" }));
    schema["$defs"] = json!({ "A": { "type": "object", "properties": { "a": { "allOf": conjoined } } } });
    all_refused(&schema);
}

#[test]
fn alternatives_of_alternatives_do_not_multiply() {
    let mut schema = json!({ "type": "string" });
    for _ in 0..40 {
        schema = json!({ "minLength": 1, "type": "string", "oneOf": [schema.clone(), { "type": "string", "const": "a" }] });
    }
    all_refused(&within(&schema));
    let mut condition = json!({ "const": "a" });
    for _ in 0..60 {
        condition =
            json!({ "if": { "const": "b" }, "then": condition.clone(), "else": { "not": { "const": "c" } } });
    }
    condition["type"] = json!("string");
    all_refused(&within(&condition));
}

#[test]
fn a_schema_that_is_deep_is_refused_and_overflows_nothing() {
    let nested = |depth: usize, step: &dyn Fn(Value) -> Value| {
        (0..depth).fold(json!({ "type": "string" }), |inner, _| step(inner))
    };
    let steps: [&dyn Fn(Value) -> Value; 4] = [
        &|inner| json!({ "type": "array", "items": inner }),
        &|inner| json!({ "type": "object", "properties": { "a": inner }, "additionalProperties": false }),
        &|inner| json!({ "anyOf": [inner, { "type": "null" }] }),
        &|inner| json!({ "type": "string", "not": inner }),
    ];
    for step in steps {
        for depth in [95, 150, 400] {
            all_refused(&within(&nested(depth, step)));
        }
    }
    assert!(
        all_refused(&within(&nested(150, steps[0])))
            .iter()
            .all(|refused| refused[0].starts_with("`depth` at /"))
    );
    assert!(
        all_refused(&within(&nested(600, steps[0])))
            .iter()
            .all(|refused| refused[0].starts_with("`depth` at the root"))
    );
}

#[test]
fn a_large_schema_takes_no_longer_than_it_is_large() {
    let many: Map<String, Value> =
        (0..10_000).map(|index| (format!("f{index}"), json!({ "type": "string", "minLength": 1 }))).collect();
    let schema = json!({ "type": "object", "properties": many, "required": many.keys().collect::<Vec<_>>() });
    all_refused(&schema);
    let halves: Vec<_> = (0..2).map(|_| json!({ "type": "object", "properties": many })).collect();
    all_refused(&within(&json!({ "allOf": halves })));
    let tags = |from: usize| (from..from + 300).map(|index| json!(format!("t{index}"))).collect::<Vec<_>>();
    let tagged: Vec<_> = (0..30)
        .map(|index| {
            let kind = json!({ "enum": tags(index * 300) });
            json!({ "type": "object", "properties": { "kind": kind }, "required": ["kind"] })
        })
        .collect();
    all_refused(&within(&json!({ "oneOf": tagged })));
    let branches: Vec<_> = (0..5_000).map(|index| json!({ "type": "integer", "minimum": index })).collect();
    all_refused(&within(&json!({ "oneOf": branches })));
}

#[test]
fn long_names_on_the_way_to_many_schemas_are_not_written_down_for_each() {
    let many: Map<String, Value> =
        (0..50_000).map(|index| (format!("f{index}"), json!({ "type": "null" }))).collect();
    let inner = json!({ "type": "object", "properties": many });
    let schema = within(&json!({ "type": "object", "properties": { "n".repeat(1 << 20): inner } }));
    for refused in all_refused(&schema) {
        assert_eq!(refused, ["`size` at the root has too long names on the way to what is in it"]);
    }
}

#[test]
fn names_of_definitions_need_no_escape_and_do_not_clash() {
    let schema = json!({
        "type": "object",
        "properties": {
            "a": { "$ref": "#/$defs/x~1y%20z" },
            "b": { "$ref": "#/$defs/x_y_z" },
            "c": { "$ref": "#/definitions/x_y_z" },
            "d": { "$ref": "#/properties/a" },
        },
        "required": ["a", "b", "c", "d"],
        "$defs": { "x_y_z": { "type": "integer" }, "x/y z": { "type": "string" } },
        "definitions": { "x_y_z": { "type": "boolean" } },
    });
    for dialect in Dialect::ALL {
        let wire = sent(&schema, dialect).wire;
        let right = json!({ "a": "x", "b": 1, "c": true, "d": "y" });
        assert!(jsonschema::is_valid(&wire, &right), "{dialect}: {wire}");
        for (key, wrong) in [("a", json!(1)), ("b", json!(true)), ("c", json!("x")), ("d", json!(1))] {
            let mut value = right.clone();
            value[key] = wrong;
            assert!(!jsonschema::is_valid(&wire, &value), "{dialect}: {value}");
        }
    }
}

#[test]
fn a_tuple_of_an_older_draft_is_a_tuple() {
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": { "t": { "type": "array", "items": [{ "type": "string" }], "additionalItems": false } },
        "required": ["t"],
        "additionalProperties": false,
    });
    assert_eq!(
        sent(&schema, Dialect::Gemini).wire["properties"]["t"],
        json!({ "type": "array", "prefixItems": [{ "type": "string" }], "maxItems": 1 })
    );
    assert_eq!(lower(&schema, Dialect::ClaudeCode).refused[0].keyword, "prefixItems");
}

#[test]
fn a_name_that_no_tool_has_for_an_argument_is_refused_where_tools_are() {
    let object = |name: &str| json!({ "type": "object", "properties": { name: { "type": "string" } }, "required": [name] });
    for name in ["größe", "a b", "", "$ref", &"n".repeat(65)] {
        for dialect in [Dialect::ClaudeCode, Dialect::Anthropic] {
            let [refusal] = refused(&object(name), dialect).try_into().unwrap();
            assert!(refusal.contains("this wire takes up to 64 letters"), "{refusal}");
            // Only the arguments themselves are limited.
            let mut inner = object("inner");
            inner["properties"]["inner"] = object(name);
            sent(&inner, dialect);
        }
        sent(&object(name), Dialect::Codex);
    }
    sent(&object(&"n".repeat(64)), Dialect::ClaudeCode);
}

#[test]
fn claude_code_is_sent_nothing_that_its_validator_does_not_compile() {
    let both = json!({
        "type": "object",
        "properties": { "a": { "type": "string" } },
        "patternProperties": { "^a": { "type": "string" } },
    });
    assert_eq!(
        refused(&within(&both), Dialect::ClaudeCode),
        [
            "`patternProperties` at /properties/v stands beside `properties`, which is not compiled where a name fits both"
        ]
    );
    let pattern = json!({ "type": "object", "patternProperties": { "(?i)^a": { "type": "string" } } });
    assert_eq!(
        refused(&within(&pattern), Dialect::ClaudeCode),
        ["`patternProperties` at /properties/v has the pattern `(?i)^a`, which engines read differently"]
    );
    for (schema, wire) in [
        (json!({ "type": "string", "if": { "const": "a" } }), json!({ "type": "string" })),
        (json!({ "type": "string", "then": { "const": "a" } }), json!({ "type": "string" })),
        (json!({ "type": "string", "nullable": true, "discriminator": {} }), json!({ "type": "string" })),
        (json!({ "type": "string", "enum": ["a", "a"] }), json!({ "type": "string", "enum": ["a"] })),
        (json!({ "type": ["string"] }), json!({ "type": "string" })),
    ] {
        assert_eq!(sent(&within(&schema), Dialect::ClaudeCode).wire["properties"]["v"], wire, "{schema}");
    }
}

#[test]
fn several_conditions_are_said_where_none_is_carried() {
    let schema = json!({
        "type": "object",
        "properties": { "kind": { "type": "string" }, "n": { "type": "integer" } },
        "required": ["kind", "n"],
        "additionalProperties": false,
        "allOf": [
            { "if": { "properties": { "kind": { "const": "a" } } }, "then": { "required": ["n"] } },
            { "if": { "properties": { "kind": { "const": "b" } } }, "then": { "required": ["n"] } },
        ],
    });
    for dialect in [Dialect::Codex, Dialect::OpenAi, Dialect::Gemini, Dialect::Ollama, Dialect::LlamaCpp] {
        let lowering = lower(&within(&schema), dialect);
        assert!(lowering.is_sendable(), "{dialect}: {:?}", lowering.refused);
        let keywords: Vec<_> = lowering.moved.iter().map(|moved| moved.keyword.as_str()).collect();
        assert_eq!(keywords, ["if", "allOf"], "{dialect}");
    }
    let wire = sent(&within(&schema), Dialect::ClaudeCode).wire;
    assert_eq!(wire["properties"]["v"]["allOf"][1]["then"]["required"], json!(["n"]));
}

#[test]
fn a_value_is_listed_once_however_it_is_written() {
    for (members, kept) in [
        (json!([1, 1.0, "1", true]), json!([1, "1", true])),
        (json!([0, -0.0, null]), json!([0, null])),
        (json!([{ "x": 1, "y": [2.0] }, { "y": [2], "x": 1 }]), json!([{ "x": 1, "y": [2.0] }])),
    ] {
        // Claude Code says nothing and drops a schema that lists a value twice.
        let wire = sent(&within(&json!({ "enum": members })), Dialect::ClaudeCode).wire;
        assert_eq!(wire["properties"]["v"]["enum"], kept);
    }
}

#[test]
fn numbers_that_javascript_cannot_tell_apart_are_refused_where_it_compiles_them() {
    let schema =
        within(&json!({ "type": "integer", "enum": [9_007_199_254_740_993_u64, 9_007_199_254_740_992_u64] }));
    assert_eq!(
        refused(&schema, Dialect::ClaudeCode),
        ["`enum` at /properties/v lists numbers that are the same to JavaScript"]
    );
    assert_eq!(
        sent(&schema, Dialect::OpenAi).wire["properties"]["v"]["enum"].as_array().map(Vec::len),
        Some(2)
    );
}

#[test]
fn bounds_that_leave_no_value_are_refused_before_a_server_falls_over_them() {
    for (schema, refusal) in [
        (json!({ "type": "integer", "minimum": 10, "maximum": 1 }), "`minimum`"),
        (json!({ "type": "string", "minLength": 5, "maxLength": 2 }), "`minLength`"),
        (json!({ "type": "array", "items": { "type": "null" }, "minItems": 4, "maxItems": 1 }), "`minItems`"),
        (json!({ "allOf": [{ "type": "number", "minimum": 0.5 }, { "maximum": 0.25 }] }), "`minimum`"),
        (json!({ "type": "number", "minimum": 1, "exclusiveMaximum": 1 }), "`minimum`"),
        (json!({ "type": "number", "exclusiveMinimum": 2, "maximum": 2 }), "`exclusiveMinimum`"),
        (json!({ "type": "integer", "exclusiveMinimum": 4, "exclusiveMaximum": 5 }), "`exclusiveMinimum`"),
    ] {
        for dialect in Dialect::ALL {
            let refusals = refused(&within(&schema), dialect);
            // These two keep an `allOf` as it is.
            if schema.get("allOf").is_some() && [Dialect::ClaudeCode, Dialect::Anthropic].contains(&dialect) {
                assert_eq!(refusals.len(), 0, "{dialect}: {refusals:?}");
            } else {
                assert!(refusals[0].starts_with(refusal), "{dialect}: {refusals:?}");
            }
        }
    }
    for schema in [
        json!({ "type": "integer", "minimum": 1, "maximum": 1 }),
        json!({ "type": "integer", "exclusiveMinimum": 4, "exclusiveMaximum": 6 }),
        json!({ "type": "number", "exclusiveMinimum": 4, "exclusiveMaximum": 5 }),
    ] {
        sent(&within(&schema), Dialect::LlamaCpp);
    }
}
