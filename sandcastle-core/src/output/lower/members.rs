//! The values that a schema lists, the length of its tuples and its bounds, in the form that a dialect has for them.

use serde_json::Value;

use super::keyword::{NOTES, Types, size};
use super::node::{Node, Word, Words};
use super::rules::Constants;
use super::walk::Walker;

/// Bounds from below, those from above, and which of the two fit themselves.
const BOUNDS: [(&str, &str, Between); 7] = [
    ("minLength", "maxLength", Between::Both),
    ("minItems", "maxItems", Between::Both),
    ("minProperties", "maxProperties", Between::Both),
    ("minimum", "maximum", Between::Both),
    ("minimum", "exclusiveMaximum", Between::One),
    ("exclusiveMinimum", "maximum", Between::One),
    ("exclusiveMinimum", "exclusiveMaximum", Between::Neither),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Between {
    Both,
    One,
    Neither,
}

impl<'s> Walker<'s> {
    /// Leaves among the listed values those of the right type, names their type where that is needed, and writes a constant
    /// as the dialect has it.
    pub(super) fn settle_members(&mut self, at: &str, words: &mut Words<'s>) {
        if self.rules.constants == Constants::Listed {
            self.list_constant(at, words);
        }
        let key = if words.has("const") { "const" } else { "enum" };
        let members = match words.data(key) {
            Some(Value::Array(members)) if key == "enum" => members.clone(),
            Some(value) => vec![value.clone()],
            None => return,
        };
        let Some(types) = words.types() else {
            if self.rules.names_types() {
                words.set_before(key, "type", Word::Data(Types::of_values(&members).to_value()));
            }
            return;
        };
        let fitting: Vec<_> = members.iter().filter(|member| types.admits(member)).cloned().collect();
        if fitting.is_empty() {
            self.report.refuse(at, key, "has no value of the type beside it");
        } else if key == "enum" {
            words.set("enum", Word::Data(fitting.into()));
        }
    }

    fn list_constant(&mut self, at: &str, words: &mut Words<'s>) {
        let Some(value) = words.data("const").cloned() else { return };
        let members = words.data("enum").and_then(Value::as_array);
        if members.is_some_and(|members| !members.contains(&value)) {
            self.report.refuse(at, "const", "is not among the values of `enum`");
        }
        words.take("enum");
        words.set_before("const", "enum", Word::Data(vec![value].into()));
        words.take("const");
    }

    /// Refuses bounds between which there is nothing: some services do not survive a grammar of them.
    pub(super) fn check_bounds(&mut self, at: &str, words: &Words<'_>) {
        let of_integers = words.types().is_some_and(|types| types.is_only_or_null("integer"));
        for (least, most, between) in BOUNDS {
            let number = |key| words.data(key).and_then(Value::as_f64);
            let is_empty = number(least).zip(number(most)).is_some_and(|(least, most)| match between {
                Between::Both => least > most,
                Between::Neither if of_integers => least.floor() + 1.0 >= most,
                Between::One | Between::Neither => least >= most,
            });
            if is_empty {
                self.report.refuse(at, least, format!("leaves no value, with `{most}` beside it"));
            }
        }
    }

    /// Writes the end of a tuple as a number of items.
    pub(super) fn settle_tuple(&mut self, words: &mut Words<'s>) {
        let (Some(Word::List(tuple)), Some(Word::Node(items))) =
            (words.get("prefixItems"), words.get("items"))
        else {
            return;
        };
        let length = tuple.len() as u64;
        match items.as_flag() {
            Some(true) => _ = words.take("items"),
            Some(false) => {
                let most = words.data("maxItems").and_then(size).map_or(length, |most| most.min(length));
                words.take("items");
                words.set("maxItems", Word::Data(most.into()));
            }
            None => {}
        }
    }

    /// Takes `null` out of a list of values, as an alternative, where it cannot be listed.
    pub(super) fn without_null(&mut self, at: &str, words: &Words<'s>) -> Option<Words<'s>> {
        let members = words.data("enum")?.as_array()?;
        let rest: Vec<_> = members.iter().filter(|member| !member.is_null()).cloned().collect();
        if rest.len() == members.len() || !self.rules.lists(&rest) || self.rules.lists(members) {
            return None;
        }
        let is_note = |key: &str| NOTES.contains(&key);
        let (mut notes, mut demands) = words.clone().partition(is_note);
        let mut null = Words::default();
        null.set("type", Word::Data("null".into()));
        if rest.is_empty() {
            notes.set("type", Word::Data("null".into()));
            return Some(notes);
        }
        demands.set("type", Word::Data(Types::of_values(&rest).to_value()));
        demands.set("enum", Word::Data(rest.into()));
        notes.set("anyOf", Word::List(vec![Node::made(at, demands), Node::made(at, null)]));
        Some(notes)
    }
}
