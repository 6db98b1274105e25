//! The checks that a run has to pass before anything begins. All that is wrong is said at once.
//!
//! What is wrong with the workflow itself, with the variables, with what the steps work with and with decisions that nobody will
//! ask for is one list of findings. Only what a list makes no sense of is an error by itself: a run that was cancelled, a folder
//! that is not there, and a record that cannot be resumed.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;

use serde_json::{Map, Value, json};

use super::super::definition::{FallbackAction, Step, StepKind, StepName, Workflow};
use super::super::expression::Scope;
use super::super::finding::{Finding, Findings, Severity};
use super::super::options::{Decision, WorkflowOptions};
use super::super::providers::Providers;
use super::super::record::{Given, Past, Record, Verdict, describe, step_of};
use super::audience::Audience;
use super::discretion::Discretion;
use super::made::{Instrument, Made};
use super::stage::{Props, Stage};
use super::vars;
use crate::config::ConfigDir;
use crate::error::{Error, ErrorKind, Result};
use crate::git::Repository;
use crate::id::RunId;
use crate::journal::WorkflowHead;
use crate::output::one_line;
use crate::sandbox::{NoSandbox, SandboxProvider as _};
use crate::secret::Secrets;

/// A name that says that what it names is a key.
const KEY: &str = "API_KEY";
/// How many steps run at the same time unless it is said.
const MAX_PARALLEL: usize = 4;

/// Where a workflow is run, and where its record is.
struct Place {
    folder: PathBuf,
    config: ConfigDir,
    /// Why there is no repository, if there is none.
    without_repository: Option<Error>,
}

/// What was found before a run begins.
#[derive(Default)]
struct Found {
    /// What is wrong with the workflow itself, or doubtful.
    own: Vec<Finding>,
    /// What is wrong with how it is run.
    others: Vec<Finding>,
}

/// An earlier run, its record, and what is in it.
type Earlier = (RunId, Record, Past);

/// Checks a run, and sets the stage for it; with what is doubtful.
pub(super) async fn check(workflow: &Workflow, options: WorkflowOptions) -> Result<(Stage<'_>, Vec<String>)> {
    let place = Place::of(workflow, &options).await?;
    let discretion = Discretion::of(options.secrets.clone(), variables(workflow))?;
    let (made, missing) = Made::of(workflow, options.providers.as_deref());
    let mut found = Found::in_workflow(workflow, &missing);
    found.in_options(workflow, &options, &place);
    let earlier = match &options.resume {
        Some(run) => {
            let (record, past) = Record::resume(&place.config, run).await?;
            Some((run.clone(), record, past))
        }
        None => None,
    };
    let (given, wrong) = match &earlier {
        None => begun_with(workflow, &options),
        Some((run, _, past)) => gone_on_with(workflow, &options, run, past),
    };
    found.others.extend(wrong);
    discretion.learn_vars(&given.vars)?;
    let mut doubts = found.refuse(workflow, &discretion.secrets())?;
    doubts.extend(uncorrected(&made, workflow));
    let (run, record, past) = recorded(workflow, &place, &given, earlier, &mut doubts).await?;
    let stage = Stage::new(Props {
        workflow,
        run,
        folder: place.folder,
        declared_secrets: options.secrets.into_iter().chain(keys(workflow)).collect(),
        audience: Audience::new(options.callback, discretion),
        record,
        past,
        approver: options.approver,
        decisions: options.decisions.into_iter().map(|(step, it)| (step.as_str().to_owned(), it)).collect(),
        max_parallel: options.max_parallel.or(workflow.max_parallel).unwrap_or(MAX_PARALLEL),
        cancel: options.cancel,
        scope: scope(given),
        made,
    });
    Ok((stage, doubts))
}

impl Workflow {
    /// As [`check`](Self::check), and says too which agents, models and sandboxes it names that `providers` do not know, and
    /// which schemas a strategy that is named cannot carry. What is only missing on this machine, such as a key, is left to the
    /// run.
    #[must_use]
    pub fn check_with(&self, providers: &dyn Providers) -> Findings {
        let (_, missing) = Made::of(self, Some(providers));
        Findings(Found::in_workflow(self, &missing).own).sorted()
    }
}

impl Place {
    async fn of(workflow: &Workflow, options: &WorkflowOptions) -> Result<Self> {
        let name = &workflow.name;
        if options.cancel.is_cancelled() {
            let message = format!("run the workflow `{name}`: it was cancelled before it began");
            return Err(options.cancel.explain(Error::new(ErrorKind::Cancelled, message)));
        }
        let folder = options.folder.canonicalize().map_err(|error| {
            let folder = options.folder.display();
            Error::new(ErrorKind::InvalidOptions, format!("run the workflow `{name}` in `{folder}`"))
                .with_source(error)
        })?;
        let (config, without_repository) = match Repository::discover(&folder).await {
            Ok(repository) => (ConfigDir::of(&repository), None),
            Err(error) => (ConfigDir::in_folder(&folder), Some(error)),
        };
        Ok(Self { folder, config, without_repository })
    }
}

impl Found {
    /// Finds what is wrong with the workflow, and what its steps cannot be done without.
    fn in_workflow(workflow: &Workflow, missing: &[(&Step, Error)]) -> Self {
        let mut found = Self { own: workflow.check().0, others: Vec::new() };
        for (step, error) in missing {
            // A key that is not set is no mistake of a document.
            let list =
                if error.kind() == ErrorKind::InvalidOptions { &mut found.others } else { &mut found.own };
            list.push(cannot_be_had(step, error));
        }
        found
    }

    /// Finds what is wrong with how it is run, apart from what it is given.
    fn in_options(&mut self, workflow: &Workflow, options: &WorkflowOptions, place: &Place) {
        self.others.extend(decisions_for_nobody(workflow, &options.decisions));
        if options.max_parallel == Some(0) {
            self.others.push(Finding::error("max_parallel", None, "`max_parallel` is at least 1"));
        }
        if let Some(error) = &place.without_repository {
            let agents = workflow.all_steps().filter(|step| matches!(step.kind, StepKind::Agent(_)));
            self.others.extend(agents.map(|step| cannot_be_had(step, error)));
        }
    }

    /// Refuses a run with all that is wrong, and returns what is only doubtful.
    fn refuse(self, workflow: &Workflow, secrets: &Secrets) -> Result<Vec<String>> {
        let own_are_wrong = self.own.iter().any(|finding| finding.severity == Severity::Error);
        let mut findings = Findings(self.own.into_iter().chain(self.others).collect()).sorted();
        for finding in &mut findings.0 {
            finding.message = secrets.mask(&finding.message).into_owned();
        }
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
}

/// The variables of this process. Those that the workflow names for keys have a name that says so, whatever theirs is.
fn variables(workflow: &Workflow) -> Vec<(OsString, OsString)> {
    let keys: Vec<_> = workflow.key_variables().collect();
    let inherited = NoSandbox::new().inherited_env().into_iter().map(|(name, value)| {
        let is_key = name.to_str().is_some_and(|name| keys.contains(&name));
        (if is_key { KEY.into() } else { name }, value)
    });
    inherited.collect()
}

/// The keys that the workflow names, for agents: they cannot tell by the names of the variables.
fn keys(workflow: &Workflow) -> Vec<String> {
    let is_masked = |value: &String| Secrets::of([""; 0], [(KEY, value)]).is_ok_and(|it| !it.is_empty());
    let keys = variables(workflow).into_iter().filter(|(name, _)| name == KEY);
    keys.filter_map(|(_, value)| value.into_string().ok()).filter(is_masked).collect()
}

/// Words what a step cannot be done without.
fn cannot_be_had(step: &Step, error: &Error) -> Finding {
    let message = format!("the step `{}` cannot be done: failed to {}", step.name, with_causes(error));
    let finding = Finding::error(step.path.as_str(), step.place, message);
    match error.hints().first() {
        Some(hint) => finding.with_hint(hint.as_str()),
        None => finding,
    }
}

/// Words an error with its causes, in one line.
fn with_causes(error: &Error) -> String {
    let mut said = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        let more = one_line(&error.to_string()).into_owned();
        if !said.contains(more.as_str()) {
            said = format!("{said}: {more}");
        }
        cause = error.source();
    }
    said
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
    findings.extend(decided_twice(&options.decisions, past));
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

/// What somebody has decided stands: something may have followed from it.
fn decided_twice(decisions: &[(StepName, Decision)], past: &Past) -> Vec<Finding> {
    let finding = |(step, now): &(StepName, Decision)| {
        let stands = past.decided.get(step.as_str())?;
        let (verdict, note) = (stands.verdict.as_str(), &stands.remark);
        let is_the_same = match (now, stands.verdict) {
            (Decision::Approve { note: now }, Verdict::Approved)
            | (Decision::Reject { note: now }, Verdict::Rejected) => now.is_empty() || now == note,
            (Decision::Later, _) => true,
            _ => false,
        };
        (!is_the_same).then(|| {
            let note =
                if note.is_empty() { String::new() } else { format!(" with the note `{}`", one_line(note)) };
            let message =
                format!("the step `{step}` was {verdict} in the run that is resumed{note}, and that stands");
            Finding::error("", None, message).with_hint("leave the decision out, or begin a new run")
        })
    };
    decisions.iter().filter_map(finding).collect()
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

/// Begins a record, or goes on with one.
async fn recorded(
    workflow: &Workflow,
    place: &Place,
    given: &Given,
    earlier: Option<Earlier>,
    doubts: &mut Vec<String>,
) -> Result<(RunId, Record, Option<Past>)> {
    let Some((run, record, past)) = earlier else {
        let (run, document) = (RunId::generate(), describe(workflow));
        let head = WorkflowHead::of(&run, &workflow.name, &place.folder, workflow.file.as_deref());
        let record = Record::begin(&place.config, head, given, document)?;
        return Ok((run, record, None));
    };
    // What was at work when the earlier process was killed must not be at work beside what is done now.
    let left = past.end_leftovers(&place.config).await;
    if left > 0 {
        doubts.push(format!(
            "the process that had the run was killed: {left} processes that it left were ended"
        ));
    }
    record.resumed(describe(workflow), workflow.file.as_deref())?;
    Ok((run, record, Some(past)))
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
