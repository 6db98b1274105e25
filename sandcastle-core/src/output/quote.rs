//! Puts an agent's words into our sentences: on one line, without control characters, and bounded.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde_json::Value;

/// The most characters of a string that are shown within a sentence.
const LITERAL_CHARS: usize = 60;

/// Returns the first `limit` characters, with an ellipsis if there are more.
pub(crate) fn clip(text: &str, limit: usize) -> Cow<'_, str> {
    match text.char_indices().nth(limit) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
    }
}

/// Writes control characters, and what else breaks or reorders lines, as escapes.
pub(crate) fn one_line(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unprintable) {
        return Cow::Borrowed(text);
    }
    let mut line = String::with_capacity(text.len() + 8);
    text.chars().for_each(|c| push_printable(&mut line, c));
    Cow::Owned(line)
}

/// Appends `c`, or its escape if it has no place in a line.
pub(crate) fn push_printable(line: &mut String, c: char) {
    match c {
        '\n' => line.push_str("\\n"),
        '\r' => line.push_str("\\r"),
        '\t' => line.push_str("\\t"),
        c if is_unprintable(c) => _ = write!(line, "\\u{{{:x}}}", u32::from(c)),
        c => line.push(c),
    }
}

fn is_unprintable(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// Returns a value for a sentence: scalars in full if short, arrays and objects by name.
pub(crate) fn literal(value: &Value) -> String {
    match value {
        Value::String(text) => format!("string {}", quoted(text)),
        Value::Array(_) => "array".to_owned(),
        Value::Object(_) => "object".to_owned(),
        scalar => scalar.to_string(),
    }
}

/// Returns an allowed value in backticks; a string stands without its quotes.
pub(crate) fn option(value: &Value) -> String {
    match value {
        Value::String(text) => format!("`{}`", clip(&one_line(text), LITERAL_CHARS)),
        other => format!("`{}`", clip(&one_line(&other.to_string()), LITERAL_CHARS)),
    }
}

fn quoted(text: &str) -> String {
    let shown = clip(text, LITERAL_CHARS);
    one_line(&Value::from(shown).to_string()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_agent_wrote_stays_on_one_line_and_short() {
        assert_eq!(one_line("a\nb\u{1b}[1m\u{202e}"), "a\\nb\\u{1b}[1m\\u{202e}");
        assert_eq!(clip("日本語", 2), "日本…");
        assert_eq!(clip("日本", 2), "日本");
        assert_eq!(literal(&Value::from("a\"\n")), r#"string "a\"\n""#);
        assert!(literal(&Value::from("x".repeat(1_000_000))).len() < 100);
        assert_eq!(option(&Value::from("low")), "`low`");
        assert_eq!(option(&Value::from(5)), "`5`");
    }
}
