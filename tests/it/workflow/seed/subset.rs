//! What can be declared: a subset of JSON Schema, in documents of version 1.1, with everything else refused where it stands.

use super::*;

/// An object with every keyword that the seed names.
fn every_keyword() -> Value {
    object(
        &json!({
            "severity": { "type": "string", "enum": ["low", "high"], "description": "How bad it is." },
            "score": { "type": "integer", "minimum": 1, "maximum": 5 },
            "weight": { "type": "number", "minimum": 0.5, "maximum": 1.5 },
            "summary": { "type": "string", "minLength": 3, "maxLength": 50 },
            "code": { "type": "string", "pattern": "^[A-Z]{2}-[0-9]+$" },
            "labels": { "type": "array", "items": { "type": "string" } },
            "urgent": { "type": "boolean", "default": false },
            "owner": object(&json!({ "name": { "type": "string" } }), &["name"]),
        }),
        &["severity", "score", "weight", "summary", "code", "labels", "owner"],
    )
}

fn fitting() -> Value {
    json!({
        "severity": "high", "score": 5, "weight": 0.5, "summary": "It crashes.", "code": "AB-12",
        "labels": ["bug"], "owner": { "name": "Ada" },
    })
}

#[tokio::test]
async fn seed_3_1_a_step_declares_its_output_with_every_keyword_of_the_subset() {
    let document = asking(&every_keyword(), "");
    assert_eq!(found(&document), [""; 0]);
    let bench = Bench::answering([fitting()]).await;
    let result = bench.run(&document).await;
    let mut expected = fitting();
    expected["urgent"] = json!(false);
    assert_eq!(result.output["triage"], expected);
    assert_eq!(bench.asked(), 1);
}

#[tokio::test]
async fn seed_3_1_every_keyword_counts() {
    for (field, value, problem) in [
        ("severity", json!("urgent"), "output.severity must be one of low, high"),
        ("score", json!(0), "output.score must be at least 1"),
        ("score", json!(6), "output.score must be at most 5"),
        ("score", json!(1.5), "output.score must be an integer, got 1.5"),
        ("weight", json!(0.25), "output.weight must be at least 0.5"),
        ("weight", json!("1"), "output.weight must be a number, got string \"1\""),
        ("summary", json!("a"), "output.summary must be at least 3 characters long"),
        ("summary", json!("a".repeat(51)), "output.summary must be at most 50 characters long"),
        ("code", json!("ab"), "output.code must match the pattern ^[A-Z]{2}-[0-9]+$"),
        ("labels", json!(["bug", 1]), "output.labels[1] must be a string, got 1"),
        ("urgent", json!("no"), "output.urgent must be a boolean, got string \"no\""),
        ("owner", json!({}), "output.owner.name is required"),
        ("owner", json!([]), "output.owner must be an object, got array"),
    ] {
        let mut wrong = fitting();
        wrong[field] = value;
        let bench = Bench::answering([wrong, fitting()]).await;
        let result = bench.run(&asking(&every_keyword(), "")).await;
        assert_eq!(bench.retried(), [[problem]]);
        assert_eq!((&result.output["triage"]["severity"], bench.asked()), (&json!("high"), 2));
    }
}

#[tokio::test]
async fn seed_3_1_only_version_1_1_has_it() {
    let document = asking(&severity(), "").replace("1.1", "1.0").replace("{{ input }}", "{input}");
    assert_found(&document, "8:5: steps[0].output_schema: `output_schema` needs version \"1.1\"");
    assert_eq!(found(&document.replace("1.0", "1.1")), [""; 0]);
}

#[tokio::test]
async fn seed_3_1_the_root_is_an_object() {
    for root in [
        json!({ "type": "string" }),
        json!({ "type": "array", "items": { "type": "string" } }),
        json!({ "type": ["object", "null"], "properties": { "a": { "type": "string" } } }),
        json!({ "anyOf": [severity(), severity()] }),
        json!(true),
        json!("object"),
    ] {
        let document = asking(&root, "");
        assert_found(&document, "steps[0].output_schema");
        assert!(found(&document)[0].starts_with("8:"), "{:?}", found(&document));
    }
}

#[tokio::test]
async fn seed_3_1_what_is_outside_of_the_subset_is_an_error_and_is_not_ignored() {
    for (keyword, value) in [
        ("$ref", json!("#/$defs/a")),
        ("additionalProperties", json!(true)),
        ("patternProperties", json!({})),
        ("propertyNames", json!({})),
        ("not", json!({ "type": "string" })),
        ("allOf", json!([])),
        ("if", json!({})),
        ("contains", json!({})),
        ("nullable", json!(true)),
        ("multiplOf", json!(2)),
        ("requried", json!(["severity"])),
    ] {
        let mut schema = severity();
        schema[keyword] = value.clone();
        assert_found(&asking(&schema, ""), &format!("`{keyword}`"));
        let mut schema = severity();
        schema["properties"]["severity"][keyword] = value;
        assert_found(&asking(&schema, ""), &format!("`{keyword}`"));
    }
}

#[tokio::test]
async fn seed_3_1_what_contradicts_itself_is_an_error() {
    for (field, said) in [
        (json!({ "type": "integer", "minimum": 5, "maximum": 1 }), "maximum"),
        (json!({ "type": "string", "enum": ["a"], "default": "b" }), "default"),
        (json!({ "type": "integer", "default": "1" }), "default"),
        (json!({ "type": "string", "enum": [1] }), "enum"),
        (json!({ "type": "string", "pattern": "(" }), "pattern"),
        (json!({ "type": "number", "pattern": "a" }), "pattern"),
        (json!({ "type": "string", "minimum": 1 }), "minimum"),
    ] {
        let document = asking(&object(&json!({ "field": field }), &[]), "");
        assert_found(&document, &format!("steps[0].output_schema.properties.field.{said}"));
    }
    assert_found(&asking(&object(&json!({ "a": { "type": "string" } }), &["b"]), ""), "`b`");
}

#[tokio::test]
async fn seed_3_10_no_end_is_open() {
    for open in [
        json!({ "type": "object" }),
        json!({ "type": "object", "properties": {} }),
        json!({ "type": "array" }),
        json!({ "type": "array", "items": { "type": "object" } }),
        json!({ "type": "array", "items": { "type": "array" } }),
        object(&json!({ "deep": { "type": "object" } }), &[]),
    ] {
        let document = asking(&object(&json!({ "field": open }), &[]), "");
        assert_found(&document, "steps[0].output_schema.properties.field");
    }
    assert_found(&asking(&json!({ "type": "object" }), ""), "8:20: steps[0].output_schema");
}
