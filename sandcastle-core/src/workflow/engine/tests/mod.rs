//! Workflows that are run: scripted models, real commands, real records.

mod flow;

use serde_json::{Value, json};

use super::super::{WorkflowOptions, WorkflowResult};
use crate::output::OutputSpec;

/// A folder without a repository, and options to run in it.
fn ground() -> (tempfile::TempDir, WorkflowOptions) {
    let folder = tempfile::tempdir().unwrap();
    let options = WorkflowOptions::new(folder.path());
    (folder, options)
}

/// A severity and how certain it is.
fn triage() -> OutputSpec {
    let schema = json!({
        "type": "object",
        "properties": {
            "severity": { "type": "string", "enum": ["low", "high"] },
            "confidence": { "type": "number" },
            "team": { "type": "string", "default": "platform" },
        },
        "required": ["severity", "confidence"],
        "additionalProperties": false,
    });
    OutputSpec::json("output", schema).unwrap()
}

fn answer(value: Value) -> String {
    format!("<output>{value}</output>")
}

fn statuses(result: &WorkflowResult) -> Vec<(&str, Value)> {
    let told =
        result.trace.iter().map(|record| (&*record.step, serde_json::to_value(record.status).unwrap()));
    told.collect()
}
