//! A step that asks a model: its options become a model run, and what that gives becomes an output.

use std::sync::Arc;

use serde_json::{Value, json};

use super::super::definition::{ModelStep, Step};
use super::super::event::WorkflowEvent;
use super::super::record::Deed;
use super::audience::ModelTeller;
use super::contract::RETRIES;
use super::fault::Fault;
use super::made::Instrument;
use super::stage::Stage;
use super::wording;
use crate::error::{Error, Result};
use crate::model::Model;
use crate::model_run::{ModelAttempt, ModelResult, ModelRun};
use crate::output::OutputSpec;
use crate::strategy::StrategyChoice;
use crate::work::AttemptOutcome;

/// Checks what a model can be asked, as far as that is known before the prompt is.
pub(super) fn check(
    step: &Step,
    kind: &ModelStep,
    model: &Arc<dyn Model>,
    spec: Option<&OutputSpec>,
) -> Result<Option<StrategyChoice>> {
    // The prompt is a template, and nothing is known of it yet.
    let run = run_of(step, kind, model).prompt("-");
    match spec {
        None => run.check(),
        Some(spec) => with_strategy(run.output_spec(spec.clone()), kind).check(),
    }
}

/// Asks a model, and returns its answer.
pub(super) async fn ask(
    stage: &Stage<'_>,
    step: &Step,
    kind: &ModelStep,
    deed: &mut Deed,
) -> Result<Value, Fault> {
    let equipment = stage.made.of_step(step)?;
    let Instrument::Model(model) = &equipment.tool else { return Err(Fault::ruled("has no model")) };
    let teller = ModelTeller::new(&stage.audience, step.name.as_str());
    let mut run = run_of(step, kind, model)
        .prompt(stage.render_text(&kind.prompt, "prompt")?)
        .on_event(move |event| teller.tell(event))
        .cancel(stage.stop.clone());
    if let Some(system) = &kind.system {
        run = run.system(stage.render_text(system, "system")?);
    }
    let Some(spec) = &equipment.spec else {
        let result = run.run().await.map_err(|error| broken(error, deed))?;
        note(stage, step, &result, deed);
        return Ok(json!({ "text": result.text }));
    };
    let run = with_strategy(run.output_spec(spec.clone()), kind);
    let run = equipment.words.iter().fold(run, ModelRun::instruction);
    let result = corrected(stage, step, run).run().await.map_err(|error| broken(error, deed))?;
    note(stage, step, &result, deed);
    given(result)
}

/// Returns the answer of a model run, or why there is no valid one.
fn given(result: ModelResult<Option<Value>>) -> Result<Value, Fault> {
    match (result.output, result.unmet) {
        (Some(output), None) => Ok(output),
        (_, Some(unmet)) => Err(not_met(unmet, &result.attempts)),
        (None, None) => Err(Fault::ruled("has no answer")),
    }
}

/// Makes a model run of a step, as far as it asks for no output.
fn run_of(step: &Step, kind: &ModelStep, model: &Arc<dyn Model>) -> ModelRun {
    let run = ModelRun::shared(Arc::clone(model))
        .name(step.name.as_str())
        .transport_retries(kind.transport_retries);
    let run = kind.temperature.into_iter().fold(run, ModelRun::temperature);
    let run = kind.max_output_tokens.into_iter().fold(run, ModelRun::max_output_tokens);
    kind.timeout.into_iter().fold(run, ModelRun::total_timeout)
}

fn with_strategy(run: ModelRun<Value>, kind: &ModelStep) -> ModelRun<Value> {
    kind.strategy.into_iter().fold(run, ModelRun::strategy)
}

/// Has an answer corrected in the words of workflows, and tells of it.
fn corrected(stage: &Stage<'_>, step: &Step, run: ModelRun<Value>) -> ModelRun<Value> {
    let (audience, step) = (Arc::clone(&stage.audience), step.name.to_string());
    run.correction(move |error, form, number, most| {
        let problems = wording::problems(error);
        let correction = wording::correction(error, &problems, form, number, most);
        audience.tell(WorkflowEvent::StepRetried { step: step.clone(), problems });
        correction
    })
}

/// Notes what a model run did.
fn note<O>(stage: &Stage<'_>, step: &Step, result: &ModelResult<O>, deed: &mut Deed) {
    deed.attempts = u32::try_from(result.attempts.len()).unwrap_or(u32::MAX);
    deed.usage = result.usage;
    deed.answer_guarantee = result.answer_guarantee;
    let refused = result.attempts.iter().filter(|attempt| attempt.message.is_some());
    deed.rejected = refused.map(told).collect();
    for warning in &result.warnings {
        stage.warn(format!("the step `{}`: {warning}", step.name));
    }
}

/// Notes what a model run did that gave no answer.
fn broken(error: Error, deed: &mut Deed) -> Fault {
    if let Some(work) = error.work() {
        deed.usage = work.usage;
        deed.attempts = u32::try_from(work.attempts.len()).unwrap_or(u32::MAX);
        deed.rejected = work.attempts.iter().filter_map(|attempt| attempt.message.clone()).collect();
    }
    error.into()
}

fn told(attempt: &ModelAttempt) -> String {
    let is_about_a_value =
        matches!(attempt.outcome, AttemptOutcome::SchemaValidate | AttemptOutcome::Rejected);
    wording::located(&attempt.problems, is_about_a_value).join("; ")
}

/// Words that there is no valid answer. One that may not be corrected, or whose correction was not answered, says so itself.
fn not_met(unmet: Error, attempts: &[ModelAttempt]) -> Fault {
    match attempts {
        [_, .., last] if !matches!(last.outcome, AttemptOutcome::Refused | AttemptOutcome::Filtered) => {
            let retries = if RETRIES == 1 { "1 retry".to_owned() } else { format!("{RETRIES} retries") };
            let said = format!("did not match output_schema after {retries}: {}", told(last));
            Fault { said, error: unmet }
        }
        _ => unmet.into(),
    }
}
