//! The sentence that a snippet begins with.
//!
//! It says what the extraction insists on: one value, last, nothing but JSON between the tags. The closing tag is named
//! first and the opening one is followed by a word that begins no JSON value, so that no sentence of this file, repeated
//! by an agent, can open a block or stand between two tags.

use super::SnippetStyle;

const BEGINNING: &str = "End your reply with one block.";

/// Returns the sentence for a JSON value in the shape that follows it.
pub(super) fn json(tag: &str, style: SnippetStyle) -> String {
    let shape = shape(style);
    format!("{BEGINNING} {}, and all between them is strict JSON, without comments, {shape}:", tags(tag))
}

/// Returns the sentence for an answer that is a JSON value and nothing else, in the shape that follows.
pub(super) fn document(style: SnippetStyle) -> String {
    format!("Answer with one value and nothing else, in strict JSON, without comments, {}:", shape(style))
}

/// Returns the sentence for a text; `about` says what the text is, and may be empty.
pub(super) fn text(tag: &str, about: &str) -> String {
    let about = if about.is_empty() { ".".to_owned() } else { format!(": {about}") };
    format!("{BEGINNING} {}, and all between them is the text asked for{about}", tags(tag))
}

fn shape(style: SnippetStyle) -> &'static str {
    match style {
        SnippetStyle::TypeScript => "of this shape",
        SnippetStyle::JsonSchema => "that fits this JSON Schema",
        SnippetStyle::Example => "like this, with the placeholders filled in",
    }
}

fn tags(tag: &str) -> String {
    format!("</{tag}> closes it, <{tag}> opens it")
}
