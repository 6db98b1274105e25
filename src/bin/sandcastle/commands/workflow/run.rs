//! `sandcastle workflow run`: runs a workflow, or goes on with one.

use std::path::Path;
use std::time::Instant;

use sandcastle::workflow::{
    BuiltIn, Decision, Workflow, WorkflowEvent, WorkflowOptions, WorkflowResult, WorkflowStatus,
};
use sandcastle::{CancellationToken, Error, RunId};
use serde_json::{Value, json};

use super::super::options::variable;
use super::super::signals::{Keyboard, cancelled_by_signals};
use super::consent::Somebody;
use super::inputs::{ALL, with_decisions, with_inputs};
use super::{images, opened, refused};
use crate::cli::WorkflowRunArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::reporter::next::{self, quoted};
use crate::reporter::{Reporter, Steps, workflow as words};

pub(super) async fn run(args: WorkflowRunArgs, reporter: &Reporter) -> Result<Exit, Failure> {
    let workflow = opened(&args.file)?;
    let (steps, stop) = (reporter.steps(), cancelled_by_signals(Keyboard::default()));
    let options = options(&args, &workflow, &steps, &stop).await?;
    let begun = Instant::now();
    let ended = workflow.run(options).await;
    steps.close();
    let result = ended.map_err(|error| failed(&error, &args))?;
    let next = go_on(&result, &args);
    let human = words::result(&result, begun.elapsed(), next.as_deref());
    reporter.result(&described(&result, next.as_deref()), &human)?;
    Ok(if result.is_completed() { Exit::Done } else { Exit::Failed })
}

async fn options(
    args: &WorkflowRunArgs,
    workflow: &Workflow,
    steps: &Steps,
    stop: &CancellationToken,
) -> Result<WorkflowOptions, Failure> {
    let (told, somebody) = (steps.clone(), Somebody::here(steps, stop));
    let approves_all = args.approve.iter().any(|step| step == ALL);
    let is_asked = somebody.is_some() && !approves_all;
    let mut options = WorkflowOptions::new(&args.cwd)
        .providers(providers(&args.cwd).await)
        .on_event(move |event| match event {
            // Who is asked reads it with the question.
            WorkflowEvent::ApprovalAsked { .. } if is_asked => {}
            event => told.follow(event),
        })
        .cancel(stop.clone());
    if let Some(run) = &args.resume {
        options = options.resume(RunId::new(run)?);
    }
    if let Some(count) = args.max_parallel {
        options = options.max_parallel(usize::from(count));
    }
    options = with_decisions(with_inputs(options, args, workflow)?, args)?;
    Ok(match somebody {
        _ if approves_all => options.on_approval(|_| async { Decision::Approve { note: String::new() } }),
        Some(somebody) => options.on_approval(move |request| somebody.clone().decides(request)),
        None => options,
    })
}

/// Makes what is built in, with keys from this environment, and with the image of the repository where none is named.
async fn providers(cwd: &Path) -> BuiltIn {
    let providers = BuiltIn::new().keys(|name| variable(name).and_then(|value| value.into_string().ok()));
    match images::of_repository(cwd).await {
        Ok(image) => providers.image(image.as_str()),
        // Not every workflow needs one; the one that does says so.
        Err(_) => providers,
    }
}

/// What a program is told. Values that look secret are masked there as for a person: what is printed is kept in logs.
fn described(result: &WorkflowResult, next: Option<&str>) -> Value {
    let mut object = json!(result);
    result.secrets().mask_value(&mut object);
    if let Some(next) = next {
        object["resume_command"] = json!(next);
    }
    object
}

/// Words the command line to go on with, if the workflow waits for somebody.
fn go_on(result: &WorkflowResult, args: &WorkflowRunArgs) -> Option<String> {
    let WorkflowStatus::AwaitingApproval { approvals } = &result.status else { return None };
    let decisions: String =
        approvals.iter().map(|request| format!(" --approve {}", quoted(&request.step))).collect();
    Some(format!("{}{decisions}", resume(&result.run_id, args)))
}

/// Words the command line that resumes a run.
fn resume(run: &RunId, args: &WorkflowRunArgs) -> String {
    next::workflow(run, &args.file, Some(&*args.cwd).filter(|cwd| *cwd != Path::new(".")))
}

fn failed(error: &Error, args: &WorkflowRunArgs) -> Failure {
    match error.workflow_failure() {
        Some(ended) => Failure::of_workflow(error, ended, &resume(&ended.run_id, args)),
        None => refused(error, &args.file, "run"),
    }
}
