//! How one model is asked: by which strategy, with which words, tools and schema.
//!
//! A plan is made for each model before anything is sent, and is nothing but data; what differs between the requests of
//! a run is the conversation.

use serde_json::Value;

use super::options::Settings;
use super::tools::Tool;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Message, Model, ModelRequest, OwnTools, ToolChoice, ToolSpec, WireSchema};
use crate::output::lower::{Dialect, Lowering};
use crate::output::{AnswerForm, OutputSpec, Snippet};
use crate::strategy::{self, AnswerGuarantee, Chosen, OutputStrategy, StrategyChoice};

/// The most characters that the name of a tool or a schema may have.
const MAX_NAME: usize = 64;

/// How one model is asked.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// How the schema reaches it; `None` when no output is asked for.
    pub(super) output: Option<PlannedOutput>,
    system: Option<String>,
    tools: Vec<ToolSpec>,
    tool_choice: ToolChoice,
    schema: Option<WireSchema>,
}

/// How the schema reaches a model.
#[derive(Clone, Debug)]
pub(super) struct PlannedOutput {
    pub(super) choice: StrategyChoice,
    pub(super) lowering: Option<Lowering>,
}

impl Plan {
    /// Decides how a model is asked.
    ///
    /// # Errors
    /// When it cannot be asked in the way that the caller wants; with its name.
    pub(super) fn new(settings: &Settings, model: &dyn Model) -> Result<Self> {
        let tools: Vec<_> = settings.tools.iter().map(|tool| tool.spec.clone()).collect();
        let own = if tools.is_empty() { OwnTools::None } else { OwnTools::Some };
        let mut plan = Self {
            output: None,
            system: settings.system.clone(),
            tools,
            tool_choice: ToolChoice::Auto,
            schema: None,
        };
        let Some(spec) = &settings.spec else { return Ok(plan) };
        let Chosen { choice, lowering } = strategy::choose(settings.strategy, spec, &model.support(own))?;
        let words = settings.instruction.clone().map_or_else(|| words(spec, &choice), Some);
        if choice.strategy == OutputStrategy::Tag {
            check_instruction(spec, settings.instruction.as_deref())?;
        }
        plan.system = joined(plan.system, words);
        plan.constrain(spec, choice.strategy, lowering.as_ref(), &settings.tools);
        plan.output = Some(PlannedOutput { choice, lowering });
        Ok(plan)
    }

    fn constrain(
        &mut self,
        spec: &OutputSpec,
        strategy: OutputStrategy,
        lowering: Option<&Lowering>,
        others: &[Tool],
    ) {
        let Some(lowering) = lowering else { return };
        if strategy != OutputStrategy::ForcedTool {
            self.schema = Some(WireSchema::new(plain(spec.tag()), lowering.wire.clone()));
            return;
        }
        let name = answer_tool_name(spec.tag(), others);
        self.tool_choice = if others.is_empty() { ToolChoice::Named(name.clone()) } else { ToolChoice::Any };
        self.tools.push(answer_tool(name, &lowering.wire).strictly());
    }

    /// Returns what is sent to go on with a conversation.
    pub(super) fn request(
        &self,
        messages: Vec<Message>,
        settings: &Settings,
        cap: Option<u32>,
    ) -> ModelRequest {
        ModelRequest {
            system: self.system.clone(),
            messages,
            tools: self.tools.clone(),
            tool_choice: self.tool_choice.clone(),
            schema: self.schema.clone(),
            max_output_tokens: cap,
            temperature: settings.temperature,
        }
    }

    /// Returns the name of the tool whose arguments are the answer, if the model is asked by one.
    pub(super) fn answer_tool(&self) -> Option<&str> {
        let output = self.output.as_ref()?;
        let tool = self.tools.last().filter(|_| output.choice.strategy == OutputStrategy::ForcedTool)?;
        Some(&tool.name)
    }

    /// Tells whether the model may call any tool of the caller's.
    pub(super) fn has_own_tools(&self) -> bool {
        self.tools.len() > usize::from(self.answer_tool().is_some())
    }

    pub(super) fn choice(&self) -> Option<&StrategyChoice> {
        self.output.as_ref().map(|output| &output.choice)
    }
}

impl PlannedOutput {
    /// Returns the form that the answer has to have.
    pub(super) fn form(&self) -> AnswerForm {
        form_of(self.choice.strategy)
    }

    /// Says what holds an answer to the schema.
    pub(super) fn guarantee(&self) -> AnswerGuarantee {
        match self.choice.strategy {
            OutputStrategy::Native => AnswerGuarantee::Native,
            OutputStrategy::ForcedTool => AnswerGuarantee::ForcedTool,
            OutputStrategy::Tag | OutputStrategy::Auto => AnswerGuarantee::Tag,
        }
    }
}

/// Returns the form that an answer has under a strategy.
pub(super) fn form_of(strategy: OutputStrategy) -> AnswerForm {
    match strategy {
        OutputStrategy::Native => AnswerForm::Document,
        OutputStrategy::ForcedTool => AnswerForm::Arguments,
        OutputStrategy::Tag | OutputStrategy::Auto => AnswerForm::Block,
    }
}

/// Names the tool whose arguments are the answer so that it clashes with none of `others`.
pub(super) fn answer_tool_name(tag: &str, others: &[Tool]) -> String {
    let mut name = plain(&format!("respond_with_{tag}"));
    let stem = name.clone();
    let mut number = 2;
    while others.iter().any(|other| other.spec.name == name) {
        let ending = format!("_{number}");
        name = format!("{}{ending}", &stem[..stem.len().min(MAX_NAME - ending.len())]);
        number += 1;
    }
    name
}

fn answer_tool(name: String, wire: &Value) -> ToolSpec {
    ToolSpec::new(
        name,
        "Gives the final answer: its arguments are the answer. Call it once, when the answer is complete.",
        wire.clone(),
    )
}

/// Returns a name that every service takes; all of it is ASCII.
fn plain(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    name.chars().map(|c| if is_plain(c) { c } else { '_' }).take(MAX_NAME).collect()
}

/// Returns what the system text says about the shape. Most services show a schema that they enforce to the model; those
/// that only constrain which words may come next do not.
fn words(spec: &OutputSpec, choice: &StrategyChoice) -> Option<String> {
    match (choice.strategy, choice.dialect) {
        (OutputStrategy::Tag | OutputStrategy::Auto, _) => Some(spec.prompt_snippet()),
        (OutputStrategy::Native, Some(Dialect::Ollama | Dialect::LlamaCpp)) => {
            Some(Snippet::of_spec(spec).render_document())
        }
        (OutputStrategy::Native | OutputStrategy::ForcedTool, _) => None,
    }
}

/// Checks words of the caller's own, which are all that the model knows of the tag.
fn check_instruction(spec: &OutputSpec, instruction: Option<&str>) -> Result<()> {
    let opener = format!("<{}>", spec.tag());
    if instruction.is_none_or(|text| text.contains(&opener)) {
        return Ok(());
    }
    let message = format!("ask for `{opener}` with an instruction that does not name it");
    Err(Error::new(ErrorKind::Prompt, message)
        .with_hint("say in it between which tags the answer stands, or leave it out for the generated one"))
}

fn joined(system: Option<String>, words: Option<String>) -> Option<String> {
    match (system, words) {
        (Some(system), Some(words)) => Some(format!("{system}\n\n{words}")),
        (system, words) => system.or(words),
    }
}
