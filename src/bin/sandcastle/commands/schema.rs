//! `sandcastle schema`: checks a schema, or turns it into text for a prompt or into the copy for a wire.

use std::path::Path;

use sandcastle::OutputSpec;
use sandcastle::output::lower::{Dialect, Lowering, lower};
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
        SchemaCommand::Lower { dialect, file } => lower_for(*dialect, file, reporter)?,
    }
    Ok(Exit::Done)
}

/// Prints the copy of a schema; beside it what is not in it, and how much there is of what is limited.
fn lower_for(dialect: Dialect, file: &Path, reporter: &Reporter) -> Result<(), Failure> {
    let schema = read_schema(file)?;
    OutputSpec::json("result", schema.clone())?;
    let lowering = lower(&schema, dialect);
    if !lowering.is_sendable() {
        return Err(cannot_carry(&lowering));
    }
    for moved in &lowering.moved {
        let place = if moved.pointer.is_empty() { "the root" } else { &moved.pointer };
        reporter
            .progress(&format!("moved `{}` at {place} into the description: {}", moved.keyword, moved.text));
    }
    for count in &lowering.counts {
        reporter.progress(&format!("{}: {} of {}", count.what, count.count, count.limit));
    }
    reporter.result(&json!(lowering), &format!("{:#}", lowering.wire))
}

/// Every reason why a schema cannot be sent.
fn cannot_carry(lowering: &Lowering) -> Failure {
    let reasons: String = lowering.refused.iter().map(|refusal| format!("\n  {refusal}")).collect();
    let what = format!("carry the schema in the dialect `{}`:{reasons}", lowering.dialect);
    let mut failure = Failure::of_kind(Exit::Usage, "invalid-output", what)
        .with_hint("change the schema there; asked for by the tag, its answer can have any shape");
    failure.json["dialect"] = json!(lowering.dialect);
    failure.json["refused"] = json!(lowering.refused);
    failure
}
