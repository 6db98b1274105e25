//! What is known of a value before there is one: the kinds that it may be of, and whether it may not be there at all. What is
//! not known is said to be unknown, and nothing is held against it.

use std::collections::BTreeSet;

use serde_json::Value;

use super::schema::{self, Node};

/// How many lists and objects a shape may consist of before it is forgotten.
const MAX_PARTS: usize = 256;

/// What a value may be.
#[derive(Clone, Debug, Default)]
pub(super) struct Shape<'s> {
    /// Anything, beside what is listed.
    pub(super) unknown: bool,
    pub(super) null: bool,
    pub(super) boolean: Option<Truth>,
    pub(super) number: Option<Digits>,
    pub(super) text: Option<Texts>,
    pub(super) lists: Vec<Items<'s>>,
    pub(super) objects: Vec<Fields<'s>>,
    /// Why it may not be there.
    pub(super) absent: Option<Absence>,
}

/// What is known of a boolean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Truth {
    Either,
    Always(bool),
}

/// What is known of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Digits {
    Integer,
    Any,
}

/// What is known of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Texts {
    Any,
    Only(BTreeSet<String>),
}

/// What the items of a list are.
#[derive(Clone, Debug)]
pub(super) enum Items<'s> {
    /// As schemas say, all of which hold.
    Schema(Vec<Node<'s>>),
    /// All alike.
    Each(Box<Shape<'s>>),
    /// A name and a value.
    Pair(Box<Shape<'s>>, Box<Shape<'s>>),
}

/// What the fields of an object are.
#[derive(Clone, Debug)]
pub(super) enum Fields<'s> {
    /// As schemas say, all of which hold.
    Schema(Vec<Node<'s>>),
    /// These, and no others.
    Only(Vec<(&'s str, Shape<'s>)>),
}

/// Why a value may not be there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Absence {
    /// A field that its object need not have.
    Optional,
    /// The output of a step that may not have run.
    NotRun(String),
    /// A field of what may be null.
    OfNull(String),
    /// An item of a list that may be too short.
    Short,
}

impl<'s> Shape<'s> {
    pub(super) fn unknown() -> Self {
        Self { unknown: true, ..Self::default() }
    }

    pub(super) fn null() -> Self {
        Self { null: true, ..Self::default() }
    }

    pub(super) fn boolean() -> Self {
        Self { boolean: Some(Truth::Either), ..Self::default() }
    }

    pub(super) fn always(answer: bool) -> Self {
        Self { boolean: Some(Truth::Always(answer)), ..Self::default() }
    }

    pub(super) fn integer() -> Self {
        Self { number: Some(Digits::Integer), ..Self::default() }
    }

    pub(super) fn number() -> Self {
        Self { number: Some(Digits::Any), ..Self::default() }
    }

    pub(super) fn text() -> Self {
        Self { text: Some(Texts::Any), ..Self::default() }
    }

    pub(super) fn literal(text: &str) -> Self {
        Self { text: Some(Texts::Only(BTreeSet::from([text.to_owned()]))), ..Self::default() }
    }

    pub(super) fn list(items: Items<'s>) -> Self {
        Self { lists: vec![items], ..Self::default() }.bounded()
    }

    pub(super) fn list_of(item: Self) -> Self {
        Self::list(Items::Each(Box::new(item)))
    }

    pub(super) fn object(fields: Fields<'s>) -> Self {
        Self { objects: vec![fields], ..Self::default() }
    }

    pub(super) fn because(self, absence: Absence) -> Self {
        Self { absent: Some(absence), ..self }
    }

    /// Either this or that.
    pub(super) fn or(mut self, other: Self) -> Self {
        self.unknown |= other.unknown;
        self.null |= other.null;
        self.boolean =
            either(self.boolean, other.boolean, |one, other| if one == other { one } else { Truth::Either });
        self.number =
            either(self.number, other.number, |one, other| if one == other { one } else { Digits::Any });
        self.text = either(self.text, other.text, |one, other| match (one, other) {
            (Texts::Only(mut one), Texts::Only(other)) => {
                one.extend(other);
                Texts::Only(one)
            }
            _ => Texts::Any,
        });
        self.lists.extend(other.lists);
        self.objects.extend(other.objects);
        self.absent = self.absent.or(other.absent);
        self.bounded()
    }

    /// What is left of it when a field of it is known to be one of some values, or none of them: of the ways in which it can be
    /// an object, those that have such a field.
    pub(super) fn tagged(self, field: &str, values: &[Value], is_one: bool) -> Self {
        let fits = |fields: &Fields<'s>| match fields {
            Fields::Only(_) => true,
            Fields::Schema(nodes) => schema::may_be(nodes, field, values, is_one),
        };
        let left: Vec<_> = self.objects.iter().filter(|fields| fits(fields)).cloned().collect();
        // What contradicts everything else is found where it is compared.
        if left.is_empty() {
            return self;
        }
        if is_one && !self.unknown {
            // Nothing else has fields.
            return Self { objects: left, absent: self.absent, ..Self::default() };
        }
        Self { objects: left, ..self }
    }

    /// Forgets what has too many parts: loops within loops can double them each time.
    fn bounded(self) -> Self {
        if self.parts() > MAX_PARTS { Self { absent: self.absent, ..Self::unknown() } } else { self }
    }

    fn parts(&self) -> usize {
        let of = |items: &Items<'s>| match items {
            Items::Schema(_) => 1,
            Items::Each(shape) => shape.parts(),
            Items::Pair(name, value) => name.parts() + value.parts(),
        };
        1 + self.objects.len() + self.lists.iter().map(of).sum::<usize>()
    }

    /// Tells whether nothing can be held against it.
    pub(super) fn is_open(&self) -> bool {
        self.unknown || self.is_nothing()
    }

    /// Tells whether it can be of no kind at all, which is a schema that contradicts itself.
    fn is_nothing(&self) -> bool {
        !self.null && self.kinds() == Kinds::default()
    }

    /// The kinds that it may be of, beside null.
    pub(super) fn kinds(&self) -> Kinds {
        Kinds {
            boolean: self.boolean.is_some(),
            number: self.number.is_some(),
            text: self.text.is_some(),
            list: !self.lists.is_empty(),
            object: !self.objects.is_empty(),
        }
    }

    /// Names what it may be, as in `a text or null`.
    pub(super) fn described(&self) -> String {
        let kinds = self.kinds();
        let names = [
            (kinds.text, "a text"),
            (kinds.number, if self.number == Some(Digits::Integer) { "an integer" } else { "a number" }),
            (kinds.boolean, "a boolean"),
            (kinds.list, "a list"),
            (kinds.object, "an object"),
            (self.null, "null"),
        ];
        let names: Vec<_> = names.iter().filter(|(is, _)| *is).map(|(_, name)| *name).collect();
        if names.is_empty() || self.unknown { "anything".to_owned() } else { names.join(" or ") }
    }

    /// The texts that it is one of, if it is nothing else.
    pub(super) fn only_texts(&self) -> Option<&BTreeSet<String>> {
        let alone = Kinds { text: true, ..Kinds::default() };
        match &self.text {
            Some(Texts::Only(texts)) if !self.unknown && self.kinds() == alone => Some(texts),
            _ => None,
        }
    }
}

/// A set of kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Kinds {
    pub(super) boolean: bool,
    pub(super) number: bool,
    pub(super) text: bool,
    pub(super) list: bool,
    pub(super) object: bool,
}

impl Kinds {
    /// Tells whether a value of these may be equal to one of those, or stand before it. A boolean counts as 0 or 1.
    pub(super) fn meet(self, other: Self) -> bool {
        let counts = |kinds: Self| kinds.number || kinds.boolean;
        (counts(self) && counts(other))
            || (self.text && other.text)
            || (self.list && other.list)
            || (self.object && other.object)
    }
}

fn either<T>(one: Option<T>, other: Option<T>, both: impl FnOnce(T, T) -> T) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(both(one, other)),
        (one, other) => one.or(other),
    }
}
