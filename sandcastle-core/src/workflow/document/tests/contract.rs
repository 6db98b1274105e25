//! Output schemas as contracts: what they accept afterwards, and what counts as a contradiction.

use serde_json::{Value, json};

use crate::workflow::Workflow;
use crate::workflow::definition::Contract;

/// Reads a document whose only step has this schema for its output.
fn document(schema: &Value) -> String {
    let step = json!({ "step": "think", "type": "tool", "run": ["true"], "output_schema": schema });
    json!({ "version": "1.1", "steps": [step] }).to_string()
}

fn contract(schema: &Value) -> Contract {
    let workflow =
        Workflow::from_yaml(&document(schema)).unwrap_or_else(|error| panic!("{schema}: {error:#}"));
    workflow.steps[0].contract.clone().unwrap()
}

fn field(node: &Value) -> Value {
    json!({ "type": "object", "properties": { "f": node } })
}

/// What is wrong with the schema of a field.
#[track_caller]
fn problems(node: &Value) -> Vec<String> {
    let error = Workflow::from_yaml(&document(&field(node))).map(drop).expect_err(&node.to_string());
    let findings = error.workflow_findings().unwrap().as_slice();
    findings.iter().map(|finding| finding.path.clone() + ": " + &finding.message).collect()
}

#[test]
fn the_schema_is_the_judge_as_it_is_written() {
    let schema = json!({
        "type": "object",
        "properties": {
            "n": { "type": ["integer", "null"], "minimum": 1 },
            "u": { "oneOf": [{ "const": "a" }, { "type": "array", "items": { "type": "boolean" } }] },
        },
        "required": ["n"],
    });
    let contract = contract(&schema);
    assert_eq!(*contract.schema(), schema);
    // The name of the step is a tag with a meaning of its own.
    assert_eq!(contract.spec.tag(), "step_think");
    for good in [r#"{"n":1}"#, r#"{"n":null,"u":"a"}"#, r#"{"n":2.0,"u":[true],"more":1}"#] {
        assert!(contract.spec.read_block(good).is_ok(), "{good}");
    }
    for bad in [r#"{}"#, r#"{"n":0}"#, r#"{"n":1,"u":"b"}"#, r#"{"n":1,"u":null}"#] {
        assert!(contract.spec.read_block(bad).is_err(), "{bad}");
    }
}

#[test]
fn what_fits_is_accepted_wherever_it_stands() {
    for node in [
        json!({ "type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 3 }),
        json!({ "type": "number", "minimum": 1, "maximum": 1 }),
        json!({ "type": "number", "exclusiveMinimum": 1, "exclusiveMaximum": 2 }),
        json!({ "type": ["string", "integer"], "minimum": 1, "minLength": 1 }),
        json!({ "type": "string", "minLength": 0, "maxLength": 0 }),
        json!({ "type": ["string", "null"], "enum": ["a", null], "default": null }),
        json!({ "enum": ["a"], "const": "a" }),
        json!({ "type": "array", "items": { "type": "string" }, "default": ["a"] }),
        json!({ "type": "integer", "default": 1.0 }),
        json!({ "anyOf": [{ "type": "string" }, { "type": "null" }], "default": null, "title": "T" }),
        json!({ "oneOf": [{ "type": "integer", "maximum": 0 }, { "type": "number", "minimum": 1 }] }),
        json!({ "type": "array", "items": { "enum": [1, 2, 3] }, "minItems": 3, "uniqueItems": true }),
        json!({ "type": "string", "format": "multiline" }),
    ] {
        contract(&field(&node));
    }
}

#[test]
fn contradictions_are_said_at_the_key_that_makes_them() {
    for (node, expected) in [
        (
            json!({ "type": "integer", "minimum": 1.2, "maximum": 1.8 }),
            vec![".maximum: `maximum: 1.8` leaves no value beside `minimum: 1.2`"],
        ),
        (
            json!({ "type": "number", "exclusiveMinimum": 1, "maximum": 1 }),
            vec![".maximum: `maximum: 1` leaves no value beside `exclusiveMinimum: 1`"],
        ),
        (
            json!({ "type": "object", "properties": { "a": { "type": "integer", "default": "x" } } }),
            vec![
                r#".properties.a.default: the default `x` does not fit: must be an integer, got string "x""#,
            ],
        ),
        (
            json!({ "anyOf": [{ "type": "string", "default": "a" }, { "type": "null" }] }),
            vec![".anyOf[0].default: an alternative cannot have a default"],
        ),
        (
            json!({ "anyOf": [{ "type": "string" }], "oneOf": [{ "type": "string" }] }),
            vec![".oneOf: `oneOf` cannot stand beside `anyOf`"],
        ),
        (
            json!({ "type": "array", "items": { "const": 1 }, "minItems": 2, "uniqueItems": true }),
            vec![".minItems: asks for 2 different items, of which there are only 1"],
        ),
        (
            json!({ "type": "string", "pattern": "[", "minItems": 1 }),
            vec![
                ".pattern: is no regular expression that can be used",
                ".minItems: `minItems` is about `array`, and this is `string`",
            ],
        ),
    ] {
        let prefix = "steps[0].output_schema.properties.f";
        let expected: Vec<_> = expected.into_iter().map(|line| format!("{prefix}{line}")).collect();
        assert_eq!(problems(&node), expected);
    }
}

#[test]
fn a_variable_may_be_open_and_its_default_has_to_fit() {
    let document = |var: Value| {
        json!({ "version": "1.1", "vars": { "v": var }, "steps": [{ "step": "a", "type": "tool", "run": ["true"] }] }).to_string()
    };
    for var in [
        json!({ "type": "object" }),
        json!({ "type": "array", "default": [1, "a"] }),
        json!(["a"]),
        json!(false),
    ] {
        assert!(Workflow::from_yaml(&document(var.clone())).is_ok(), "{var}");
    }
    for var in [
        json!({ "type": "object", "default": [] }),
        json!({ "a": 1 }),
        json!(null),
        json!({ "type": "string", "enum": [1] }),
    ] {
        assert!(Workflow::from_yaml(&document(var.clone())).is_err(), "{var}");
    }
}

#[test]
fn a_schema_without_end_is_refused() {
    let fields = |count: usize, node: &Value| -> Value {
        (0..count).map(|n| (format!("f{n}"), node.clone())).collect::<serde_json::Map<_, _>>().into()
    };
    let text = json!({ "type": "string" });
    let inner = json!({ "type": "object", "properties": fields(100, &text) });
    for (properties, expected) in
        [(fields(1_001, &text), "has more than 1000 names"), (fields(60, &inner), "has more than 5000 parts")]
    {
        let schema = json!({ "type": "object", "properties": properties });
        let error = Workflow::from_yaml(&document(&schema)).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
}
