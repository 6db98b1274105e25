//! A step that runs a coding agent: its options become a run, and what that gives becomes an output.

use std::collections::HashMap;
use std::ffi::OsString;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

use super::super::definition::{AgentStep, Branching, Step, Text};
use super::super::event::WorkflowEvent;
use super::super::record::Deed;
use super::fault::Fault;
use super::made::Instrument;
use super::stage::Stage;
use super::wording;
use crate::agent::Agent;
use crate::error::{Error, Result};
use crate::journal::NotedCommit;
use crate::output::{OutputSpec, Snippet};
use crate::run::{self, RunEvent, RunOptions, RunResult};
use crate::sandbox::SandboxProvider;
use crate::strategy::OutputStrategy;
use crate::work::{Attempt, AttemptOutcome, Work};
use crate::worktree::BranchStrategy;

/// Checks what an agent can be asked, as far as that is known before anything is rendered.
pub(super) fn check(
    step: &Step,
    kind: &AgentStep,
    with: (&Arc<dyn Agent>, &Arc<dyn SandboxProvider>),
    spec: Option<&OutputSpec>,
) -> Result<()> {
    run::check_ahead(&options_of(step, kind, with), spec).map(drop)
}

/// Words the shape of the answer; with a schema that only its program holds it to there is no tag.
pub(super) fn words(kind: &AgentStep, spec: &OutputSpec) -> String {
    match kind.strategy {
        Some(OutputStrategy::Native) => Snippet::of_spec(spec).render_document(),
        _ => spec.prompt_snippet(),
    }
}

/// Runs an agent, and returns its answer.
pub(super) async fn run(
    stage: &Stage<'_>,
    step: &Step,
    kind: &AgentStep,
    deed: &mut Deed,
) -> Result<Value, Fault> {
    let equipment = stage.made.of_step(step)?;
    let Instrument::Agent(agent, sandbox) = &equipment.tool else {
        return Err(Fault::ruled("has no agent"));
    };
    let mut prompt = stage.render_text(&kind.prompt, "prompt")?;
    if let Some(words) = &equipment.words {
        prompt = format!("{prompt}\n\n{words}");
    }
    let options = options_of(step, kind, (agent, sandbox)).prompt(prompt).cwd(&stage.folder);
    let options = rendered(stage, kind, options)?;
    let refusals = Refusals::default();
    let options = heard(stage, step, options, &refusals).cancel(stage.stop.clone());
    let options = stage.declared_secrets.iter().fold(options, RunOptions::secret);
    match &equipment.spec {
        None => {
            let result = run::run(options).await.map_err(|error| broken(error, &refusals, deed))?;
            note(stage, step, &result, deed);
            deed.rejected = refusals.of(&result.attempts);
            Ok(json!({ "text": result.text, "branch": result.branch.as_str(), "commits": deed.shas() }))
        }
        Some(spec) => {
            let result =
                run::run_spec(options, spec.clone()).await.map_err(|error| broken(error, &refusals, deed))?;
            note(stage, step, &result, deed);
            deed.rejected = refusals.of(&result.attempts);
            Ok(result.output)
        }
    }
}

/// Makes the options of a step, as far as nothing in them is a template.
fn options_of(
    step: &Step,
    kind: &AgentStep,
    (agent, sandbox): (&Arc<dyn Agent>, &Arc<dyn SandboxProvider>),
) -> RunOptions {
    let options = RunOptions::shared(Arc::clone(agent), Arc::clone(sandbox)).name(step.name.as_str());
    let options = kind.strategy.into_iter().fold(options, RunOptions::output_strategy);
    let options = kind.max_iterations.into_iter().fold(options, RunOptions::max_iterations);
    let options = kind.completion_signal.iter().fold(options, RunOptions::completion_signal);
    let options = kind.idle_timeout.into_iter().fold(options, RunOptions::idle_timeout);
    let options = kind.liveness.into_iter().fold(options, RunOptions::liveness);
    let options = kind.timeout.into_iter().fold(options, RunOptions::total_timeout);
    let options = kind.max_cost.into_iter().fold(options, RunOptions::max_cost);
    kind.max_tokens.into_iter().fold(options, RunOptions::max_tokens)
}

/// Fills in what templates say: the branch, what is copied, and the variables.
fn rendered(stage: &Stage<'_>, kind: &AgentStep, options: RunOptions) -> Result<RunOptions, Fault> {
    let mut strategy = match &kind.branching {
        Branching::Head => BranchStrategy::head(),
        Branching::MergeToHead => BranchStrategy::merge_to_head(),
        Branching::Branch(name) => {
            BranchStrategy::branch(stage.render_text(&Text::of(name.as_str()), "branch")?)
        }
    };
    if let Some(base) = &kind.base {
        strategy = strategy.base(stage.render_text(base, "base")?);
    }
    let mut options = options.branch_strategy(strategy);
    for path in &kind.copy_to_worktree {
        options = options.copy_to_worktree([stage.render_text(path, "copy_to_worktree")?]);
    }
    for (name, value) in &kind.env {
        let value = stage.render_text(value, "env")?;
        stage.audience.learn([(name.as_str(), value.as_str())])?;
        options = options.env(name, OsString::from(value));
    }
    Ok(options)
}

/// Has what the agent does told.
fn heard(stage: &Stage<'_>, step: &Step, options: RunOptions, refusals: &Refusals) -> RunOptions {
    let (audience, step) = (Arc::clone(&stage.audience), step.name.to_string());
    let refusals = refusals.clone();
    options.on_event(move |event| {
        audience.tell(WorkflowEvent::Agent { step: step.clone(), event: Box::new(event.clone()) });
        let RunEvent::AttemptFailed { number, message, problems, remaining, outcome } = event else { return };
        if !is_of_the_answer(*outcome) {
            return;
        }
        let is_about_a_value = matches!(outcome, AttemptOutcome::SchemaValidate | AttemptOutcome::Rejected);
        let mut located = wording::located(problems, is_about_a_value);
        if located.is_empty() {
            located.push(message.clone());
        }
        refusals.note(*number, located.join("; "));
        if *remaining > 0 {
            audience.tell(WorkflowEvent::StepRetried { step: step.clone(), problems: located });
        }
    })
}

/// What was wrong with the answers that were not accepted, by the numbers of the attempts, in the words of workflows.
#[derive(Clone, Default)]
struct Refusals(Arc<Mutex<HashMap<u32, String>>>);

impl Refusals {
    fn note(&self, attempt: u32, said: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(attempt, said);
    }

    /// Words the attempts that failed, a line each.
    fn of(&self, attempts: &[Attempt]) -> Vec<String> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let line = |attempt: &Attempt| known.get(&attempt.number).or(attempt.message.as_ref()).cloned();
        attempts.iter().filter_map(line).collect()
    }
}

/// Tells whether an attempt failed by its answer, and not on the way to it.
fn is_of_the_answer(outcome: AttemptOutcome) -> bool {
    use AttemptOutcome::{AgentFailed, SchemaRefused, Transport};
    !matches!(outcome, AgentFailed | SchemaRefused | Transport)
}

/// Notes what a run did.
fn note<O>(stage: &Stage<'_>, step: &Step, result: &RunResult<O>, deed: &mut Deed) {
    deed.attempts = u32::try_from(result.attempts.len()).unwrap_or(u32::MAX);
    deed.answer_guarantee = result.answer_guarantee;
    deed.branch = Some(result.branch.to_string());
    deed.commits = result.commits.iter().map(NotedCommit::from).collect();
    deed.run = Some(result.run_id.to_string());
    deed.text = Some(result.text.clone());
    deed.usage = result.usage;
    for warning in &result.warnings {
        stage.warn(format!("the step `{}`: {warning}", step.name));
    }
}

/// Notes what a run did that failed, and words why.
fn broken(error: Error, refusals: &Refusals, deed: &mut Deed) -> Fault {
    if let Some(work) = error.work() {
        note_work(work, deed);
        deed.rejected = refusals.of(&work.attempts);
    }
    let answers = error
        .work()
        .map_or(0, |work| work.attempts.iter().filter(|attempt| is_of_the_answer(attempt.outcome)).count());
    let is_unmet = error.kind() == crate::error::ErrorKind::StructuredOutput;
    match error.structured_output().filter(|_| is_unmet && answers > 1) {
        None => error.into(),
        Some(output) => {
            let problems = wording::of_stage(output.stage(), &output.problems).join("; ");
            let retries =
                if answers == 2 { "1 retry".to_owned() } else { format!("{} retries", answers - 1) };
            Fault { said: format!("did not match output_schema after {retries}: {problems}"), error }
        }
    }
}

fn note_work(work: &Work, deed: &mut Deed) {
    deed.attempts = u32::try_from(work.attempts.len()).unwrap_or(u32::MAX);
    deed.branch = work.branch.as_ref().map(ToString::to_string);
    deed.commits = work.commits.iter().map(NotedCommit::from).collect();
    deed.run = work.run_id.as_ref().map(ToString::to_string);
    deed.usage = work.usage;
}
