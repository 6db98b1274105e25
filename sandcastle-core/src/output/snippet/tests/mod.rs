//! Tests of snippets: what each construct of a schema looks like, what hostile schemas cannot do, and what holds for all.

mod example;
mod generated;
mod hostile;
mod json_schema;
mod large;
mod sentence;
mod typescript;

use serde_json::{Value, json};

use super::{Snippet, SnippetStyle};
use crate::output::{OutputFormat, OutputSpec};

const STYLES: [SnippetStyle; 3] = [SnippetStyle::TypeScript, SnippetStyle::JsonSchema, SnippetStyle::Example];

fn render(tag: &str, schema: &Value, style: SnippetStyle) -> String {
    Snippet::new(tag, OutputFormat::Json, schema.clone()).style(style).render()
}

/// Returns a snippet without the sentences around its shape.
fn shape(schema: Value, style: SnippetStyle) -> String {
    let text = Snippet::new("result", OutputFormat::Json, schema).style(style).render();
    let (_, shape) = text.split_once('\n').expect("a line, then the shape");
    let (shape, _) = shape.rsplit_once("\n\n").expect("the shape, then what to do");
    shape.to_owned()
}

/// Checks that a snippet is no answer, and opens no block, whatever stands around it.
fn assert_no_block(tag: &str, snippet: &str, format: OutputFormat) {
    let spec = match format {
        OutputFormat::Json => OutputSpec::json(tag, json!(true)),
        OutputFormat::Text => OutputSpec::text(tag),
    };
    assert!(spec.unwrap().extract(snippet).is_err(), "a {format:?} answer in {snippet}");
    let (opener, closer) = (format!("<{tag}>"), format!("</{tag}>"));
    assert_eq!(snippet.matches(&opener).count(), 1, "one opening tag in {snippet}");
    assert_eq!(snippet.matches(&closer).count(), 1, "one closing tag in {snippet}");
    let (before, behind) = snippet.split_once(&opener).expect("an opening tag");
    assert_eq!(before.contains(&closer), format == OutputFormat::Text, "the order of the tags in {snippet}");
    let next = behind.trim_start().chars().next().expect("something behind the tag");
    assert!(!"{[\"-tfn`~".contains(next) && !next.is_ascii_digit(), "`{next}` begins a value in {snippet}");
}
