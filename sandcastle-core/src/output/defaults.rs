//! Fills in what an answer left out and its schema has a default for, before the answer is judged.
//!
//! Only fields that are absent are filled in, in objects that are there: `null` is a value, nothing is turned into another
//! kind, and what was filled in is not looked into again. Defaults are found through `$ref` and `allOf`, and in that one of
//! several alternatives which the value can be meant for; where more than one is possible, none is taken.

use serde_json::{Map, Value};

use super::Problem;

/// The most bytes, as JSON, that are filled into one answer.
const MAX_FILLED: usize = 8 << 20;
/// The most parts of a schema that are gathered for one place.
const MAX_PARTS: usize = 64;

/// Tells whether there may be a default in a schema.
pub(super) fn has_any(schema: &Value) -> bool {
    match schema {
        Value::Object(fields) => fields.contains_key("default") || fields.values().any(has_any),
        Value::Array(items) => items.iter().any(has_any),
        _ => false,
    }
}

/// Fills the defaults of a schema into a value.
///
/// # Errors
/// If that would make it larger than an answer may be.
pub(super) fn fill(value: &mut Value, schema: &Value) -> Result<(), Problem> {
    Filler { root: schema, room: MAX_FILLED }.fill(value, vec![schema])
}

struct Filler<'s> {
    root: &'s Value,
    /// How many bytes may still be filled in.
    room: usize,
}

impl<'s> Filler<'s> {
    fn fill(&mut self, value: &mut Value, parts: Vec<&'s Value>) -> Result<(), Problem> {
        let parts = self.applying(value, parts);
        match value {
            Value::Object(fields) => {
                for (name, field) in fields.iter_mut() {
                    let below = parts.iter().filter_map(|part| property(part, name)).collect();
                    self.fill(field, below)?;
                }
                self.fill_in(fields, &parts)
            }
            Value::Array(items) => items.iter_mut().enumerate().try_for_each(|(index, item)| {
                let below = parts.iter().filter_map(|part| element(part, index)).collect();
                self.fill(item, below)
            }),
            _ => Ok(()),
        }
    }

    /// Fills in the fields that are absent.
    fn fill_in(&mut self, fields: &mut Map<String, Value>, parts: &[&'s Value]) -> Result<(), Problem> {
        let properties = parts.iter().filter_map(|part| part.get("properties")?.as_object());
        for (name, property) in properties.flatten() {
            if fields.contains_key(name) {
                continue;
            }
            let Some(default) = self.default_of(property) else { continue };
            let size = name.len() + default.to_string().len();
            self.room = self.room.checked_sub(size).ok_or_else(|| {
                Problem::new("", format!("needs more than {MAX_FILLED} bytes of defaults to be filled in"))
            })?;
            fields.insert(name.clone(), default.clone());
        }
        Ok(())
    }

    fn default_of(&self, property: &'s Value) -> Option<&'s Value> {
        let mut gathered = Vec::new();
        self.gather(vec![property], &mut gathered);
        gathered.iter().find_map(|part| part.get("default"))
    }

    /// Returns the parts that hold for a value: these, what they refer to, and alternatives that alone are possible.
    fn applying(&self, value: &Value, parts: Vec<&'s Value>) -> Vec<&'s Value> {
        let mut gathered = Vec::new();
        self.gather(parts, &mut gathered);
        // What is gathered below is looked through in its turn, so alternatives within alternatives are found, too.
        let mut at = 0;
        while let Some(part) = gathered.get(at).copied() {
            for list in ["anyOf", "oneOf"] {
                let options = part.get(list).and_then(Value::as_array).into_iter().flatten();
                let mut possible = options.filter(|option| self.is_possible(option, value));
                if let (Some(only), None) = (possible.next(), possible.next()) {
                    self.gather(vec![only], &mut gathered);
                }
            }
            at += 1;
        }
        gathered
    }

    /// Gathers parts, each once, with what they refer to and demand besides.
    fn gather(&self, mut waiting: Vec<&'s Value>, gathered: &mut Vec<&'s Value>) {
        while let Some(part) = waiting.pop() {
            let is_known = gathered.iter().any(|known| std::ptr::eq(*known, part));
            if !part.is_object() || is_known || gathered.len() >= MAX_PARTS {
                continue;
            }
            gathered.push(part);
            let reference = part.get("$ref").and_then(Value::as_str).and_then(|name| name.strip_prefix('#'));
            waiting.extend(reference.and_then(|pointer| self.root.pointer(pointer)));
            waiting.extend(part.get("allOf").and_then(Value::as_array).into_iter().flatten());
        }
    }

    /// Tells whether an alternative can be meant, by the kind of the value and by its fields that tell alternatives apart.
    fn is_possible(&self, option: &'s Value, value: &Value) -> bool {
        let mut parts = Vec::new();
        self.gather(vec![option], &mut parts);
        parts
            .iter()
            .all(|part| is_of_type(part, value) && is_allowed(part, value) && has_its_marks(part, value))
    }
}

fn property<'s>(part: &'s Value, name: &str) -> Option<&'s Value> {
    let named = part.get("properties").and_then(|properties| properties.get(name));
    named.or_else(|| part.get("additionalProperties"))
}

fn element(part: &Value, index: usize) -> Option<&Value> {
    let first = part.get("prefixItems").and_then(|items| items.get(index));
    first.or_else(|| part.get("items"))
}

fn is_of_type(part: &Value, value: &Value) -> bool {
    let fits = |name: &Value| match name.as_str() {
        Some("null") => value.is_null(),
        Some("boolean") => value.is_boolean(),
        Some("integer" | "number") => value.is_number(),
        Some("string") => value.is_string(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        _ => true,
    };
    match part.get("type") {
        Some(Value::Array(names)) => names.iter().any(fits),
        Some(name) => fits(name),
        None => true,
    }
}

fn is_allowed(part: &Value, value: &Value) -> bool {
    let constant = part.get("const").is_none_or(|constant| constant == value);
    let options = part.get("enum").and_then(Value::as_array);
    constant && options.is_none_or(|options| options.contains(value))
}

/// Tells whether the fields of an object are those of an alternative, where that allows only some values for them.
fn has_its_marks(part: &Value, value: &Value) -> bool {
    let properties = part.get("properties").and_then(Value::as_object).into_iter().flatten();
    let mut told = properties.filter_map(|(name, property)| Some((property, value.get(name)?)));
    told.all(|(property, field)| is_allowed(property, field))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn filled(schema: &Value, mut value: Value) -> Value {
        fill(&mut value, schema).unwrap();
        value
    }

    #[test]
    fn only_fields_that_are_absent_are_filled_in_and_only_into_objects_that_are_there() {
        let schema = json!({ "type": "object", "properties": {
            "level": { "type": "string", "default": "low" },
            "inner": { "type": "object", "properties": { "n": { "type": "integer", "default": 1 } } },
            "items": { "type": "array", "items": { "type": "object", "properties": { "ok": { "default": true } } } },
        } });
        assert_eq!(filled(&schema, json!({})), json!({ "level": "low" }));
        assert_eq!(filled(&schema, json!({ "level": null })), json!({ "level": null }));
        assert_eq!(filled(&schema, json!({ "level": 3, "inner": "x" })), json!({ "level": 3, "inner": "x" }));
        assert_eq!(
            filled(&schema, json!({ "inner": {}, "items": [{}, { "ok": false }, 7, [{}]] })),
            json!({ "inner": { "n": 1 }, "items": [{ "ok": true }, { "ok": false }, 7, [{}]], "level": "low" })
        );
        for other in [json!(null), json!("text"), json!(3), json!([{}])] {
            assert_eq!(filled(&schema, other.clone()), other);
        }
    }

    #[test]
    fn defaults_are_found_through_references_and_in_the_alternative_that_is_meant() {
        let schema = json!({
            "$defs": { "level": { "type": "integer", "default": 2 },
                       "node": { "properties": { "level": { "$ref": "#/$defs/level" }, "next": { "$ref": "#/$defs/node" } } } },
            "properties": { "node": { "anyOf": [{ "$ref": "#/$defs/node", "type": "object" }, { "type": "null" }] },
                            "shape": { "oneOf": [
                                { "properties": { "kind": { "const": "dot" }, "size": { "default": 1 } } },
                                { "properties": { "kind": { "const": "box" }, "width": { "default": 9 } } },
                            ] } },
        });
        assert_eq!(filled(&schema, json!({ "node": null })), json!({ "node": null }));
        assert_eq!(
            filled(&schema, json!({ "node": { "next": {} } })),
            json!({ "node": { "next": { "level": 2 }, "level": 2 } })
        );
        assert_eq!(
            filled(&schema, json!({ "shape": { "kind": "box" } })),
            json!({ "shape": { "kind": "box", "width": 9 } })
        );
        assert_eq!(filled(&schema, json!({ "shape": {} })), json!({ "shape": {} }), "either could be meant");
    }

    #[test]
    fn a_schema_that_turns_in_circles_or_an_answer_that_would_burst_comes_to_an_end() {
        let circle = json!({ "$ref": "#", "properties": { "child": { "$ref": "#", "default": {} } } });
        assert_eq!(filled(&circle, json!({})), json!({ "child": {} }));
        let long = json!({ "items": { "properties": { "text": { "default": "x".repeat(1 << 20) } } } });
        let mut many = Value::Array(vec![json!({}); 100]);
        assert!(fill(&mut many, &long).unwrap_err().message.contains("bytes of defaults"));
        assert!(has_any(&long) && !has_any(&json!({ "type": "object", "properties": {} })));
    }
}
