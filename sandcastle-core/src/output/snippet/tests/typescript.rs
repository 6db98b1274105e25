//! What each construct of a schema looks like as a type.

use serde_json::{Value, json};

use super::shape;
use crate::output::snippet::SnippetStyle;

#[track_caller]
fn check(schema: Value, expected: &str) {
    assert_eq!(shape(schema, SnippetStyle::TypeScript), expected);
}

#[test]
fn bounds_of_numbers() {
    check(json!({ "type": "integer", "minimum": 0, "maximum": 10 }), "integer(>=0, <=10)");
    check(
        json!({ "type": "number", "exclusiveMinimum": 0.5, "exclusiveMaximum": 1e3 }),
        "number(>0.5, <1000.0)",
    );
    check(json!({ "type": "integer", "multipleOf": 5 }), "integer(multipleOf 5)");
}

#[test]
fn case_064_formats_of_rust_are_left_out() {
    check(
        json!({ "type": "integer", "format": "uint8", "minimum": 0, "maximum": 255 }),
        "integer(>=0, <=255)",
    );
    check(json!({ "type": "number", "format": "double" }), "number");
    check(json!({ "type": "string", "format": "date-time" }), "string(format date-time)");
    check(json!({ "type": "string", "format": "my format" }), r#"string(format "my format")"#);
}

#[test]
fn strings() {
    let schema =
        json!({ "type": "string", "minLength": 1, "maxLength": 80, "pattern": "^\\w+\"$", "default": "a" });
    check(schema, r#"string(minLength 1, maxLength 80, pattern "^\\w+\"$", default "a")"#);
}

#[test]
fn listed_values() {
    check(json!({ "type": "string", "enum": ["low", "high"] }), r#""low" | "high""#);
    check(
        json!({ "enum": ["a", 1, null, true, [2], { "b": 3 }] }),
        r#""a" | 1 | null | true | [2] | {"b":3}"#,
    );
    check(json!({ "type": "string", "const": "only" }), r#""only""#);
    check(json!({ "enum": [] }), "never");
}

#[test]
fn a_type_beside_values_stays_if_it_says_more() {
    check(json!({ "type": "string", "enum": ["a", 1] }), r#"("a" | 1) & string"#);
}

#[test]
fn arrays() {
    check(json!({ "type": "array", "items": { "type": "string" } }), "string[]");
    check(json!({ "type": "array" }), "unknown[]");
    let schema = json!({
        "type": "array", "items": { "type": "string", "minLength": 2 }, "minItems": 1, "maxItems": 3, "uniqueItems": true,
    });
    check(schema, "string(minLength 2)[](minItems 1, maxItems 3, uniqueItems)");
    check(json!({ "type": "array", "items": { "enum": ["a", "b"] } }), r#"("a" | "b")[]"#);
    let schema = json!({ "type": "array", "contains": { "const": 1 }, "minContains": 2 });
    check(schema, r#"unknown[](contains {"const":1}, minContains 2)"#);
}

#[test]
fn tuples() {
    let items = json!([{ "type": "string" }, { "type": "integer" }]);
    check(
        json!({ "type": "array", "prefixItems": items, "minItems": 2, "maxItems": 2 }),
        "[string, integer]",
    );
    check(
        json!({ "type": "array", "prefixItems": items, "items": false, "minItems": 1 }),
        "[string, integer?](minItems 1)",
    );
    check(json!({ "prefixItems": items, "minItems": 2 }), "[string, integer, ...unknown[]]");
    let schema = json!({ "prefixItems": items, "items": { "type": "null" }, "minItems": 2, "maxItems": 9 });
    check(schema, "[string, integer, ...null[]](maxItems 9)");
}

#[test]
fn tuples_with_comments_have_a_line_per_item() {
    let schema = json!({
        "type": "array", "minItems": 2, "maxItems": 2,
        "prefixItems": [{ "type": "number", "description": "West." }, { "type": "number", "description": "East." }],
    });
    check(schema, "[\n number, // West.\n number // East.\n]");
}

#[test]
fn case_085_fields_keep_their_order() {
    let schema = json!({
        "type": "object",
        "properties": { "reasoning": { "type": "string" }, "answer": { "type": "integer" } },
        "required": ["answer", "reasoning"],
    });
    check(schema, "{ reasoning: string, answer: integer }");
}

#[test]
fn case_087_optional_is_not_nullable() {
    let schema = json!({
        "type": "object",
        "properties": {
            "needed": { "type": "integer" },
            "empty": { "type": ["integer", "null"], "minimum": 0 },
            "absent": { "type": "integer", "default": 3 },
            "both": { "anyOf": [{ "type": "string" }, { "type": "null" }], "default": null },
        },
        "required": ["needed", "empty"],
    });
    check(
        schema,
        "{\n needed: integer\n empty: integer | null (>=0)\n absent?: integer(default 3)\n both?: string | null (default null)\n}",
    );
}

#[test]
fn objects() {
    check(json!({ "type": "object" }), "object");
    check(json!({ "type": "object", "additionalProperties": false }), "{}(no other keys)");
    check(
        json!({ "properties": { "a": true }, "additionalProperties": false }),
        "{ a?: unknown }(no other keys)",
    );
    check(
        json!({ "type": "object", "properties": { "a": {} }, "unevaluatedProperties": false }),
        "{ a?: unknown }(no other keys)",
    );
    check(json!({ "type": "object", "required": ["a", "a", "b"] }), "{ a: unknown, b: unknown }");
    let schema = json!({ "type": "object", "minProperties": 1, "maxProperties": 4, "dependentRequired": { "a": ["b"] } });
    check(schema, r#"object(minProperties 1, maxProperties 4, dependentRequired {"a":["b"]})"#);
    check(
        json!({ "type": "object", "properties": { "a-b": { "type": "null" } }, "required": ["a-b"] }),
        r#"{ "a-b": null }"#,
    );
}

#[test]
fn maps() {
    let integer = json!({ "type": "integer", "minimum": 0 });
    check(json!({ "type": "object", "additionalProperties": integer }), "{ [key: string]: integer(>=0) }");
    let schema = json!({ "patternProperties": { "^\\d+$": integer }, "additionalProperties": false });
    check(schema, r#"{ [key: string(pattern "^\\d+$")]: integer(>=0) }(no other keys)"#);
    let schema =
        json!({ "type": "object", "propertyNames": { "enum": ["a", "b"] }, "additionalProperties": integer });
    check(schema, r#"{ [key: "a" | "b"]: integer(>=0) }"#);
    let schema =
        json!({ "type": "object", "properties": { "a": true }, "propertyNames": { "maxLength": 3 } });
    check(schema, r#"{ a?: unknown }(propertyNames {"maxLength":3})"#);
    let schema = json!({ "type": "object", "properties": { "a": true }, "additionalProperties": integer });
    check(schema, "{ a?: unknown, [key: string]: integer(>=0) }");
}

#[test]
fn conditions_are_json() {
    let schema = json!({ "type": "string", "not": { "const": "x" }, "if": { "minLength": 3 }, "then": { "pattern": "a" } });
    check(schema, r#"string(not {"const":"x"}, if {"minLength":3}, then {"pattern":"a"})"#);
}

#[test]
fn unknown_keywords_are_shown() {
    check(
        json!({ "type": "string", "x-unit": "km", "examples": ["1"] }),
        r#"string("x-unit" "km", examples ["1"])"#,
    );
    check(json!({ "type": "thing", "minLength": "one" }), r#"unknown(type "thing", minLength "one")"#);
    check(json!({ "type": "array", "items": [true] }), "unknown[](items [true])");
    check(json!({ "minItems": 1, "minProperties": 2 }), "object | unknown[] (minItems 1, minProperties 2)");
    check(json!(7), "unknown(schema 7)");
}

#[test]
fn keywords_about_the_schema_are_not() {
    check(
        json!({ "$schema": "s", "$id": "i", "$comment": "c", "$defs": { "Unused": {} }, "type": "null" }),
        "null",
    );
    check(
        json!({ "type": "array", "items": true, "uniqueItems": false, "deprecated": true }),
        "unknown[](deprecated)",
    );
}

#[test]
fn boolean_schemas() {
    check(json!(true), "unknown");
    check(json!(false), "never");
}

#[test]
fn descriptions_stand_at_the_end_of_a_line() {
    let schema = json!({
        "title": "Review", "description": "Verdict on\n a pull request.", "type": "object",
        "properties": {
            "score": { "type": "integer", "description": "Higher is better." },
            "words": { "type": "array", "items": { "type": "string", "description": "A word." }, "description": "All" },
        },
        "required": ["score", "words"],
    });
    check(
        schema,
        "{ // Verdict on a pull request.\n score: integer // Higher is better.\n words: string[] // All; each: A word.\n}",
    );
}

#[test]
fn a_title_is_shown_unless_it_is_a_type_name() {
    check(json!({ "title": "Page_for_Item", "type": "null" }), "null");
    check(json!({ "title": "A page", "type": "null", "description": "Empty" }), "null // A page; Empty");
}

#[test]
fn values_with_comments_have_a_line_each() {
    let schema = json!({
        "type": "object", "required": ["level"],
        "properties": { "level": { "description": "How bad.", "oneOf": [
            { "type": "string", "enum": ["low", "none"] },
            { "type": "string", "const": "high", "description": "Wake somebody." },
        ] } },
    });
    check(schema, "{\n level: // How bad.\n  | \"low\"\n  | \"none\"\n  | \"high\" // Wake somebody.\n}");
}

#[test]
fn enums_externally_tagged() {
    let schema = json!({ "oneOf": [
        { "type": "string", "enum": ["none"] },
        { "type": "object", "properties": { "some": { "type": "integer" } }, "required": ["some"], "additionalProperties": false },
        { "type": "object", "properties": { "pair": { "type": "array", "items": { "type": "integer" } } },
          "required": ["pair"], "additionalProperties": false },
    ] });
    check(schema, " | \"none\"\n | { some: integer }(no other keys)\n | { pair: integer[] }(no other keys)");
}

#[test]
fn enums_internally_tagged() {
    let arm = |name: &str| json!({ "type": "object", "properties": { "kind": { "type": "string", "const": name } }, "required": ["kind"] });
    check(json!({ "oneOf": [arm("a"), arm("b")] }), r#"{ kind: "a" } | { kind: "b" }"#);
}

#[test]
fn enums_untagged() {
    check(
        json!({ "anyOf": [{ "type": "string" }, { "type": "integer" }, { "type": "null" }] }),
        "string | integer | null",
    );
}

#[test]
fn arms_that_overlap_are_said_to_exclude_each_other() {
    check(
        json!({ "oneOf": [{ "type": "integer" }, { "type": "number" }] }),
        "integer | number (exactly one)",
    );
    check(json!({ "oneOf": [{ "const": "a" }, { "type": "string" }] }), r#""a" | string (exactly one)"#);
    let arm = |name: &str| json!({ "type": "object", "properties": { name: { "type": "null" } }, "required": [name] });
    check(json!({ "oneOf": [arm("a"), arm("b")] }), "{ a: null } | { b: null } (exactly one)");
}

#[test]
fn all_of_is_an_intersection() {
    let arms = json!([{ "type": "object", "required": ["a"] }, { "anyOf": [{ "type": "object" }, { "type": "null" }] }]);
    check(json!({ "allOf": arms }), "{ a: unknown } & (object | null)");
    check(json!({ "allOf": [{ "type": "string" }], "minLength": 1 }), "string(minLength 1)");
    let tagged = json!({
        "type": "object", "properties": { "a": { "type": "null" } }, "required": ["a"], "unevaluatedProperties": false,
        "oneOf": [{ "type": "object", "required": ["b"] }],
    });
    check(tagged, "{ a: null } & { b: unknown } (no other keys)");
}

#[test]
fn definitions_used_once_stand_where_they_are_used() {
    let schema = json!({
        "type": "object", "required": ["a"],
        "properties": { "a": { "$ref": "#/$defs/Level", "description": "Now.", "default": "low" } },
        "$defs": { "Level": { "enum": ["low", "high"], "description": "A level." } },
    });
    check(schema, "{\n a: \"low\" | \"high\" (default \"low\") // Now. A level.\n}");
}

#[test]
fn definitions_used_twice_have_a_name() {
    let schema = json!({
        "type": "object", "required": ["a", "b"],
        "properties": { "a": { "$ref": "#/$defs/my%20level" }, "b": { "anyOf": [{ "$ref": "#/$defs/my level" }, { "type": "null" }] } },
        "$defs": { "my level": { "enum": ["low", "high"], "description": "A level." } },
    });
    check(schema, "{ a: my_level, b: my_level | null }\ntype my_level = \"low\" | \"high\" // A level.");
}

#[test]
fn names_do_not_collide() {
    let twice = |path: &str| json!({ "type": "array", "prefixItems": [{ "$ref": path }, { "$ref": path }], "minItems": 2, "maxItems": 2 });
    let schema = json!({
        "type": "object", "required": ["a", "b", "c"],
        "properties": { "a": twice("#/$defs/X"), "b": twice("#/definitions/X"), "c": twice("#/$defs/string") },
        "$defs": { "X": { "type": "null" }, "string": { "type": "string" } },
        "definitions": { "X": { "type": "boolean" } },
    });
    check(
        schema,
        "{ a: [X, X], b: [X2, X2], c: [Tstring, Tstring] }\ntype X = null\ntype X2 = boolean\ntype Tstring = string",
    );
}

#[test]
fn recursion_goes_by_name() {
    let schema = json!({
        "title": "Tree", "type": "object", "required": ["children"],
        "properties": { "children": { "type": "array", "items": { "$ref": "#" } } },
    });
    check(schema, "type Tree = { children: Tree[] }");
    let schema = json!({
        "$ref": "#/$defs/A",
        "$defs": {
            "A": { "type": "object", "properties": { "b": { "$ref": "#/$defs/B" } } },
            "B": { "type": "array", "items": { "$ref": "#/$defs/A" } },
        },
    });
    check(schema, "A\ntype A = { b?: A[] }");
    check(json!({ "$ref": "#" }), "type Answer = Answer");
}

#[test]
fn references_that_lead_nowhere_are_shown() {
    check(json!({ "$ref": "https://example.com/x.json" }), r#"unknown($ref "https://example.com/x.json")"#);
    check(json!({ "$ref": "#/$defs/Gone", "type": "string" }), r##"string($ref "#/$defs/Gone")"##);
    check(json!({ "$ref": 5 }), "unknown($ref 5)");
}

#[test]
fn definitions_that_only_json_refers_to_are_shown() {
    let schema = json!({ "type": "string", "not": { "$ref": "#/$defs/Word" }, "$defs": { "Word": { "const": "no" } } });
    check(schema, "string(not {\"$ref\":\"#/$defs/Word\"})\ntype Word = \"no\"");
}

#[test]
fn arrays_of_long_arms_have_parentheses() {
    let schema = json!({ "type": "array", "items": { "anyOf": [
        { "type": "string", "description": "A name." }, { "type": "integer", "description": "A number." },
    ] } });
    check(schema, "(\n | string // A name.\n | integer // A number.\n)[]");
}
