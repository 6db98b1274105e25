//! What each dialect accepts of JSON Schema, as data, and what that makes of one keyword.
//!
//! The tables are from the documentation of the services, from their refusals, and from what the programs were seen to do
//! (September to November 2026). A keyword that is neither kept nor refused moves into the description.

use serde_json::Value;

use super::keyword::size;
use super::node::{Word, Words};
use super::pattern::{Pattern, Patterns};
use super::{Dialect, sentence};
use crate::output::is_rust_format;

/// What one dialect accepts.
#[derive(Debug)]
pub(super) struct Rules {
    /// Keywords of one value that go as they are, beside those that every dialect has.
    keeps: &'static [&'static str],
    /// Keywords without which the shape is another.
    refuses: &'static [&'static str],
    formats: &'static [&'static str],
    patterns: Patterns,
    bounds: Bounds,
    lengths: Lengths,
    /// The largest `minItems`; `None` if any will do.
    min_items: Option<u64>,
    members: Members,
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
enum Bounds {
    OfAll,
    OfIntegers,
}

/// When lengths of texts are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lengths {
    Always,
    /// Only where nothing else says how the text looks.
    Alone,
}

/// What may be listed in an `enum`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Members {
    All,
    Scalars,
    TextsAndNumbers,
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

/// What becomes of one keyword.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Treatment {
    Keep,
    /// Another value goes in its place.
    KeepAs(Value),
    Say,
    Drop,
    Refuse(&'static str),
}

const NO_SHAPE: &[&str] =
    &["patternProperties", "propertyNames", "prefixItems", "unevaluatedProperties", "unevaluatedItems"];

/// Tools of the Messages API, by way of a validator of draft 7 that knows no formats: what both understand.
const CLAUDE_CODE: Rules = Rules {
    keeps: &[
        "title",
        "default",
        "minLength",
        "maxLength",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minItems",
        "maxItems",
        "uniqueItems",
        "contains",
        "minProperties",
        "maxProperties",
        "patternProperties",
        "propertyNames",
        "not",
        "if",
        "then",
        "else",
    ],
    refuses: &["prefixItems", "unevaluatedProperties", "unevaluatedItems"],
    formats: &[],
    patterns: Patterns::Portable,
    bounds: Bounds::OfAll,
    lengths: Lengths::Always,
    min_items: None,
    members: Members::All,
    constants: Constants::Kept,
    objects: Objects::Open,
    optional: Optional::Kept,
    references: References::Kept,
    recursion: Recursion::Allowed,
    beside_reference: Beside::Kept,
    unions: Unions::Mixed,
    one_of: OneOf::Exact,
    all_of: AllOf::Kept,
    clash: Clash::Refused,
};

const ANTHROPIC: Rules = Rules {
    keeps: &["title", "default", "minItems"],
    refuses: NO_SHAPE,
    formats: &["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"],
    patterns: Patterns::Simple,
    bounds: Bounds::OfAll,
    lengths: Lengths::Always,
    min_items: Some(1),
    members: Members::Scalars,
    constants: Constants::Kept,
    objects: Objects::Closed,
    optional: Optional::Kept,
    references: References::Kept,
    recursion: Recursion::Refused,
    beside_reference: Beside::Inlined,
    unions: Unions::Alone,
    one_of: OneOf::AnyOf,
    all_of: AllOf::Simple,
    clash: Clash::Refused,
};

const OPENAI: Rules = Rules {
    keeps: &[
        "title",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minItems",
        "maxItems",
    ],
    refuses: NO_SHAPE,
    formats: &["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"],
    patterns: Patterns::Portable,
    bounds: Bounds::OfAll,
    lengths: Lengths::Always,
    min_items: None,
    members: Members::Scalars,
    constants: Constants::Kept,
    objects: Objects::Closed,
    optional: Optional::Nullable,
    references: References::Kept,
    recursion: Recursion::Allowed,
    beside_reference: Beside::Wrapped,
    unions: Unions::Alone,
    one_of: OneOf::AnyOf,
    all_of: AllOf::Merged,
    clash: Clash::Refused,
};

const GEMINI: Rules = Rules {
    keeps: &["title", "minimum", "maximum", "minItems", "maxItems", "prefixItems"],
    refuses: &["patternProperties", "propertyNames", "unevaluatedProperties", "unevaluatedItems"],
    formats: &["date-time", "date", "time"],
    patterns: Patterns::None,
    bounds: Bounds::OfAll,
    lengths: Lengths::Always,
    min_items: None,
    members: Members::TextsAndNumbers,
    constants: Constants::Listed,
    objects: Objects::Open,
    optional: Optional::Kept,
    references: References::Kept,
    recursion: Recursion::ThroughOptional,
    beside_reference: Beside::Wrapped,
    unions: Unions::Alone,
    one_of: OneOf::Kept,
    all_of: AllOf::Merged,
    clash: Clash::Said,
};

/// What Ollama and the server of llama.cpp make grammars of, with the same converter.
const LLAMA_CPP: Rules = Rules {
    keeps: &[
        "title",
        "minLength",
        "maxLength",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "minItems",
        "maxItems",
    ],
    refuses: NO_SHAPE,
    formats: &["date", "time", "date-time", "uuid"],
    patterns: Patterns::Anchored,
    bounds: Bounds::OfIntegers,
    lengths: Lengths::Alone,
    min_items: None,
    members: Members::Scalars,
    constants: Constants::Kept,
    objects: Objects::Open,
    optional: Optional::Kept,
    references: References::Inlined,
    recursion: Recursion::Allowed,
    beside_reference: Beside::Inlined,
    unions: Unions::Alone,
    one_of: OneOf::Kept,
    all_of: AllOf::Merged,
    clash: Clash::Said,
};

const OLLAMA: Rules = Rules {
    formats: &[],
    constants: Constants::Listed,
    recursion: Recursion::Refused,
    one_of: OneOf::AnyOf,
    ..LLAMA_CPP
};

impl Dialect {
    pub(super) fn rules(self) -> &'static Rules {
        match self {
            Self::ClaudeCode => &CLAUDE_CODE,
            Self::Codex | Self::OpenAi => &OPENAI,
            Self::Anthropic => &ANTHROPIC,
            Self::Gemini => &GEMINI,
            Self::Ollama => &OLLAMA,
            Self::LlamaCpp => &LLAMA_CPP,
        }
    }
}

impl Rules {
    /// Says what becomes of a keyword, with the others beside it.
    pub(super) fn treatment(&self, key: &str, word: &Word<'_>, words: &Words<'_>) -> Treatment {
        match (key, word) {
            ("type" | "description" | "properties" | "required" | "items" | "anyOf" | "oneOf", _) => {
                Treatment::Keep
            }
            ("additionalProperties", word) => self.of_other_keys(word),
            ("allOf", _) => keep_if(self.all_of != AllOf::Merged),
            ("enum", Word::Data(Value::Array(members))) => self.of_members(members),
            ("const", Word::Data(value)) => self.of_members(std::slice::from_ref(value)),
            ("format", Word::Data(Value::String(format))) => self.of_format(format),
            ("pattern", Word::Data(Value::String(pattern))) => self.of_pattern(pattern),
            ("minLength" | "maxLength", _) if self.lengths == Lengths::Alone => {
                let looks = |key: &str| words.get(key).is_some_and(|word| self.holds(key, word));
                keep_if(!looks("pattern") && !looks("format"))
            }
            ("minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum", _)
                if self.bounds == Bounds::OfIntegers =>
            {
                keep_if(words.types().is_some_and(|types| types.is_only_or_null("integer")))
            }
            ("minItems", Word::Data(least)) if self.keeps.contains(&"minItems") => {
                keep_if(self.min_items.is_none_or(|most| size(least).is_some_and(|least| least <= most)))
            }
            // They go with `if`.
            ("then" | "else", _) => Treatment::Drop,
            // In draft 7 it always means at least one.
            ("contains", _) if words.has_any(&["minContains", "maxContains"]) => Treatment::Say,
            _ if self.keeps.contains(&key) => Treatment::Keep,
            _ if self.refuses.contains(&key) => Treatment::Refuse("is a shape that this wire cannot carry"),
            _ => Treatment::Say,
        }
    }

    /// Tells whether the members of an `enum` are all that may be listed.
    pub(super) fn lists(&self, members: &[Value]) -> bool {
        self.of_members(members) == Treatment::Keep
    }

    /// Tells whether every value has its type named.
    pub(super) fn names_types(&self) -> bool {
        self.objects == Objects::Closed || self.members == Members::TextsAndNumbers
    }

    fn of_other_keys(&self, word: &Word<'_>) -> Treatment {
        let closed = matches!(word, Word::Node(node) if node.as_flag() == Some(false));
        if self.objects == Objects::Closed && !closed {
            return Treatment::Refuse("allows keys that are not declared, which this wire cannot carry");
        }
        Treatment::Keep
    }

    fn of_members(&self, members: &[Value]) -> Treatment {
        let is_scalar = |value: &Value| !value.is_object() && !value.is_array();
        match self.members {
            Members::All => Treatment::Keep,
            _ if !members.iter().all(is_scalar) => {
                Treatment::Refuse("lists objects or arrays, which this wire cannot carry")
            }
            Members::TextsAndNumbers => {
                keep_if(members.iter().all(|member| member.is_string() || member.is_number()))
            }
            Members::Scalars => Treatment::Keep,
        }
    }

    fn of_format(&self, format: &str) -> Treatment {
        if is_rust_format(format) {
            return Treatment::Drop;
        }
        keep_if(self.formats.contains(&format))
    }

    fn of_pattern(&self, pattern: &str) -> Treatment {
        let carried = Pattern::read(pattern).and_then(|read| read.for_wire(self.patterns));
        match carried {
            None => Treatment::Say,
            Some(same) if same == pattern => Treatment::Keep,
            Some(other) => Treatment::KeepAs(other.into()),
        }
    }

    /// Tells whether a keyword of texts stays on the wire.
    fn holds(&self, key: &str, word: &Word<'_>) -> bool {
        let treatment = match (key, sentence::text_of(word)) {
            ("pattern", Some(pattern)) => self.of_pattern(pattern),
            ("format", Some(format)) => self.of_format(format),
            _ => Treatment::Drop,
        };
        matches!(treatment, Treatment::Keep | Treatment::KeepAs(_))
    }
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

fn keep_if(kept: bool) -> Treatment {
    if kept { Treatment::Keep } else { Treatment::Say }
}
