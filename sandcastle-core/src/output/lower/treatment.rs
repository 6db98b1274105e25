//! What the rules of a dialect make of one keyword, with the others beside it.

use std::collections::HashSet;

use serde_json::Value;

use super::keyword::{Numbers, canonical, size};
use super::node::{Word, Words};
use super::pattern::Pattern;
use super::rules::{AllOf, Bounds, Lengths, Members, Objects, Repeats, Rules};
use super::sentence;
use crate::output::is_rust_format;

/// How often something may be repeated in a grammar. Servers refuse one that repeats about 2000 rules.
pub(super) const MAX_REPEATS: u64 = 1000;
/// The largest bound of an integer: one more than it has room in every integer and double.
const MAX_BOUND: u64 = 1 << 53;
/// The largest bound of an integer that has none on its other side: grammars count the digits to 16, and beyond this one
/// they ask for more digits than that.
const MAX_LONE_BOUND: u64 = 1_000_000_000_000_000 - 2;

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

impl Rules {
    /// Says what becomes of a keyword, with the others beside it.
    pub(super) fn treatment(&self, key: &str, word: &Word<'_>, words: &Words<'_>) -> Treatment {
        match (key, word) {
            ("minLength" | "maxLength" | "minItems" | "maxItems", Word::Data(count))
                if self.repeats == Repeats::Few && !is_few(key, count, words) =>
            {
                Treatment::Say
            }
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
            ("minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum", Word::Data(bound))
                if self.bounds == Bounds::OfIntegers =>
            {
                keep_if(bounds_integers(key, bound, words))
            }
            ("minItems", Word::Data(least)) if self.keeps.contains(&"minItems") => {
                keep_if(self.min_items.is_none_or(|most| size(least).is_some_and(|least| least <= most)))
            }
            // They go with `if`, which says nothing without them.
            ("then" | "else", _) => Treatment::Drop,
            ("if", _) if !words.has_any(&["then", "else"]) => Treatment::Drop,
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

    /// Tells whether a keyword is never more than said.
    pub(super) fn only_says(&self, key: &str) -> bool {
        ["not", "if", "contains", "multipleOf"].contains(&key) && !self.keeps.contains(&key)
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
            Members::All => keep_if_told_apart(members),
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

/// Tells whether a grammar has room for so many characters or items, and says what they are.
fn is_few(key: &str, count: &Value, words: &Words<'_>) -> bool {
    // A number that is written as a fraction is not read as one of items.
    count.as_u64().is_some_and(|count| count <= MAX_REPEATS)
        && (!key.ends_with("Items") || words.has("items"))
}

/// Tells whether a grammar holds a bound: of whole numbers, itself one, and the only one on its side.
fn bounds_integers(key: &str, bound: &Value, words: &Words<'_>) -> bool {
    let is_second = key.strip_prefix("exclusive").is_some_and(|side| words.has(&side.to_ascii_lowercase()));
    let others = if key.ends_with("inimum") {
        ["maximum", "exclusiveMaximum"]
    } else {
        ["minimum", "exclusiveMinimum"]
    };
    // What counts on the other side is the one that is not said.
    let other = others.into_iter().find_map(|other| words.data(other));
    let most = match other.is_some_and(|other| is_whole_within(other, MAX_BOUND)) {
        true => MAX_BOUND,
        false => MAX_LONE_BOUND,
    };
    let of_integers = words.types().is_some_and(|types| types.is_only_or_null("integer"));
    of_integers && !is_second && is_whole_within(bound, most)
}

fn is_whole_within(bound: &Value, most: u64) -> bool {
    bound.as_i64().is_some_and(|bound| bound.unsigned_abs() <= most)
}

/// Who holds numbers as doubles does not compile a list in which two of them are the same.
fn keep_if_told_apart(members: &[Value]) -> Treatment {
    let mut seen = HashSet::new();
    match members.iter().all(|member| seen.insert(canonical(member, Numbers::Doubles))) {
        true => Treatment::Keep,
        false => Treatment::Refuse("lists numbers that are the same to JavaScript"),
    }
}

fn keep_if(kept: bool) -> Treatment {
    if kept { Treatment::Keep } else { Treatment::Say }
}
