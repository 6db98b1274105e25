//! The sentences around the shape in a snippet.
//!
//! They say what the extraction insists on: one value, last, nothing but JSON between the tags. What has to be done stands
//! behind the shape, and the tags in the order in which they are written: small models forget the tags otherwise. The
//! opening tag is followed by what begins no JSON value, so that no sentence of this file, repeated by an agent, can open
//! a block. All that stands between two tags is a text's answer, so there the closing tag is named first.

use super::SnippetStyle;

/// Returns what stands before the shape and behind it, for a JSON value in a tag.
pub(super) fn json(tag: &str, style: SnippetStyle) -> (String, String) {
    let before = format!("The answer is JSON {}:", shape(style));
    let behind = format!("End your reply with it, in one block. {}", block(tag));
    (before, behind)
}

/// Says what a block with a JSON value is.
pub(in crate::output) fn block(tag: &str) -> String {
    format!(
        "The block begins with <{tag}>, then comes strict JSON, with quoted keys and without comments, and it ends with \
         </{tag}>."
    )
}

/// Returns the sentence for an answer that is a JSON value and nothing else, in the shape that follows.
pub(super) fn document(style: SnippetStyle) -> String {
    format!("Answer with one value and nothing else, in strict JSON, without comments, {}:", shape(style))
}

/// Returns the sentence for an answer that is the arguments of a tool, in the shape that follows.
#[cfg(feature = "workflow")]
pub(super) fn arguments(style: SnippetStyle) -> String {
    format!("Answer by calling the tool that takes the answer, with arguments {}:", shape(style))
}

/// Returns the sentence for a text; `about` says what the text is, and may be empty.
pub(super) fn text(tag: &str, about: &str) -> String {
    let about = if about.is_empty() { ".".to_owned() } else { format!(": {about}") };
    format!(
        "End your reply with one block. </{tag}> closes it, <{tag}> opens it, and all between them is the text asked \
         for{about}"
    )
}

fn shape(style: SnippetStyle) -> &'static str {
    match style {
        SnippetStyle::TypeScript => "of this shape",
        SnippetStyle::JsonSchema => "that fits this JSON Schema",
        SnippetStyle::Example => "like this, with the placeholders filled in",
    }
}
