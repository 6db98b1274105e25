//! `sandcastle workflow`: checks, runs and draws workflows.

mod consent;
mod inputs;
mod run;

use std::path::Path;

use sandcastle::Error;
use sandcastle::workflow::{BuiltIn, Findings, Workflow};
use serde_json::{Value, json};

use super::images;
use super::output::read;
use crate::cli::{Picture, WorkflowCommand};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::reporter::{Reporter, findings as words, one_line};

pub(super) async fn workflow(command: WorkflowCommand, reporter: &Reporter) -> Result<Exit, Failure> {
    match command {
        WorkflowCommand::Check { file } => check(&file, reporter),
        WorkflowCommand::Run(args) => run::run(*args, reporter).await,
        WorkflowCommand::Graph { file, picture } => graph(&file, picture, reporter),
        WorkflowCommand::Schema => {
            let schema = Workflow::json_schema();
            reporter.result(&schema, &format!("{schema:#}"))?;
            Ok(Exit::Done)
        }
    }
}

fn check(file: &Path, reporter: &Reporter) -> Result<Exit, Failure> {
    let (name, findings) = match Workflow::from_file(file) {
        Ok(workflow) => (Value::from(workflow.name()), workflow.check_with(&known())),
        Err(error) => match error.workflow_findings() {
            Some(findings) => (Value::Null, findings.clone()),
            None => return Err(Failure::of_document(&error)),
        },
    };
    let valid = !findings.has_errors();
    let human = match (&name, findings.as_slice()) {
        (Value::String(name), []) => one_line(&format!("nothing is wrong with the workflow `{name}`")),
        _ => shown(&findings, file)?,
    };
    reporter.result(&json!({ "workflow": name, "valid": valid, "findings": findings }), &human)?;
    Ok(if valid { Exit::Done } else { Exit::Usage })
}

/// What a document can name; keys are nobody's business before it runs.
fn known() -> BuiltIn {
    BuiltIn::new().keys(|_| Some("none".to_owned()))
}

fn graph(file: &Path, picture: Picture, reporter: &Reporter) -> Result<Exit, Failure> {
    let workflow = opened(file)?;
    let (form, drawn) = match picture {
        Picture::Mermaid => ("mermaid", workflow.to_mermaid()),
        Picture::Svg => ("svg", workflow.to_svg()),
    };
    let described = json!({ "workflow": workflow.name(), "as": form, "picture": drawn });
    reporter.result(&described, drawn.trim_end())?;
    Ok(Exit::Done)
}

/// Reads a workflow that can be run.
fn opened(file: &Path) -> Result<Workflow, Failure> {
    Workflow::from_file(file).map_err(|error| refused(&error, file, "read"))
}

/// A failure of something that was not begun, with all that was found and not only the first of it.
fn refused(error: &Error, file: &Path, what: &str) -> Failure {
    let failure = Failure::of_document(error);
    match error.workflow_findings() {
        Some(findings) => {
            let listed = shown(findings, file).unwrap_or_default();
            let text = format!("failed to {what} the workflow `{}`\n{listed}", file.display());
            Failure { text, ..failure.with_findings(findings) }
        }
        None => failure,
    }
}

/// Words findings beside the lines of their document.
fn shown(findings: &Findings, file: &Path) -> Result<String, Failure> {
    let document = read(file)?;
    Ok(words::findings(findings, &file.to_string_lossy(), &String::from_utf8_lossy(&document)))
}
