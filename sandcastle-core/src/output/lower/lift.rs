//! What a copy asked for and the schema does not, undone in an answer: `null` in the place of a property that may be left out.
//!
//! Where alternatives are, the answer is held against the copy of each: one that fits as it is, is left as it is. Each
//! part of the answer meets each part of the copy once, so it takes time linear in the answer. Nothing else is ever
//! touched.

use std::collections::HashMap;
use std::rc::Rc;

use serde_json::{Map, Value};

use super::wire::Wire;

/// How deep an answer may be; one that is deeper stays as it is.
pub(super) const MAX_DEPTH: usize = 200;
/// How many schemas and values may be on the way to one.
const MAX_STEPS: usize = 1000;

/// Removes what stands for nothing.
pub(super) fn lift(wire: &Wire, mut answer: Value) -> Value {
    let definitions = wire.named("$defs").iter().map(|(name, wire)| (name.as_str(), wire)).collect();
    let mut lifter = Lifter { root: wire, definitions, properties: HashMap::new(), known: HashMap::new() };
    lifter.apply(wire, &mut answer, 0);
    answer
}

/// Tells whether there is anything in a copy that could be undone.
pub(super) fn is_needed(wire: &Wire) -> bool {
    let mut waiting = vec![wire];
    while let Some(schema) = waiting.pop() {
        if schema.stands_for_nothing {
            return true;
        }
        waiting.extend(schema.children());
    }
    false
}

struct Lifter<'w> {
    root: &'w Wire,
    definitions: HashMap<&'w str, &'w Wire>,
    properties: HashMap<*const Wire, Properties<'w>>,
    /// What is known of a value and a schema, by where they are. Values stay where they are until all below is done.
    known: HashMap<(*const Wire, *const Value), Fit>,
}

type Properties<'w> = Rc<HashMap<&'w str, &'w Wire>>;

/// How a value fits a schema of the copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fit {
    Not,
    /// Without anything that stands for nothing.
    AsItIs,
    /// With something that does.
    Lifted,
}

impl<'w> Lifter<'w> {
    fn apply(&mut self, wire: &'w Wire, value: &mut Value, steps: usize) {
        if steps > MAX_STEPS {
            return;
        }
        if let Some(target) = self.target(wire) {
            return self.apply(target, value, steps + 1);
        }
        if !wire.alternatives().is_empty() {
            if let Some(chosen) = self.chosen(wire.alternatives(), value, steps + 1) {
                self.apply(chosen, value, steps + 1);
            }
            return;
        }
        match value {
            Value::Object(fields) => self.apply_to_fields(wire, fields, steps + 1),
            Value::Array(items) => {
                for item in items {
                    if let Some(schema) = wire.schema("items") {
                        self.apply(schema, item, steps + 1);
                    }
                }
            }
            _ => {}
        }
    }

    fn apply_to_fields(&mut self, wire: &'w Wire, fields: &mut Map<String, Value>, steps: usize) {
        let properties = self.properties(wire);
        for (name, value) in fields.iter_mut() {
            if let Some(schema) = properties.get(name.as_str()) {
                self.apply(schema, value, steps);
            }
        }
        let stands =
            |name: &String| properties.get(name.as_str()).is_some_and(|schema| schema.stands_for_nothing);
        fields.retain(|name, value| !(value.is_null() && stands(name)));
    }

    /// Returns the alternative that an answer was given by, if anything has to be undone there.
    fn chosen(&mut self, alternatives: &'w [Wire], value: &Value, steps: usize) -> Option<&'w Wire> {
        let fits: Vec<_> = alternatives.iter().map(|one| (self.fit(one, value, steps), one)).collect();
        if fits.iter().any(|(fit, _)| *fit == Fit::AsItIs) {
            return None;
        }
        if let Some((_, lifted)) = fits.iter().find(|(fit, _)| *fit == Fit::Lifted) {
            return Some(lifted);
        }
        // None fits, and what is wrong will be said. If it is clear which was meant, then not of this.
        let mut meant = alternatives.iter().filter(|one| self.looks_like(one, value));
        let first = meant.next()?;
        meant.next().is_none().then_some(first)
    }

    fn fit(&mut self, wire: &'w Wire, value: &Value, steps: usize) -> Fit {
        if steps > MAX_STEPS {
            return Fit::AsItIs;
        }
        let key = (std::ptr::from_ref(wire), std::ptr::from_ref(value));
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        // A schema that leads back to itself with the same value does not fit for that.
        self.known.insert(key, Fit::Not);
        let fit = self.compare(wire, value, steps);
        self.known.insert(key, fit);
        fit
    }

    fn compare(&mut self, wire: &'w Wire, value: &Value, steps: usize) -> Fit {
        if let Some(target) = self.target(wire) {
            return self.fit(target, value, steps + 1);
        }
        if !admits(wire, value) {
            return Fit::Not;
        }
        if !wire.alternatives().is_empty() {
            let fits: Vec<_> =
                wire.alternatives().iter().map(|one| self.fit(one, value, steps + 1)).collect();
            let found = [Fit::AsItIs, Fit::Lifted].into_iter().find(|fit| fits.contains(fit));
            return found.unwrap_or(Fit::Not);
        }
        match value {
            Value::Object(fields) => self.compare_fields(wire, fields, steps + 1),
            Value::Array(items) => match wire.schema("items") {
                Some(schema) => all(items.iter().map(|item| self.fit(schema, item, steps + 1))),
                None => Fit::AsItIs,
            },
            _ => Fit::AsItIs,
        }
    }

    fn compare_fields(&mut self, wire: &'w Wire, fields: &Map<String, Value>, steps: usize) -> Fit {
        let properties = self.properties(wire);
        if fields.len() != properties.len() {
            return Fit::Not;
        }
        all(fields.iter().map(|(name, value)| match properties.get(name.as_str()) {
            None => Fit::Not,
            Some(schema) if schema.stands_for_nothing && value.is_null() => Fit::Lifted,
            Some(schema) => self.fit(schema, value, steps),
        }))
    }

    /// Tells whether a value is of the kind of a schema, whatever is wrong inside of it.
    fn looks_like(&mut self, wire: &'w Wire, value: &Value) -> bool {
        let (mut wire, mut steps) = (wire, 0);
        while let Some(target) = self.target(wire).filter(|_| steps < MAX_STEPS) {
            (wire, steps) = (target, steps + 1);
        }
        if !admits(wire, value) || !wire.alternatives().is_empty() {
            return false;
        }
        let Value::Object(fields) = value else { return true };
        let properties = self.properties(wire);
        properties.iter().all(|(name, schema)| {
            fields.get(*name).is_some_and(|value| {
                schema.data("enum").is_none() && schema.data("const").is_none() || admits(schema, value)
            })
        })
    }

    fn target(&self, wire: &Wire) -> Option<&'w Wire> {
        let reference = wire.data("$ref")?.as_str()?;
        match reference.strip_prefix("#/$defs/") {
            Some(name) => self.definitions.get(name).copied(),
            None => Some(self.root),
        }
    }

    fn properties(&mut self, wire: &'w Wire) -> Properties<'w> {
        let indexed = self.properties.entry(std::ptr::from_ref(wire)).or_insert_with(|| {
            Rc::new(wire.named("properties").iter().map(|(name, schema)| (name.as_str(), schema)).collect())
        });
        Rc::clone(indexed)
    }
}

/// Tells whether a value is of the types and among the values that a schema lists.
fn admits(wire: &Wire, value: &Value) -> bool {
    let members = wire.data("enum").and_then(Value::as_array);
    wire.types().is_none_or(|types| types.admits(value))
        && members.is_none_or(|members| members.contains(value))
        && wire.data("const").is_none_or(|constant| constant == value)
}

fn all(fits: impl Iterator<Item = Fit>) -> Fit {
    let mut result = Fit::AsItIs;
    for fit in fits {
        match fit {
            Fit::Not => return Fit::Not,
            Fit::Lifted => result = Fit::Lifted,
            Fit::AsItIs => {}
        }
    }
    result
}
