//! What the answer of a step has to be: its contract, the default fields, the gate, and how often it may be corrected.

use serde_json::Value;

use super::super::definition::{Defaults, Step, WorkflowVersion, gate_request};
use crate::error::Result;
use crate::output::{OutputSpec, Problem, Snippet};
use crate::strategy::{OutputStrategy, StrategyChoice};

/// How often an answer is corrected.
pub(super) const RETRIES: u32 = 1;
/// The tag of what is asked for behind a gate without a schema.
const TAG: &str = "output";

/// Returns what the answer of a step has to be; `None` if it may be any text.
///
/// # Errors
/// If that cannot be said, which is a mistake of this file.
pub(super) fn of(step: &Step) -> Result<Option<OutputSpec>> {
    let spec = match &step.contract {
        Some(contract) if contract.defaults == Defaults::Filled => contract.spec.clone().fill_defaults(),
        Some(contract) => contract.spec.clone(),
        None if step.confidence_gate => OutputSpec::json(TAG, gate_request())?,
        None => return Ok(None),
    };
    let spec = if step.confidence_gate { spec.also(check_confidence) } else { spec };
    spec.max_retries(RETRIES).map(Some)
}

/// A confidence outside of its range is as wrong as any other field, and is corrected like one.
fn check_confidence(value: &Value) -> Result<(), Vec<Problem>> {
    match value.get("confidence").and_then(Value::as_f64) {
        Some(confidence) if (0.0..=1.0).contains(&confidence) => Ok(()),
        _ => Err(vec![Problem::new("/confidence", "must be a number from 0 to 1")]),
    }
}

/// Words the shape of the answer, for whatever way the schema goes beside the words.
pub(super) fn words(spec: &OutputSpec, choice: Option<&StrategyChoice>) -> String {
    match choice.map(|choice| choice.strategy) {
        Some(OutputStrategy::Native) => Snippet::of_spec(spec).render_document(),
        Some(OutputStrategy::ForcedTool) => Snippet::of_spec(spec).render_arguments(),
        _ => spec.prompt_snippet(),
    }
}

/// Returns the output that an answer stands for: itself, or what is in it where there was no schema behind a gate.
pub(super) fn output(step: &Step, version: WorkflowVersion, answer: Value) -> Value {
    if step.contract.is_some() || !step.confidence_gate {
        return answer;
    }
    let confidence = answer.get("confidence").cloned().unwrap_or_default();
    let mut output = answer.get("result").cloned().unwrap_or_default();
    if let (WorkflowVersion::V1_1, Some(fields)) = (version, output.as_object_mut()) {
        fields.insert("confidence".to_owned(), confidence);
    }
    output
}
