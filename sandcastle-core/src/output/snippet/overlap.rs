//! Says whether the arms of a `oneOf` exclude each other, as those of every Rust enum do.
//!
//! If they do, "exactly one of" is the same as "one of", and a plain union says it all. What is not evidently exclusive
//! is taken to overlap; the cost of that is two words in a snippet.

use std::collections::HashSet;

use serde_json::Value;

/// Says whether no value can fit two of `arms`.
pub(super) fn is_excluded(arms: &[Value]) -> bool {
    let mut objects = Vec::new();
    let mut seen = HashSet::new();
    let mut types = HashSet::new();
    let mut literal_types = HashSet::new();
    for arm in arms {
        if let Some(literals) = literals(arm) {
            for literal in literals {
                literal_types.insert(type_of(literal));
                if !seen.insert(literal.to_string()) {
                    return false;
                }
            }
        } else {
            match arm.get("type").and_then(Value::as_str) {
                Some("object") => objects.push(arm),
                Some("number" | "integer") if !types.insert("number") => return false,
                Some("number" | "integer") => {}
                Some(name) if !types.insert(name) => return false,
                Some(_) => {}
                None => return false,
            }
        }
    }
    if !objects.is_empty() {
        types.insert("object");
    }
    types.is_disjoint(&literal_types) && (have_own_keys(&objects) || are_tagged(&objects))
}

fn literals(arm: &Value) -> Option<&[Value]> {
    match arm.get("const") {
        Some(value) => Some(std::slice::from_ref(value)),
        None => arm.get("enum").and_then(Value::as_array).map(Vec::as_slice),
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Says whether each object has one key and no two have the same, as in an externally tagged enum.
fn have_own_keys(objects: &[&Value]) -> bool {
    let mut keys = HashSet::new();
    objects.iter().all(|object| {
        let closed = object.get("additionalProperties").is_some_and(|others| others == false);
        let mut names = properties(object).map(|(name, _)| name);
        let (only, more) = (names.next(), names.next());
        closed && more.is_none() && only.is_some_and(|name| is_required(object, name) && keys.insert(name))
    })
}

/// Says whether all objects have one key whose value tells them apart, as in an internally tagged enum.
fn are_tagged(objects: &[&Value]) -> bool {
    let Some(first) = objects.first() else { return true };
    properties(first).filter(|(_, property)| property.get("const").is_some()).any(|(name, _)| {
        let mut values = HashSet::new();
        objects.iter().all(|object| {
            let value = object.get("properties").and_then(|all| all.get(name)?.get("const"));
            is_required(object, name) && value.is_some_and(|value| values.insert(value.to_string()))
        })
    })
}

fn is_required(object: &Value, name: &str) -> bool {
    object
        .get("required")
        .and_then(Value::as_array)
        .is_some_and(|names| names.iter().any(|other| other == name))
}

fn properties(object: &Value) -> impl Iterator<Item = (&String, &Value)> {
    object.get("properties").and_then(Value::as_object).into_iter().flatten()
}
