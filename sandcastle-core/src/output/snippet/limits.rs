//! One keyword and its value as a phrase: `>=0`, `minLength 1`, `pattern "^a"`.
//!
//! Bounds of numbers have signs, everything else keeps the name that JSON Schema gives it: every model knows those names,
//! and a keyword that is not known here needs no rule of its own.

use serde_json::Value;

use super::keywords::is_rust_format;
use super::quote::Quote;

/// The phrase for an object that may have no keys but those shown.
pub(super) const NO_OTHER_KEYS: &str = "no other keys";

/// Words one keyword, or nothing if it demands nothing.
pub(super) fn phrase(keyword: &str, value: &Value, quote: Quote<'_>) -> Option<String> {
    match (keyword, value) {
        ("minimum", Value::Number(bound)) => Some(format!(">={bound}")),
        ("maximum", Value::Number(bound)) => Some(format!("<={bound}")),
        ("exclusiveMinimum", Value::Number(bound)) => Some(format!(">{bound}")),
        ("exclusiveMaximum", Value::Number(bound)) => Some(format!("<{bound}")),
        ("format", Value::String(format)) if is_rust_format(format) => None,
        ("format", Value::String(format)) if is_word(format) => Some(format!("format {format}")),
        ("unevaluatedProperties", Value::Bool(false)) => Some(NO_OTHER_KEYS.to_owned()),
        ("uniqueItems" | "deprecated" | "readOnly" | "writeOnly", Value::Bool(demanded)) => {
            demanded.then(|| keyword.to_owned())
        }
        ("additionalProperties" | "unevaluatedProperties" | "items", Value::Bool(true)) => None,
        _ => Some(format!("{} {}", quote.key(keyword), quote.json(value))),
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}
