//! The JSON Schema of documents, made of the table of keys, for editors that complete and check.
//!
//! It comes once for each version of documents, since the older one has fewer keys. What holds between places far from each
//! other, no schema says; the reader does.

mod schema_node;

use serde_json::{Map, Value, json};

use super::super::definition::{MAX_NAME, WorkflowVersion};
use super::keys::{COMMON, Group, KINDS, Key, Kind, MAX_MEMBERS, Needed, Presence, Shape, WORKFLOW};

/// Makes the schema.
pub(super) fn json_schema() -> Value {
    let mut definitions = Map::new();
    for version in [WorkflowVersion::V1_0, WorkflowVersion::V1_1] {
        let publisher = Publisher { version };
        definitions.insert(publisher.named("workflow"), publisher.group(&WORKFLOW));
        definitions.insert(publisher.named("step"), publisher.step());
        for kind in KINDS.iter().filter(|kind| kind.since <= version) {
            definitions.insert(publisher.named(kind.name), publisher.kind(kind));
        }
    }
    let newest = Publisher { version: WorkflowVersion::V1_1 };
    definitions.insert("schema_node".to_owned(), newest.schema_node());
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Sandcastle workflow",
        "description": "Steps in an order: models, agents, commands and people, each with an output that later steps read.",
        "type": "object",
        "if": { "properties": { "version": { "enum": ["1.0", 1.0] } }, "required": ["version"] },
        "then": { "$ref": "#/$defs/workflow_1_0" },
        "else": { "$ref": "#/$defs/workflow_1_1" },
        "$defs": definitions,
    })
}

/// Describes the documents of one version.
struct Publisher {
    version: WorkflowVersion,
}

impl Publisher {
    fn named(&self, name: &str) -> String {
        match self.version {
            WorkflowVersion::V1_0 => format!("{name}_1_0"),
            WorkflowVersion::V1_1 => format!("{name}_1_1"),
        }
    }

    fn reference(&self, name: &str) -> Value {
        json!({ "$ref": format!("#/$defs/{}", self.named(name)) })
    }

    /// Any step: its kind says which keys it has.
    fn step(&self) -> Value {
        let kinds = || KINDS.iter().filter(|kind| kind.since <= self.version);
        let names: Vec<_> = kinds().map(|kind| kind.name).collect();
        let each: Vec<_> = kinds()
            .map(|kind| {
                let is_it = json!({ "properties": { "type": { "const": kind.name } } });
                json!({ "if": is_it, "then": self.reference(kind.name) })
            })
            .collect();
        let name = COMMON.iter().map(|key| (key.name.to_owned(), self.key(key)));
        let mut properties: Map<_, _> = name.collect();
        properties["type"]["enum"] = json!(names);
        json!({
            "type": "object",
            "properties": properties,
            "required": ["step", "type"],
            "allOf": each,
        })
    }

    fn kind(&self, kind: &Kind) -> Value {
        let keys: Vec<_> = COMMON.iter().chain(kind.group.keys).collect();
        let mut schema = self.map(&keys, kind.group.needed);
        schema["description"] = json!(kind.doc);
        schema["properties"]["type"]["const"] = json!(kind.name);
        schema
    }

    fn group(&self, group: &Group) -> Value {
        self.map(&group.keys.iter().collect::<Vec<_>>(), group.needed)
    }

    fn map(&self, keys: &[&Key], needed: Option<Needed>) -> Value {
        let there = || keys.iter().filter(|key| key.since <= self.version);
        let properties: Map<_, _> = there().map(|key| (key.name.to_owned(), self.key(key))).collect();
        let required = there().filter(|key| key.presence == Presence::Required).map(|key| key.name);
        let mut schema = json!({
            "type": "object",
            "properties": properties,
            "required": required.collect::<Vec<_>>(),
            "additionalProperties": false,
        });
        if let Some(Needed::ExactlyOne(names) | Needed::AtLeastOne(names)) = needed {
            let how = if matches!(needed, Some(Needed::ExactlyOne(_))) { "oneOf" } else { "anyOf" };
            schema[how] = names.iter().map(|name| json!({ "required": [name] })).collect();
        }
        schema
    }

    fn key(&self, key: &Key) -> Value {
        let mut schema = self.shape(key.shape);
        schema["description"] = json!(key.doc);
        schema
    }

    fn shape(&self, shape: Shape) -> Value {
        match shape {
            Shape::Version => json!({ "enum": ["1.0", "1.1", 1.0, 1.1] }),
            Shape::Text => json!({ "type": "string" }),
            Shape::Filled => json!({ "type": "string", "pattern": r"\S" }),
            Shape::Spelled => json!({ "type": ["string", "number", "boolean"] }),
            Shape::Name => json!({ "type": "string", "pattern": NAME, "maxLength": MAX_NAME }),
            Shape::Secret => json!({ "type": "string", "pattern": r"^\$\{[A-Za-z_][A-Za-z0-9_]*\}$" }),
            Shape::Address => json!({ "type": "string", "pattern": r"^https?://\S+$" }),
            Shape::Choice(words) => json!({ "enum": words }),
            Shape::Boolean => json!({ "type": "boolean" }),
            Shape::Whole(least, most) => json!({ "type": "integer", "minimum": least, "maximum": most }),
            Shape::Number(least, most) => json!({ "type": "number", "minimum": least, "maximum": most }),
            Shape::Positive(most) => json!({ "type": "number", "exclusiveMinimum": 0, "maximum": most }),
            Shape::AnyNumber => json!({ "type": "number" }),
            Shape::Anything => json!({}),
            Shape::Scalar => json!({ "type": ["string", "number", "boolean", "null"] }),
            Shape::List(item) => json!({ "type": "array", "items": self.shape(*item), "minItems": 1 }),
            Shape::Named(Shape::SchemaNode) => names(&self.shape(Shape::SchemaNode), 1),
            Shape::Named(value) => {
                let mut schema = names(&self.shape(*value), 1);
                schema["propertyNames"]["maxLength"] = json!(MAX_NAME);
                schema
            }
            Shape::Environment => names(&self.shape(Shape::Spelled), 0),
            Shape::Group(group) => self.group(group),
            Shape::TextOr(group) => json!({ "anyOf": [self.shape(Shape::Filled), self.group(group)] }),
            Shape::OneOrMore(words) => {
                json!({ "anyOf": [{ "enum": words }, { "type": "array", "items": { "enum": words }, "minItems": 1, "uniqueItems": true }] })
            }
            Shape::Steps => {
                json!({ "type": "array", "items": self.reference("step"), "minItems": 1, "maxItems": MAX_MEMBERS })
            }
            Shape::SchemaNode => schema_node::reference(),
            Shape::OutputSchema => schema_node::root(),
            Shape::Variable => json!({
                "if": { "type": "object" },
                "then": self.variable(),
                "else": { "type": ["string", "number", "boolean", "array"] },
            }),
        }
    }
}

/// What expressions can say.
const NAME: &str = "^[A-Za-z_][A-Za-z0-9_]*$";

/// A map of names of one's own.
fn names(value: &Value, least: usize) -> Value {
    json!({
        "type": "object",
        "propertyNames": { "pattern": NAME },
        "additionalProperties": value,
        "minProperties": least,
        "maxProperties": MAX_MEMBERS,
    })
}
