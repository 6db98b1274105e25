//! What values look like with placeholders.

use serde_json::json;

use super::shape;
use crate::output::snippet::SnippetStyle;

#[test]
fn every_kind_of_part() {
    let schema = json!({
        "type": "object", "required": ["summary", "score", "level", "tags", "by"],
        "properties": {
            "summary": { "type": "string", "description": "One paragraph." },
            "score": { "type": "integer", "minimum": 0, "maximum": 10 },
            "level": { "enum": ["low", "high"] },
            "tags": { "type": "array", "items": { "type": "string", "minLength": 1 }, "maxItems": 3 },
            "by": { "type": "object", "additionalProperties": { "type": "number" } },
            "note": { "type": ["string", "null"], "description": "Anything else." },
        },
    });
    let expected = r#"{
 "summary": <string>, // One paragraph.
 "score": <integer, >=0, <=10>,
 "level": "low" | "high",
 "tags": [<string, minLength 1>, ...](maxItems 3),
 "by": { <string>: <number>, ... },
 "note": <string> | null // optional; Anything else.
}"#;
    assert_eq!(shape(schema, SnippetStyle::Example), expected);
}

#[test]
fn named_parts_have_placeholders_too() {
    let schema = json!({
        "title": "Tree", "type": "object", "required": ["children"],
        "properties": { "children": { "type": "array", "items": { "$ref": "#" } } },
    });
    assert_eq!(shape(schema, SnippetStyle::Example), "Tree = { \"children\": [<Tree>, ...] }");
}
