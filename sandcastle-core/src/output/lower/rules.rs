//! What can differ between dialects: the columns of the table that `dialect` fills in.

use super::pattern::Patterns;

/// What one dialect accepts.
#[derive(Debug)]
pub(super) struct Rules {
    /// Keywords of one value that go as they are, beside those that every dialect has.
    pub(super) keeps: &'static [&'static str],
    /// Keywords without which the shape is another.
    pub(super) refuses: &'static [&'static str],
    pub(super) formats: &'static [&'static str],
    pub(super) patterns: Patterns,
    pub(super) bounds: Bounds,
    pub(super) lengths: Lengths,
    /// The largest `minItems`; `None` if any will do.
    pub(super) min_items: Option<u64>,
    pub(super) repeats: Repeats,
    pub(super) members: Members,
    pub(super) names: Names,
    pub(super) constants: Constants,
    pub(super) objects: Objects,
    pub(super) optional: Optional,
    pub(super) references: References,
    pub(super) recursion: Recursion,
    pub(super) beside_reference: Beside,
    pub(super) unions: Unions,
    pub(super) one_of: OneOf,
    pub(super) all_of: AllOf,
    pub(super) clash: Clash,
}

/// Which numbers bounds are held for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bounds {
    OfAll,
    OfIntegers,
}

/// When lengths of texts are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lengths {
    Always,
    /// Only where nothing else says how the text looks.
    Alone,
}

/// How often something may be there again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repeats {
    Any,
    /// As often as a grammar has room for; that is of items only where it is said what they are.
    Few,
}

/// What may be listed in an `enum`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Members {
    All,
    Scalars,
    TextsAndNumbers,
}

/// What properties may be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Names {
    Any,
    /// Those of the whole value: up to 64 letters, digits, `_`, `.` and `-`, as the arguments of a tool.
    OfArguments,
    /// What rules of a grammar can be called after; and so can definitions.
    OfRules,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Constants {
    Kept,
    /// As an `enum` of one.
    Listed,
}

/// What must be known of an object, and of any value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Objects {
    /// May have keys that are not declared; a value may be anything.
    Open,
    /// Has no keys beside those that are declared unless that is said; a value is of any type only if each is named.
    AsDeclared,
    /// Each key is declared, and each value has a type.
    Closed,
}

/// What becomes of a property that may be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Optional {
    Kept,
    /// It is required, and `null` stands for nothing.
    Nullable,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum References {
    Kept,
    Inlined,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Recursion {
    Allowed,
    /// Only by way of a property that may be left out.
    ThroughOptional,
    Refused,
}

/// What becomes of a reference with a description beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beside {
    Kept,
    /// The reference becomes the only alternative.
    Wrapped,
    /// What is referred to takes its place.
    Inlined,
}

/// What may stand beside alternatives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unions {
    /// Anything.
    Mixed,
    /// Nothing that demands something; alternatives that only list values are one list.
    Alone,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OneOf {
    /// It is enforced.
    Exact,
    /// It is read as `anyOf`.
    Kept,
    AnyOf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AllOf {
    Kept,
    /// Kept where its parts are neither objects nor references.
    Simple,
    Merged,
}

/// What becomes of demands that cannot be merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Clash {
    Said,
    Refused,
}

impl Recursion {
    /// Says why a reference to oneself is refused, as a fragment.
    pub(super) fn refusal(self) -> &'static str {
        match self {
            Self::Allowed => "refers to itself and demands more of what it refers to each time",
            Self::ThroughOptional => "refers to itself other than through a property that may be left out",
            Self::Refused => "refers to itself, which this wire cannot carry",
        }
    }
}
