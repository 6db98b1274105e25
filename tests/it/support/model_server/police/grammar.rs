//! What the converter of llama.cpp, which Ollama has as well, makes no grammar of, or a wrong one, or does not survive.
//!
//! Read in its sources and tried with it; newer versions bear more. That a service ignores something is a refusal here, as
//! everywhere in the law.

use serde_json::{Map, Value};

/// More copies of a rule are refused by the parser of grammars.
const MOST_REPEATED: u64 = 2000;
/// The expression that replaces letters in names overflows the stack of a server beyond some thirteen thousand.
const LONGEST_NAME: usize = 10_000;
/// With one side open, a number of more digits asks for more digits than there may be.
const MOST_DIGITS_ALONE: usize = 15;

/// Tells whether something is counted in whole numbers that a grammar repeats.
pub(super) fn is_count(value: &Value, _: &Map<String, Value>) -> bool {
    value.as_u64().is_some_and(|count| count < MOST_REPEATED)
}

/// Tells whether a bound is of whole numbers, and of few digits where the other side has none.
pub(super) fn is_bound(value: &Value, object: &Map<String, Value>) -> bool {
    let of_integers = match &object["type"] {
        Value::Array(kinds) => kinds.iter().any(|kind| *kind == "integer"),
        kind => *kind == "integer",
    };
    let has = |names: [&str; 2]| names.iter().any(|name| object.contains_key(*name));
    let is_between = has(["minimum", "exclusiveMinimum"]) && has(["maximum", "exclusiveMaximum"]);
    let digits = value.to_string().trim_start_matches('-').len();
    of_integers && value.is_i64() && (is_between || digits <= MOST_DIGITS_ALONE)
}

/// Tells whether a reference leads to a definition: to the whole it cannot.
pub(super) fn is_reference(value: &Value, object: &Map<String, Value>) -> bool {
    value.as_str().is_some_and(|reference| reference.starts_with("#/")) && object.len() == 1
}

/// Tells whether a pattern has both ends and is read as it is meant.
pub(super) fn is_pattern(value: &Value, _: &Map<String, Value>) -> bool {
    let pattern = value.as_str().unwrap_or_default();
    let Some(inner) = pattern.strip_prefix('^').and_then(|rest| rest.strip_suffix('$')) else { return false };
    !inner.contains("(?") && are_read_alike(inner)
}

/// Tells whether every escape is one of a grammar, and a count follows neither an escape nor a letter of several bytes.
fn are_read_alike(pattern: &str) -> bool {
    let (mut rest, mut in_class, mut repeats_badly) = (pattern.chars().peekable(), false, false);
    while let Some(c) = rest.next() {
        let is_repeat = !in_class && matches!(c, '*' | '+' | '?' | '{');
        if is_repeat && repeats_badly {
            return false;
        }
        repeats_badly = !in_class && (c == '\\' || !c.is_ascii());
        match c {
            '[' if !in_class => in_class = true,
            ']' => in_class = false,
            '^' | '$' if !in_class => return false,
            '\\' => {
                let known = if in_class { "xuUtrn\\\"[]-" } else { "^$.[]()|{}*+?xuUtrn\\\"-" };
                if !rest.next().is_some_and(|escaped| known.contains(escaped)) {
                    return false;
                }
            }
            _ => {}
        }
    }
    true
}

/// Tells whether a rule can be made of the name of a property.
pub(super) fn is_name(name: &str, at: &str, object: &Map<String, Value>) -> bool {
    let is_open = object.get("additionalProperties").is_some_and(|others| *others != Value::Bool(false));
    let is_unread = |c: char| matches!(c, ']' | '\\' | '-' | '*' | '\0') || !c.is_ascii();
    let is_root_rule = name.is_empty() && at.is_empty();
    let is_keyword = ["$ref", "$defs"].contains(&name);
    let is_long = name.len() > LONGEST_NAME;
    !is_root_rule && !is_keyword && !is_long && !(is_open && (name.is_empty() || name.contains(is_unread)))
}

/// Returns the name of the rule that a reference is looked up by.
pub(super) fn rule_of(reference: &str) -> String {
    let words = reference.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
}

/// Tells whether nothing but alternatives is on the way from one place to another one below it: a rule that begins with
/// itself.
pub(super) fn begins_with_itself(way: &str) -> bool {
    !["/properties/", "/items", "/additionalProperties"].iter().any(|step| way.contains(step))
}
