//! The copy while it is made: what is sent, and which properties may be `null` only because all of them are required.

use serde_json::Value;

use super::keyword::Types;

/// A schema of the copy.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Wire {
    words: Vec<(String, Part)>,
    /// Whether the property that it describes may be left out of an answer, and is `null` on the wire instead.
    pub(super) stands_for_nothing: bool,
}

/// The value of a keyword.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Part {
    Data(Value),
    Schema(Wire),
    List(Vec<Wire>),
    Named(Vec<(String, Wire)>),
}

impl Wire {
    pub(super) fn new(keyword: &str, part: Part) -> Self {
        Self { words: vec![(keyword.to_owned(), part)], stands_for_nothing: false }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    pub(super) fn push(&mut self, keyword: &str, part: Part) {
        self.words.push((keyword.to_owned(), part));
    }

    /// Puts a keyword before all others.
    pub(super) fn begin_with(&mut self, keyword: &str, part: Part) {
        self.words.insert(0, (keyword.to_owned(), part));
    }

    pub(super) fn get(&self, keyword: &str) -> Option<&Part> {
        self.words.iter().find(|(name, _)| name == keyword).map(|(_, part)| part)
    }

    pub(super) fn get_mut(&mut self, keyword: &str) -> Option<&mut Part> {
        self.words.iter_mut().find(|(name, _)| name == keyword).map(|(_, part)| part)
    }

    pub(super) fn data(&self, keyword: &str) -> Option<&Value> {
        match self.get(keyword)? {
            Part::Data(value) => Some(value),
            _ => None,
        }
    }

    pub(super) fn list(&self, keyword: &str) -> &[Self] {
        match self.get(keyword) {
            Some(Part::List(list)) => list,
            _ => &[],
        }
    }

    pub(super) fn named(&self, keyword: &str) -> &[(String, Self)] {
        match self.get(keyword) {
            Some(Part::Named(named)) => named,
            _ => &[],
        }
    }

    pub(super) fn schema(&self, keyword: &str) -> Option<&Self> {
        match self.get(keyword)? {
            Part::Schema(schema) => Some(schema),
            _ => None,
        }
    }

    pub(super) fn types(&self) -> Option<Types> {
        self.data("type").and_then(Types::read)
    }

    /// Returns the alternatives, whichever keyword lists them.
    pub(super) fn alternatives(&self) -> &[Self] {
        match self.list("anyOf") {
            [] => self.list("oneOf"),
            any => any,
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &Part)> {
        self.words.iter().map(|(keyword, part)| (keyword.as_str(), part))
    }

    /// Returns the schemas right below.
    pub(super) fn children(&self) -> impl Iterator<Item = &Self> {
        self.children_but("")
    }

    /// Returns the schemas right below, without those of one keyword.
    pub(super) fn children_but(&self, without: &str) -> impl Iterator<Item = &Self> {
        self.words.iter().filter(move |(keyword, _)| keyword != without).flat_map(|(_, part)| {
            let (one, list, named): (_, &[Self], &[(String, Self)]) = match part {
                Part::Data(_) => (None, &[], &[]),
                Part::Schema(schema) => (Some(schema), &[], &[]),
                Part::List(list) => (None, list, &[]),
                Part::Named(named) => (None, &[], named),
            };
            one.into_iter().chain(list).chain(named.iter().map(|(_, schema)| schema))
        })
    }

    /// Makes `null` fit, too, if it does not.
    pub(super) fn or_null(mut self) -> Self {
        if let Some(Part::List(list)) = self.get_mut("anyOf") {
            list.push(null());
            return self;
        }
        let is_scalar = |types: &Types| !types.has("object");
        let has_no_more =
            !["enum", "const", "$ref", "oneOf", "allOf"].iter().any(|key| self.get(key).is_some());
        match self.types().filter(|types| is_scalar(types) && has_no_more) {
            Some(types) => {
                if let Some(part) = self.get_mut("type") {
                    *part = Part::Data(types.or_null().to_value());
                }
                self
            }
            None => Self::new("anyOf", Part::List(vec![self, null()])),
        }
    }

    pub(super) fn to_value(&self) -> Value {
        self.words.iter().map(|(keyword, part)| (keyword.clone(), part.to_value())).collect()
    }
}

impl Part {
    fn to_value(&self) -> Value {
        match self {
            Self::Data(value) => value.clone(),
            Self::Schema(schema) => schema.to_value(),
            Self::List(list) => list.iter().map(Wire::to_value).collect(),
            Self::Named(named) => {
                named.iter().map(|(name, schema)| (name.clone(), schema.to_value())).collect()
            }
        }
    }
}

fn null() -> Wire {
    Wire::new("type", Part::Data(Value::from("null")))
}
