//! The first line: what it says, and that a text output has nothing else.

use serde_json::json;

use super::{STYLES, assert_no_block, render};
use crate::output::OutputFormat;
use crate::output::snippet::{Snippet, SnippetStyle};

#[test]
fn says_how_to_answer() {
    let text = render("verdict", &json!({ "type": "boolean" }), SnippetStyle::default());
    let expected = "End your reply with one block. </verdict> closes it, <verdict> opens it, and all between them is \
                    strict JSON, without comments, of this shape:\nboolean";
    assert_eq!(text, expected);
}

#[test]
fn every_style_names_both_tags_and_is_no_answer() {
    for style in STYLES {
        assert_no_block("a.b-c", &render("a.b-c", &json!({ "type": "boolean" }), style));
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
    assert_no_block("poem", &described);
}
