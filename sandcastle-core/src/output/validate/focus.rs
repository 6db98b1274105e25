//! Finds the one place to explain in a value that is too much to be searched for every problem.
//!
//! jsonschema follows every alternative of an alternative, so what it collects about a value of a recursive type grows
//! as a power of its depth, and about a long list with its length. Here one way is followed instead: from the outside
//! in, into the first part that fits nothing which the schema says of it, as long as there is one.

use std::collections::HashMap;

use jsonschema::{Validator, ValidatorMap};
use serde_json::Value;

use crate::output::pointer;
use crate::output::schema::places::Parts;

/// How many steps a search for every problem may take.
const MAX_STEPS: usize = 200_000;
/// How many references and alternatives may lead from a schema to one for the same value.
const MAX_HOPS: usize = 32;

/// A part of a value that fits nowhere although everything in it fits somewhere.
#[derive(Debug)]
pub(super) struct Focus<'v, 'm> {
    pub(super) path: String,
    pub(super) value: &'v Value,
    pub(super) validator: Option<&'m Validator>,
}

/// Follows the problem to its place.
pub(super) fn find<'v, 'm>(value: &'v Value, schema: &Value, validators: &'m ValidatorMap) -> Focus<'v, 'm> {
    let mut addresses = HashMap::new();
    address("#".to_owned(), schema, &mut addresses);
    let known = Known { addresses, validators };
    let (mut path, mut value, mut parts) = (String::new(), value, Parts::of_root(schema));
    while let Some((step, below, parts_below)) = known.misfit_in(value, &parts) {
        pointer::push(&mut path, &step);
        (value, parts) = (below, parts_below);
    }
    let validator = known.validators_of(&parts).next();
    Focus { path, value, validator }
}

/// The validator of each part of a schema.
struct Known<'m> {
    addresses: HashMap<*const Value, String>,
    validators: &'m ValidatorMap,
}

impl<'m> Known<'m> {
    fn misfit_in<'v, 's>(
        &self,
        value: &'v Value,
        parts: &Parts<'s>,
    ) -> Option<(String, &'v Value, Parts<'s>)> {
        match value {
            Value::Object(fields) => fields.iter().find_map(|(key, field)| {
                let below = parts.of_field(key);
                self.fits_nowhere(field, &below).then(|| (key.clone(), field, below))
            }),
            Value::Array(items) => items.iter().enumerate().find_map(|(index, item)| {
                let below = parts.of_item(index);
                self.fits_nowhere(item, &below).then(|| (index.to_string(), item, below))
            }),
            _ => None,
        }
    }

    fn fits_nowhere(&self, value: &Value, parts: &Parts<'_>) -> bool {
        let mut validators = self.validators_of(parts).peekable();
        validators.peek().is_some() && validators.all(|validator| !validator.is_valid(value))
    }

    fn validators_of(&self, parts: &Parts<'_>) -> impl Iterator<Item = &'m Validator> {
        parts.entries().filter_map(|part| self.validators.get(self.addresses.get(&std::ptr::from_ref(part))?))
    }
}

fn address(pointer: String, schema: &Value, addresses: &mut HashMap<*const Value, String>) {
    match schema {
        Value::Object(fields) => {
            for (key, field) in fields {
                address(pointer::join(&pointer, key), field, addresses);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                address(pointer::join(&pointer, &index.to_string()), item, addresses);
            }
        }
        _ => {}
    }
    addresses.insert(std::ptr::from_ref(schema), pointer);
}

/// Tells whether a search for every problem would take too long.
pub(super) fn is_needed(value: &Value, schema: &Value) -> bool {
    let mut search = Search { root: schema, left: MAX_STEPS };
    search.walk(value, schema, MAX_HOPS).is_none()
}

/// A search that only counts its steps.
struct Search<'s> {
    root: &'s Value,
    left: usize,
}

impl<'s> Search<'s> {
    /// Goes the ways that jsonschema would go if nothing fitted; `hops` is how often it may go on at the same value.
    fn walk(&mut self, value: &Value, schema: &'s Value, hops: usize) -> Option<()> {
        self.left = self.left.checked_sub(1)?;
        let target = schema.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix('#'));
        let target = target.and_then(|target| self.root.pointer(target));
        let beside = ["allOf", "anyOf", "oneOf"].into_iter().filter_map(|key| schema.get(key)?.as_array());
        for schema in target.into_iter().chain(beside.flatten()) {
            self.walk(value, schema, hops.checked_sub(1)?)?;
        }
        match value {
            Value::Object(fields) => fields.iter().try_for_each(|(key, field)| {
                let own = schema.get("properties").and_then(|properties| properties.get(key));
                match own.or_else(|| schema.get("additionalProperties")) {
                    Some(schema) => self.walk(field, schema, MAX_HOPS),
                    None => Some(()),
                }
            }),
            Value::Array(items) => match schema.get("items") {
                Some(schema) => items.iter().try_for_each(|item| self.walk(item, schema, MAX_HOPS)),
                None => Some(()),
            },
            _ => Some(()),
        }
    }
}
