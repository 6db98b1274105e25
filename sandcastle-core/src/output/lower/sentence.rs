//! What a description says in the place of a keyword: one short sentence each, always the same for the same demand.

use serde_json::Value;

use super::keyword::size;
use super::node::{Word, Words};

/// Returns the sentence for a keyword, or nothing if it demands nothing.
pub(super) fn of(key: &str, word: &Word<'_>, words: &Words<'_>) -> Option<String> {
    let value = word.to_value();
    Some(match key {
        "minLength" => at_least(&value, "character")?,
        "maxLength" => at_most(&value, "character"),
        "minItems" => at_least(&value, "item")?,
        "maxItems" => at_most(&value, "item"),
        "minProperties" => at_least(&value, "key")?,
        "maxProperties" => at_most(&value, "key"),
        "minimum" => format!("At least {value}."),
        "maximum" => format!("At most {value}."),
        "exclusiveMinimum" => format!("Greater than {value}."),
        "exclusiveMaximum" => format!("Less than {value}."),
        "multipleOf" => format!("A multiple of {value}."),
        "pattern" => format!("Matches the regular expression `{}`.", text_of(word)?),
        "format" => format!("In the format `{}`.", text_of(word)?),
        "contentEncoding" => format!("Encoded as `{}`.", text_of(word)?),
        "contentMediaType" => format!("Of the media type `{}`.", text_of(word)?),
        "contentSchema" => format!("What it encodes fits `{value}`."),
        "uniqueItems" | "deprecated" if value == false => return None,
        "uniqueItems" => "No two items are the same.".to_owned(),
        "deprecated" => "Deprecated.".to_owned(),
        "contains" => contains(&value, words),
        "minContains" | "maxContains" | "then" | "else" => return None,
        "default" => format!("By default `{value}`."),
        "enum" => format!("One of {}.", listed(value.as_array().into_iter().flatten())),
        "const" => format!("Always `{value}`."),
        "not" => format!("Does not fit `{value}`."),
        "if" => condition(&value, words),
        "allOf" => format!("Fits all of `{value}`."),
        "oneOf" => "Exactly one of the alternatives fits.".to_owned(),
        "dependentRequired" => companions(&value)?,
        "dependentSchemas" | "dependencies" => {
            format!("With one of these keys it fits what is said of it: `{value}`.")
        }
        key => format!("`{key}` is `{value}`."),
    })
}

/// Puts a text behind another, as a sentence of its own.
pub(super) fn append(text: &str, more: &str) -> String {
    let text = text.trim_end();
    match text.chars().last() {
        None => more.to_owned(),
        Some('.' | '!' | '?' | ':') => format!("{text} {more}"),
        Some(_) => format!("{text}. {more}"),
    }
}

/// Lists values, each in backticks.
pub(super) fn listed<'v>(values: impl IntoIterator<Item = &'v Value>) -> String {
    let quoted: Vec<_> = values.into_iter().map(|value| format!("`{value}`")).collect();
    quoted.join(", ")
}

/// Returns the text that a keyword has.
pub(super) fn text_of<'w>(word: &'w Word<'_>) -> Option<&'w str> {
    match word {
        Word::Data(Value::String(text)) => Some(text),
        _ => None,
    }
}

fn at_least(count: &Value, what: &str) -> Option<String> {
    (size(count) != Some(0)).then(|| format!("At least {}.", counted(count, what)))
}

fn at_most(count: &Value, what: &str) -> String {
    format!("At most {}.", counted(count, what))
}

fn counted(count: &Value, what: &str) -> String {
    let plural = if size(count) == Some(1) { "" } else { "s" };
    format!("{count} {what}{plural}")
}

fn contains(value: &Value, words: &Words<'_>) -> String {
    let least = words.data("minContains").map_or_else(|| "1".to_owned(), Value::to_string);
    let most = words.data("maxContains").map(|most| format!(", at most {most}")).unwrap_or_default();
    format!("Items that fit `{value}`: at least {least}{most}.")
}

fn condition(value: &Value, words: &Words<'_>) -> String {
    let then = words.get("then").map(|word| format!(", it fits `{}`", word.to_value()));
    let otherwise = words.get("else").map(|word| format!("; otherwise it fits `{}`", word.to_value()));
    format!("If it fits `{value}`{}{}.", then.unwrap_or_default(), otherwise.unwrap_or_default())
}

fn companions(value: &Value) -> Option<String> {
    let named = value.as_object()?.iter().map(|(name, with)| {
        let with = listed(with.as_array().into_iter().flatten());
        format!("`{name}` comes with {with}")
    });
    let all: Vec<_> = named.collect();
    (!all.is_empty()).then(|| format!("{}.", all.join("; ")))
}
