//! Agents: a real process in a real repository, with and without a schema.

use serde_json::json;

use super::super::super::{Branching, Step, Workflow, WorkflowEvent, WorkflowOptions};
use super::{answer, triage};
use crate::agent::{Agent, AgentCommand, AgentRequest, Capabilities, Decoder};
use crate::error::{ErrorKind, Result};
use crate::event::{AgentEvent, StopReason};
use crate::id::SessionId;
use crate::sandbox::NoSandbox;
use crate::session::SessionRequest;
use crate::testing::ScratchRepo;

/// An agent that is a shell script: its first argument is `fresh` or `resumed`, its input is the prompt.
#[derive(Clone, Debug)]
struct Script {
    text: String,
    capabilities: Capabilities,
}

impl Script {
    fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), capabilities: Capabilities::none().with_resume() }
    }
}

impl Agent for Script {
    fn name(&self) -> &str {
        "script"
    }

    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    fn command(&self, request: &AgentRequest<'_>) -> Result<AgentCommand> {
        let turn = if *request.session == SessionRequest::Fresh { "fresh" } else { "resumed" };
        let command = AgentCommand::new("sh").arg("-c").arg(&self.text).arg("script").arg(turn);
        Ok(AgentCommand { stdin: request.prompt.as_bytes().to_vec(), ..command })
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(Lines)
    }
}

/// Every line was said by the agent.
struct Lines;

impl Decoder for Lines {
    fn line(&mut self, line: &[u8], events: &mut Vec<AgentEvent>) {
        let text = String::from_utf8_lossy(line).into_owned();
        events.push(AgentEvent::Text { text });
    }

    fn end(&mut self, events: &mut Vec<AgentEvent>) {
        events.push(AgentEvent::Session { id: SessionId::new("script-1").unwrap() });
        events.push(AgentEvent::TurnCompleted { stop: StopReason::Complete, structured: None });
    }
}

fn says(first: &str, second: &str) -> Script {
    Script::new(format!(
        "cat > prompt-$1; if [ $1 = fresh ]; then echo '{first}'; else echo '{second}'; fi; rm -f prompt-resumed"
    ))
}

fn good() -> String {
    answer(&json!({ "severity": "low", "confidence": 0.5 }))
}

#[tokio::test]
async fn an_agent_works_on_its_branch_and_later_steps_read_what_it_did() {
    let repository = ScratchRepo::new().await.unwrap();
    let agent = Script::new(
        "cat > notes.txt; git add notes.txt; git commit --quiet --message 'take notes'; echo done",
    );
    let workflow = Workflow::new("fix")
        .var("team", "platform")
        .step(
            Step::agent("fix", agent, NoSandbox::new())
                .prompt("Fix {{ input }}")
                .branching(Branching::Branch("agent/{{ vars.team }}".to_owned())),
        )
        .step(Step::tool("show", ["git", "show", "{{ fix.branch }}:notes.txt"]))
        .gives("commits", "{{ steps.fix.commits }}");
    let result = workflow.run(WorkflowOptions::new(repository.path()).input("it all")).await.unwrap();
    let record = result.step("fix").unwrap();
    assert_eq!(record.branch.as_ref().unwrap(), "agent/platform");
    assert_eq!(record.commits[0].subject, "take notes");
    assert!(record.run.is_some());
    assert_eq!(result.step("show").unwrap().output.as_ref().unwrap()["stdout"], "Fix it all");
    assert_eq!(result.output["commits"], json!([record.commits[0].sha.as_str()]));
}

#[tokio::test]
async fn a_typed_agent_is_told_the_shape_and_corrected_once() {
    let repository = ScratchRepo::new().await.unwrap();
    let bad = good().replace("low", "none").replace("0.5", "\"very\"");
    let step = |agent| Step::agent("sort", agent, NoSandbox::new()).prompt("Sort it.").output_spec(triage());
    let events = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let told = std::sync::Arc::clone(&events);
    let options = || WorkflowOptions::new(repository.path());
    let heard = options().on_event(move |event| told.lock().unwrap().push(event.clone()));
    let result = Workflow::new("sort").step(step(says(&bad, &good()))).run(heard).await.unwrap();
    assert_eq!(result.output["sort"], json!({ "severity": "low", "confidence": 0.5, "team": "platform" }));
    assert_eq!(result.step("sort").unwrap().attempts, 2);
    let prompt = std::fs::read_to_string(repository.path().join("prompt-fresh")).unwrap();
    assert!(prompt.starts_with("Sort it.") && prompt.contains("<output>") && prompt.contains("severity"));
    let retried = |event: &WorkflowEvent| match event {
        WorkflowEvent::StepRetried { problems, .. } => Some(problems.clone()),
        _ => None,
    };
    let problems: Vec<_> = events.lock().unwrap().iter().filter_map(retried).collect();
    assert_eq!(
        problems,
        [[
            "output.severity must be one of low, high",
            "output.confidence must be a number, got string \"very\""
        ]]
    );
    assert_eq!(result.step("sort").unwrap().rejected, [problems[0].join("; ")]);

    let error = Workflow::new("sort").step(step(says(&bad, &bad))).run(options()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StructuredOutput);
    assert_eq!(
        error.to_string(),
        "run the workflow `sort`: the step `sort` did not match output_schema after 1 retry: output.severity \
         must be one of low, high; output.confidence must be a number, got string \"very\""
    );
    assert!(error.structured_output().is_some() && error.workflow_failure().is_some());
}

#[tokio::test]
async fn an_agent_that_cannot_resume_is_asked_once_which_is_said() {
    let repository = ScratchRepo::new().await.unwrap();
    let agent = Script { capabilities: Capabilities::none(), ..says(&good(), "") };
    let step = Step::agent("sort", agent, NoSandbox::new()).prompt("Sort it.").output_spec(triage());
    let result = Workflow::new("sort").step(step).run(WorkflowOptions::new(repository.path())).await.unwrap();
    assert!(
        result.warnings.contains(
            &"the step `sort` has its answer judged once: its agent cannot resume a session".to_owned()
        ),
        "{:?}",
        result.warnings
    );
}

#[tokio::test]
async fn an_agent_outside_of_a_repository_is_refused_before_anything_begins() {
    let folder = tempfile::tempdir().unwrap();
    let step = Step::agent("fix", Script::new("true"), NoSandbox::new()).prompt("Fix it.");
    let error = Workflow::new("fix").step(step).run(WorkflowOptions::new(folder.path())).await.unwrap_err();
    assert!(error.is_entry_check(), "{error}");
    assert!(error.to_string().contains("the step `fix` cannot be done"), "{error}");
}
