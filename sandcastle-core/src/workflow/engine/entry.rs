//! The checks that a run has to pass before anything begins. All that is wrong is said at once.
//!
//! What is wrong with the workflow itself, with the variables, with what the steps work with and with decisions that nobody will
//! ask for is one list of findings. Only what a list makes no sense of is an error by itself: a run that was cancelled, a folder
//! that is not there, and a record that cannot be resumed.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::super::definition::{FallbackAction, Step, StepKind, StepName, Workflow};
use super::super::expression::Scope;
use super::super::finding::{Finding, Findings, Severity};
use super::super::options::{Decision, WorkflowOptions};
use super::super::record::{Given, Past, Record, describe, step_of};
use super::audience::Audience;
use super::made::{Instrument, Made};
use super::stage::{Props, Stage};
use super::vars;
use crate::config::ConfigDir;
use crate::error::{Error, ErrorKind, Result};
use crate::git::Repository;
use crate::id::RunId;
use crate::sandbox::{NoSandbox, SandboxProvider as _};
use crate::secret::Secrets;

/// How many steps run at the same time unless it is said.
const MAX_PARALLEL: usize = 4;

/// Checks a run, and sets the stage for it; with what is doubtful.
pub(super) async fn check(workflow: &Workflow, options: WorkflowOptions) -> Result<(Stage<'_>, Vec<String>)> {
    let name = &workflow.name;
    if options.cancel.is_cancelled() {
        let message = format!("run the workflow `{name}`: it was cancelled before it began");
        return Err(Error::new(ErrorKind::Cancelled, message));
    }
    let folder = options.folder.canonicalize().map_err(|error| {
        let folder = options.folder.display();
        Error::new(ErrorKind::InvalidOptions, format!("run the workflow `{name}` in `{folder}`"))
            .with_source(error)
    })?;
    let repository = Repository::discover(&folder).await;
    let config = match &repository {
        Ok(repository) => ConfigDir::of(repository),
        Err(_) => ConfigDir::in_folder(&folder),
    };
    // What is wrong with the workflow itself, and what is doubtful about it.
    let mut own = workflow.check().0;
    let (made, missing) = Made::of(workflow, options.providers.as_deref());
    own.extend(missing.iter().map(|(step, error)| cannot_be_had(step, error)));
    let mut others = decisions_for_nobody(workflow, &options.decisions);
    if options.max_parallel == Some(0) {
        others.push(Finding::error("max_parallel", None, "`max_parallel` is at least 1"));
    }
    if let Err(error) = &repository {
        others.extend(agents_without_a_repository(workflow, error));
    }
    let resumed = match &options.resume {
        Some(run) => Some((run.clone(), Record::resume(&config, run).await?)),
        None => None,
    };
    let (given, wrong) = match &resumed {
        None => begun_with(workflow, &options),
        Some((run, (_, past))) => gone_on_with(workflow, &options, run, past),
    };
    others.extend(wrong);
    let mut warnings = refuse(workflow, own, others)?;
    warnings.extend(uncorrected(&made, workflow));
    let secrets = Secrets::of(&options.secrets, NoSandbox::new().inherited_env())?;
    let (run, record, past, left) = recorded(workflow, (&config, &folder), &given, resumed).await?;
    if left > 0 {
        warnings.push(format!(
            "the process that had the run was killed: {left} processes that it left were ended"
        ));
    }
    let stage = Stage::new(Props {
        workflow,
        run,
        folder,
        declared_secrets: options.secrets,
        audience: Audience::new(options.callback, secrets),
        record,
        past,
        approver: options.approver,
        decisions: options.decisions.into_iter().map(|(step, it)| (step.as_str().to_owned(), it)).collect(),
        max_parallel: options.max_parallel.or(workflow.max_parallel).unwrap_or(MAX_PARALLEL),
        cancel: options.cancel,
        scope: scope(given),
        made,
    });
    Ok((stage, warnings))
}

/// Words what a step cannot be done without.
fn cannot_be_had(step: &Step, error: &Error) -> Finding {
    let message = format!("the step `{}` cannot be done: failed to {error}", step.name);
    let finding = Finding::error(step.path.as_str(), step.place, message);
    match error.hints().first() {
        Some(hint) => finding.with_hint(hint.as_str()),
        None => finding,
    }
}

fn decisions_for_nobody(workflow: &Workflow, decisions: &[(StepName, Decision)]) -> Vec<Finding> {
    let guardrails = workflow.guardrails;
    let escalates = guardrails.confidence_threshold.is_some()
        && guardrails.fallback_action == FallbackAction::EscalateToHuman;
    let asks = |step: &&Step| matches!(step.kind, StepKind::Approval(_)) || step.confidence_gate && escalates;
    let asking: Vec<_> = workflow.all_steps().filter(asks).map(|step| &step.name).collect();
    let for_nobody = decisions.iter().map(|(step, _)| step).filter(|step| !asking.contains(step));
    let finding = |step| {
        let message = format!("the decision about `{step}` is never asked for");
        let names: Vec<_> = asking.iter().map(|name| format!("`{name}`")).collect();
        let hint = match &*names {
            [] => "no step of the workflow asks".to_owned(),
            names => format!("the steps that ask are {}", names.join(", ")),
        };
        Finding::error("", None, message).with_hint(hint)
    };
    for_nobody.map(finding).collect()
}

fn agents_without_a_repository(workflow: &Workflow, error: &Error) -> Vec<Finding> {
    let agents = workflow.all_steps().filter(|step| matches!(step.kind, StepKind::Agent(_)));
    agents.map(|step| cannot_be_had(step, error)).collect()
}

/// What a new run is given, and what is wrong with that.
fn begun_with(workflow: &Workflow, options: &WorkflowOptions) -> (Given, Vec<Finding>) {
    let (vars, findings) = vars::resolve(workflow, &options.vars);
    (Given { input: options.input.clone(), trigger: options.trigger.clone(), vars }, findings)
}

/// What an earlier run was given, and what keeps this one from going on with it.
fn gone_on_with(
    workflow: &Workflow,
    options: &WorkflowOptions,
    run: &RunId,
    past: &Past,
) -> (Given, Vec<Finding>) {
    if past.name != workflow.name {
        let message = format!("the run {run} is of the workflow `{}`, not of `{}`", past.name, workflow.name);
        return (past.given.clone(), vec![Finding::error("", None, message)]);
    }
    let mut findings = given_twice(options, past);
    let now = describe(workflow);
    findings.extend(changed_since(workflow, past, &now));
    if now != past.document {
        let message = format!("the workflow has changed since the run {run} went on last");
        findings.push(Finding::warning("", None, message));
    }
    // What was declared then and is no more, no expression can read.
    let known: Map<_, _> =
        past.given.vars.clone().into_iter().filter(|(name, _)| declares(workflow, name)).collect();
    let (vars, wrong) = vars::resolve(workflow, &known);
    findings.extend(wrong);
    (Given { vars, ..past.given.clone() }, findings)
}

fn declares(workflow: &Workflow, name: &str) -> bool {
    workflow.vars.iter().any(|variable| variable.name == name)
}

/// A run that is resumed has its input, its trigger and its variables.
fn given_twice(options: &WorkflowOptions, past: &Past) -> Vec<Finding> {
    let is_set = |value: &Value, before: &Value| {
        !matches!(value, Value::Null) && *value != json!("") && value != before
    };
    let set = [
        ("input", is_set(&options.input, &past.given.input)),
        ("trigger", is_set(&options.trigger, &past.given.trigger)),
        ("vars", !options.vars.is_empty()),
    ];
    let finding = |name| {
        let message = format!("`{name}` is set for a run that is resumed, which has its own");
        Finding::error(name, None, message).with_hint("leave it out, or begin a new run")
    };
    set.into_iter().filter(|(_, is_set)| *is_set).map(|(name, _)| finding(name)).collect()
}

/// A step that is done and has changed since would make an output count that it would not give any more.
fn changed_since(workflow: &Workflow, past: &Past, now: &Value) -> Vec<Finding> {
    let changed = past.settled().filter(|(name, was)| step_of(now, name) != Some(*was));
    let names: BTreeSet<_> = changed.map(|(name, _)| name).collect();
    let finding = |name: &String| {
        let step = workflow.all_steps().find(|step| step.name.as_str() == name);
        let what = if step.is_some() { "has changed" } else { "is gone" };
        let message = format!("the step `{name}` is done in the run that is resumed, and {what} since");
        let (path, place) = step.map(|step| (step.path.as_str(), step.place)).unwrap_or_default();
        Finding::error(path, place, message).with_hint("put it back as it was, or begin a new run")
    };
    names.into_iter().map(finding).collect()
}

/// Refuses a run with all that is wrong, and returns what is only doubtful.
fn refuse(workflow: &Workflow, own: Vec<Finding>, others: Vec<Finding>) -> Result<Vec<String>> {
    let own_are_wrong = own.iter().any(|finding| finding.severity == Severity::Error);
    let findings = Findings(own.into_iter().chain(others).collect()).sorted();
    let errors: Vec<_> = findings.errors().collect();
    let Some(first) = errors.first() else {
        return Ok(findings.as_slice().iter().map(ToString::to_string).collect());
    };
    let kind = if own_are_wrong { ErrorKind::InvalidWorkflow } else { ErrorKind::InvalidOptions };
    let more = match errors.len() {
        1 => String::new(),
        2 => " (and 1 more problem)".to_owned(),
        count => format!(" (and {} more problems)", count - 1),
    };
    let message = format!("run the workflow `{}`: {first}{more}", workflow.name);
    let error = first.hint.iter().fold(Error::new(kind, message), Error::with_hint);
    Err(error.with_source(findings))
}

/// Begins a record, or goes on with one; tells how many processes a killed run had left.
async fn recorded(
    workflow: &Workflow,
    (config, folder): (&ConfigDir, &Path),
    given: &Given,
    resumed: Option<(RunId, (Record, Past))>,
) -> Result<(RunId, Record, Option<Past>, usize)> {
    match resumed {
        None => {
            let run = RunId::generate();
            let record = Record::begin(config, &run, (&workflow.name, folder), given, describe(workflow))?;
            Ok((run, record, None, 0))
        }
        Some((run, (record, past))) => {
            // What was at work when the earlier process was killed must not be at work beside what is done now.
            let left = past.end_leftovers(config).await;
            record.resumed(describe(workflow))?;
            Ok((run, record, Some(past), left))
        }
    }
}

/// What expressions can read before the first step.
fn scope(given: Given) -> Scope {
    let Given { input, trigger, vars } = given;
    let values = [("input", input), ("vars", vars.into()), ("trigger", trigger), ("steps", json!({}))];
    Scope { values: values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect() }
}

/// Agents that cannot go on with a conversation cannot correct an answer.
fn uncorrected(made: &Made, workflow: &Workflow) -> Vec<String> {
    let is_uncorrected = |step: &&Step| {
        made.of_step(step).is_ok_and(|it| match &it.tool {
            Instrument::Agent(agent, _) => it.spec.is_some() && !agent.capabilities().resume,
            Instrument::Model(_) | Instrument::None => false,
        })
    };
    let steps = workflow.all_steps().filter(is_uncorrected);
    let warning = |step: &Step| {
        format!("the step `{}` has its answer judged once: its agent cannot resume a session", step.name)
    };
    steps.map(warning).collect()
}
