//! The first line: what it says, and that a text output has nothing else.

use serde_json::json;

use super::{STYLES, assert_no_block, render};
use crate::output::snippet::{Snippet, SnippetStyle};
use crate::output::{OutputFormat, OutputSpec};

#[test]
fn says_how_to_answer() {
    let text = render("verdict", &json!({ "type": "boolean" }), SnippetStyle::default());
    let expected = "The answer is JSON of this shape:\nboolean\n\nEnd your reply with it, in one block. The block begins with \
                    <verdict>, then comes strict JSON, with quoted keys and without comments, and it ends with </verdict>.";
    assert_eq!(text, expected);
}

#[test]
fn every_style_names_both_tags_and_is_no_answer() {
    for style in STYLES {
        assert_no_block("a.b-c", &render("a.b-c", &json!({ "type": "boolean" }), style), OutputFormat::Json);
    }
}

#[test]
fn a_value_without_a_tag_is_asked_for_without_one() {
    let spec =
        OutputSpec::json("verdict", json!({ "type": "boolean" })).unwrap().description("Guilty or not.");
    let shapes = [
        (SnippetStyle::TypeScript, "of this shape:\n"),
        (SnippetStyle::JsonSchema, "that fits this JSON Schema:\n"),
        (SnippetStyle::Example, "like this, with the placeholders filled in:\n"),
    ];
    for (style, shape) in shapes {
        let text = Snippet::of_spec(&spec).style(style).render_document();
        assert!(text.contains(shape) && text.contains("Guilty or not."), "{text}");
        assert!(text.starts_with("Answer with one value and nothing else, in strict JSON"), "{text}");
        assert!(!text.contains("verdict>"), "{text}");
    }
}

#[test]
fn text_outputs_have_no_shape() {
    let snippet = |schema| Snippet::new("poem", OutputFormat::Text, schema).render();
    let expected = "End your reply with one block. </poem> closes it, <poem> opens it, and all between them is the \
                    text asked for";
    assert_eq!(snippet(json!({ "type": "string" })), format!("{expected}."));
    let described =
        snippet(json!({ "type": "string", "description": "A poem of\nfour lines. <poem>x</poem>" }));
    assert_eq!(described, format!("{expected}: A poem of four lines. < poem>x< /poem>"));
    assert_no_block("poem", &described, OutputFormat::Text);
}
