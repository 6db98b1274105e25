//! Finds out which names in an answer are serde aliases, by asking the type.
//!
//! `#[serde(alias)]` gives a field or a variant a second name that schemars does not know, so an answer that uses it
//! does not fit the schema although the type accepts it. The names are nowhere to be read: nested types are not ours,
//! and a deserializer that watches sees nothing of what `flatten`, internal tags and untagged enums look for. But the
//! type can be asked whether it accepts a value, any number of times.
//!
//! - A key `k` that the schema does not know is an alias of a field `c` if the type accepts the value with `k` renamed
//!   to `c`, and refuses it with both: a key that the type ignores would not be refused.
//! - A string that the schema does not list is an alias of a variant if the type refuses garbage in its place, so that
//!   it did not accept just any string, and accepts a variant that the schema lists.
//!
//! What is renamed is then held against the schema like any answer, so constraints on a field count under each of its
//! names. It is only asked about values that the schema refuses and the type accepts, and only so often.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::read::Reading;
use super::schema::places::Parts;
use super::typed::Shape;
use super::validate::Checker;
use super::{Problem, pointer};

/// How much is asked at most, in values that are read.
const MAX_EFFORT: usize = 5_000_000;
/// How often at most.
const MAX_PROBES: usize = 1000;
/// What is no variant of any enum.
const GARBAGE: &str = "\u{1}no such variant\u{1}";

/// Says what does not fit when aliases are taken for the names they stand for; `problems` is what does not fit as it is.
///
/// # Errors
/// The problems that are left, at the places of the answer as it is.
pub(super) fn reconcile(
    reading: &Reading<'_>,
    schema: &Value,
    checker: &Checker,
    shape: &dyn Shape,
    problems: Vec<Problem>,
) -> Result<(), Vec<Problem>> {
    let mut search = Search {
        root: reading.value.clone(),
        checker,
        shape,
        probes_left: (MAX_EFFORT / reading.count.max(1)).min(MAX_PROBES),
        known: HashMap::new(),
        renamed: Vec::new(),
        substituted: 0,
    };
    if !search.accepted() {
        return Err(problems);
    }
    search.visit(&mut String::new(), &Parts::of_root(schema));
    if search.renamed.is_empty() && search.substituted == 0 || !shape.accepts(&search.root) {
        return Err(problems);
    }
    let left = checker.problems(&search.root);
    if left.is_empty() {
        Ok(())
    } else {
        Err(left.into_iter().map(|problem| search.as_answered(problem)).collect())
    }
}

/// Goes through a value from the outside in, and gives things the names that the schema knows.
struct Search<'a> {
    /// The value, renamed as far as it was gone through; the type accepts it.
    root: Value,
    checker: &'a Checker,
    shape: &'a dyn Shape,
    probes_left: usize,
    /// What was found out about a name, at the places with the same part of the schema.
    known: HashMap<(*const Value, String), Option<String>>,
    renamed: Vec<Renamed>,
    substituted: usize,
}

/// A key that got another name. `object` leads to its object by the names that the schema knows.
struct Renamed {
    object: String,
    from: String,
    to: String,
}

impl Search<'_> {
    fn visit(&mut self, path: &mut String, parts: &Parts<'_>) {
        let length = path.len();
        match self.root.pointer(path) {
            Some(Value::Object(_)) => {
                self.rename_keys(path, parts);
                for key in self.keys(path) {
                    pointer::push(path, &key);
                    self.visit(path, &parts.of_field(&key));
                    path.truncate(length);
                }
            }
            Some(Value::Array(items)) => {
                for index in 0..items.len() {
                    pointer::push(path, &index.to_string());
                    self.visit(path, &parts.of_item(index));
                    path.truncate(length);
                }
            }
            Some(Value::String(text)) => {
                let text = text.clone();
                self.substitute(path, &text, parts);
            }
            _ => {}
        }
    }

    fn rename_keys(&mut self, path: &str, parts: &Parts<'_>) {
        let fields = fields_of(parts);
        let keys = self.keys(path);
        for key in keys.iter().filter(|key| !fields.contains(&key.as_str())) {
            // To rename a key costs as much as the object has keys, and without an answer it is for nothing.
            if self.probes_left == 0 {
                return;
            }
            let mut missing = fields.clone();
            missing.retain(|field| !self.has(path, field));
            let name = (identity(parts), key.clone());
            let target = match self.known.get(&name) {
                Some(target) => target.clone().filter(|target| missing.contains(&target.as_str())),
                None => {
                    let target = self.target_of(path, key, &missing);
                    self.known.insert(name, target.clone());
                    target
                }
            };
            if let Some(target) = target {
                self.rename(path, key, &target);
                self.renamed.push(Renamed { object: path.to_owned(), from: key.clone(), to: target });
            }
        }
    }

    /// Returns the field that `key` is an alias of. Variants with the same content cannot be told apart; of those, one
    /// that makes the value fit is as good as any.
    fn target_of(&mut self, path: &str, key: &str, missing: &[&str]) -> Option<String> {
        let mut first = None;
        for field in missing {
            if !self.is_alias(path, key, field) {
                continue;
            }
            self.rename(path, key, field);
            let fits = self.checker.fits(&self.root);
            self.rename(path, field, key);
            if fits {
                return Some((*field).to_owned());
            }
            first.get_or_insert(*field);
        }
        first.map(str::to_owned)
    }

    fn is_alias(&mut self, path: &str, key: &str, field: &str) -> bool {
        self.rename(path, key, field);
        let alone = self.accepted();
        self.rename(path, field, key);
        if !alone {
            return false;
        }
        let Some(object) = self.object(path) else { return false };
        let Some(value) = object.get(key).cloned() else { return false };
        object.insert(field.to_owned(), value);
        let both = self.accepted();
        if let Some(object) = self.object(path) {
            object.shift_remove(field);
        }
        !both && self.probes_left > 0
    }

    fn substitute(&mut self, path: &str, text: &str, parts: &Parts<'_>) {
        let Some(variants) = variants_of(parts).filter(|variants| !variants.contains(&text)) else { return };
        let name = (identity(parts), text.to_owned());
        let variant = match self.known.get(&name) {
            Some(variant) => variant.clone(),
            None => {
                let variant = self.variant_of(path, &variants);
                self.set(path, text);
                self.known.insert(name, variant.clone());
                variant
            }
        };
        if let Some(variant) = variant {
            self.set(path, &variant);
            self.substituted += 1;
        }
    }

    /// Returns a variant that can stand for what is at `path`, and leaves anything there.
    fn variant_of(&mut self, path: &str, variants: &[&str]) -> Option<String> {
        self.set(path, GARBAGE);
        if self.accepted() {
            return None;
        }
        let mut first = None;
        for variant in variants {
            self.set(path, variant);
            if !self.accepted() {
                continue;
            }
            if self.checker.fits(&self.root) {
                return Some((*variant).to_owned());
            }
            first.get_or_insert(*variant);
        }
        first.map(str::to_owned)
    }

    /// Asks the type; without an answer once it was asked too often.
    fn accepted(&mut self) -> bool {
        let Some(left) = self.probes_left.checked_sub(1) else { return false };
        self.probes_left = left;
        self.shape.accepts(&self.root)
    }

    fn object(&mut self, path: &str) -> Option<&mut Map<String, Value>> {
        self.root.pointer_mut(path).and_then(Value::as_object_mut)
    }

    fn keys(&self, path: &str) -> Vec<String> {
        let object = self.root.pointer(path).and_then(Value::as_object);
        object.map(|object| object.keys().cloned().collect()).unwrap_or_default()
    }

    fn has(&self, path: &str, key: &str) -> bool {
        self.root.pointer(path).is_some_and(|object| object.get(key).is_some())
    }

    fn rename(&mut self, path: &str, from: &str, to: &str) {
        let Some(object) = self.object(path) else { return };
        *object = std::mem::take(object)
            .into_iter()
            .map(|(key, value)| (if key == from { to.to_owned() } else { key }, value))
            .collect();
    }

    fn set(&mut self, path: &str, text: &str) {
        if let Some(place) = self.root.pointer_mut(path) {
            *place = Value::from(text);
        }
    }

    /// Moves a problem to the place that the answer has for it.
    fn as_answered(&self, problem: Problem) -> Problem {
        let mut path = problem.path;
        for Renamed { object, from, to } in self.renamed.iter().rev() {
            let renamed = pointer::join(object, to);
            if let Some(rest) =
                path.strip_prefix(&renamed).filter(|rest| rest.is_empty() || rest.starts_with('/'))
            {
                path = pointer::join(object, from) + rest;
            }
        }
        Problem::new(path, problem.message)
    }
}

/// Two places with the same first part have the same type.
fn identity(parts: &Parts<'_>) -> *const Value {
    parts.iter().next().map_or(std::ptr::null(), std::ptr::from_ref)
}

/// Returns the names of the fields that the schema knows at a place, required ones first.
fn fields_of<'s>(parts: &Parts<'s>) -> Vec<&'s str> {
    let mut fields: Vec<&str> = Vec::new();
    let required = parts.iter().filter_map(|part| part.get("required")?.as_array());
    let required = required.flatten().filter_map(Value::as_str);
    let named = parts.iter().filter_map(|part| part.get("properties")?.as_object());
    for name in required.chain(named.flat_map(|properties| properties.keys().map(String::as_str))) {
        if !fields.contains(&name) {
            fields.push(name);
        }
    }
    fields
}

/// Returns the strings that the schema lists at a place; nothing if it allows any.
fn variants_of<'s>(parts: &Parts<'s>) -> Option<Vec<&'s str>> {
    let mut variants = Vec::new();
    for part in parts.iter() {
        let listed = part.get("enum").and_then(Value::as_array);
        let before = variants.len();
        variants.extend(listed.into_iter().flatten().chain(part.get("const")).filter_map(Value::as_str));
        if variants.len() == before && part.get("type").is_some_and(|ty| ty == "string") {
            return None;
        }
    }
    (!variants.is_empty()).then_some(variants)
}
