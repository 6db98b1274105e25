//! Reads a schema into the shape of a value.
//!
//! Every schema that a reference leads to is read once, in the order in which they are met, and becomes a definition; the
//! ones that are used once are printed where they are used. That keeps the whole linear, cycles and all: a cycle has a
//! definition that is used by itself and from outside, hence twice, hence by name.
//!
//! Nesting is bounded. Where a chain of definitions gets deep, the next one is printed by its name; a schema that is
//! itself deeper than [`MAX_DEPTH`] is shown as JSON from there on.

mod containers;
mod scalars;

use std::collections::HashMap;

use serde_json::Value;

use super::keywords::Keywords;
use super::limits;
use super::model::{Definition, Kind, Node, Place};
use super::overlap;
use super::quote::Quote;
use super::reference::{Names, resolve, wanted_name};

/// The deepest nesting of schemas that is read.
const MAX_DEPTH: usize = 64;
/// The deepest place where a definition is printed where it is used.
const MAX_INLINE_DEPTH: usize = 32;

/// Returns the definitions that make up `schema`; the first is the schema itself.
pub(super) fn read(schema: &Value, quote: Quote<'_>) -> Vec<Definition> {
    let mut reader = Reader { root: schema, quote, found: Vec::new(), numbers: HashMap::new() };
    reader.number_of(String::new(), schema, 0);
    let mut nodes = Vec::new();
    while let Some(found) = reader.found.get(nodes.len()) {
        let node = reader.node(found.schema, found.depth);
        nodes.push(node);
    }
    let mut names = Names::default();
    let named = reader.found.into_iter().zip(nodes).map(|(found, node)| match found.uses {
        0 | 1 => Definition { name: String::new(), place: Place::Inline, node },
        _ => Definition { name: names.give(&found.wanted), place: Place::Named, node },
    });
    named.collect()
}

#[derive(Debug)]
struct Reader<'s, 'q> {
    root: &'s Value,
    quote: Quote<'q>,
    found: Vec<Found<'s>>,
    /// The number of each definition by its JSON Pointer.
    numbers: HashMap<String, usize>,
}

/// A definition that is read or will be.
#[derive(Debug)]
struct Found<'s> {
    schema: &'s Value,
    wanted: String,
    uses: usize,
    /// How deep it is printed if it is printed where it is used.
    depth: usize,
}

impl<'s> Reader<'s, '_> {
    fn node(&mut self, schema: &'s Value, depth: usize) -> Node {
        match schema {
            Value::Bool(true) => Node::unknown(),
            Value::Bool(false) => Node::plain("never"),
            Value::Object(map) if depth < MAX_DEPTH => self.assembled(Keywords::of(map), depth),
            other => {
                self.mention(other);
                Node::unknown().limited(format!("schema {}", self.quote.json(other)))
            }
        }
    }

    fn nodes(&mut self, schemas: &'s [Value], depth: usize) -> Vec<Node> {
        schemas.iter().map(|schema| self.node(schema, depth)).collect()
    }

    /// Reads a schema object: every keyword that has a form of its own becomes a part, the value fits all parts, and the
    /// keywords that are left become limits.
    fn assembled(&mut self, mut keywords: Keywords<'s>, depth: usize) -> Node {
        let notes = keywords.take_notes(self.quote);
        let mut parts = Vec::new();
        parts.extend(self.reference(&mut keywords, depth));
        parts.extend(self.literals(&mut keywords));
        parts.extend(self.typed(&mut keywords, depth));
        parts.extend(self.union(&mut keywords, "oneOf", depth));
        parts.extend(self.union(&mut keywords, "anyOf", depth));
        if let Some(schemas) = keywords.take("allOf", Value::as_array) {
            parts.extend(self.nodes(schemas, depth + 1));
        }
        let mut node = Node::all_of(parts);
        for (keyword, value) in keywords.rest() {
            self.mention(value);
            node.limits.extend(limits::phrase(keyword, value, self.quote));
        }
        node.notes.splice(0..0, notes);
        node
    }

    fn reference(&mut self, keywords: &mut Keywords<'s>, depth: usize) -> Option<Node> {
        let (pointer, schema) = keywords.take("$ref", |reference| resolve(self.root, reference.as_str()?))?;
        Some(Node::new(Kind::Reference(self.number_of(pointer, schema, depth))))
    }

    /// Counts one use of the definition at `pointer` and returns its number.
    fn number_of(&mut self, pointer: String, schema: &'s Value, depth: usize) -> usize {
        if let Some(&number) = self.numbers.get(&pointer) {
            self.found[number].uses += 1;
            return number;
        }
        let number = self.found.len();
        // A definition with a second use has a name and begins a nesting of its own.
        let (uses, depth) = if depth > MAX_INLINE_DEPTH { (2, 0) } else { (1, depth) };
        self.found.push(Found { schema, wanted: wanted_name(&pointer, schema).to_owned(), uses, depth });
        self.numbers.insert(pointer, number);
        number
    }

    /// Gives a name to every definition that a part shown as JSON refers to.
    fn mention(&mut self, value: &'s Value) {
        let mut left = vec![value];
        while let Some(value) = left.pop() {
            match value {
                Value::Array(items) => left.extend(items),
                Value::Object(map) => {
                    left.extend(map.values());
                    let reference = map.get("$ref").and_then(Value::as_str);
                    if let Some((pointer, schema)) = reference.and_then(|text| resolve(self.root, text)) {
                        let number = self.number_of(pointer, schema, MAX_DEPTH);
                        self.found[number].uses += 1;
                    }
                }
                _ => {}
            }
        }
    }

    fn union(&mut self, keywords: &mut Keywords<'s>, keyword: &str, depth: usize) -> Option<Node> {
        let schemas = keywords.take(keyword, |value| value.as_array().filter(|arms| !arms.is_empty()))?;
        let node = Node::any_of(self.nodes(schemas, depth + 1));
        let overlapping = keyword == "oneOf" && schemas.len() > 1 && !overlap::is_excluded(schemas);
        Some(if overlapping { node.limited("exactly one".to_owned()) } else { node })
    }
}
