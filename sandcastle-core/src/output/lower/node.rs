//! A schema as it is read: one level at a time, each keyword with a value of the kind that it takes.
//!
//! A node knows its place in the original, also where it came from a reference or was made of several. What a keyword may
//! not hold is refused here, so that whoever reads a [`Word`] need not ask again. Older drafts are read in the words of
//! the newest.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::keyword::{Kind, Numbers, Types, canonical, demands, kind};
use super::report::Report;
use crate::output::pointer;

/// A schema, or a part of one, with its place.
#[derive(Clone, Debug)]
pub(super) struct Node<'s> {
    /// A JSON pointer into the original.
    pub(super) at: String,
    body: Body<'s>,
}

#[derive(Clone, Debug)]
enum Body<'s> {
    /// As it stands in the original.
    Raw(&'s Value),
    /// Made of several.
    Made(Words<'s>),
}

/// The keywords of one node, in their order.
#[derive(Clone, Debug, Default)]
pub(super) struct Words<'s>(Vec<(&'s str, Word<'s>)>);

/// The value of a keyword.
#[derive(Clone, Debug)]
pub(super) enum Word<'s> {
    Data(Value),
    Node(Node<'s>),
    List(Vec<Node<'s>>),
    Named(Vec<(&'s str, Node<'s>)>),
}

impl<'s> Node<'s> {
    pub(super) fn raw(at: impl Into<String>, schema: &'s Value) -> Self {
        Self { at: at.into(), body: Body::Raw(schema) }
    }

    pub(super) fn made(at: impl Into<String>, words: Words<'s>) -> Self {
        Self { at: at.into(), body: Body::Made(words) }
    }

    /// Returns `true` or `false` if it is only that.
    pub(super) fn as_flag(&self) -> Option<bool> {
        match &self.body {
            Body::Raw(Value::Bool(flag)) => Some(*flag),
            _ => None,
        }
    }

    /// Returns about how many bytes are read with it.
    pub(super) fn weight(&self) -> usize {
        match &self.body {
            Body::Raw(Value::Object(keywords)) => 32 + keywords.iter().map(weight).sum::<usize>(),
            Body::Raw(_) => 32,
            Body::Made(words) => 32 + words.weight(),
        }
    }

    /// Reads the keywords.
    pub(super) fn read(&self, report: &mut Report) -> Words<'s> {
        match &self.body {
            Body::Raw(Value::Object(keywords)) => read(&self.at, keywords, report),
            Body::Raw(Value::Bool(true)) => Words::default(),
            Body::Raw(Value::Bool(false)) => {
                report.refuse(&self.at, "false", "fits no value");
                Words::default()
            }
            Body::Raw(_) => {
                report.refuse(&self.at, "schema", "is neither an object nor a boolean");
                Words::default()
            }
            Body::Made(words) => words.clone(),
        }
    }

    /// Tells whether there is a reference in it.
    pub(super) fn refers(&self) -> bool {
        match &self.body {
            Body::Raw(schema) => has_reference(schema),
            Body::Made(words) => words.iter().any(|(key, word)| key == "$ref" || word.refers()),
        }
    }

    /// Writes it down as it is.
    pub(super) fn to_value(&self) -> Value {
        match &self.body {
            Body::Raw(schema) => (*schema).clone(),
            Body::Made(words) => {
                words.0.iter().map(|(key, word)| ((*key).to_owned(), word.to_value())).collect()
            }
        }
    }
}

impl Word<'_> {
    fn refers(&self) -> bool {
        match self {
            Self::Data(_) => false,
            Self::Node(node) => node.refers(),
            Self::List(nodes) => nodes.iter().any(Node::refers),
            Self::Named(nodes) => nodes.iter().any(|(_, node)| node.refers()),
        }
    }

    pub(super) fn to_value(&self) -> Value {
        match self {
            Self::Data(value) => value.clone(),
            Self::Node(node) => node.to_value(),
            Self::List(nodes) => nodes.iter().map(Node::to_value).collect(),
            Self::Named(nodes) => {
                nodes.iter().map(|(name, node)| ((*name).to_owned(), node.to_value())).collect()
            }
        }
    }

    fn weight(&self) -> usize {
        match self {
            Self::Data(value) => weight_of(value),
            Self::Node(_) => 16,
            Self::List(nodes) => 16 * nodes.len(),
            Self::Named(nodes) => nodes.iter().map(|(name, _)| 16 + name.len()).sum(),
        }
    }
}

impl<'s> Words<'s> {
    pub(super) fn get(&self, key: &str) -> Option<&Word<'s>> {
        self.0.iter().find(|(name, _)| *name == key).map(|(_, word)| word)
    }

    pub(super) fn get_mut(&mut self, key: &str) -> Option<&mut Word<'s>> {
        self.0.iter_mut().find(|(name, _)| *name == key).map(|(_, word)| word)
    }

    pub(super) fn data(&self, key: &str) -> Option<&Value> {
        match self.get(key)? {
            Word::Data(value) => Some(value),
            _ => None,
        }
    }

    pub(super) fn named(&self, key: &str) -> &[(&'s str, Node<'s>)] {
        match self.get(key) {
            Some(Word::Named(nodes)) => nodes,
            _ => &[],
        }
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    pub(super) fn has_any(&self, keys: &[&str]) -> bool {
        keys.iter().any(|key| self.has(key))
    }

    pub(super) fn types(&self) -> Option<Types> {
        self.data("type").and_then(Types::read)
    }

    /// Returns the names that must be there, each once.
    pub(super) fn required(&self) -> Vec<&str> {
        let mut seen = HashSet::new();
        let names = self.data("required").and_then(Value::as_array).into_iter().flatten();
        names.filter_map(Value::as_str).filter(|name| seen.insert(*name)).collect()
    }

    /// Tells whether anything here demands something of a value by itself.
    pub(super) fn demand(&self) -> bool {
        self.0.iter().any(|(key, _)| demands(key))
    }

    pub(super) fn take(&mut self, key: &str) -> Option<Word<'s>> {
        let at = self.0.iter().position(|(name, _)| *name == key)?;
        Some(self.0.remove(at).1)
    }

    pub(super) fn take_text(&mut self, key: &str) -> Option<String> {
        match self.take(key)? {
            Word::Data(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    pub(super) fn take_list(&mut self, key: &str) -> Option<Vec<Node<'s>>> {
        match self.take(key)? {
            Word::List(nodes) => Some(nodes),
            _ => None,
        }
    }

    /// Puts a keyword in its place, or at the end.
    pub(super) fn set(&mut self, key: &'s str, word: Word<'s>) {
        match self.get_mut(key) {
            Some(held) => *held = word,
            None => self.0.push((key, word)),
        }
    }

    /// Puts a keyword that is not there before another one.
    pub(super) fn set_before(&mut self, before: &str, key: &'s str, word: Word<'s>) {
        let at = self.0.iter().position(|(name, _)| *name == before).unwrap_or(0);
        self.0.insert(at, (key, word));
    }

    pub(super) fn retain(&mut self, keep: impl Fn(&str) -> bool) {
        self.0.retain(|(key, _)| keep(key));
    }

    /// Splits it in two: what `first` says, and the rest.
    pub(super) fn partition(self, first: impl Fn(&str) -> bool) -> (Self, Self) {
        let (first, rest) = self.0.into_iter().partition(|(key, _)| first(key));
        (Self(first), Self(rest))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&'s str, &Word<'s>)> {
        self.0.iter().map(|(key, word)| (*key, word))
    }

    pub(super) fn weight(&self) -> usize {
        self.0.iter().map(|(key, word)| key.len() + word.weight()).sum()
    }
}

impl<'s> IntoIterator for Words<'s> {
    type Item = (&'s str, Word<'s>);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

fn read<'s>(at: &str, keywords: &'s Map<String, Value>, report: &mut Report) -> Words<'s> {
    let is_tuple = keywords.get("items").is_some_and(Value::is_array);
    let mut words = Words::default();
    for (key, value) in keywords {
        // Until draft 2019-09, a tuple was a list of `items`, and `additionalItems` followed it.
        let (meant, read_as) = match key.as_str() {
            "items" if is_tuple => ("items", "prefixItems"),
            "additionalItems" if is_tuple => ("additionalItems", "items"),
            "additionalItems" => continue,
            key => (key, key),
        };
        match kind(read_as) {
            None => {}
            Some(Kind::Text) if key == "$id" && at.is_empty() => {}
            Some(Kind::Text) if ["$id", "$dynamicRef", "$recursiveRef"].contains(&key.as_str()) => {
                report.refuse(at, key, "is understood only by who resolves names of schemas");
            }
            Some(kind) => match kind.fault(value) {
                Some(fault) => report.refuse(at, key, fault),
                None => words.set(read_as, word(kind, &pointer::join(at, meant), value)),
            },
        }
    }
    words
}

fn word<'s>(kind: Kind, at: &str, value: &'s Value) -> Word<'s> {
    match (kind, value) {
        (Kind::Schema, schema) => Word::Node(Node::raw(at, schema)),
        (Kind::Schemas, Value::Array(list)) => {
            let numbered = list.iter().enumerate();
            Word::List(
                numbered.map(|(index, one)| Node::raw(pointer::join(at, &index.to_string()), one)).collect(),
            )
        }
        (Kind::SchemasByName, Value::Object(named)) => Word::Named(
            named
                .iter()
                .map(|(name, one)| (name.as_str(), Node::raw(pointer::join(at, name), one)))
                .collect(),
        ),
        (Kind::Types, types) => {
            Word::Data(Types::read(types).map_or_else(|| types.clone(), |types| types.to_value()))
        }
        (Kind::Values, Value::Array(values)) => Word::Data(distinct(values)),
        (_, data) => Word::Data(data.clone()),
    }
}

/// Leaves out what a list has again, however it is written: `1` is `1.0`, and the order of keys says nothing.
fn distinct(values: &[Value]) -> Value {
    let mut seen = HashSet::new();
    values.iter().filter(|value| seen.insert(canonical(value, Numbers::Exact))).cloned().collect()
}

/// Returns about how many bytes of a keyword are read with its node.
fn weight((key, value): (&String, &Value)) -> usize {
    let inside = match kind(key) {
        None => 0,
        Some(Kind::Schema) => 16,
        Some(Kind::Schemas) => 16 * value.as_array().map_or(1, Vec::len),
        Some(Kind::SchemasByName) => {
            value.as_object().into_iter().flatten().map(|(name, _)| 16 + name.len()).sum()
        }
        Some(_) => weight_of(value),
    };
    key.len() + inside
}

fn weight_of(value: &Value) -> usize {
    match value {
        Value::String(text) => 2 + text.len(),
        Value::Array(items) => items.iter().map(weight_of).sum(),
        Value::Object(fields) => fields.iter().map(|(name, value)| name.len() + weight_of(value)).sum(),
        _ => 8,
    }
}

fn has_reference(schema: &Value) -> bool {
    match schema {
        Value::Object(map) => map.contains_key("$ref") || map.values().any(has_reference),
        Value::Array(list) => list.iter().any(has_reference),
        _ => false,
    }
}
