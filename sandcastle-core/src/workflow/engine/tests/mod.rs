//! Workflows that are run: scripted models, real commands, a real agent process, real records.

mod agent;
mod entry;
mod flow;
mod gate;
mod journal;
mod masking;
mod resume;
mod schema;
mod tool;

use std::path::Path;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::super::{Workflow, WorkflowEvent, WorkflowOptions, WorkflowResult};
use crate::error::Error;
use crate::output::OutputSpec;

/// A folder without a repository, what was told, and options to run in it.
struct Ground {
    folder: tempfile::TempDir,
    events: Arc<Mutex<Vec<WorkflowEvent>>>,
}

impl Ground {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), events: Arc::default() }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn options(&self) -> WorkflowOptions {
        let events = Arc::clone(&self.events);
        WorkflowOptions::new(self.path()).on_event(move |event| events.lock().unwrap().push(event.clone()))
    }

    async fn run(&self, workflow: &Workflow) -> WorkflowResult {
        workflow.run(self.options()).await.unwrap()
    }

    async fn fails(&self, workflow: &Workflow) -> Error {
        workflow.run(self.options()).await.unwrap_err()
    }

    fn told(&self) -> Vec<WorkflowEvent> {
        std::mem::take(&mut *self.events.lock().unwrap())
    }

    /// The lines of a file, none if there is no such file.
    fn lines(&self, file: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.path().join(file)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
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

fn answer(value: &Value) -> String {
    format!("<output>{value}</output>")
}

fn statuses(trace: &[super::super::StepRecord]) -> Vec<(String, String)> {
    let status = |record: &super::super::StepRecord| serde_json::to_value(record.status).unwrap();
    trace.iter().map(|record| (record.step.clone(), status(record).as_str().unwrap().to_owned())).collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(step, status)| ((*step).to_owned(), (*status).to_owned())).collect()
}

/// The names of the steps that were begun.
fn begun(events: &[WorkflowEvent]) -> Vec<String> {
    let name = |event: &WorkflowEvent| match event {
        WorkflowEvent::StepStarted { step, .. } => Some(step.clone()),
        _ => None,
    };
    events.iter().filter_map(name).collect()
}
