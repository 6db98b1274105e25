//! Steps as they are written in Rust. What does not belong to a kind of step is remembered, and found by the check.

use std::sync::Arc;
use std::time::Duration;

use super::step::{
    AgentSource, AgentStep, ApprovalStep, Branching, ConditionStep, Contract, Defaults, ModelSource,
    ModelStep, OnFailure, ParallelBranch, ParallelStep, SandboxSource, Step, StepKind, StepName, ToolStep,
};
use super::text::Text;
use crate::agent::Agent;
use crate::model::Model;
use crate::output::{AgentOutput, OutputSpec};
use crate::sandbox::SandboxProvider;
use crate::strategy::OutputStrategy;

impl Step {
    fn of(name: impl Into<String>, kind: StepKind) -> Self {
        let name = StepName::of(name);
        let (contract, path, misplaced) = (None, String::new(), Vec::new());
        Self { name, kind, contract, confidence_gate: false, misplaced, path, place: None }
    }

    /// Describes a step that asks a model. Its output is `{ text }`, unless [`Step::output`] says what it is.
    #[must_use]
    pub fn model(name: impl Into<String>, model: impl Model) -> Self {
        Self::of(name, StepKind::Model(ModelStep::new(ModelSource::Given(Arc::new(model)))))
    }

    /// Describes a step that runs a coding agent in a sandbox. Its output is `{ text, branch, commits }`, unless
    /// [`Step::output`] says what it is; `steps.NAME.branch` and `steps.NAME.commits` are there in any case.
    #[must_use]
    pub fn agent(name: impl Into<String>, agent: impl Agent, sandbox: impl SandboxProvider) -> Self {
        let agent = AgentSource::Given(Arc::new(agent));
        Self::of(name, StepKind::Agent(AgentStep::new(agent, SandboxSource::Given(Arc::new(sandbox)))))
    }

    /// Describes a step that runs a command on this host. Each argument is a template; no shell reads them. Its output is
    /// `{ stdout, stderr, exit_code }`, unless [`Step::output_spec`] says what its standard output has to be as JSON.
    #[must_use]
    pub fn tool<A: Into<String>>(name: impl Into<String>, argv: impl IntoIterator<Item = A>) -> Self {
        Self::of(name, StepKind::Tool(ToolStep::new(argv.into_iter().map(Text::of).collect())))
    }

    /// Describes a choice: `test` is an expression that gives a boolean. Its output is `{ taken }`, `then` or `else`.
    #[must_use]
    pub fn condition(name: impl Into<String>, test: impl Into<String>) -> Self {
        let test = Text::of(test);
        Self::of(name, StepKind::Condition(ConditionStep { test, then: Vec::new(), otherwise: Vec::new() }))
    }

    /// Describes a step that waits for somebody's consent. Its output is `{ approved, note }`.
    #[must_use]
    pub fn approval(name: impl Into<String>, message: impl Into<String>) -> Self {
        Self::of(name, StepKind::Approval(ApprovalStep { message: Some(Text::of(message)) }))
    }

    /// Describes ways that are gone at the same time and then joined. Its output is `{ branches }`, their names.
    #[must_use]
    pub fn parallel(name: impl Into<String>) -> Self {
        Self::of(name, StepKind::Parallel(ParallelStep { branches: Vec::new(), limit: None }))
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &StepName {
        &self.name
    }

    /// Returns what it does.
    #[must_use]
    pub fn kind(&self) -> &StepKind {
        &self.kind
    }

    /// Says that the output of the step is a `T`.
    #[must_use]
    pub fn output<T: AgentOutput>(mut self) -> Self {
        self.contract = Some(Contract::of::<T>());
        self
    }

    /// Says what the output of the step has to be, by a description that is made at run time. Fields that are absent get
    /// the defaults of its schema before an answer is judged.
    #[must_use]
    pub fn output_spec(mut self, spec: OutputSpec) -> Self {
        self.contract = Some(Contract { spec, defaults: Defaults::Filled, place: None });
        self
    }

    /// Holds the `confidence` of the output against the threshold of the workflow.
    #[must_use]
    pub fn confidence_gate(mut self) -> Self {
        self.confidence_gate = true;
        self
    }

    /// Sets the prompt of a model or an agent, a template.
    #[must_use]
    pub fn prompt(mut self, template: impl Into<String>) -> Self {
        let text = Text::of(template);
        match &mut self.kind {
            StepKind::Model(step) => step.prompt = text,
            StepKind::Agent(step) => step.prompt = text,
            _ => self.misplaced.push("prompt"),
        }
        self
    }

    /// Sets what a model is told about its part, a template.
    #[must_use]
    pub fn system(mut self, template: impl Into<String>) -> Self {
        match &mut self.kind {
            StepKind::Model(step) => step.system = Some(Text::of(template)),
            _ => self.misplaced.push("system"),
        }
        self
    }

    /// Sets how the schema reaches a model or an agent; the default is that of [`ModelRun`](crate::ModelRun) and of
    /// [`RunOptions`](crate::RunOptions).
    #[must_use]
    pub fn strategy(mut self, strategy: OutputStrategy) -> Self {
        match &mut self.kind {
            StepKind::Model(step) => step.strategy = Some(strategy),
            StepKind::Agent(step) => step.strategy = Some(strategy),
            _ => self.misplaced.push("strategy"),
        }
        self
    }

    /// Sets where an agent works; the default is [`Branching::Head`].
    #[must_use]
    pub fn branching(mut self, branching: Branching) -> Self {
        match &mut self.kind {
            StepKind::Agent(step) => {
                step.branching = branching;
                step.branch_marks.clear();
            }
            _ => self.misplaced.push("branching"),
        }
        self
    }

    /// Sets how often an agent without an output may be started, once unless it is said; as
    /// [`RunOptions::max_iterations`](crate::RunOptions::max_iterations).
    #[must_use]
    pub fn max_iterations(mut self, count: u32) -> Self {
        match &mut self.kind {
            StepKind::Agent(step) => step.max_iterations = Some(count),
            _ => self.misplaced.push("max_iterations"),
        }
        self
    }

    /// Sets how long a model, an agent or a command may take in all.
    #[must_use]
    pub fn timeout(mut self, limit: Duration) -> Self {
        match &mut self.kind {
            StepKind::Model(step) => step.timeout = Some(limit),
            StepKind::Agent(step) => step.timeout = Some(limit),
            StepKind::Tool(step) => step.timeout = Some(limit),
            _ => self.misplaced.push("timeout"),
        }
        self
    }

    /// Sets what a command reads, a template; the default is nothing.
    #[must_use]
    pub fn stdin(mut self, template: impl Into<String>) -> Self {
        match &mut self.kind {
            StepKind::Tool(step) => step.stdin = Some(Text::of(template)),
            _ => self.misplaced.push("stdin"),
        }
        self
    }

    /// Sets a variable of the environment of a command or an agent, a template.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, template: impl Into<String>) -> Self {
        let variable = (name.into(), Text::of(template));
        match &mut self.kind {
            StepKind::Tool(step) => step.env.push(variable),
            StepKind::Agent(step) => step.env.push(variable),
            _ => self.misplaced.push("env"),
        }
        self
    }

    /// Sets what a command that fails does to the workflow; the default is that it fails, too.
    #[must_use]
    pub fn on_failure(mut self, action: OnFailure) -> Self {
        match &mut self.kind {
            StepKind::Tool(step) => step.on_failure = action,
            _ => self.misplaced.push("on_failure"),
        }
        self
    }

    /// Adds steps that are done if the expression of a condition is true.
    #[must_use]
    pub fn then(mut self, steps: impl IntoIterator<Item = Self>) -> Self {
        match &mut self.kind {
            StepKind::Condition(step) => step.then.extend(steps),
            _ => self.misplaced.push("then"),
        }
        self
    }

    /// Adds steps that are done if the expression of a condition is false.
    #[must_use]
    pub fn otherwise(mut self, steps: impl IntoIterator<Item = Self>) -> Self {
        match &mut self.kind {
            StepKind::Condition(step) => step.otherwise.extend(steps),
            _ => self.misplaced.push("otherwise"),
        }
        self
    }

    /// Adds a way to those that are gone at the same time.
    #[must_use]
    pub fn branch(mut self, name: impl Into<String>, steps: impl IntoIterator<Item = Self>) -> Self {
        match &mut self.kind {
            StepKind::Parallel(step) => {
                let steps = steps.into_iter().collect();
                step.branches.push(ParallelBranch { name: name.into(), steps, place: None });
            }
            _ => self.misplaced.push("branch"),
        }
        self
    }
}

impl ModelStep {
    pub(crate) fn new(model: ModelSource) -> Self {
        Self {
            model,
            system: None,
            prompt: Text::of(""),
            strategy: None,
            temperature: None,
            max_output_tokens: None,
            timeout: None,
            transport_retries: 0,
        }
    }
}

impl AgentStep {
    pub(crate) fn new(agent: AgentSource, sandbox: SandboxSource) -> Self {
        Self {
            agent,
            sandbox,
            prompt: Text::of(""),
            branching: Branching::Head,
            branch_marks: Vec::new(),
            base: None,
            strategy: None,
            max_iterations: None,
            completion_signal: None,
            idle_timeout: None,
            liveness: None,
            timeout: None,
            max_cost: None,
            max_tokens: None,
            copy_to_worktree: Vec::new(),
            env: Vec::new(),
        }
    }
}

impl ToolStep {
    pub(crate) fn new(argv: Vec<Text>) -> Self {
        let (env, on_failure) = (Vec::new(), OnFailure::Fail);
        Self { argv, cwd: None, env, stdin: None, timeout: None, on_failure }
    }
}
