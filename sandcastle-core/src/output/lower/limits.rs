//! What dialects count, and how much there is of it in a copy.
//!
//! The numbers are those that the services document, or what their servers were seen to bear. Nothing is counted twice
//! because it is referred to twice.

use serde_json::Value;

use super::wire::Wire;
use super::{Count, Dialect, Refusal, pattern};

/// A list of texts with more values than this has a limit of its own.
const LONG_LIST: usize = 250;

/// Counts what the dialect limits.
pub(super) fn counts(dialect: Dialect, wire: &Wire) -> Vec<Count> {
    let count = |what, count, limit| Count { what, count, limit };
    match dialect {
        // The option is one argument of a program, and Linux ends one with a zero.
        Dialect::ClaudeCode => {
            vec![count("bytes of an argument", wire.to_value().to_string().len() + 1, 128 * 1024)]
        }
        Dialect::Anthropic => vec![
            count("optional properties", sum(wire, optional_properties), 24),
            count("unions", sum(wire, |schema| usize::from(is_union(schema))), 16),
        ],
        Dialect::OpenAi | Dialect::Codex => vec![
            count("properties", sum(wire, |schema| schema.named("properties").len()), 5000),
            count("levels of objects", levels(wire), 10),
            count("characters of names and values", sum(wire, characters), 120_000),
            count("values of enums", sum(wire, |schema| members(schema).len()), 1000),
            count("characters of one long enum", most(wire, characters_of_long_list), 15_000),
        ],
        // What a server was seen to need for a grammar: the cube of the first in time, and of the second about 250 bytes each.
        Dialect::Ollama | Dialect::LlamaCpp => vec![
            count("optional properties of one object", most(wire, optional_properties), 1000),
            count("repetitions", sum(wire, repetitions), 100_000),
        ],
        Dialect::Gemini => Vec::new(),
    }
}

/// Refuses what is over its limit.
pub(super) fn refusals(counts: &[Count]) -> impl Iterator<Item = Refusal> {
    counts.iter().filter(|count| count.count > count.limit).map(|Count { what, count, limit }| Refusal {
        pointer: String::new(),
        keyword: (*what).to_owned(),
        reason: format!("are {count}, and this wire carries {limit} at the most"),
    })
}

fn all(wire: &Wire) -> impl Iterator<Item = &Wire> {
    let mut waiting = vec![wire];
    std::iter::from_fn(move || {
        let next = waiting.pop()?;
        waiting.extend(next.children());
        Some(next)
    })
}

fn sum(wire: &Wire, of_one: impl Fn(&Wire) -> usize) -> usize {
    all(wire).map(of_one).sum()
}

fn most(wire: &Wire, of_one: impl Fn(&Wire) -> usize) -> usize {
    all(wire).map(of_one).max().unwrap_or(0)
}

fn optional_properties(schema: &Wire) -> usize {
    let required = schema.data("required").and_then(Value::as_array).map_or(0, Vec::len);
    schema.named("properties").len().saturating_sub(required)
}

/// Counts what a grammar repeats for lengths and patterns: it has a rule for each time.
fn repetitions(schema: &Wire) -> usize {
    let bound = |key: &str| schema.data(key).and_then(Value::as_u64).unwrap_or(0);
    let lengths = bound("minLength").max(bound("maxLength"));
    let items = bound("minItems").max(bound("maxItems"));
    let pattern = schema.data("pattern").and_then(Value::as_str).map_or(0, pattern::weight);
    usize::try_from(lengths + items + pattern).unwrap_or(usize::MAX)
}

fn is_union(schema: &Wire) -> bool {
    !schema.alternatives().is_empty() || schema.types().is_some_and(|types| types.len() > 1)
}

/// Counts how deep objects stand in objects; a definition begins anew.
fn levels(wire: &Wire) -> usize {
    let (mut deepest, mut waiting) = (0, vec![(wire, 0)]);
    while let Some((schema, outside)) = waiting.pop() {
        let level = outside + usize::from(schema.types().is_some_and(|types| types.has("object")));
        deepest = deepest.max(level);
        let definitions = schema.named("$defs").iter().map(|(_, definition)| (definition, 0));
        waiting.extend(definitions);
        waiting.extend(schema.children_but("$defs").map(|child| (child, level)));
    }
    deepest
}

fn members(schema: &Wire) -> &[Value] {
    schema.data("enum").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn characters(schema: &Wire) -> usize {
    let named = ["properties", "$defs"].into_iter().flat_map(|key| schema.named(key));
    let names: usize = named.map(|(name, _)| name.chars().count()).sum();
    names + members(schema).iter().chain(schema.data("const")).map(length).sum::<usize>()
}

fn characters_of_long_list(schema: &Wire) -> usize {
    let members = members(schema);
    if members.len() > LONG_LIST { members.iter().map(length).sum() } else { 0 }
}

fn length(value: &Value) -> usize {
    value.as_str().map_or_else(|| value.to_string().len(), |text| text.chars().count())
}
