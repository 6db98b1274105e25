//! A YAML document as a tree in which everything knows where it is written.
//!
//! `parse` builds it from the events of `saphyr-parser` and refuses what a workflow has no use for: aliases, tags, keys that are
//! no text. `scalar` tells what a plain scalar is, by the core schema of YAML 1.2, and `marks` finds the bytes of a text in
//! the document. Nothing here knows what a workflow is.

mod marks;
mod parse;
mod scalar;

use serde_json::{Map, Number, Value};

pub(super) use self::parse::{MAX_BYTES, parse};
use super::super::definition::Text;
use super::super::finding::Place;

/// A value, and where it is written.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) place: Place,
    pub(super) content: Content,
}

/// What is written there.
#[derive(Clone, Debug)]
pub(super) enum Content {
    Null,
    Boolean(bool),
    /// A number, and its spelling.
    Number(Number, String),
    Text(Text),
    List(Vec<Node>),
    Map(Vec<Entry>),
    /// Something that cannot be read, which has been said already.
    Unreadable,
}

/// One key of a map, and its value.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) place: Place,
    pub(super) value: Node,
}

impl Node {
    /// Says what kind of value it is, with an article.
    pub(super) fn kind(&self) -> &'static str {
        match &self.content {
            Content::Null => "nothing",
            Content::Boolean(_) => "a boolean",
            Content::Number(..) => "a number",
            Content::Text(_) => "a text",
            Content::List(_) => "a list",
            Content::Map(_) => "a map",
            Content::Unreadable => "unreadable",
        }
    }

    pub(super) fn text(&self) -> Option<&Text> {
        match &self.content {
            Content::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn str(&self) -> Option<&str> {
        self.text().map(|text| text.source.as_str())
    }

    pub(super) fn boolean(&self) -> Option<bool> {
        match self.content {
            Content::Boolean(value) => Some(value),
            _ => None,
        }
    }

    pub(super) fn number(&self) -> Option<&Number> {
        match &self.content {
            Content::Number(number, _) => Some(number),
            _ => None,
        }
    }

    /// The text of a scalar, whatever it is: a number or a boolean as it is spelled.
    pub(super) fn spelled(&self) -> Option<Text> {
        match &self.content {
            Content::Text(text) => Some(text.clone()),
            Content::Number(_, spelling) => Some(Text::of(spelling)),
            Content::Boolean(value) => Some(Text::of(value.to_string())),
            _ => None,
        }
    }

    pub(super) fn items(&self) -> &[Self] {
        match &self.content {
            Content::List(items) => items,
            _ => &[],
        }
    }

    pub(super) fn entries(&self) -> &[Entry] {
        match &self.content {
            Content::Map(entries) => entries,
            _ => &[],
        }
    }

    /// Returns the value of a key of a map.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        self.entries().iter().find(|entry| entry.key == key).map(|entry| &entry.value)
    }

    /// Follows a path such as `steps[2].prompt` as far as it leads, beginning here.
    pub(super) fn on_the_way<'n>(&'n self, path: &'n str) -> impl Iterator<Item = &'n Self> {
        let keys = path.split(['.', '[']).filter(|key| !key.is_empty());
        let below = keys.scan(self, |node, key| {
            let index = key.strip_suffix(']').and_then(|index| index.parse::<usize>().ok());
            *node = match index {
                Some(index) => node.items().get(index)?,
                None => node.get(key)?,
            };
            Some(*node)
        });
        std::iter::once(self).chain(below)
    }

    /// Returns the value as JSON has it.
    pub(super) fn to_json(&self) -> Value {
        match &self.content {
            Content::Null | Content::Unreadable => Value::Null,
            Content::Boolean(value) => Value::Bool(*value),
            Content::Number(number, _) => Value::Number(number.clone()),
            Content::Text(text) => Value::String(text.source.clone()),
            Content::List(items) => items.iter().map(Self::to_json).collect(),
            Content::Map(entries) => {
                let fields = entries.iter().map(|entry| (entry.key.clone(), entry.value.to_json()));
                Value::Object(fields.collect::<Map<_, _>>())
            }
        }
    }
}
