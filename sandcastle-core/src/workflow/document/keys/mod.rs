//! What a document can say, as data: each key once, with its shape and what it is for.
//!
//! Everything that knows keys is made of this: the strict reader ([`hold`](super::hold)), its hints, and the JSON Schema that is
//! published for editors ([`publish`](super::publish)).

mod schema_node;
mod steps;
mod workflow;

pub(super) use self::schema_node::{ABOUT, BESIDE_UNIONS, SAYING, SCHEMA_NODE, UNIONS};
pub(super) use self::steps::{COMMON, KINDS, Kind, kind};
pub(super) use self::workflow::{VARIABLE, WORKFLOW};
use super::super::definition::WorkflowVersion;

/// One key of a map.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    pub(super) name: &'static str,
    pub(super) shape: Shape,
    pub(super) doc: &'static str,
    pub(super) presence: Presence,
    /// The first version of documents that has it.
    pub(super) since: WorkflowVersion,
}

/// Whether a map has to have a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    Optional,
    Required,
}

/// The keys of a map.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    /// What the map is, with an article.
    pub(super) what: &'static str,
    pub(super) keys: &'static [Key],
    /// Keys of which there has to be one.
    pub(super) needed: Option<Needed>,
}

/// Some keys of which one has to be there.
#[derive(Clone, Copy, Debug)]
pub(super) enum Needed {
    ExactlyOne([&'static str; 2]),
    AtLeastOne([&'static str; 2]),
}

/// What a value looks like.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape {
    /// The version of the document.
    Version,
    /// A text.
    Text,
    /// A text with something in it.
    Filled,
    /// A text, or a number or a boolean that is taken as it is spelled.
    Spelled,
    /// A name that expressions can say.
    Name,
    /// The name of an environment variable in `${}`.
    Secret,
    /// An address that begins with `http://` or `https://`.
    Address,
    /// One of these texts.
    Choice(&'static [&'static str]),
    Boolean,
    /// A whole number from one to another.
    Whole(u64, u64),
    /// A number from one to another.
    Number(f64, f64),
    /// A number above zero, up to another.
    Positive(f64),
    /// Any number.
    AnyNumber,
    /// Whatever JSON can say.
    Anything,
    /// A value that is neither a list nor a map.
    Scalar,
    /// A list with something in it.
    List(&'static Shape),
    /// A map of names of one's own, with something in it.
    Named(&'static Shape),
    /// A map of environment variables.
    Environment,
    /// A map with known keys.
    Group(&'static Group),
    /// A text, or a map in its place.
    TextOr(&'static Group),
    /// One of these texts, or a list of them.
    OneOrMore(&'static [&'static str]),
    /// Steps in their order.
    Steps,
    /// A part of an output schema.
    SchemaNode,
    /// The root of an output schema.
    OutputSchema,
    /// A variable: a default, or a map that describes it.
    Variable,
}

/// The most steps of a document, and the most names of one map.
pub(super) const MAX_MEMBERS: usize = 1_000;

/// The most seconds that a time can have: a year.
pub(super) const MAX_SECONDS: f64 = 31_536_000.0;

/// A time in seconds. Shorter than a thousandth it is no time in which anything is done.
const SECONDS: Shape = Shape::Number(0.001, MAX_SECONDS);

impl Key {
    const fn new(name: &'static str, shape: Shape, doc: &'static str) -> Self {
        Self { name, shape, doc, presence: Presence::Optional, since: WorkflowVersion::V1_0 }
    }

    const fn required(self) -> Self {
        Self { presence: Presence::Required, ..self }
    }

    const fn since_1_1(self) -> Self {
        Self { since: WorkflowVersion::V1_1, ..self }
    }
}
