//! Schemas that are deep, wide or tangled: bounded stacks, and length linear in the size of the schema.

use serde_json::{Map, Value, json};

use super::{STYLES, render};
use crate::output::snippet::SnippetStyle;

#[test]
fn deep_schemas_are_shown_to_the_end() {
    let mut schema = json!({ "type": "string", "pattern": "at the bottom" });
    for _ in 0..100 {
        schema = json!({ "type": "array", "items": schema });
    }
    for style in STYLES {
        assert!(render("result", &schema, style).contains("at the bottom"), "{style:?}");
    }
}

#[test]
fn bottomless_schemas_are_cut_off() {
    let mut schema = json!(true);
    for _ in 0..600 {
        schema = json!({ "not": schema, "items": { "not": true } });
    }
    for style in STYLES {
        assert!(render("result", &schema, style).len() < 10_000, "{style:?}");
    }
}

#[test]
fn long_chains_of_definitions_go_by_name() {
    let count = 5000;
    let mut definitions = Map::new();
    for number in 0..count {
        let next = json!({ "$ref": format!("#/$defs/D{}", number + 1) });
        definitions.insert(format!("D{number}"), json!({ "type": "object", "properties": { "next": next } }));
    }
    definitions.insert(format!("D{count}"), json!({ "const": "the end" }));
    let text =
        render("result", &json!({ "$ref": "#/$defs/D0", "$defs": definitions }), SnippetStyle::TypeScript);
    assert_eq!(text.matches("next?: ").count(), count);
    assert!(text.contains("the end"));
}

#[test]
fn definitions_that_double_are_shown_once() {
    let mut definitions = Map::new();
    for number in 0..200 {
        let next = json!({ "$ref": format!("#/$defs/D{}", number + 1) });
        definitions.insert(format!("D{number}"), json!({ "type": "array", "prefixItems": [next, next] }));
    }
    let text =
        render("result", &json!({ "$ref": "#/$defs/D0", "$defs": definitions }), SnippetStyle::TypeScript);
    assert_eq!(text.matches("type D").count(), 199);
}

#[test]
fn length_is_linear_in_the_number_of_fields() {
    let length = |count: usize| {
        let field = |number| {
            (
                format!("field{number:05}"),
                json!({ "type": "integer", "minimum": number, "description": "A." }),
            )
        };
        let properties: Map<String, Value> = (0..count).map(field).collect();
        let arms: Vec<Value> =
            (0..count).map(|number| json!({ "const": format!("value{number:05}") })).collect();
        let schema = json!({ "type": "object", "properties": properties, "oneOf": arms });
        STYLES.map(|style| render("result", &schema, style).len())
    };
    for (small, large) in length(1000).into_iter().zip(length(10_000)) {
        assert!(large < small * 11, "{small} grew to {large}");
    }
}
