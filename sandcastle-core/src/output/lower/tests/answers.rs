//! What is undone in an answer, and what is not.

use serde_json::{Value, json};

use super::{Dialect, lower, sent};

#[track_caller]
fn lifted(schema: &Value, answer: &Value, expected: &Value) {
    for dialect in [Dialect::OpenAi, Dialect::Codex] {
        assert_eq!(sent(schema, dialect).lift(answer.clone()), *expected, "{dialect}");
    }
    for dialect in
        [Dialect::ClaudeCode, Dialect::Anthropic, Dialect::Gemini, Dialect::Ollama, Dialect::LlamaCpp]
    {
        assert_eq!(lower(schema, dialect).lift(answer.clone()), *answer, "{dialect} has optional properties");
    }
}

fn object(properties: &Value, required: &Value) -> Value {
    json!({ "type": "object", "properties": properties, "required": required })
}

#[test]
fn only_a_null_that_the_schema_refuses_is_removed() {
    let schema = object(
        &json!({
            "text": { "type": "string" },
            "maybe": { "type": ["string", "null"] },
            "listed": { "enum": ["a", null] },
            "must": { "type": ["integer", "null"] },
            "inner": object(&json!({ "x": { "type": "string" } }), &json!([])),
            "choice": { "type": "string", "enum": ["a", "b"] },
        }),
        &json!(["must"]),
    );
    lifted(
        &schema,
        &json!({ "text": null, "maybe": null, "listed": null, "must": null, "inner": { "x": null }, "choice": null }),
        &json!({ "maybe": null, "listed": null, "must": null, "inner": {} }),
    );
    lifted(
        &schema,
        &json!({ "text": "null", "maybe": "", "listed": "a", "must": 0, "inner": null, "choice": "b" }),
        &json!({ "text": "null", "maybe": "", "listed": "a", "must": 0, "choice": "b" }),
    );
}

#[test]
fn references_items_and_alternatives_are_followed() {
    let mut schema = object(
        &json!({
            "all": { "type": "array", "items": { "$ref": "#/$defs/T" } },
            "one": { "anyOf": [{ "$ref": "#/$defs/T" }, { "type": "null" }] },
        }),
        &json!(["all", "one"]),
    );
    schema["$defs"] = json!({ "T": object(
        &json!({ "x": { "type": "string" }, "next": { "$ref": "#/$defs/T" } }),
        &json!([]),
    ) });
    lifted(
        &schema,
        &json!({ "all": [{ "x": null, "next": { "x": "a", "next": null } }, null], "one": { "x": null, "next": null } }),
        &json!({ "all": [{ "next": { "x": "a" } }, null], "one": {} }),
    );
    lifted(&schema, &json!({ "all": [], "one": null }), &json!({ "all": [], "one": null }));
}

#[test]
fn the_alternative_that_fits_decides() {
    let a = object(&json!({ "kind": { "const": "a" }, "x": { "type": "string" } }), &json!(["kind"]));
    let b = object(
        &json!({ "kind": { "const": "b" }, "x": { "type": ["string", "null"] } }),
        &json!(["kind", "x"]),
    );
    let schema = object(&json!({ "v": { "oneOf": [a, b] } }), &json!(["v"]));
    lifted(&schema, &json!({ "v": { "kind": "a", "x": null } }), &json!({ "v": { "kind": "a" } }));
    lifted(&schema, &json!({ "v": { "kind": "b", "x": null } }), &json!({ "v": { "kind": "b", "x": null } }));

    // Without a tag: what one of them takes as it is, stays as it is.
    let a = object(&json!({ "x": { "type": "string" }, "y": { "type": "integer" } }), &json!(["y"]));
    let b = object(
        &json!({ "x": { "type": ["string", "null"] }, "y": { "type": "string" } }),
        &json!(["x", "y"]),
    );
    let schema = object(&json!({ "v": { "anyOf": [a, b] } }), &json!(["v"]));
    lifted(&schema, &json!({ "v": { "x": null, "y": 3 } }), &json!({ "v": { "y": 3 } }));
    lifted(&schema, &json!({ "v": { "x": null, "y": "3" } }), &json!({ "v": { "x": null, "y": "3" } }));
}

#[test]
fn an_answer_that_is_wrong_elsewhere_is_still_freed_of_it() {
    let inner = object(&json!({ "n": { "type": "integer" }, "x": { "type": "string" } }), &json!(["n"]));
    let schema = object(
        &json!({ "v": { "anyOf": [inner, { "type": "null" }] }, "y": { "type": "string" } }),
        &json!([]),
    );
    lifted(&schema, &json!({ "v": { "n": "one", "x": null }, "y": null }), &json!({ "v": { "n": "one" } }));
    lifted(&schema, &json!({ "v": 5, "y": null, "z": null }), &json!({ "v": 5, "z": null }));
    lifted(&schema, &json!([null]), &json!([null]));
}

#[test]
fn a_deep_answer_stays_as_it_is_and_overflows_nothing() {
    let schema = object(
        &json!({ "next": { "anyOf": [{ "$ref": "#" }, { "type": "boolean" }] }, "x": { "type": "string" } }),
        &json!([]),
    );
    let deep = |depth: usize| (0..depth).fold(json!(true), |inner, _| json!({ "next": inner, "x": null }));
    let freed = |depth: usize| (0..depth).fold(json!(true), |inner, _| json!({ "next": inner }));
    let lowering = sent(&schema, Dialect::OpenAi);
    assert_eq!(lowering.lift(deep(199)), freed(199));
    assert_eq!(lowering.lift(deep(300)), deep(300));
}

#[test]
fn a_long_answer_takes_no_longer_than_it_is_long() {
    let branch = |index: usize| {
        object(
            &json!({ "kind": { "const": index }, "x": { "type": "string" }, "more": { "$ref": "#/$defs/T" } }),
            &json!(["kind"]),
        )
    };
    let mut schema =
        object(&json!({ "all": { "type": "array", "items": { "$ref": "#/$defs/T" } } }), &json!(["all"]));
    schema["$defs"] = json!({ "T": { "anyOf": (0..8).map(branch).collect::<Vec<_>>() } });
    let lowering = sent(&schema, Dialect::OpenAi);
    let item =
        |_| (0..60).fold(json!(null), |more, index| json!({ "kind": index % 8, "x": null, "more": more }));
    let freed =
        |_| (1..60).fold(json!({ "kind": 0 }), |more, index| json!({ "kind": index % 8, "more": more }));
    let answer = json!({ "all": (0..50).map(item).collect::<Vec<_>>() });
    assert_eq!(lowering.lift(answer), json!({ "all": (0..50).map(freed).collect::<Vec<_>>() }));
}
