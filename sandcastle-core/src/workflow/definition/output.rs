//! What the output of a step is, as a JSON Schema: what `check` reads expressions against, and what the engine gives.

use serde_json::{Value, json};

use super::WorkflowVersion;
use super::step::{Step, StepKind, StepName};
use crate::output::OutputSpec;

/// Names that no step can have, since expressions know something else by them.
pub(crate) const RESERVED: &[&str] = &["input", "vars", "trigger", "steps"];

impl Step {
    /// Returns the JSON Schema of the output.
    pub(crate) fn output_schema(&self, version: WorkflowVersion) -> Value {
        if let Some(contract) = &self.contract {
            return contract.schema().clone();
        }
        match &self.kind {
            StepKind::Model(_) if self.confidence_gate => gated(version),
            StepKind::Model(_) => closed(&json!({ "text": { "type": "string" } })),
            StepKind::Agent(_) => closed(&json!({
                "text": { "type": "string" },
                "branch": { "type": "string" },
                "commits": { "type": "array", "items": { "type": "string" } },
            })),
            StepKind::Tool(_) => closed(&json!({
                "stdout": { "type": "string" },
                "stderr": { "type": "string" },
                "exit_code": { "type": "integer" },
            })),
            StepKind::Condition(_) => closed(&json!({ "taken": { "enum": ["then", "else"] } })),
            StepKind::Approval(_) => {
                closed(&json!({ "approved": { "type": "boolean" }, "note": { "type": "string" } }))
            }
            StepKind::Parallel(_) => {
                closed(&json!({ "branches": { "type": "array", "items": { "type": "string" } } }))
            }
        }
    }

    /// Returns the JSON Schema of `steps.NAME`: what is known of the step beside its output.
    pub(crate) fn facts_schema(&self) -> Value {
        let mut facts = json!({
            "attempts": { "type": "integer" },
            "seconds": { "type": "number" },
        });
        if matches!(self.kind, StepKind::Agent(_)) {
            facts["text"] = json!({ "type": "string" });
            facts["branch"] = json!({ "type": "string" });
            facts["commits"] = json!({ "type": "array", "items": { "type": "string" } });
        }
        if matches!(self.kind, StepKind::Tool(_)) {
            facts["stdout_truncated"] = json!({ "type": "boolean" });
            facts["stderr_truncated"] = json!({ "type": "boolean" });
        }
        closed(&facts)
    }
}

/// The most characters of a name that an author gives: of a step, a variable, a model, a branch, an output.
pub(crate) const MAX_NAME: usize = 64;

/// What is asked for behind a gate that has no schema: `{ result, confidence }`, whose result is any object.
pub(crate) fn gate_request() -> Value {
    json!({
        "type": "object",
        "properties": {
            "result": { "type": "object" },
            "confidence": { "type": "number", "minimum": 0, "maximum": 1 },
        },
        "required": ["result", "confidence"],
    })
}

/// The tag that the output of a step stands in: its name, unless that means something else to those who read tags.
pub(crate) fn tag_of(step: &StepName) -> String {
    let name = step.as_str();
    if OutputSpec::text(name).is_ok() {
        return name.to_owned();
    }
    let letters = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' });
    letters.fold("step_".to_owned(), |tag, letter| tag + letter.encode_utf8(&mut [0; 4]))
}

/// The output behind such a gate: the result, with the confidence in it unless the document is older than that.
fn gated(version: WorkflowVersion) -> Value {
    match version {
        WorkflowVersion::V1_0 => json!({ "type": "object" }),
        WorkflowVersion::V1_1 => json!({
            "type": "object",
            "properties": { "confidence": { "type": "number" } },
            "required": ["confidence"],
            // The fields of the result, whichever they are.
            "additionalProperties": true,
        }),
    }
}

/// An object that always has all of these fields, and no others.
fn closed(properties: &Value) -> Value {
    let required: Vec<_> =
        properties.as_object().into_iter().flat_map(|fields| fields.keys().cloned()).collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}
