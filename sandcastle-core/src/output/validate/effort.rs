//! Estimates what it takes to say everything that does not fit.
//!
//! To report on alternatives, jsonschema goes through what is below them once for each that has it. Where alternatives
//! nest, as in the variants of a recursive enum, that doubles with every level. So the same way is gone here first,
//! without looking at anything but names, until it ends or is too long.

use serde_json::Value;

/// The most steps. Each may cost a copy of a part of the value.
const MAX_STEPS: usize = 100_000;
/// The most references and alternatives at one place; a schema may refer to itself in a circle.
const MAX_NESTING: usize = 32;

/// Tells whether a value can be searched for every problem in reasonable time.
pub(super) fn is_bearable(value: &Value, schema: &Value) -> bool {
    let mut walk = Walk { root: schema, steps_left: MAX_STEPS };
    walk.visit(value, schema, 0).is_some()
}

struct Walk<'s> {
    root: &'s Value,
    steps_left: usize,
}

impl Walk<'_> {
    /// Goes through one part of the schema at one place; nothing if there were too many.
    fn visit(&mut self, value: &Value, part: &Value, nesting: usize) -> Option<()> {
        self.steps_left = self.steps_left.checked_sub(1)?;
        if nesting < MAX_NESTING {
            self.visit_place(value, part, nesting + 1)?;
        }
        match value {
            Value::Object(fields) => fields.iter().try_for_each(|(key, field)| {
                match part.get("properties").and_then(|properties| properties.get(key)) {
                    Some(property) => self.visit(field, property, 0),
                    None => self.visit_below(field, part, "additionalProperties"),
                }
            }),
            Value::Array(items) => items.iter().enumerate().try_for_each(|(index, item)| {
                match part.get("prefixItems").and_then(|prefix| prefix.get(index)) {
                    Some(prefix) => self.visit(item, prefix, 0),
                    None => self.visit_below(item, part, "items"),
                }
            }),
            _ => Some(()),
        }
    }

    /// Goes through the other parts for the same place.
    fn visit_place(&mut self, value: &Value, part: &Value, nesting: usize) -> Option<()> {
        let reference = part.get("$ref").and_then(Value::as_str).and_then(|to| to.strip_prefix('#'));
        let root = self.root;
        if let Some(target) = reference.and_then(|to| root.pointer(to)) {
            self.visit(value, target, nesting)?;
        }
        ["allOf", "anyOf", "oneOf"]
            .into_iter()
            .filter_map(|list| part.get(list)?.as_array())
            .flatten()
            .try_for_each(|alternative| self.visit(value, alternative, nesting))
    }

    fn visit_below(&mut self, value: &Value, part: &Value, keyword: &str) -> Option<()> {
        part.get(keyword).map_or(Some(()), |below| self.visit(value, below, 0))
    }
}
