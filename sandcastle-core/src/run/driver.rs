//! The way of every run: checks, sandbox, iterations, outcome.

use std::sync::Arc;

use super::audience::Audience;
use super::contract::Contract;
use super::deadline::Limits;
use super::entry::{self, Checked};
use super::environment::Environment;
use super::event::RunEvent;
use super::failure;
use super::iteration::{Stage, TurnEnd};
use super::ledger::Ledger;
use super::log::{LogName, RunLog};
use super::options::Settings;
use super::outcome::{Ending, RunResult};
use super::retry::Attempts;
use crate::config::ConfigDir;
use crate::error::Result;
use crate::event::StopReason;
use crate::output::locate::Locator;
use crate::output::{ExtractError, OutputSpec};
use crate::prompt;
use crate::sandbox::SandboxRequest;
use crate::session::SessionRequest;

/// Judges what was located in an answer, and keeps the value if it is good.
pub(super) type Judge<'a> = dyn FnMut(Locator) -> Result<(), ExtractError> + Send + 'a;

/// Runs from the options to the result.
pub(super) async fn drive<C: Contract>(settings: Settings, mut contract: C) -> Result<RunResult<C::Value>> {
    let spec = contract.spec();
    let checked = entry::check(&settings, spec.as_deref()).await?;
    let config = ConfigDir::of(&checked.repository);
    let environment =
        Environment::of(&config, settings.sandbox.as_ref(), settings.agent.as_ref(), &settings.env)?;
    let head = checked.repository.head().await?;
    let name = LogName { target: None, source: &head.branch, name: settings.name.as_deref() };
    let log = RunLog::open(settings.logging.as_ref(), &config, &name)?;
    let audience = Audience::new(log, settings.on_event.clone(), environment.secrets(&[])?);
    let mut ledger = Ledger::new(checked.repository.clone(), audience);
    let mut judge = |locator: Locator| contract.judge(locator.finish()?.as_str());
    let ending = go(&settings, (checked, environment), spec.as_deref(), &mut judge, &mut ledger).await;
    match ending {
        Ok(ending) => match contract.into_value() {
            Some(value) => Ok(RunResult::new(value, ledger.succeed(), ending, settings)),
            None => Err(ledger.fail(failure::internal())),
        },
        Err(error) => Err(ledger.fail(error)),
    }
}

async fn go(
    settings: &Settings,
    (checked, environment): (Checked, Environment),
    spec: Option<&OutputSpec>,
    judge: &mut Judge<'_>,
    ledger: &mut Ledger,
) -> Result<Ending> {
    let limits = Limits::new(settings.idle_timeout, settings.completion_timeout, settings.total_timeout);
    ledger.begin(settings).await?;
    for key in &checked.unused_arguments {
        ledger.warn(format!("the prompt has no `{{{{{key}}}}}`: its argument was not used"));
    }
    if let Some(command) = prompt::slash_command(&checked.prompt) {
        ledger.warn(format!(
            "the prompt begins with `{command}`: it is sent as plain text and not as a command"
        ));
    }
    let request = SandboxRequest::new(checked.repository.top()?);
    let sandbox = tokio::select! {
        sandbox = settings.sandbox.create(request) => sandbox?,
        end = limits.cut_off(&settings.cancel) => {
            let what = format!("make the sandbox `{}`", settings.sandbox.name());
            return Err(failure::cut_off(end, &what, &limits));
        }
    };
    let stage = Stage {
        agent: Arc::clone(&settings.agent),
        sandbox: Arc::clone(&sandbox),
        cwd: checked.cwd,
        env: environment.variables().to_vec(),
        signals: settings.signals(),
        limits,
        cancel: settings.cancel.clone(),
    };
    let ending = match spec {
        Some(spec) => Attempts::new(&stage, spec).run(checked.prompt, checked.session, judge, ledger).await,
        None => iterate(&stage, settings.max_iterations, &checked.prompt, checked.session, ledger).await,
    };
    if let Err(error) = sandbox.close().await {
        // What the run has brought outweighs a sandbox that does not close.
        ledger.warn(format!("the sandbox `{}` was not closed: {error}", settings.sandbox.name()));
    }
    ending
}

/// Runs agent processes until one gives the completion signal or there have been enough.
async fn iterate(
    stage: &Stage,
    count: u32,
    prompt: &str,
    mut session: SessionRequest,
    ledger: &mut Ledger,
) -> Result<Ending> {
    for number in 1..=count {
        ledger.tell(&RunEvent::IterationStarted { number });
        let turn = stage.play(prompt, &session, None, ledger).await?;
        session = SessionRequest::Fresh;
        ledger.collect_commits().await;
        ledger.record(turn.record);
        match &turn.end {
            TurnEnd::Completed(StopReason::Complete) if turn.spoke => {}
            end => return Err(failure::error_of(end, stage)),
        }
        if turn.signal.is_some() {
            return Ok(Ending { completion_signal: turn.signal, answer_guarantee: None });
        }
    }
    Ok(Ending::default())
}
