//! What there is to see of a workflow: its steps one below the other, and the ways that lead from some of them.

use super::super::definition::{
    AgentSource, AgentStep, Branching, FallbackAction, ModelSource, SandboxSource, Step, StepKind, Workflow,
};

/// The most characters that are shown of what a step does.
const NOTE: usize = 44;

/// A workflow to be drawn.
#[derive(Debug)]
pub(super) struct Chart {
    pub(super) name: String,
    pub(super) parts: Vec<Part>,
}

/// A node, and the ways that lead from it and come together again. Without any it leads straight on.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) node: Node,
    pub(super) ways: Vec<Way>,
}

/// A step, or what becomes of an answer that is not certain enough.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    pub(super) name: String,
    /// What it does, in one short line.
    pub(super) note: String,
}

/// One way on.
#[derive(Debug)]
pub(super) struct Way {
    /// When it is gone.
    pub(super) label: String,
    pub(super) parts: Vec<Part>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Model,
    Agent,
    Tool,
    Condition,
    Approval,
    Parallel,
    /// The workflow ends here.
    Failure,
}

impl Kind {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Agent => "agent",
            Self::Tool => "tool",
            Self::Condition => "condition",
            Self::Approval => "approval",
            Self::Parallel => "parallel",
            Self::Failure => "failure",
        }
    }
}

impl Chart {
    pub(super) fn of(workflow: &Workflow) -> Self {
        Self { name: shown(&workflow.name), parts: parts(&workflow.steps, workflow) }
    }
}

fn parts(steps: &[Step], workflow: &Workflow) -> Vec<Part> {
    steps.iter().map(|step| part(step, workflow)).collect()
}

fn part(step: &Step, workflow: &Workflow) -> Part {
    let (kind, note) = described(&step.kind);
    let way = |label: &str, steps: &[Step]| Way { label: shown(label), parts: parts(steps, workflow) };
    let ways = match &step.kind {
        StepKind::Condition(it) => vec![way("yes", &it.then), way("no", &it.otherwise)],
        StepKind::Parallel(it) => it.branches.iter().map(|branch| way(&branch.name, &branch.steps)).collect(),
        _ if step.confidence_gate => gate(step, workflow),
        _ => Vec::new(),
    };
    let note = if note.is_empty() { kind.as_str().to_owned() } else { format!("{}: {note}", kind.as_str()) };
    Part { node: Node { kind, name: shown(step.name.as_str()), note: shown(&note) }, ways }
}

/// The two ways that an answer goes whose confidence is held against the threshold.
fn gate(step: &Step, workflow: &Workflow) -> Vec<Way> {
    let (kind, name, note) = match workflow.guardrails.fallback_action {
        FallbackAction::EscalateToHuman => (Kind::Approval, "approval", format!("of {}", step.name)),
        FallbackAction::Fail => (Kind::Failure, "fails", "not certain enough".to_owned()),
    };
    let node = Node { kind, name: name.to_owned(), note: shown(&note) };
    // Without a threshold there is nothing to hold it against, which the check of the workflow says.
    let threshold =
        workflow.guardrails.confidence_threshold.map_or_else(|| "?".to_owned(), |it| it.to_string());
    vec![
        Way { label: format!("{threshold} or more"), parts: Vec::new() },
        Way { label: format!("below {threshold}"), parts: vec![Part { node, ways: Vec::new() }] },
    ]
}

fn described(kind: &StepKind) -> (Kind, String) {
    match kind {
        StepKind::Model(it) => (Kind::Model, model(&it.model)),
        StepKind::Agent(it) => (Kind::Agent, agent(it)),
        StepKind::Tool(it) => {
            let argv: Vec<&str> = it.argv.iter().map(|text| text.source.as_str()).collect();
            (Kind::Tool, argv.join(" "))
        }
        StepKind::Condition(it) => (Kind::Condition, it.test.source.clone()),
        StepKind::Approval(it) => {
            (Kind::Approval, it.message.as_ref().map(|text| text.source.clone()).unwrap_or_default())
        }
        StepKind::Parallel(it) => {
            (Kind::Parallel, it.limit.map(|limit| format!("{limit} at a time")).unwrap_or_default())
        }
    }
}

fn model(source: &ModelSource) -> String {
    match source {
        ModelSource::Named(spec) => format!("{}/{}", spec.provider, spec.name),
        ModelSource::Given(model) => format!("{}/{}", model.provider(), model.name()),
    }
}

fn agent(step: &AgentStep) -> String {
    let agent = match &step.agent {
        AgentSource::Named(spec) => spec.name.as_str(),
        AgentSource::Given(agent) => agent.name(),
    };
    let sandbox = match &step.sandbox {
        SandboxSource::Named(spec) => spec.name.as_str(),
        SandboxSource::Given(sandbox) => sandbox.name(),
    };
    let place = if sandbox == "none" { String::new() } else { format!(" in {sandbox}") };
    let branch = match &step.branching {
        Branching::Head => String::new(),
        Branching::MergeToHead => ", merges".to_owned(),
        Branching::Branch(name) => format!(" on {name}"),
    };
    format!("{agent}{place}{branch}")
}

/// A text of a document as one short line without anything that a reader would obey.
fn shown(text: &str) -> String {
    let visible = |c: char| match c {
        c if c.is_whitespace() => ' ',
        c if c.is_control() => '\u{fffd}',
        // XML has no such characters, and these turn the direction of what follows.
        '\u{fffe}' | '\u{ffff}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        c => c,
    };
    let mut characters = text.trim().chars().map(visible);
    let mut line: String = characters.by_ref().take(NOTE).collect();
    if characters.next().is_some() {
        line.push('…');
    }
    line
}
