//! What a workflow is given: its input, its variables, what triggered it, and decisions made in advance.

use std::path::Path;

use sandcastle::workflow::{Decision, Workflow, WorkflowOptions};
use serde_json::Value;

use super::super::output::read;
use crate::cli::WorkflowRunArgs;
use crate::failure::Failure;

/// The word for whatever is asked.
pub(super) const ALL: &str = "all";

/// Gives the options what flags and files say.
pub(super) fn with_inputs(
    mut options: WorkflowOptions,
    args: &WorkflowRunArgs,
    workflow: &Workflow,
) -> Result<WorkflowOptions, Failure> {
    if args.input.as_deref() == Some("-") && args.trigger.as_deref() == Some(Path::new("-")) {
        return Err(Failure::usage(
            "failed to read the standard input twice, as the input and as the trigger",
        ));
    }
    if let Some(input) = &args.input {
        options = options.input(text(input)?);
    }
    if let Some(file) = &args.trigger {
        options = options.trigger(json(file)?);
    }
    for (name, typed) in &args.var {
        // A variable that is not declared is refused by its name when the workflow is run.
        let declared = workflow.vars().iter().find(|variable| variable.name() == name);
        let value = declared.map_or_else(|| Ok(Value::from(typed.as_str())), |it| it.parse(typed))?;
        options = options.var(name, value);
    }
    Ok(options)
}

fn text(input: &str) -> Result<String, Failure> {
    let file = match input.strip_prefix('@') {
        _ if input == "-" => Path::new("-"),
        Some(file) => Path::new(file),
        None => return Ok(input.to_owned()),
    };
    String::from_utf8(read(file)?)
        .map_err(|error| Failure::input(format_args!("read the input `{}`", file.display()), error))
}

fn json(file: &Path) -> Result<Value, Failure> {
    serde_json::from_slice(&read(file)?)
        .map_err(|error| Failure::input(format_args!("read the trigger `{}`", file.display()), error))
}

/// Gives the options the decisions that flags make for single steps.
pub(super) fn with_decisions(
    mut options: WorkflowOptions,
    args: &WorkflowRunArgs,
) -> Result<WorkflowOptions, Failure> {
    let mut decided: Vec<&str> = Vec::new();
    let approved = args.approve.iter().filter(|step| *step != ALL).map(|step| (step, true));
    for (said, is_approved) in approved.chain(args.reject.iter().map(|step| (step, false))) {
        let (step, note) = said.split_once('=').unwrap_or((said, ""));
        if decided.contains(&step) {
            return Err(Failure::usage(format!("failed to decide twice what the step `{step}` asks")));
        }
        decided.push(step);
        let note = note.to_owned();
        let decision = if is_approved { Decision::Approve { note } } else { Decision::Reject { note } };
        options = options.decide(step, decision);
    }
    Ok(options)
}
