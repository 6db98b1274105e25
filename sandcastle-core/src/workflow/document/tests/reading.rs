//! What is read of a document: each key is found where the engine looks for it.

use std::time::Duration;

use serde_json::json;

use crate::run::Liveness;
use crate::strategy::OutputStrategy;
use crate::workflow::definition::{
    AgentSource, AgentStep, Branching, FallbackAction, ModelSource, OnFailure, SandboxSource, Step, StepKind,
    Text, Workflow, WorkflowVersion,
};
use crate::workflow::providers::{ModelSpec, SandboxSpec};

const EVERYTHING: &str = include_str!("fixtures/good/everything.yaml");

fn read(document: &str) -> Workflow {
    Workflow::from_yaml(document).unwrap_or_else(|error| panic!("{error:#}"))
}

fn source(text: &Text) -> &str {
    &text.source
}

#[track_caller]
fn agent(step: &Step) -> &AgentStep {
    match &step.kind {
        StepKind::Agent(step) => step,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_steps_share_is_read() {
    let workflow = read(EVERYTHING);
    assert_eq!((workflow.version, workflow.name()), (WorkflowVersion::V1_1, "triage"));
    assert_eq!(workflow.description(), Some("Sorts issues."));
    let vars: Vec<_> =
        workflow.vars.iter().map(|var| (var.name(), &var.schema, var.default.as_ref())).collect();
    let described = json!({ "type": "integer", "minimum": 1, "description": "How many." });
    assert_eq!(
        vars,
        [
            ("team", &json!({ "type": "string" }), Some(&json!("platform"))),
            ("labels", &json!({ "type": "array" }), Some(&json!(["bug", "feature"]))),
            ("limit", &described, Some(&json!(3))),
            ("release", &json!({ "type": "boolean" }), None),
        ]
    );
    assert_eq!(workflow.guardrails.confidence_threshold, Some(0.7));
    assert_eq!(workflow.guardrails.fallback_action, FallbackAction::EscalateToHuman);
    assert_eq!(workflow.max_parallel, Some(4));
    assert_eq!(workflow.source.as_deref(), Some(EVERYTHING));
    let outputs: Vec<_> = workflow.outputs.iter().map(|(name, text)| (name.as_str(), source(text))).collect();
    assert_eq!(outputs, [("severity", "{{ triage.severity }}")]);
}

#[test]
fn a_model_step_is_read() {
    let workflow = read(EVERYTHING);
    let step = &workflow.steps[0];
    let StepKind::Model(model) = &step.kind else { panic!("{step:?}") };
    let ModelSource::Named(spec) = &model.model else { panic!("{model:?}") };
    let mut small = ModelSpec::new("ollama", "qwen3:4b");
    small.base_url = Some("http://127.0.0.1:11434".to_owned());
    assert_eq!(*spec, small);
    assert_eq!(model.system.as_ref().map(source), Some("You sort issues."));
    assert_eq!(model.prompt.source, "Sort this issue:\n\n{{ input }}\n");
    assert_eq!(model.strategy, Some(OutputStrategy::Auto));
    assert_eq!(
        (model.temperature, model.max_output_tokens, model.transport_retries),
        (Some(0.2), Some(500), 2)
    );
    assert_eq!(model.timeout, Some(Duration::from_secs(60)));
    assert!(step.confidence_gate);
    let contract = step.contract.as_ref().unwrap();
    assert_eq!(contract.spec.tag(), "triage");
    assert_eq!(contract.schema()["properties"]["severity"]["enum"], json!(["low", "high"]));
    assert_eq!((step.path.as_str(), step.place.unwrap().to_string()), ("steps[0]", "17:5".to_owned()));
    // `{{` is in the third line of the prompt.
    let at = model.prompt.source.find("{{").unwrap();
    assert_eq!(model.prompt.place(at).unwrap().to_string(), "24:7");
}

#[test]
fn the_key_of_a_model_is_the_name_of_a_variable() {
    let document = EVERYTHING.replace("    model: small\n", "");
    let workflow = read(&document);
    let StepKind::Model(model) = &workflow.steps[0].kind else { panic!() };
    let ModelSource::Named(spec) = &model.model else { panic!("{model:?}") };
    assert_eq!(spec.api_key.as_deref(), Some("OPENAI_API_KEY"));
    assert_eq!((spec.provider.as_str(), spec.timeout), ("openai", Some(Duration::from_secs(60))));
}

#[test]
fn an_agent_step_is_read() {
    let workflow = read(EVERYTHING);
    let step = agent(&workflow.steps[1]);
    let (AgentSource::Named(spec), SandboxSource::Named(sandbox)) = (&step.agent, &step.sandbox) else {
        panic!("{step:?}")
    };
    assert_eq!((spec.name.as_str(), spec.model.as_deref()), ("opencode", Some("gpt-5")));
    assert_eq!(*sandbox, SandboxSpec { image: Some("node".to_owned()), ..SandboxSpec::new("docker") });
    assert_eq!(step.branching, Branching::Branch("agent/{{ vars.team }}".to_owned()));
    assert_eq!((step.base.as_ref().map(source), step.prompt.source.as_str()), (Some("main"), "Fix it."));
    assert_eq!(step.completion_signal.as_deref(), Some("DONE"));
    assert_eq!(
        (step.timeout, step.idle_timeout),
        (Some(Duration::from_secs(1200)), Some(Duration::from_secs(300)))
    );
    assert_eq!(step.liveness, Some(Liveness::Processor));
    assert_eq!((step.max_cost, step.max_tokens, step.max_iterations), (Some(2.5), Some(100_000), None));
    assert_eq!(step.copy_to_worktree.iter().map(source).collect::<Vec<_>>(), [".env"]);
    let env: Vec<_> = step.env.iter().map(|(name, text)| (name.as_str(), source(text))).collect();
    assert_eq!(env, [("TEAM", "{{ vars.team }}"), ("RETRIES", "2")]);
}

#[test]
fn an_agent_works_in_the_open_unless_it_is_said() {
    let document =
        "version: '1.1'\nsteps: [{ step: a, type: agent, agent: pi, prompt: Go., branch: merge-to-head }]";
    let workflow = read(document);
    let step = agent(&workflow.steps[0]);
    assert!(matches!(&step.sandbox, SandboxSource::Named(spec) if *spec == SandboxSpec::new("none")));
    assert_eq!(step.branching, Branching::MergeToHead);
    let workflow = read(&document.replace(", branch: merge-to-head", ""));
    assert_eq!(agent(&workflow.steps[0]).branching, Branching::Head);
}

#[test]
fn arguments_are_taken_as_they_are_spelled() {
    let document =
        "version: '1.1'\nsteps: [{ step: a, type: tool, run: [echo, 1.10, 0x1F, true, no, '', -5] }]";
    let workflow = read(document);
    let StepKind::Tool(tool) = &workflow.steps[0].kind else { panic!() };
    let argv: Vec<_> = tool.argv.iter().map(source).collect();
    assert_eq!(argv, ["echo", "1.10", "0x1F", "true", "no", "", "-5"]);
}

#[test]
fn steps_within_steps_are_read() {
    let workflow = read(EVERYTHING);
    let StepKind::Tool(tool) = &workflow.steps[2].kind else { panic!() };
    assert_eq!(tool.on_failure, OnFailure::Continue);
    assert_eq!(
        (tool.cwd.as_ref().map(source), tool.stdin.as_ref().map(source)),
        (Some("crates/a"), Some("{{ triage }}"))
    );
    let StepKind::Condition(condition) = &workflow.steps[3].kind else { panic!() };
    assert_eq!(condition.test.source, r#"triage.severity == "high" and tests.exit_code == 0"#);
    assert_eq!(
        (condition.then[0].name().as_str(), condition.then[0].path.as_str()),
        ("release", "steps[3].then[0]")
    );
    assert_eq!(condition.otherwise[0].path, "steps[3].else[0]");
    let StepKind::Parallel(parallel) = &workflow.steps[4].kind else { panic!() };
    assert_eq!(parallel.limit, Some(2));
    let names: Vec<_> = parallel.branches.iter().map(|branch| branch.name.as_str()).collect();
    assert_eq!(
        (names, parallel.branches[1].steps[0].path.as_str()),
        (vec!["a", "b"], "steps[4].branches.b[0]")
    );
}

#[test]
fn a_document_in_a_file_has_its_name_and_its_prompts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fix-it.yaml");
    let document = "version: '1.1'\nsteps: [{ step: a, type: agent, agent: pi, prompt_file: fix.md }]";
    std::fs::write(&path, document).unwrap();
    std::fs::write(folder.path().join("fix.md"), "Fix {{ input }}.\n").unwrap();
    let workflow = Workflow::from_file(&path).unwrap();
    assert_eq!(workflow.name(), "fix-it");
    assert_eq!(agent(&workflow.steps[0]).prompt.source, "Fix {{ input }}.\n");

    let error = Workflow::from_yaml(document).unwrap_err();
    let finding = &error.workflow_findings().unwrap().as_slice()[0];
    assert_eq!(finding.message, "needs a document that is a file");
    assert!(Workflow::from_file(folder.path().join("none.yaml")).unwrap_err().workflow_findings().is_none());
}

#[test]
fn a_prompt_outside_of_the_folder_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("workflows");
    std::fs::create_dir(&inside).unwrap();
    std::fs::write(folder.path().join("secret.md"), "A secret.").unwrap();
    std::os::unix::fs::symlink("../secret.md", inside.join("link.md")).unwrap();
    for name in ["../secret.md", "link.md", "/etc/hostname"] {
        let document =
            format!("version: '1.1'\nsteps: [{{ step: a, type: agent, agent: pi, prompt_file: {name} }}]");
        std::fs::write(inside.join("w.yaml"), document).unwrap();
        let error = Workflow::from_file(inside.join("w.yaml")).unwrap_err();
        let finding = &error.workflow_findings().unwrap().as_slice()[0];
        assert!(finding.message.contains("leads out of the folder"), "{name}: {finding}");
    }
}

#[test]
fn a_key_that_is_written_out_is_not_repeated() {
    let document = EVERYTHING.replace("${OPENAI_API_KEY}", "sk-proj-0123456789");
    let error = Workflow::from_yaml(&document).unwrap_err();
    let said = format!("{error:#} {error:?} {:#}", error.workflow_findings().unwrap());
    assert!(said.contains("api_key") && !said.contains("0123456789"), "{said}");
}

#[test]
fn an_error_says_the_first_thing_and_how_many_there_are() {
    let error =
        Workflow::from_yaml("version: '1.1'\nsteps: [{ step: a, type: tool, run: ls, cwd: 5 }]").unwrap_err();
    assert_eq!(
        error.to_string(),
        "read the workflow: 2:37: steps[0].run: must be a list, and is a text, and 1 more"
    );
    assert_eq!(error.workflow_findings().unwrap().errors().count(), 2);
}
