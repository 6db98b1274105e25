//! Tells which parts of a schema apply to a place of a value.
//!
//! Whether a part is an alternative or a demand makes no difference here: all that could apply is gathered, each part
//! once. So the cost is bounded by the size of the schema at every place, however the schema refers to itself.

use serde_json::Value;

/// The parts of a schema that could apply to one place.
#[derive(Clone, Debug)]
pub(crate) struct Parts<'s> {
    root: &'s Value,
    /// The parts that stand for the place itself.
    entries: Vec<&'s Value>,
    /// Those, and what they refer to or combine.
    all: Vec<&'s Value>,
}

impl<'s> Parts<'s> {
    /// Returns the parts for the whole value.
    pub(crate) fn of_root(root: &'s Value) -> Self {
        let mut parts = Self::nothing(root);
        parts.enter(root);
        parts
    }

    /// Returns the parts for a field of the object at this place.
    pub(crate) fn of_field(&self, name: &str) -> Self {
        let mut below = Self::nothing(self.root);
        for part in &self.all {
            match part.get("properties").and_then(|properties| properties.get(name)) {
                Some(property) => below.enter(property),
                None => {
                    if let Some(rest) = part.get("additionalProperties") {
                        below.enter(rest);
                    }
                    let patterns = part.get("patternProperties").and_then(Value::as_object);
                    for pattern in patterns.into_iter().flat_map(|all| all.values()) {
                        below.enter(pattern);
                    }
                }
            }
        }
        below
    }

    /// Returns the parts for an item of the array at this place.
    pub(crate) fn of_item(&self, index: usize) -> Self {
        let mut below = Self::nothing(self.root);
        for part in &self.all {
            let prefix =
                part.get("prefixItems").or_else(|| part.get("items").filter(|items| items.is_array()));
            match (prefix.and_then(|prefix| prefix.get(index)), part.get("items")) {
                (Some(item), _) => below.enter(item),
                (None, Some(items)) if !items.is_array() => below.enter(items),
                _ => {}
            }
        }
        below
    }

    /// Returns each part, beginning with the first for the place itself.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &'s Value> {
        self.all.iter().copied()
    }

    /// Returns the parts for the place itself, without what they refer to or combine.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &'s Value> {
        self.entries.iter().copied()
    }

    fn nothing(root: &'s Value) -> Self {
        Self { root, entries: Vec::new(), all: Vec::new() }
    }

    fn enter(&mut self, part: &'s Value) {
        self.entries.push(part);
        let mut waiting = vec![part];
        while let Some(part) = waiting.pop() {
            if !part.is_object() || self.all.iter().any(|known| std::ptr::eq(*known, part)) {
                continue;
            }
            self.all.push(part);
            let reference =
                part.get("$ref").and_then(Value::as_str).and_then(|reference| self.resolve(reference));
            waiting.extend(reference);
            for list in ["allOf", "anyOf", "oneOf"] {
                waiting.extend(part.get(list).and_then(Value::as_array).into_iter().flatten());
            }
            waiting.extend(["then", "else"].into_iter().filter_map(|key| part.get(key)));
        }
    }

    fn resolve(&self, reference: &str) -> Option<&'s Value> {
        self.root.pointer(reference.strip_prefix('#')?)
    }
}
