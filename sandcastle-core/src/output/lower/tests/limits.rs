//! What dialects count: exactly the limit goes, one more is refused by name and number.

use serde_json::{Map, Value, json};

use super::{Dialect, lower, refused, sent};

fn object(properties: &Map<String, Value>, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

fn fields(count: usize, schema: &Value) -> Map<String, Value> {
    (0..count).map(|index| (format!("f{index}"), schema.clone())).collect()
}

fn required(count: usize, schema: &Value) -> Value {
    let properties = fields(count, schema);
    let names: Vec<_> = properties.keys().map(String::as_str).collect();
    object(&properties, &names)
}

fn count(schema: &Value, dialect: Dialect, what: &str) -> usize {
    let lowering = lower(schema, dialect);
    lowering.counts.iter().find(|count| count.what == what).unwrap_or_else(|| panic!("no `{what}`")).count
}

#[test]
fn optional_properties_and_unions_of_anthropic() {
    let text = json!({ "type": "string" });
    assert_eq!(count(&object(&fields(24, &text), &[]), Dialect::Anthropic, "optional properties"), 24);
    sent(&object(&fields(24, &text), &[]), Dialect::Anthropic);
    assert_eq!(
        refused(&object(&fields(25, &text), &[]), Dialect::Anthropic),
        ["`optional properties` at the root are 25, and this wire carries 24 at the most"]
    );
    let union = json!({ "type": ["string", "null"] });
    sent(&required(16, &union), Dialect::Anthropic);
    assert_eq!(
        refused(&required(17, &union), Dialect::Anthropic),
        ["`unions` at the root are 17, and this wire carries 16 at the most"]
    );
    let alternatives = json!({ "anyOf": [text, { "type": "integer" }] });
    assert_eq!(count(&required(3, &alternatives), Dialect::Anthropic, "unions"), 3);
}

#[test]
fn properties_levels_and_values_of_strict_schemas() {
    let number = json!({ "type": "integer" });
    for dialect in [Dialect::OpenAi, Dialect::Codex] {
        sent(&required(5000, &number), dialect);
        assert_eq!(
            refused(&required(5001, &number), dialect),
            ["`properties` at the root are 5001, and this wire carries 5000 at the most"]
        );
        let nested = |levels| (1..levels).fold(required(1, &number), |inner, _| required(1, &inner));
        sent(&nested(10), dialect);
        assert_eq!(
            refused(&nested(11), dialect),
            ["`levels of objects` at the root are 11, and this wire carries 10 at the most"]
        );
        let listed = |count: usize| {
            let values: Vec<_> = (0..count).map(|index| format!("{index}")).collect();
            required(1, &json!({ "type": "string", "enum": values }))
        };
        sent(&listed(1000), dialect);
        assert_eq!(
            refused(&listed(1001), dialect),
            ["`values of enums` at the root are 1001, and this wire carries 1000 at the most"]
        );
    }
}

#[test]
fn characters_of_names_and_of_long_enums() {
    let wide = |values: usize, length: usize| {
        let values: Vec<_> = (0..values).map(|index| format!("{index:0>length$}")).collect();
        required(1, &json!({ "type": "string", "enum": values }))
    };
    sent(&wide(250, 100), Dialect::OpenAi);
    assert_eq!(
        refused(&wide(251, 100), Dialect::OpenAi),
        ["`characters of one long enum` at the root are 25100, and this wire carries 15000 at the most"]
    );
    // "f0" is the name of the property.
    assert_eq!(count(&wide(2, 100), Dialect::OpenAi, "characters of names and values"), 202);
    assert_eq!(
        refused(&wide(250, 500), Dialect::OpenAi),
        ["`characters of names and values` at the root are 125002, and this wire carries 120000 at the most"]
    );
    let umlauts = required(1, &json!({ "type": "string", "const": "äöü" }));
    assert_eq!(count(&umlauts, Dialect::OpenAi, "characters of names and values"), 5);
}

#[test]
fn the_argument_of_claude_code_has_a_size_with_its_last_zero() {
    let of_size = |bytes: usize| {
        let empty = required(1, &json!({ "type": "string", "description": "" })).to_string().len();
        required(1, &json!({ "type": "string", "description": "d".repeat(bytes - empty) }))
    };
    let most = of_size(128 * 1024 - 1);
    assert_eq!(most.to_string().len(), 128 * 1024 - 1);
    sent(&most, Dialect::ClaudeCode);
    assert_eq!(
        refused(&of_size(128 * 1024), Dialect::ClaudeCode),
        ["`bytes of an argument` at the root are 131073, and this wire carries 131072 at the most"]
    );
}

#[test]
fn what_grammars_repeat_and_optional_properties_of_one_object() {
    let text = json!({ "type": "string", "maxLength": 1000 });
    for dialect in [Dialect::Ollama, Dialect::LlamaCpp] {
        sent(&required(100, &text), dialect);
        assert_eq!(count(&required(100, &text), dialect, "repetitions"), 100_000);
        assert_eq!(
            refused(&required(101, &text), dialect),
            ["`repetitions` at the root are 101000, and this wire carries 100000 at the most"]
        );
        let plain = json!({ "type": "null" });
        sent(&object(&fields(1000, &plain), &[]), dialect);
        assert_eq!(
            refused(&object(&fields(1001, &plain), &[]), dialect),
            [
                "`optional properties of one object` at the root are 1001, and this wire carries 1000 at the most"
            ]
        );
        let pattern = json!({ "type": "string", "pattern": "^(a{2,3}[b\\-]){4}$" });
        assert_eq!(count(&required(1, &pattern), dialect, "repetitions"), 16);
    }
}

#[test]
fn a_definition_counts_once() {
    let schema = json!({
        "type": "object",
        "properties": { "a": { "$ref": "#/$defs/T" }, "b": { "$ref": "#/$defs/T" } },
        "required": ["a", "b"],
        "$defs": { "T": { "type": "object", "properties": { "x": { "type": ["string", "null"] } } } },
    });
    assert_eq!(count(&schema, Dialect::Anthropic, "optional properties"), 1);
    assert_eq!(count(&schema, Dialect::Anthropic, "unions"), 1);
    assert_eq!(count(&schema, Dialect::OpenAi, "properties"), 3);
    assert_eq!(count(&schema, Dialect::OpenAi, "levels of objects"), 1);
}
