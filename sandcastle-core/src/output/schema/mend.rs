//! Corrects what schemars says wrongly of a type.
//!
//! schemars builds `flatten` and newtype variants of tagged enums by putting schemas of objects side by side: "these
//! fields, and one of those alternatives". Three things go wrong there, and all refuse what serde accepts.
//!
//! - A part that restricts other fields (a map, a closed struct behind a `$ref`) does not see the fields beside it. Such
//!   parts are opened; what a field must be is then judged by serde alone. Whether unknown fields are allowed is said
//!   by the outer schema, which does see all fields.
//! - A unit variant with a doc comment stays a string, which a part of an object cannot be. It becomes the key with
//!   `null` that serde writes.
//! - A field that two parts have is required twice, which no schema may say.

use std::collections::HashSet;

use schemars::Schema;
use schemars::transform::{Transform, transform_subschemas};
use serde_json::{Map, Value, json};

/// The keywords whose schemas are about the same object as the schema they stand in.
const BESIDE: [&str; 3] = ["allOf", "anyOf", "oneOf"];

/// Returns the schema as serde reads the type.
pub(crate) fn mended(mut schema: Schema) -> Schema {
    let root = schema.as_value().clone();
    Mender { root: &root }.transform(&mut schema);
    schema
}

struct Mender<'a> {
    /// The schema as it was, in which references are looked up.
    root: &'a Value,
}

impl Transform for Mender<'_> {
    fn transform(&mut self, schema: &mut Schema) {
        if let Some(object) = schema.as_object_mut().filter(|object| has_parts(object)) {
            self.open_parts(object, &mut Vec::new());
        }
        if let Some(Value::Array(required)) = schema.get_mut("required") {
            let mut seen = HashSet::new();
            required.retain(|name| seen.insert(name.clone()));
        }
        transform_subschemas(self, schema);
    }
}

impl Mender<'_> {
    /// Opens what stands beside other descriptions of the same object; `way` is the references on the way here.
    fn open_parts(&self, schema: &mut Map<String, Value>, way: &mut Vec<String>) {
        for key in BESIDE {
            let parts = schema.get_mut(key).and_then(Value::as_array_mut);
            for part in parts.into_iter().flatten().filter_map(Value::as_object_mut) {
                self.open(part, way);
            }
        }
        let Some(reference) = schema.get("$ref").and_then(Value::as_str).map(str::to_owned) else { return };
        if let Some(opened) = self.opened_target(&reference, way) {
            schema.remove("$ref");
            if let Value::Array(all) = schema.entry("allOf").or_insert_with(|| json!([])) {
                all.push(opened.into());
            }
        }
    }

    fn open(&self, part: &mut Map<String, Value>, way: &mut Vec<String>) {
        as_key(part);
        for rest in ["additionalProperties", "unevaluatedProperties"] {
            match part.get_mut(rest) {
                Some(Value::Bool(false)) => _ = part.remove(rest),
                // Still says that it knows the fields, for an outer schema that allows none that nobody knows.
                Some(others) => *others = Value::Bool(true),
                None => {}
            }
        }
        self.open_parts(part, way);
    }

    /// Returns a copy of what is referred to, if it must be opened.
    fn opened_target(&self, reference: &str, way: &mut Vec<String>) -> Option<Map<String, Value>> {
        if way.iter().any(|passed| passed == reference) {
            return None;
        }
        let target = self.root.pointer(reference.strip_prefix('#')?)?.as_object()?;
        let mut opened = target.clone();
        way.push(reference.to_owned());
        self.open(&mut opened, way);
        way.pop();
        (opened != *target).then_some(opened)
    }
}

/// Tells whether a schema describes one object in several places, none of which sees what the others know.
fn has_parts(schema: &Map<String, Value>) -> bool {
    let lists = BESIDE.iter().filter_map(|key| Some((key, schema.get(*key)?.as_array()?)));
    let parts: usize = lists.map(|(key, list)| if *key == "allOf" { list.len() } else { 1 }).sum();
    let parts = parts + usize::from(schema.contains_key("$ref"));
    let fields = schema.get("properties").and_then(Value::as_object);
    let parts = parts + usize::from(fields.is_some_and(|fields| !fields.is_empty()));
    parts > 1 && schema.get("type").is_some_and(|ty| ty == "object")
}

/// Turns a variant that is a string into the key that it is where it is flattened.
fn as_key(part: &mut Map<String, Value>) {
    let Some(Value::String(variant)) = part.get("const") else { return };
    let variant = variant.clone();
    part.remove("const");
    part.insert("type".to_owned(), json!("object"));
    part.insert("properties".to_owned(), json!({ variant.as_str(): { "type": "null" } }));
    part.insert("required".to_owned(), json!([variant]));
}
