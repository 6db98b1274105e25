//! The argument of a tool call that tells most.
//!
//! A log line has room for one argument: the command, the path, the query. Which it is follows from its name; the
//! names are those that coding agents use for their tools.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::excerpt::cut;
use crate::json::Text;

/// The longest detail that is kept, in bytes.
const DETAIL: usize = 1000;

/// Names of arguments, the most telling first.
const TELLING: &[&str] = &[
    "command",
    "cmd",
    "file_path",
    "notebook_path",
    "pattern",
    "query",
    "url",
    "path",
    "description",
    "prompt",
];

/// Cuts a detail and drops the white space around it.
pub(crate) fn shortened(text: &str) -> &str {
    cut(text.trim(), DETAIL)
}

/// Returns the most telling argument in `input`, or all of it if it has none.
pub(crate) fn detail(input: Option<&RawValue>) -> String {
    let Some(input) = input.map(RawValue::get) else { return String::new() };
    serde_json::from_str(input).map_or_else(|_| compact(input), |Arguments(detail)| detail)
}

/// Holds what is shown of the arguments of a tool call: the most telling one, or all of them as compact JSON.
///
/// It is read in one pass over the line, whatever else the arguments hold: they may contain whole files.
#[derive(Debug, Default)]
pub(crate) struct Arguments(pub(crate) String);

impl<'de> Deserialize<'de> for Arguments {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ArgumentsVisitor).map(Self)
    }
}

struct ArgumentsVisitor;

impl<'de> Visitor<'de> for ArgumentsVisitor {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the arguments of a tool")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut telling: Option<(usize, Text<'de>)> = None;
        let mut others = String::new();
        while let Some(key) = map.next_key::<Text<'de>>()? {
            let better = |rank: &usize| telling.as_ref().is_none_or(|(found, _)| rank < found);
            let Some(rank) = TELLING.iter().position(|name| **name == *key).filter(better) else {
                if telling.is_some() {
                    map.next_value::<IgnoredAny>()?;
                } else {
                    append(&mut others, &key, map.next_value()?);
                }
                continue;
            };
            let value: &RawValue = map.next_value()?;
            match serde_json::from_str::<Text<'de>>(value.get()) {
                Ok(text) if !text.trim().is_empty() => telling = Some((rank, text)),
                _ => append(&mut others, &key, value),
            }
        }
        Ok(match telling {
            Some((_, text)) => shortened(&text).to_owned(),
            None => cut(&format!("{{{others}}}"), DETAIL).to_owned(),
        })
    }
}

/// Appends a member of an object, unless what there is fills the room for it.
fn append(members: &mut String, key: &str, value: &RawValue) {
    if members.len() >= DETAIL {
        return;
    }
    if !members.is_empty() {
        members.push(',');
    }
    *members += &format!("{}:{}", Value::from(key), compact(value.get()));
}

/// Writes a value without white space between its parts, cut to what is shown of it.
fn compact(json: &str) -> String {
    // What is cut anyway is not worth the work.
    let value = if json.len() <= 4 * DETAIL { serde_json::from_str::<Value>(json).ok() } else { None };
    value.map_or_else(|| cut(json, DETAIL).to_owned(), |value| cut(&value.to_string(), DETAIL).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detail_of(json: &str) -> String {
        detail(Some(serde_json::from_str(json).unwrap()))
    }

    #[test]
    fn the_most_telling_argument_is_taken() {
        assert_eq!(detail_of(r#"{"description":"list","command":"ls -l"}"#), "ls -l");
        assert_eq!(detail_of(r#"{"path":"src","pattern":"fn main"}"#), "fn main");
        assert_eq!(detail_of(r#"{"description":"look around","prompt":"long"}"#), "look around");
    }

    #[test]
    fn other_arguments_are_shown_as_compact_json() {
        assert_eq!(detail_of(r#"{ "n": 3, "command": 7 }"#), r#"{"n":3,"command":7}"#);
        assert_eq!(detail_of("[1, 2]"), "[1,2]");
        assert_eq!(detail(None), "");
    }

    #[test]
    fn a_detail_is_bounded() {
        let long = "日".repeat(5000);
        assert_eq!(detail_of(&format!(r#"{{"command":"{long}"}}"#)).len(), 999);
        assert!(detail_of(&format!(r#"{{"other":"{long}"}}"#)).len() <= DETAIL);
    }
}
