//! What a `$ref` leads to, and what the thing is called.
//!
//! References are followed inside the schema only; one that leads out of it, or nowhere, is shown as it is.

use std::collections::HashMap;

use serde_json::Value;

/// Names that mean something else in a type.
const TAKEN: [&str; 12] = [
    "string", "integer", "number", "boolean", "null", "object", "unknown", "never", "type", "key", "true",
    "false",
];

/// Returns the schema that `reference` leads to inside `root`, and its JSON Pointer.
pub(super) fn resolve<'s>(root: &'s Value, reference: &str) -> Option<(String, &'s Value)> {
    let fragment = reference.strip_prefix('#')?;
    if let Some(schema) = root.pointer(fragment) {
        return Some((fragment.to_owned(), schema));
    }
    let pointer = percent_decoded(fragment)?;
    root.pointer(&pointer).map(|schema| (pointer.clone(), schema))
}

/// Returns what the definition at `pointer` would like to be called: the last step, or the title for the root.
pub(super) fn wanted_name<'a>(pointer: &'a str, schema: &'a Value) -> &'a str {
    match pointer.rsplit('/').next() {
        None | Some("") => schema.get("title").and_then(Value::as_str).unwrap_or_default(),
        Some(step) => step,
    }
}

/// Gives each definition a name of its own.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Every name given, with the number that the next one of this name gets.
    given: HashMap<String, usize>,
}

impl Names {
    /// Returns an identifier like `wanted` that was not given before.
    pub(super) fn give(&mut self, wanted: &str) -> String {
        let base = identifier(wanted);
        let mut number = self.given.get(&base).copied().unwrap_or(1);
        let mut name = if number == 1 { base.clone() } else { format!("{base}{number}") };
        while self.given.contains_key(&name) {
            number += 1;
            name = format!("{base}{number}");
        }
        self.given.insert(name.clone(), 2);
        self.given.insert(base, number + 1);
        name
    }
}

fn identifier(wanted: &str) -> String {
    let plain: String = wanted.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    match plain.trim_matches('_') {
        "" => "Answer".to_owned(),
        word if word.starts_with(|c: char| c.is_ascii_digit()) || TAKEN.contains(&word) => format!("T{word}"),
        word => word.to_owned(),
    }
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => hex(rest.next()?)? * 16 + hex(rest.next()?)?,
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}

fn hex(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}
