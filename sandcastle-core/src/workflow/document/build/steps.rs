//! Steps: what each kind is made of.

use super::super::contract;
use super::super::report::Path;
use super::super::tree::{Content, Node};
use super::Builder;
use crate::run::Liveness;
use crate::strategy::OutputStrategy;
use crate::workflow::definition::{
    AgentSource, AgentStep, ApprovalStep, Branching, ConditionStep, Contract, ModelSource, ModelStep,
    OnFailure, ParallelBranch, ParallelStep, SandboxSource, Step, StepKind, StepName, Text, ToolStep,
};
use crate::workflow::providers::{AgentSpec, SandboxSpec};

impl Builder<'_> {
    /// Builds the steps of a list.
    pub(super) fn steps(&mut self, list: Option<&Node>, at: &Path) -> Vec<Step> {
        let steps = list.map(Node::items).unwrap_or_default().iter().enumerate();
        let maps = steps.filter(|(_, node)| matches!(node.content, Content::Map(_)));
        maps.map(|(index, node)| self.step(node, &at.index(index))).collect()
    }

    fn step(&mut self, node: &Node, at: &Path) -> Step {
        let name = StepName::of(node.string("step").unwrap_or_default());
        let (kind, contract) = match self.kind(node, at) {
            Some(kind) => (kind, self.contract(node, &name, at)),
            // What it gives is not known, so nothing is said of those who read it.
            None => (
                StepKind::Model(ModelStep::new(ModelSource::Named(super::unknown_model()))),
                contract::open(&name),
            ),
        };
        // Where the output is not known, there is no telling whether it has a confidence.
        let is_known = contract.as_ref().is_none_or(|contract| contract.place.is_some());
        let confidence_gate = is_known && node.get("confidence_gate").and_then(Node::boolean) == Some(true);
        Step {
            name,
            kind,
            contract,
            confidence_gate,
            path: at.to_string(),
            place: Some(node.place),
            misplaced: Vec::new(),
        }
    }

    fn contract(&mut self, node: &Node, name: &StepName, at: &Path) -> Option<Contract> {
        let schema = node.get("output_schema")?;
        contract::output(schema, name, &at.key("output_schema"), self.report)
    }

    fn kind(&mut self, node: &Node, at: &Path) -> Option<StepKind> {
        Some(match node.get("type").and_then(Node::str)? {
            "model" => StepKind::Model(self.model_step(node, at)),
            "agent" => StepKind::Agent(self.agent_step(node, at)),
            "tool" => StepKind::Tool(tool_step(node)),
            "condition" => StepKind::Condition(ConditionStep {
                test: node.template("if").unwrap_or_else(nothing),
                then: self.steps(node.get("then"), &at.key("then")),
                otherwise: self.steps(node.get("else"), &at.key("else")),
            }),
            "approval" => StepKind::Approval(ApprovalStep { message: node.template("message") }),
            "parallel" => StepKind::Parallel(self.parallel_step(node, at)),
            _ => return None,
        })
    }

    fn model_step(&mut self, node: &Node, at: &Path) -> ModelStep {
        ModelStep {
            model: self.model(node, at),
            system: node.template("system"),
            prompt: node.template("prompt").unwrap_or_else(nothing),
            strategy: strategy(node),
            temperature: node.float("temperature").map(|number| number as f32),
            max_output_tokens: node.whole("max_output_tokens"),
            timeout: node.seconds("timeout"),
            transport_retries: node.whole("transport_retries").unwrap_or_default(),
        }
    }

    fn agent_step(&mut self, node: &Node, at: &Path) -> AgentStep {
        let agent = named(node, "agent")
            .map(|name| AgentSpec { model: inside(node, "agent", "model"), ..AgentSpec::new(name) });
        let sandbox = named(node, "sandbox").unwrap_or_else(|| "none".to_owned());
        let sandbox = SandboxSpec { image: inside(node, "sandbox", "image"), ..SandboxSpec::new(sandbox) };
        AgentStep {
            agent: AgentSource::Named(agent.unwrap_or_else(|| AgentSpec::new(""))),
            sandbox: SandboxSource::Named(sandbox),
            prompt: self.prompt(node, at),
            branching: branching(node),
            branch_marks: node.template("branch").map(|name| name.marks).unwrap_or_default(),
            base: node.template("base"),
            strategy: strategy(node),
            max_iterations: node.whole("max_iterations"),
            completion_signal: node.string("completion_signal"),
            idle_timeout: node.seconds("idle_timeout"),
            liveness: liveness(node),
            timeout: node.seconds("timeout"),
            max_cost: node.float("max_cost"),
            max_tokens: node.whole("max_tokens"),
            copy_to_worktree: node.template_list("copy_to_worktree"),
            env: node.templates("env"),
        }
    }

    /// The prompt, from wherever it is. Of a file it is the text alone, since places are those of the document.
    fn prompt(&mut self, node: &Node, at: &Path) -> Text {
        let file = node.get("prompt_file").filter(|_| node.get("prompt").is_none());
        let Some(file) = file else { return node.template("prompt").unwrap_or_else(nothing) };
        let Some(name) = file.str() else { return nothing() };
        match self.files.read(name) {
            Ok(text) => Text::of(text),
            Err(trouble) => {
                self.report.error(&at.key("prompt_file"), file.place, trouble.message, trouble.hint);
                self.report.settle(&at.key("prompt"));
                nothing()
            }
        }
    }

    fn parallel_step(&mut self, node: &Node, at: &Path) -> ParallelStep {
        let at = at.key("branches");
        let branches = super::entries(node, "branches").iter().map(|entry| ParallelBranch {
            name: entry.key.clone(),
            steps: self.steps(Some(&entry.value), &at.key(&entry.key)),
            place: Some(entry.place),
        });
        ParallelStep { branches: branches.collect(), limit: node.whole("limit") }
    }
}

fn tool_step(node: &Node) -> ToolStep {
    ToolStep {
        argv: node.template_list("run"),
        cwd: node.template("cwd"),
        env: node.templates("env"),
        stdin: node.template("stdin"),
        timeout: node.seconds("timeout"),
        on_failure: match node.get("on_failure").and_then(Node::str) {
            Some("continue") => OnFailure::Continue,
            _ => OnFailure::Fail,
        },
    }
}

/// A template with nothing in it, where what should be there is wrong.
fn nothing() -> Text {
    Text::of("")
}

/// What is named, as a text or by the `name` of a map.
fn named(node: &Node, key: &str) -> Option<String> {
    node.string(key).or_else(|| inside(node, key, "name"))
}

fn inside(node: &Node, key: &str, field: &str) -> Option<String> {
    node.get(key)?.string(field)
}

fn branching(node: &Node) -> Branching {
    match node.string("branch").as_deref() {
        None | Some("head") => Branching::Head,
        Some("merge-to-head") => Branching::MergeToHead,
        Some(name) => Branching::Branch(name.to_owned()),
    }
}

fn liveness(node: &Node) -> Option<Liveness> {
    match node.get("liveness")?.str()? {
        "output" => Some(Liveness::Output),
        "processor" => Some(Liveness::Processor),
        _ => None,
    }
}

fn strategy(node: &Node) -> Option<OutputStrategy> {
    named_strategy(node.get("strategy")?)
}

/// The strategies that are named, one or a list of them.
pub(super) fn strategies(node: &Node, key: &str) -> Vec<OutputStrategy> {
    let Some(node) = node.get(key) else { return Vec::new() };
    match node.content {
        Content::List(_) => node.items().iter().filter_map(named_strategy).collect(),
        _ => named_strategy(node).into_iter().collect(),
    }
}

fn named_strategy(node: &Node) -> Option<OutputStrategy> {
    match node.str()? {
        "auto" => Some(OutputStrategy::Auto),
        "tag" => Some(OutputStrategy::Tag),
        "native" => Some(OutputStrategy::Native),
        "forced-tool" => Some(OutputStrategy::ForcedTool),
        _ => None,
    }
}
