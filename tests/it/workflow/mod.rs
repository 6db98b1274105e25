//! Step workflows through the front door: documents that are read, checked and run, by the library and by the command.
//!
//! `seed` shows each sentence of seed 003, `triage` and `delivery` are whole workflows, `killed` ends the command at every
//! moment of one, and `promises` is what a script may rely on: exit codes, one object, no secret anywhere. Models are scripted
//! servers over real HTTP, agents are scripted ones in real worktrees, git is git.

mod delivery;
mod killed;
mod promises;
mod seed;
mod triage;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use sandcastle::agent::Agent;
use sandcastle::model::Model;
use sandcastle::sandbox::SandboxProvider;
use sandcastle::testing::{ScratchRepo, Scripted};
use sandcastle::workflow::{
    AgentSpec, BuiltIn, ModelSpec, Providers, SandboxSpec, Workflow, WorkflowEvent, WorkflowOptions,
    WorkflowResult,
};
use sandcastle::{Error, Result};
use serde_json::{Map, Value, json};

use crate::models::Service;
use crate::support::model_server::{ModelServer, Reply};

/// A repository, and the server of a model that every document asks which names one.
#[derive(Debug)]
struct Bench {
    repository: ScratchRepo,
    server: ModelServer,
    service: Service,
    events: Arc<Mutex<Vec<WorkflowEvent>>>,
}

/// Makes the model of one service, whatever a document calls it, and scripted agents with sessions in a folder of the test.
#[derive(Debug)]
struct Served {
    service: Service,
    url: String,
    sessions: PathBuf,
}

impl Providers for Served {
    fn model(&self, _: &ModelSpec) -> Result<Arc<dyn Model>> {
        Ok(self.service.declared(&self.url))
    }

    fn agent(&self, spec: &AgentSpec) -> Result<Arc<dyn Agent>> {
        let script = spec.model.as_deref().unwrap_or_default();
        Ok(Arc::new(Scripted::from_file(Path::new(script))?.state_dir(&self.sessions)))
    }

    fn sandbox(&self, spec: &SandboxSpec) -> Result<Arc<dyn SandboxProvider>> {
        BuiltIn::new().sandbox(spec)
    }
}

impl Bench {
    async fn new(service: Service, replies: impl IntoIterator<Item = Reply>) -> Self {
        let repository = ScratchRepo::new().await.unwrap();
        Self { repository, server: service.server(replies), service, events: Arc::default() }
    }

    /// A model that answers with these values, one after the other.
    async fn answering<const N: usize>(values: [Value; N]) -> Self {
        Self::new(Service::OpenAi, values.map(|value| Reply::text(value.to_string()))).await
    }

    fn options(&self) -> WorkflowOptions {
        let events = Arc::clone(&self.events);
        WorkflowOptions::new(self.repository.path())
            .providers(Served { service: self.service, url: self.server.url(), sessions: self.sessions() })
            .on_event(move |event| events.lock().unwrap().push(event.clone()))
    }

    /// Where its agents keep their sessions.
    fn sessions(&self) -> PathBuf {
        self.repository.path().join(".git/sessions")
    }

    async fn try_run(&self, document: &str) -> Result<WorkflowResult> {
        Workflow::from_yaml(document)?.run(self.options().input("It crashes.")).await
    }

    async fn run(&self, document: &str) -> WorkflowResult {
        self.try_run(document).await.unwrap_or_else(|error| panic!("{error:#}\n{document}"))
    }

    async fn fails(&self, document: &str) -> Error {
        match self.try_run(document).await {
            Err(error) => error,
            Ok(result) => panic!("{result:#?}\n{document}"),
        }
    }

    /// How often the model was asked.
    fn asked(&self) -> usize {
        self.server.requests().len()
    }

    /// The last thing that the model was told by the user.
    fn last_told(&self) -> String {
        self.server.requests().last().and_then(|request| request.user_texts().pop()).unwrap_or_default()
    }

    /// What the model was told about its answer with the first question, beside the question.
    fn instructed(&self) -> String {
        let body = &self.server.requests()[0].body;
        let is_system = |message: &&Value| message["role"] == "system" || message["role"] == "developer";
        let messages = ["messages", "input"].into_iter().filter_map(|key| body[key].as_array()).flatten();
        let beside = ["system", "instructions", "systemInstruction"].into_iter().map(|key| &body[key]);
        messages.filter(is_system).chain(beside).map(Value::to_string).collect()
    }

    /// What was told of answers that were asked for again, in order.
    fn retried(&self) -> Vec<Vec<String>> {
        let events = self.events.lock().unwrap();
        let problems = events.iter().filter_map(|event| match event {
            WorkflowEvent::StepRetried { problems, .. } => Some(problems.clone()),
            _ => None,
        });
        problems.collect()
    }
}

/// What every document here begins with.
const MODELS: &str = "models:\n  default: { provider: openai, name: gpt-4.1, api_key: \"${A_KEY}\" }\n";

/// A document whose first step asks a model for an object; `more` is what stands behind.
fn asking(schema: &Value, more: &str) -> String {
    asking_with("", schema, more)
}

/// The same, with further lines of the step before the schema.
fn asking_with(lines: &str, schema: &Value, more: &str) -> String {
    format!(
        "version: \"1.1\"\n{MODELS}steps:\n  - step: triage\n    type: model\n    prompt: \"Sort this: {{{{ input }}}}\"\n{lines}    output_schema: {schema}\n{more}"
    )
}

/// An object of these fields, of which these have to be there.
fn object(properties: Value, required: &[&str]) -> Value {
    let mut schema =
        Map::from_iter([("type".to_owned(), "object".into()), ("properties".to_owned(), properties)]);
    if !required.is_empty() {
        schema.insert("required".to_owned(), required.into());
    }
    schema.into()
}

/// The object of the seed's own example.
fn severity() -> Value {
    object(json!({ "severity": { "type": "string", "enum": ["low", "high"] } }), &["severity"])
}

/// All that is found in a document, a line each, with hints.
#[track_caller]
fn found(document: &str) -> Vec<String> {
    let findings = match Workflow::from_yaml(document) {
        Ok(workflow) => workflow.check(),
        Err(error) => error.workflow_findings().unwrap_or_else(|| panic!("{error:#}")).clone(),
    };
    findings.as_slice().iter().map(|finding| format!("{finding:#}")).collect()
}

/// The error of the only finding that begins so, at its place in the document: `12:9: `.
#[track_caller]
fn assert_found(document: &str, expected: &str) {
    let found = found(document);
    assert!(found.iter().any(|line| line.contains(expected)), "no {expected:?} in {found:#?}\n{document}");
    let is_placed = |line: &String| line.starts_with(|first: char| first.is_ascii_digit());
    assert!(found.iter().all(is_placed), "{found:#?}\n{document}");
    assert!(Workflow::from_yaml(document).is_err(), "it loads: {document}");
}
