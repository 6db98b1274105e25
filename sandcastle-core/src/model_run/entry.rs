//! The checks that a model run has to pass before anything is sent.
//!
//! They are made in this order, and the first that fails is the error: the run is not cancelled already; the numbers; the
//! conversation; that nothing is said of an output which is not asked for; the tools; what the models cost, if that is limited; and the plan of the first model. A further model that
//! cannot be asked as wanted is no error: it is left out when its turn comes.

use std::collections::HashSet;
use std::sync::Arc;

use super::event::ServedBy;
use super::options::Settings;
use super::plan::Plan;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Message, Model};
use crate::strategy::OutputStrategy;

/// The most corrections.
const MAX_RETRIES: u32 = 10;
/// The most characters of a tool's name that every service takes.
const MAX_TOOL_NAME: usize = 64;

/// A model, and how it is asked.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) model: Arc<dyn Model>,
    /// The plan, or why there is none.
    pub(super) plan: Result<Plan, String>,
}

/// The targets of a run, of which the first can be asked.
#[derive(Debug)]
pub(super) struct Targets {
    pub(super) first: (Arc<dyn Model>, Plan),
    pub(super) others: std::vec::IntoIter<Target>,
}

/// Checks what a run is asked for, and plans how each model is asked.
pub(super) fn check(settings: &Settings) -> Result<Targets> {
    if settings.cancel.is_cancelled() {
        let message = format!("start `{}`: the run was cancelled", settings.name());
        return Err(Error::new(ErrorKind::Cancelled, message));
    }
    check_numbers(settings)?;
    check_conversation(settings)?;
    check_output(settings)?;
    check_tools(settings)?;
    check_prices(settings)?;
    let plan = Plan::new(settings, &*settings.model)?;
    let others = settings.alternates.iter().map(|model| Target {
        model: Arc::clone(model),
        plan: Plan::new(settings, &**model).map_err(|error| error.to_string()),
    });
    let others: Vec<_> = others.collect();
    Ok(Targets { first: (Arc::clone(&settings.model), plan), others: others.into_iter() })
}

fn check_numbers(settings: &Settings) -> Result<()> {
    settings.budget.check()?;
    if settings.max_iterations == 0 {
        return Err(invalid("call a model 0 times").with_hint("set `max_iterations` to 1 or more"));
    }
    if let Some(retries) = settings.retries.filter(|retries| *retries > MAX_RETRIES) {
        return Err(invalid(format!("retry an output up to {retries} times"))
            .with_hint(format!("an answer is corrected at most {MAX_RETRIES} times")));
    }
    if settings.max_output_tokens == Some(0) {
        return Err(invalid("get an answer of 0 tokens").with_hint("set `max_output_tokens` to 1 or more"));
    }
    if let Some(temperature) = settings.temperature.filter(|t| !(t.is_finite() && *t >= 0.0)) {
        return Err(invalid(format!("use a temperature of {temperature}"))
            .with_hint("it is 0 or more, in the service's own scale"));
    }
    if settings.total_timeout.is_some_and(|total| total.is_zero()) {
        return Err(invalid("finish within no time").with_hint("set `total_timeout` above zero"));
    }
    Ok(())
}

/// Something has to be asked: a prompt, or a conversation whose last word is not the model's.
fn check_conversation(settings: &Settings) -> Result<()> {
    let refused = |message: &str| Err(Error::new(ErrorKind::Prompt, message));
    match (&settings.prompt, settings.messages.last()) {
        (Some(prompt), _) if prompt.trim().is_empty() => refused("ask a model with a blank prompt"),
        (None, None) => refused("ask a model without a prompt"),
        (None, Some(Message::Assistant { .. })) => {
            refused("go on with a conversation in which the model has the last word")
        }
        _ => Ok(()),
    }
    .map_err(|error| error.with_hint("say what is wanted with `prompt`"))
}

/// What is said of an output is for nothing where none is asked for.
fn check_output(settings: &Settings) -> Result<()> {
    let said = [
        ("strategy", settings.strategy != OutputStrategy::Auto),
        ("max_retries", settings.retries.is_some_and(|retries| retries > 0)),
        ("instruction", settings.instruction.is_some()),
    ];
    match said.into_iter().find(|(_, said)| *said && settings.spec.is_none()) {
        None => Ok(()),
        Some((option, _)) => Err(invalid(format!("use `{option}` without an output"))
            .with_hint("ask for one with `output` or `output_spec`")),
    }
}

fn check_tools(settings: &Settings) -> Result<()> {
    let mut names = HashSet::new();
    for tool in &settings.tools {
        let name = &tool.spec.name;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        if name.is_empty() || name.len() > MAX_TOOL_NAME || !name.chars().all(is_plain) {
            return Err(invalid(format!("offer a tool named `{}`", name.escape_debug()))
                .with_hint("a name is of letters, digits, `_` and `-`, at most 64"));
        }
        if !names.insert(name) {
            return Err(invalid(format!("offer two tools named `{name}`")));
        }
        if !tool.spec.input_schema.is_object() {
            return Err(invalid(format!("offer the tool `{name}` with a schema that is no object"))
                .with_hint("a tool takes an object, described by a JSON Schema"));
        }
    }
    Ok(())
}

/// Money can be limited only where it is known what is spent, and counted only at prices that are some.
fn check_prices(settings: &Settings) -> Result<()> {
    let models = std::iter::once(&settings.model).chain(&settings.alternates);
    if let Some((model, price)) =
        models.filter_map(|model| Some((model, model.price()?))).find(|(_, price)| !price.is_one())
    {
        let who = ServedBy::of(&**model);
        return Err(invalid(format!("count the cost of {who} at {price:?}"))
            .with_hint("a price is a number from zero, in US dollars for a million tokens"));
    }
    if settings.budget.max_cost.is_none() {
        return Ok(());
    }
    let mut models = std::iter::once(&settings.model).chain(&settings.alternates);
    match models.find(|model| model.price().is_none() && !model.says_cost()) {
        None => Ok(()),
        Some(model) => {
            let who = ServedBy::of(&**model);
            Err(invalid(format!("limit the cost of {who}: it is not known what it costs"))
                .with_hint("name its price where the model is made, or limit tokens with `max_tokens`"))
        }
    }
}

fn invalid(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidOptions, message)
}
