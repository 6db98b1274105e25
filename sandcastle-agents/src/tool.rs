//! The argument of a tool call that tells most.
//!
//! A log line has room for one argument: the command, the path, the query. Which it is follows from its name; the
//! names are those that coding agents use for their tools.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::excerpt::cut;
use crate::json::{Lenient, Text};

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

/// Returns the most telling argument in `input`, or all of them as compact JSON.
pub(crate) fn detail(input: Option<&RawValue>) -> String {
    let Some(input) = input.map(RawValue::get) else { return String::new() };
    if let Ok(Telling(Some((_, text)))) = serde_json::from_str(input) {
        return shortened(&text).to_owned();
    }
    // Arguments that are cut anyway are not worth the work of compacting them.
    let compact = if input.len() <= 4 * DETAIL { serde_json::from_str::<Value>(input).ok() } else { None };
    compact.map_or_else(|| cut(input, DETAIL).to_owned(), |value| cut(&value.to_string(), DETAIL).to_owned())
}

/// Cuts a detail and drops the white space around it.
pub(crate) fn shortened(text: &str) -> &str {
    cut(text.trim(), DETAIL)
}

struct Telling<'a>(Option<(usize, Text<'a>)>);

impl<'de: 'a, 'a> Deserialize<'de> for Telling<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(TellingVisitor).map(Self)
    }
}

struct TellingVisitor;

impl<'de> Visitor<'de> for TellingVisitor {
    type Value = Option<(usize, Text<'de>)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the arguments of a tool")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut best: Option<(usize, Text<'de>)> = None;
        while let Some(key) = map.next_key::<Text<'de>>()? {
            let rank = TELLING.iter().position(|name| **name == *key);
            match rank {
                Some(rank) if best.as_ref().is_none_or(|(found, _)| rank < *found) => {
                    let Lenient(text) = map.next_value::<Lenient<Text<'de>>>()?;
                    best = text.filter(|text| !text.trim().is_empty()).map(|text| (rank, text)).or(best);
                }
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(best)
    }
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
