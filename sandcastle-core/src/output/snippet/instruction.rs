//! The sentence that a snippet begins with.
//!
//! It says what the extraction insists on: one value, last, nothing but JSON between the tags. The closing tag is named
//! first and the opening one is followed by a word that begins no JSON value, so that no sentence of this file, repeated
//! by an agent, can open a block or stand between two tags.

use super::SnippetStyle;

/// Returns the sentence for a JSON value in the shape that follows it.
pub(super) fn json(tag: &str, style: SnippetStyle) -> String {
    let value = match style {
        SnippetStyle::TypeScript => "one value of the type below in strict JSON, without comments",
        SnippetStyle::JsonSchema => {
            "one value that fits the JSON Schema below, in strict JSON, without comments"
        }
        SnippetStyle::Example => {
            "one value like the one below in strict JSON, with placeholders filled in and without comments"
        }
    };
    format!("{BEGINNING} {}, and all between them is {value}:", tags(tag))
}

/// Returns the sentence for a text; `about` says what the text is, and may be empty.
pub(super) fn text(tag: &str, about: &str) -> String {
    let about = if about.is_empty() { ".".to_owned() } else { format!(": {about}") };
    format!("{BEGINNING} {}, and all between them is the text asked for{about}", tags(tag))
}

const BEGINNING: &str = "End your answer with one block.";

fn tags(tag: &str) -> String {
    format!("</{tag}> closes it, <{tag}> opens it")
}
