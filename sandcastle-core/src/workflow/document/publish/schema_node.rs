//! What the published schema says of output schemas and of variables: the part of JSON Schema that they are written in.

use serde_json::{Value, json};

use super::super::keys::{ABOUT, BESIDE_UNIONS, Group, SAYING, SCHEMA_NODE, UNIONS, VARIABLE};
use super::Publisher;

/// A part of an output schema.
pub(super) fn reference() -> Value {
    json!({ "$ref": "#/$defs/schema_node" })
}

/// A part that is never absent, so that it has no default.
fn always_there() -> Value {
    json!({ "$ref": "#/$defs/schema_node", "properties": { "default": false } })
}

/// The root of an output schema.
pub(super) fn root() -> Value {
    json!({
        "$ref": "#/$defs/schema_node",
        "properties": { "type": { "const": "object" }, "default": false },
        "required": ["type"],
    })
}

impl Publisher {
    /// A part of an output schema, which leaves nothing open.
    pub(super) fn schema_node(&self) -> Value {
        let mut schema = self.keywords(&SCHEMA_NODE);
        schema["anyOf"] = SAYING.iter().map(|keyword| json!({ "required": [keyword] })).collect();
        let closed = [("object", "properties"), ("array", "items")].map(|(kind, keyword)| {
            let is_it = json!({ "properties": { "type": says(&[kind]) }, "required": ["type"] });
            json!({ "if": is_it, "then": { "required": [keyword] } })
        });
        schema["allOf"] = json!(closed);
        schema
    }

    /// A variable that is described. What it holds may be left open, since somebody sets it.
    pub(super) fn variable(&self) -> Value {
        let mut schema = self.keywords(&VARIABLE);
        schema["required"] = json!(["type"]);
        schema
    }

    /// The keywords of a schema, each beside a type that it is about.
    fn keywords(&self, group: &Group) -> Value {
        let mut schema = self.group(group);
        for (keyword, types) in ABOUT {
            schema["dependentSchemas"][*keyword] =
                json!({ "properties": { "type": says(types) }, "required": ["type"] });
        }
        for keyword in UNIONS {
            let beside = [&[keyword], BESIDE_UNIONS].concat();
            schema["dependentSchemas"][keyword] = json!({ "propertyNames": { "enum": beside } });
            merge(&mut schema["properties"][keyword], json!({ "items": always_there() }));
        }
        merge(&mut schema["properties"]["items"], always_there());
        for keyword in ["enum", "required"] {
            schema["properties"][keyword]["uniqueItems"] = json!(true);
        }
        schema
    }
}

fn merge(schema: &mut Value, more: Value) {
    if let (Value::Object(schema), Value::Object(more)) = (schema, more) {
        schema.extend(more);
    }
}

/// What `type` is where it says one of these types, alone or among others.
fn says(types: &[&str]) -> Value {
    json!({ "anyOf": [{ "enum": types }, { "type": "array", "contains": { "enum": types } }] })
}
