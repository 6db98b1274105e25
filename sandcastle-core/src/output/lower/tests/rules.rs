//! Names of which a grammar cannot make a rule, or makes the rule of something else. What is said here of the server of
//! llama.cpp was tried with its own converter.

use serde_json::{Value, json};

use super::{Dialect, refused, sent};

const GRAMMARS: [Dialect; 2] = [Dialect::Ollama, Dialect::LlamaCpp];

fn object(properties: &Value) -> Value {
    let names: Vec<_> = properties.as_object().unwrap().keys().collect();
    json!({ "type": "object", "properties": properties, "required": names })
}

#[test]
fn a_name_that_ends_the_server_or_the_meaning_of_the_grammar_is_refused() {
    let text = json!({ "type": "string" });
    let long = "ü".repeat(20_000);
    for dialect in GRAMMARS {
        for (name, pointer, reason) in [
            ("", "/properties/", "is called ``; of which this wire would make the rule of the whole value"),
            (
                "$ref",
                "/properties/$ref",
                "is called `$ref`; which some servers of this wire take for a keyword",
            ),
            (
                "$defs",
                "/properties/$defs",
                "is called `$defs`; which some servers of this wire take for a keyword",
            ),
        ] {
            let refusals = refused(&object(&json!({ name: text })), dialect);
            assert_eq!(refusals, [format!("`properties` at {pointer} {reason}")], "{dialect}");
        }
        let [refusal] = refused(&object(&json!({ long.as_str(): text })), dialect).try_into().unwrap();
        assert!(refusal.ends_with("üü...`; this wire takes up to 1024 bytes"), "{refusal}");
        for name in ["größe", "a b", "\"q\"", "\\", "*", "root", "space", "名前", "\n", "é-kv"] {
            sent(&object(&json!({ name: text })), dialect);
        }
        // Further inside, what has no name has a way to it.
        sent(&object(&json!({ "v": object(&json!({ "": text })) })), dialect);
    }
}

#[test]
fn a_name_that_numbers_or_times_are_made_of_is_refused_where_it_would_be_taken_for_that() {
    for dialect in GRAMMARS {
        for (name, value) in [
            ("integral_part", json!({ "enum": ["a"] })),
            ("decimal part", json!({ "type": "integer", "minimum": 0 })),
            ("date_time", json!({ "type": "string", "maxLength": 9 })),
        ] {
            let refusals = refused(&object(&json!({ name: value, "n": { "type": "number" } })), dialect);
            let refusal = format!(
                "`properties` at /properties/{name} is called `{name}`, as what this wire makes numbers or times of"
            );
            assert_eq!(refusals, [refusal], "{dialect}");
        }
        for (name, value) in [
            ("date_time", json!({ "type": "string", "format": "date-time" })),
            ("date_time", json!({ "type": "string" })),
            ("integral_part", json!({ "type": "integer", "description": "In front." })),
            ("integral-part", json!({ "enum": ["a"] })),
        ] {
            // Ollama is told of no format.
            let is_said = dialect == Dialect::Ollama && value.get("format").is_some();
            assert_eq!(sent(&object(&json!({ name: value })), dialect).moved.len(), usize::from(is_said));
        }
    }
}

#[test]
fn a_name_beside_keys_that_are_not_declared_is_told_from_them_letter_by_letter() {
    let open = |name: &str, others: Value| {
        json!({
            "type": "object", "properties": { "v": {
                "type": "object", "properties": { name: { "type": "string" } }, "additionalProperties": others,
            } }, "required": ["v"],
        })
    };
    for dialect in GRAMMARS {
        for name in ["]", "a]", "\\", "-", "*", "max-size", "größe", "\u{0}"] {
            for others in [json!(true), json!({ "type": "integer" })] {
                let [refusal] = refused(&open(name, others), dialect).try_into().unwrap();
                let reason = "beside keys that are not declared, this wire takes letters, digits and `_`";
                assert!(refusal.ends_with(&format!("is called `{name}`; {reason}")), "{dialect}: {refusal}");
            }
            sent(&open(name, json!(false)), dialect);
        }
        sent(&open("max_size2", json!(true)), dialect);
    }
}

#[test]
fn definitions_that_refer_to_themselves_have_names_that_no_rule_has() {
    let node = |name: &str, value: &str| {
        object(&json!({
            "next": { "anyOf": [{ "$ref": format!("#/$defs/{name}") }, { "type": "null" }] },
            "value": { "type": value },
        }))
    };
    for (names, wanted) in [
        (["a_b", "a.b", "a-b"], ["ab", "ab2T", "ab3T"]),
        (["Node", "Node-next", "Node2"], ["Node", "Nodenext", "Node2T"]),
        (["kv", "item", "2"], ["kv2T", "item2T", "2T"]),
        (["v0", "next", "größe"], ["v0T", "next2T", "gre"]),
    ] {
        let [a, b, c] = names;
        let mut schema = object(&json!({
            "v0": { "$ref": format!("#/$defs/{a}") },
            "v1": { "$ref": format!("#/$defs/{b}") },
            "v2": { "$ref": format!("#/$defs/{c}") },
        }));
        schema["$defs"] = json!({ a: node(a, "string"), b: node(b, "boolean"), c: node(c, "integer") });
        let wire = sent(&schema, Dialect::LlamaCpp).wire;
        assert_eq!(wire["$defs"].as_object().unwrap().keys().collect::<Vec<_>>(), wanted, "{wire}");
        let right = json!({
            "v0": { "next": null, "value": "x" },
            "v1": { "next": { "next": null, "value": true }, "value": false },
            "v2": { "next": null, "value": 1 },
        });
        assert!(jsonschema::is_valid(&wire, &right), "{wire}");
        for (name, wrong) in [("v0", json!(true)), ("v1", json!(1)), ("v2", json!("x"))] {
            let mut value = right.clone();
            value[name]["value"] = wrong;
            assert!(!jsonschema::is_valid(&wire, &value), "{wire}");
        }
        // Elsewhere they keep theirs, as far as those need no escape.
        let wire = sent(&schema, Dialect::ClaudeCode).wire;
        assert!(wire["$defs"].get(a).is_some(), "{wire}");
    }
}
