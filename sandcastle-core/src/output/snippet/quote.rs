//! Strings, values and comments as they stand in a snippet: exact where they are data, harmless where they are prose.
//!
//! No text that leaves here contains the opening or the closing tag, a line break or another control character. Data
//! stays exact, because JSON can write any character as an escape; prose is changed.

use std::fmt::Write as _;

use serde_json::Value;

use super::keywords::is_rust_format;

/// Values deeper than this are cut off. Parsed JSON is never deeper than 128; only a value built in memory can be.
const MAX_DEPTH: usize = 256;

/// Writes data and prose for a snippet about one tag.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quote<'t> {
    tag: &'t str,
}

/// Says whether a value is a schema, where some keywords are left out, or plain data, where nothing is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    Data,
    Schema,
}

impl<'t> Quote<'t> {
    pub(super) fn new(tag: &'t str) -> Self {
        Self { tag }
    }

    /// Returns `value` as JSON in one line.
    pub(super) fn json(self, value: &Value) -> String {
        let mut out = String::new();
        self.write(&mut out, value, Reading::Data, 0);
        out
    }

    /// Returns a schema as JSON in one line, without `$schema` and without the formats that only Rust knows.
    pub(super) fn schema(self, schema: &Value) -> String {
        let mut out = String::new();
        self.write(&mut out, schema, Reading::Schema, 0);
        out
    }

    /// Returns `text` as a JSON string.
    pub(super) fn string(self, text: &str) -> String {
        let json = Value::from(text).to_string();
        let mut out = String::with_capacity(json.len());
        for (at, c) in json.char_indices() {
            if breaks_lines(c) || self.begins_tag(&json[at..]) {
                let mut units = [0; 2];
                for unit in c.encode_utf16(&mut units) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            } else {
                out.push(c);
            }
        }
        out
    }

    /// Returns a key as it stands in a type: bare if it is an identifier.
    pub(super) fn key(self, name: &str) -> String {
        if is_identifier(name) { name.to_owned() } else { self.string(name) }
    }

    /// Returns `text` in one line.
    pub(super) fn comment(self, text: &str) -> String {
        let blank = |c: char| c.is_whitespace() || breaks_lines(c);
        text.split(blank).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    }

    /// Returns `text` with a gap in everything that looks like the tag.
    pub(super) fn prose(self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        for (at, c) in text.char_indices() {
            out.push(c);
            if self.begins_tag(&text[at..]) {
                out.push(' ');
            }
        }
        out
    }

    /// Says whether `text` begins like the opening or the closing tag, in any letter case.
    fn begins_tag(self, text: &str) -> bool {
        let Some(inside) = text.strip_prefix('<') else { return false };
        let name = inside.strip_prefix('/').unwrap_or(inside).as_bytes();
        name.get(..self.tag.len()).is_some_and(|name| name.eq_ignore_ascii_case(self.tag.as_bytes()))
    }

    fn write(self, out: &mut String, value: &Value, reading: Reading, depth: usize) {
        match value {
            _ if depth == MAX_DEPTH => out.push_str("true"),
            Value::String(text) => out.push_str(&self.string(text)),
            Value::Array(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    out.push_str(if index == 0 { "" } else { "," });
                    self.write(out, item, reading, depth + 1);
                }
                out.push(']');
            }
            Value::Object(map) => {
                out.push('{');
                let shown =
                    map.iter().filter(|(key, value)| reading == Reading::Data || says_something(key, value));
                for (index, (key, value)) in shown.enumerate() {
                    out.push_str(if index == 0 { "" } else { "," });
                    out.push_str(&self.string(key));
                    out.push(':');
                    self.write(out, value, reading.of(key), depth + 1);
                }
                out.push('}');
            }
            scalar => {
                let _ = write!(out, "{scalar}");
            }
        }
    }
}

impl Reading {
    /// Returns how the value of the keyword `key` is read.
    fn of(self, key: &str) -> Self {
        match key {
            "const" | "enum" | "default" | "examples" => Self::Data,
            _ => self,
        }
    }
}

/// Says whether a keyword is about the value and not only about the schema.
///
/// A property may have the name of a keyword; its schema is an object, never a string.
fn says_something(key: &str, value: &Value) -> bool {
    match (key, value) {
        ("$schema", Value::String(_)) => false,
        ("format", Value::String(format)) => !is_rust_format(format),
        _ => true,
    }
}

fn is_identifier(name: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphabetic() || c == '_' || c == '$';
    name.starts_with(letter) && name.chars().all(|c| letter(c) || c.is_ascii_digit())
}

fn breaks_lines(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')
}
