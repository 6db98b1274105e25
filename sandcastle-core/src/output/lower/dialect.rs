//! What each dialect accepts of JSON Schema, as data.
//!
//! The tables are from the documentation of the services, from their refusals, and from what the programs were seen to do
//! (September to November 2026). A keyword that is neither kept nor refused moves into the description.

use super::Dialect;
use super::pattern::Patterns;
use super::rules::{
    AllOf, Beside, Bounds, Clash, Constants, Lengths, Members, Names, Objects, OneOf, Optional, Recursion,
    References, Repeats, Rules, Unions,
};

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
    repeats: Repeats::Any,
    members: Members::All,
    names: Names::OfArguments,
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
    repeats: Repeats::Any,
    members: Members::Scalars,
    names: Names::OfArguments,
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
    repeats: Repeats::Any,
    members: Members::Scalars,
    names: Names::Any,
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
    repeats: Repeats::Any,
    members: Members::TextsAndNumbers,
    names: Names::Any,
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
    repeats: Repeats::Few,
    members: Members::Scalars,
    names: Names::OfRules,
    constants: Constants::Kept,
    objects: Objects::AsDeclared,
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
