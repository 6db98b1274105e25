//! The checks of what an agent is asked for besides its work, and of the words that ask for it.

use std::path::Path;

use super::{invalid, named, slash_warning};
use crate::agent::{AgentCommand, AgentRequest, TurnMode};
use crate::error::{Error, ErrorKind, Result};
use crate::output::OutputSpec;
use crate::prompt;
use crate::run::contract::Demand;
use crate::run::options::Settings;
use crate::run::plan::SchemaPlan;
use crate::session::SessionRequest;

/// Checks that the output can be asked for, and decides how its schema reaches the model.
pub(super) fn check_output(settings: &Settings, demand: Demand<'_>) -> Result<SchemaPlan> {
    let Demand { spec, extraction } = demand;
    match extraction {
        Some(_) => check_can_go_on(settings, spec)?,
        None => check_can_answer(settings, spec)?,
    }
    SchemaPlan::choose(settings.agent.as_ref(), settings.output_strategy, spec)
}

/// Checks that the output can be the answer of the only iteration.
fn check_can_answer(settings: &Settings, spec: &OutputSpec) -> Result<()> {
    if settings.max_iterations != 1 {
        let (tag, count) = (spec.tag(), settings.max_iterations);
        return Err(invalid(format!("ask for an output `<{tag}>` from a run of {count} iterations"))
            .with_hint("set `max_iterations` to 1: an output is the answer of one agent process")
            .with_hint("or ask for it when the work is done, with `run_with_extraction`"));
    }
    if spec.retries() > 0 && !settings.agent.capabilities().resume {
        let retries = spec.retries();
        return Err(invalid(format!(
            "retry the output `<{}>` up to {retries} times: {} cannot resume a session",
            spec.tag(),
            named(settings.agent.as_ref())
        ))
        .with_hint("set `max_retries` to 0, or use an agent that can resume"));
    }
    Ok(())
}

/// Checks that the agent can be asked when its work is done.
fn check_can_go_on(settings: &Settings, spec: &OutputSpec) -> Result<()> {
    if settings.agent.capabilities().resume {
        return Ok(());
    }
    let (tag, agent) = (spec.tag(), named(settings.agent.as_ref()));
    Err(invalid(format!("ask for the output `<{tag}>` after the work: {agent} cannot resume a session"))
        .with_hint("use an agent that can, or have the prompt itself ask for the output, with `run_with`"))
}

/// Checks a text as far as it asks for an output, and notes what an agent will not take for what it looks like.
pub(super) fn check_words(
    text: &str,
    output: Option<(Demand<'_>, &SchemaPlan)>,
    warnings: &mut Vec<String>,
) -> Result<()> {
    if let Some((demand, schema)) = output {
        schema.check_prompt(text, demand.spec)?;
    }
    warnings.extend(prompt::slash_command(text).map(slash_warning));
    Ok(())
}

/// Checks the question that follows the work, if there is one, and returns how it would be put.
pub(super) fn check_question(
    settings: &Settings,
    output: Option<(Demand<'_>, &SchemaPlan)>,
    cwd: &Path,
    warnings: &mut Vec<String>,
) -> Result<Option<AgentCommand>> {
    let Some((Demand { spec, extraction: Some(extraction) }, schema)) = output else { return Ok(None) };
    let text = extraction.prompt();
    if text.trim().is_empty() {
        let what = format!("ask for the output `<{}>` after the work: the prompt is blank", spec.tag());
        return Err(Error::new(ErrorKind::Prompt, what).with_hint("say what the agent is to report"));
    }
    check_words(text, output, warnings)?;
    // The session is not known yet; that the words can be put to the agent does not depend on it.
    let request = AgentRequest::new(text, cwd, &SessionRequest::Fresh)
        .with_schema(schema.argument())
        .with_mode(TurnMode::SpeakOnly);
    settings.agent.command(&request).map(Some)
}
