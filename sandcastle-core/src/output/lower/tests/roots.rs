//! References to the whole schema, as schemars writes them for a type that refers to itself.

use schemars::JsonSchema;
use serde_json::{Value, json};

use super::{Dialect, refused, sent};

#[test]
fn case_073_a_choice_for_the_whole_value_is_refused_by_the_keyword_that_leads_to_it() {
    let choice = json!([{ "type": "object", "properties": {} }, { "type": "object", "required": ["a"] }]);
    for (key, schema) in [
        ("anyOf", json!({ "anyOf": choice })),
        ("oneOf", json!({ "type": "object", "oneOf": choice })),
        ("$ref", json!({ "$ref": "#/$defs/X", "$defs": { "X": { "oneOf": choice } } })),
        ("allOf", json!({ "allOf": [{ "anyOf": choice }] })),
    ] {
        for dialect in [Dialect::ClaudeCode, Dialect::Gemini, Dialect::LlamaCpp] {
            let refusal = format!("`{key}` at the root gives alternatives where every wire needs one object");
            assert_eq!(refused(&schema, dialect), [refusal], "{dialect}: {schema}");
        }
    }
}

/// The server of llama.cpp answers 400 to a reference to `#`.
#[test]
fn case_079_a_type_that_refers_to_itself_is_a_definition_where_nothing_else_can_be_referred_to() {
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Tree {
        name: String,
        children: Vec<Tree>,
    }
    let schema = Value::from(crate::__private::schema_for::<Tree>());
    assert_eq!(schema["properties"]["children"]["items"], json!({ "$ref": "#" }), "what schemars writes");
    let wire = sent(&schema, Dialect::LlamaCpp).wire;
    let reference = json!({ "$ref": "#/$defs/root" });
    assert_eq!(wire["properties"]["children"]["items"], reference);
    assert_eq!(wire["$defs"]["root"]["properties"]["children"]["items"], reference);
    assert_eq!(
        sent(&schema, Dialect::OpenAi).wire["properties"]["children"]["items"],
        json!({ "$ref": "#" })
    );

    // A definition of the type's own that is called so keeps its meaning.
    let schema = json!({
        "type": "object",
        "properties": { "a": { "$ref": "#/$defs/root" }, "b": { "$ref": "#" } },
        "$defs": { "root": { "type": "object", "properties": { "c": { "$ref": "#/$defs/root" } } } },
    });
    let wire = sent(&schema, Dialect::LlamaCpp).wire;
    assert!(
        jsonschema::is_valid(&wire, &json!({ "a": { "c": { "c": {} } }, "b": { "a": {}, "b": {} } })),
        "{wire}"
    );
    assert!(!jsonschema::is_valid(&wire, &json!({ "b": { "a": 1 } })), "{wire}");
    assert!(!jsonschema::is_valid(&wire, &json!({ "a": { "c": 1 } })), "{wire}");
}
