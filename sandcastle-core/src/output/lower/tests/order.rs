//! The order of properties on the wire: models fill them in one after the other.

use serde_json::{Value, json};

use super::{Dialect, sent};

fn text(names: &[&str]) -> Value {
    let properties: serde_json::Map<_, _> =
        names.iter().map(|name| ((*name).to_owned(), json!({ "type": "string" }))).collect();
    json!({ "type": "object", "properties": properties, "required": names })
}

#[test]
fn case_085_properties_that_come_together_stay_in_the_order_in_which_they_are_declared() {
    let a = json!({ "$ref": "#/$defs/A" });
    let mut beside = text(&["y"]);
    beside["$ref"] = a["$ref"].clone();
    let mut before = json!({ "$ref": a["$ref"] });
    before.as_object_mut().unwrap().extend(text(&["y"]).as_object().unwrap().clone());
    for (value, order) in [
        (json!({ "allOf": [a, text(&["y"])] }), ["reasoning", "n", "y"].as_slice()),
        (json!({ "allOf": [text(&["y"]), a] }), &["y", "reasoning", "n"]),
        (json!({ "allOf": [text(&["y"]), a, text(&["z"])] }), &["y", "reasoning", "n", "z"]),
        (json!({ "allOf": [{ "allOf": [text(&["x"])] }, text(&["y"])] }), &["x", "y"]),
        (json!({ "allOf": [{ "$ref": "#/$defs/B" }, text(&["y"])] }), &["reasoning", "n", "b", "y"]),
        (json!({ "allOf": [text(&["n", "y"]), a] }), &["n", "y", "reasoning"]),
        (beside, &["y", "reasoning", "n"]),
        (before, &["reasoning", "n", "y"]),
    ] {
        let schema = json!({
            "type": "object", "properties": { "v": value }, "required": ["v"],
            "$defs": { "A": text(&["reasoning", "n"]), "B": { "allOf": [a, text(&["b"])] } },
        });
        for dialect in Dialect::ALL.into_iter().filter(|dialect| *dialect != Dialect::ClaudeCode) {
            let wire = sent(&schema, dialect).wire;
            let object = &wire["properties"]["v"];
            let names: Vec<_> = object["properties"].as_object().unwrap().keys().collect();
            assert_eq!(names, order, "{dialect}: {schema}");
        }
        // Here a conjunction stays one, unless it is the whole value.
        let mut whole = schema["properties"]["v"].clone();
        whole["type"] = json!("object");
        whole["$defs"] = schema["$defs"].clone();
        let wire = sent(&whole, Dialect::ClaudeCode).wire;
        assert_eq!(wire["properties"].as_object().unwrap().keys().collect::<Vec<_>>(), order, "{whole}");
    }
}
