//! Tests of snippets: what each construct of a schema looks like, what hostile schemas cannot do, and what holds for all.

mod example;
mod generated;
mod hostile;
mod json_schema;
mod large;
mod sentence;
mod typescript;

use serde_json::Value;

use super::{Snippet, SnippetStyle};
use crate::output::OutputFormat;

const STYLES: [SnippetStyle; 3] = [SnippetStyle::TypeScript, SnippetStyle::JsonSchema, SnippetStyle::Example];

fn render(tag: &str, schema: &Value, style: SnippetStyle) -> String {
    Snippet::new(tag, OutputFormat::Json, schema.clone()).style(style).render()
}

/// Returns a snippet without its first line.
fn shape(schema: &Value, style: SnippetStyle) -> String {
    let text = render("result", schema, style);
    let (_, shape) = text.split_once('\n').expect("a line of instruction, then the shape");
    shape.to_owned()
}

/// Checks that no reader of blocks can take `snippet` for an answer.
fn assert_no_block(tag: &str, snippet: &str) {
    let (opener, closer) = (format!("<{tag}>"), format!("</{tag}>"));
    assert_eq!(snippet.matches(&opener).count(), 1, "one opening tag in {snippet}");
    assert_eq!(snippet.matches(&closer).count(), 1, "one closing tag in {snippet}");
    let (before, behind) = snippet.split_once(&opener).expect("an opening tag");
    assert!(before.contains(&closer), "the closing tag stands first in {snippet}");
    let next = behind.trim_start().chars().next().expect("something behind the tag");
    assert!(!"{[\"-tfn`~".contains(next) && !next.is_ascii_digit(), "`{next}` begins a value in {snippet}");
}
