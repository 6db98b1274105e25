//! `sandcastle schema`: checks a schema, or turns it into text for a prompt.

use sandcastle::OutputSpec;
use sandcastle::output::{Snippet, SnippetStyle};
use serde_json::json;

use super::output::read_schema;
use crate::cli::{SchemaCommand, Style};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::reporter::Reporter;

pub(super) fn schema(command: &SchemaCommand, reporter: &Reporter) -> Result<Exit, Failure> {
    match command {
        SchemaCommand::Check { file } => {
            OutputSpec::json("result", read_schema(file)?)?;
            reporter.result(&json!({ "valid": true }), "the schema can be used")?;
        }
        SchemaCommand::Snippet { tag, style, file } => {
            let spec = OutputSpec::json(tag, read_schema(file)?)?;
            let style = match style {
                Style::Typescript => SnippetStyle::TypeScript,
                Style::JsonSchema => SnippetStyle::JsonSchema,
                Style::Example => SnippetStyle::Example,
            };
            let snippet = Snippet::of_spec(&spec).style(style).render();
            reporter.result(&json!({ "snippet": snippet }), snippet.trim_end())?;
        }
    }
    Ok(Exit::Done)
}
