//! The text that tells a model how to answer: one instruction, and the shape of the value.
//!
//! [`Snippet`] is built from a type or a spec and rendered in one of three styles. A schema is first read into a small
//! model of the shape (`reader`), which drops nothing: what has no notation of its own is shown as JSON. The shape is then
//! laid out (`layout`) in the notation of the style. The JSON Schema style skips both and prints the schema itself.
//!
//! A snippet is often repeated by the agent, so it must never read as an answer. That rests on three rules: the closing
//! tag is named before the opening one, what follows the opening tag cannot begin a value, and the shape contains
//! neither tag, whatever the descriptions and values in a schema say (`quote`).
//!
//! Nothing here judges an answer or knows how a schema is passed to an agent that enforces it.

mod bare;
pub(super) mod instruction;
mod keywords;
mod layout;
mod limits;
mod model;
mod overlap;
mod quote;
mod reader;
mod reference;

#[cfg(test)]
mod tests;

use serde::de::IgnoredAny;
use serde_json::Value;

pub(super) use self::keywords::is_rust_format;
use self::layout::Notation;
use self::quote::Quote;
use super::{AgentOutput, OutputFormat, OutputSpec};

/// Says how a snippet shows the shape of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SnippetStyle {
    /// A type in the manner of TypeScript, with every constraint in parentheses behind what it is about. Costs the fewest
    /// tokens, which is why it is the default.
    #[default]
    TypeScript,
    /// The JSON Schema in one line, without what says nothing about the value: `$schema` and the number formats of Rust.
    JsonSchema,
    /// The value itself, with a placeholder for each part that the agent fills in.
    Example,
}

/// The text that tells a model how to answer.
///
/// It contains the opening and the closing tag, and reads as no answer itself.
///
/// ```
/// use sandcastle_core::OutputSpec;
/// use sandcastle_core::output::{Snippet, SnippetStyle};
/// use serde_json::json;
///
/// let schema = json!({
///     "type": "object",
///     "properties": { "score": { "type": "integer", "minimum": 0, "description": "Higher is better." } },
///     "required": ["score"],
/// });
/// let spec = OutputSpec::json("verdict", schema)?;
/// let snippet = Snippet::of_spec(&spec).style(SnippetStyle::TypeScript).render();
/// assert!(snippet.contains("<verdict>") && snippet.contains("</verdict>"));
/// assert!(snippet.contains("{\n score: integer(>=0) // Higher is better.\n}"));
/// # Ok::<(), sandcastle_core::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a snippet is text only after `render`"]
pub struct Snippet {
    tag: String,
    format: OutputFormat,
    schema: Value,
    style: SnippetStyle,
}

impl Snippet {
    /// Describes the type `T`, in the default style.
    pub fn of<T: AgentOutput>() -> Self {
        Self::new(T::TAG, T::FORMAT, T::schema().to_value())
    }

    /// Describes what `spec` asks for, in the default style.
    pub fn of_spec(spec: &OutputSpec) -> Self {
        Self::new(spec.tag(), spec.format(), spec.shown_schema().into_owned())
    }

    fn new(tag: &str, format: OutputFormat, schema: Value) -> Self {
        Self { tag: tag.to_owned(), format, schema, style: SnippetStyle::default() }
    }

    /// Chooses how the shape is shown; text outputs have none and read the same in every style.
    pub fn style(mut self, style: SnippetStyle) -> Self {
        self.style = style;
        self
    }

    /// Writes the text: what the answer is, its shape, and what to do with it, without a line break at the end.
    ///
    /// The same schema gives the same bytes. Time and length are linear in the size of the schema.
    #[must_use]
    pub fn render(&self) -> String {
        let quote = Quote::new(&self.tag);
        if self.format == OutputFormat::Text {
            return instruction::text(&self.tag, &quote.prose(&quote.comment(self.description())));
        }
        let (before, behind) = instruction::json(&self.tag, self.style);
        format!("{before}\n{}\n\n{behind}", self.shape(quote))
    }

    /// Writes the text for an answer that is the value and nothing else, without a tag.
    pub(crate) fn render_document(&self) -> String {
        format!("{}\n{}", instruction::document(self.style), self.shape(Quote::new(&self.tag)))
    }

    /// Writes the text for an answer that is the arguments of a tool.
    #[cfg(feature = "workflow")]
    pub(crate) fn render_arguments(&self) -> String {
        format!("{}\n{}", instruction::arguments(self.style), self.shape(Quote::new(&self.tag)))
    }

    /// Writes the block itself, with a placeholder for each part that is to be filled in; `None` for a text, and for a shape
    /// without a placeholder, which would be an answer.
    pub(crate) fn render_block(&self) -> Option<String> {
        if self.format == OutputFormat::Text {
            return None;
        }
        let quote = Quote::new(&self.tag);
        let mut definitions = reader::read(&self.schema, quote);
        bare::strip(&mut definitions);
        let shape = layout::print(&definitions, Notation::Example, quote);
        let is_answer = serde_json::from_str::<IgnoredAny>(&shape).is_ok();
        (!is_answer).then(|| format!("<{0}>\n{shape}\n</{0}>", self.tag))
    }

    fn shape(&self, quote: Quote<'_>) -> String {
        let print = |notation| layout::print(&reader::read(&self.schema, quote), notation, quote);
        match self.style {
            SnippetStyle::TypeScript => print(Notation::Type),
            SnippetStyle::Example => print(Notation::Example),
            SnippetStyle::JsonSchema => quote.schema(&self.schema),
        }
    }

    fn description(&self) -> &str {
        self.schema.get("description").and_then(Value::as_str).unwrap_or_default()
    }
}
