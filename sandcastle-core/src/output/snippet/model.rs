//! The shape of a value, between the schema it is read from and the notation it is printed in.
//!
//! A tree, except that references are numbers of definitions. All text in it is ready to print: values are JSON, limits
//! are worded, comments are one line each. It does not know where line breaks go.

/// One part of a value.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    /// What the value must also satisfy, one phrase each.
    pub(super) limits: Vec<String>,
    /// Titles and descriptions.
    pub(super) notes: Vec<String>,
}

#[derive(Debug)]
pub(super) enum Kind {
    /// A type with a name of its own: `string`, `integer`, `unknown`, `never`.
    Plain(&'static str),
    /// One JSON value.
    Literal(String),
    Object(Object),
    Array(Box<Node>),
    Tuple(Tuple),
    Union(Vec<Node>),
    Intersection(Vec<Node>),
    /// The definition with this number.
    Reference(usize),
}

#[derive(Debug, Default)]
pub(super) struct Object {
    pub(super) fields: Vec<Field>,
    /// Keys that are known by a rule.
    pub(super) keyed: Vec<Keyed>,
    pub(super) others: Others,
}

/// Says whether an object may have keys that it does not list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Others {
    #[default]
    Allowed,
    Refused,
}

#[derive(Debug)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) presence: Presence,
    pub(super) node: Node,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    Required,
    Optional,
}

/// The entries of an object whose keys fit `key`.
#[derive(Debug)]
pub(super) struct Keyed {
    pub(super) key: Node,
    pub(super) value: Node,
}

#[derive(Debug)]
pub(super) struct Tuple {
    pub(super) items: Vec<Node>,
    /// How many of the items must be there.
    pub(super) required: usize,
    /// What may follow the items.
    pub(super) rest: Option<Box<Node>>,
}

/// A schema that a reference leads to; the first one is the root.
#[derive(Debug)]
pub(super) struct Definition {
    pub(super) name: String,
    pub(super) node: Node,
    /// Whether it is printed on its own, under its name, or where it is used.
    pub(super) place: Place,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Inline,
    Named,
}

impl Node {
    pub(super) fn new(kind: Kind) -> Self {
        Self { kind, limits: Vec::new(), notes: Vec::new() }
    }

    pub(super) fn plain(name: &'static str) -> Self {
        Self::new(Kind::Plain(name))
    }

    pub(super) fn unknown() -> Self {
        Self::plain("unknown")
    }

    /// A value that is one of `arms`; never, if there are none.
    pub(super) fn any_of(mut arms: Vec<Self>) -> Self {
        match (arms.pop(), arms.is_empty()) {
            (None, _) => Self::plain("never"),
            (Some(only), true) => only,
            (Some(last), false) => {
                arms.push(last);
                Self::new(Kind::Union(arms))
            }
        }
    }

    /// A value that fits all `parts`. A bare `object` is left out where another part lists what kind of object it is.
    pub(super) fn all_of(mut parts: Vec<Self>) -> Self {
        if parts.iter().any(Self::lists_an_object) {
            parts.retain(|part| !part.is_bare_object());
        }
        match (parts.pop(), parts.is_empty()) {
            (None, _) => Self::unknown(),
            (Some(only), true) => only,
            (Some(last), false) => {
                parts.push(last);
                Self::new(Kind::Intersection(parts))
            }
        }
    }

    fn is_bare_object(&self) -> bool {
        matches!(self.kind, Kind::Plain("object")) && self.limits.is_empty() && self.notes.is_empty()
    }

    fn lists_an_object(&self) -> bool {
        match &self.kind {
            Kind::Object(_) => true,
            Kind::Union(arms) => arms.iter().all(Self::lists_an_object),
            _ => false,
        }
    }

    pub(super) fn limited(mut self, limit: String) -> Self {
        self.limits.push(limit);
        self
    }

    pub(super) fn is_null(&self) -> bool {
        matches!(&self.kind, Kind::Plain("null"))
            || matches!(&self.kind, Kind::Literal(json) if json == "null")
    }
}
