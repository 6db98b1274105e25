//! What properties and definitions are called, where a wire does not take every name.
//!
//! Arguments of tools have short plain names. Who makes a grammar of a schema calls a rule after the way to each property,
//! with a dash for whatever is neither a letter nor a digit, and looks some rules up by a name that it takes for its own.
//! So a name can end that program, stand for another rule, or be left out; such names are refused, and definitions get
//! others.

use std::collections::HashSet;

use serde_json::Value;

use super::rules::Names;

/// The longest name of which a rule is made, in bytes: the expression that replaces what it cannot have goes deep.
const MAX_LENGTH: usize = 1024;
/// What those names end in that the converter makes up.
const ENDS: [&str; 6] = ["kv", "rest", "item", "additional", "value", "k"];
/// Names of two words by which the converter finds its own rules for numbers and times.
const OF_PARTS: [&str; 3] = ["integral-part", "decimal-part", "date-time"];

/// Where a property is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In the whole value.
    Outermost,
    Inside,
}

impl Names {
    /// Says why a property may not be called so, as a fragment.
    pub(super) fn fault(self, name: &str, place: Place) -> Option<&'static str> {
        let is_argument = (1..=64).contains(&name.len()) && name.bytes().all(is_plain);
        match (self, place) {
            (Self::OfArguments, Place::Outermost) if !is_argument => {
                Some("this wire takes up to 64 letters, digits, `_`, `.` and `-`")
            }
            (Self::OfRules, Place::Outermost) if name.is_empty() => {
                Some("of which this wire would make the rule of the whole value")
            }
            (Self::OfRules, _) if ["$ref", "$defs"].contains(&name) => {
                Some("which some servers of this wire take for a keyword")
            }
            (Self::OfRules, _) if name.len() > MAX_LENGTH => Some("this wire takes up to 1024 bytes"),
            _ => None,
        }
    }

    /// Says why a property may not be called so where keys that are not declared are allowed: they are told from it
    /// letter by letter.
    pub(super) fn fault_beside_others(self, name: &str) -> Option<&'static str> {
        let is_told_apart = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        (self == Self::OfRules && !is_told_apart)
            .then_some("beside keys that are not declared, this wire takes letters, digits and `_`")
    }

    /// Tells whether a property of the whole value takes the name of a rule that is looked up.
    pub(super) fn takes_a_part(self, name: &str) -> bool {
        let is_part = |rule: &str| OF_PARTS.contains(&rule) && rule != name;
        self == Self::OfRules && name.len() <= MAX_LENGTH && is_part(&rule_name(name))
    }
}

/// The names that a definition of a grammar may not have, since a property can lead to the same rule.
pub(super) fn ends_of_rules(schema: &Value) -> HashSet<String> {
    let mut ends: HashSet<_> = ENDS.into_iter().map(str::to_owned).collect();
    let mut waiting = vec![schema];
    while let Some(value) = waiting.pop() {
        match value {
            Value::Object(fields) => {
                let properties = fields.get("properties").and_then(Value::as_object).into_iter().flatten();
                ends.extend(properties.map(|(name, _)| last_word(name).to_owned()));
                waiting.extend(fields.values());
            }
            Value::Array(items) => waiting.extend(items),
            _ => {}
        }
    }
    ends
}

/// Makes a name of which no other name makes the same rule: of letters and digits, with a letter at its end, since rules
/// of the same name are numbered.
pub(super) fn of_rule(kind: &str) -> String {
    let mut name: String = kind.chars().filter(char::is_ascii_alphanumeric).collect();
    if !name.ends_with(|last: char| last.is_ascii_alphabetic()) {
        name.push('T');
    }
    name
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-')
}

fn last_word(name: &str) -> &str {
    name.rsplit(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default()
}

/// Returns what the converter makes of a name: a dash for each run of what a rule cannot have.
fn rule_name(name: &str) -> String {
    let mut rule = String::new();
    let mut in_run = false;
    for c in name.chars() {
        let keeps = c.is_ascii_alphanumeric() || c == '-';
        if keeps || !in_run {
            rule.push(if keeps { c } else { '-' });
        }
        in_run = !keeps;
    }
    rule
}
