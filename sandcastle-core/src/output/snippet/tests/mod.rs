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
use crate::output::locate::Locator;

const STYLES: [SnippetStyle; 3] = [SnippetStyle::TypeScript, SnippetStyle::JsonSchema, SnippetStyle::Example];

fn render(tag: &str, schema: &Value, style: SnippetStyle) -> String {
    Snippet::new(tag, OutputFormat::Json, schema.clone()).style(style).render()
}

/// Returns a snippet without its first line.
fn shape(schema: Value, style: SnippetStyle) -> String {
    let text = Snippet::new("result", OutputFormat::Json, schema).style(style).render();
    let (_, shape) = text.split_once('\n').expect("a line of instruction, then the shape");
    shape.to_owned()
}

/// Checks that the locator finds no answer in `snippet`, and that nothing more lenient could.
fn assert_no_block(tag: &str, snippet: &str) {
    for format in [OutputFormat::Json, OutputFormat::Text] {
        let mut locator = Locator::new(tag, format);
        locator.push(snippet);
        assert!(locator.finish().is_err(), "a {format:?} answer in {snippet}");
    }
    let (opener, closer) = (format!("<{tag}>"), format!("</{tag}>"));
    assert_eq!(snippet.matches(&opener).count(), 1, "one opening tag in {snippet}");
    assert_eq!(snippet.matches(&closer).count(), 1, "one closing tag in {snippet}");
    let (before, behind) = snippet.split_once(&opener).expect("an opening tag");
    assert!(before.contains(&closer), "the closing tag stands first in {snippet}");
    let next = behind.trim_start().chars().next().expect("something behind the tag");
    assert!(!"{[\"-tfn`~".contains(next) && !next.is_ascii_digit(), "`{next}` begins a value in {snippet}");
}
