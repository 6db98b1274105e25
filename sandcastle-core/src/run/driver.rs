//! The way of every run: checks, a place to work, iterations, outcome.

use std::sync::Arc;

use tracing::{Instrument, Span};

use super::contract::{Contract, Demand};
use super::deadline::Limits;
use super::entry::{self, Checked};
use super::event::RunEvent;
use super::expansion::expand;
use super::extraction::Question;
use super::failure;
use super::fallback;
use super::ground::Ground;
use super::iteration::{Stage, TurnEnd};
use super::ledger::Ledger;
use super::options::Settings;
use super::outcome::{Ending, RunResult};
use super::plan::SchemaPlan;
use super::retry::Attempts;
use super::schema_file::SchemaFile;
use super::sessions::Sessions;
use super::setup::SetUp;
use super::shell::{Bounds, Shell};
use super::timeouts::Timeouts;
use super::trace;
use super::version::Turns;
use super::workplace::{Work, Workplace};
use crate::error::{ErrorKind, Result};
use crate::event::StopReason;
use crate::output::ladder::{self, Ladder};
use crate::output::{ExtractError, OutputSpec};
use crate::prompt::{self, Branches};
use crate::session::SessionRequest;

/// Judges the inside of a block, and keeps its value if it is good.
pub(super) type Judge<'a> = dyn FnMut(&str) -> Result<(), ExtractError> + Send + 'a;

/// A run that has passed the checks.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) settings: Settings,
    pub(super) checked: Checked,
    pub(super) limits: Limits,
}

impl Job {
    /// Begins to keep the record of the run.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] when the log or the journal cannot be written.
    pub(super) fn begin(settings: Settings, checked: Checked) -> Result<(Self, Ledger)> {
        let limits = settings.limits();
        let mut job = Self { settings, checked, limits };
        let ledger = Ledger::open(&job)?;
        job.checked.environment.mark(ledger.mark());
        if let Some(lot) = job.settings.ground.lender()? {
            // What is left of this run when it is killed is found by the journal of the handle, too, which has the worktree.
            lot.mark().into_iter().for_each(|mark| job.checked.environment.mark(mark));
        }
        Ok((job, ledger))
    }

    /// Returns the span of everything that happens in it.
    pub(super) fn span(&self) -> Span {
        let Self { settings, checked, .. } = self;
        let name = settings.site.name.as_deref().map(|name| checked.secrets.mask(name));
        let branch = checked.plan.source_branch(1);
        trace::run(&checked.run, settings.agent.name(), name.as_deref(), &branch)
    }

    pub(super) fn timeouts(&self) -> &Timeouts {
        &self.settings.site.timeouts
    }

    /// Returns what stands in for an answer: it was said of the output, or of the run.
    fn ladder<'a>(&'a self, spec: &'a OutputSpec) -> &'a Ladder {
        if spec.ladder().is_empty() { &self.settings.ladder } else { spec.ladder() }
    }

    /// Returns what it takes to make a place ready.
    pub(super) fn setup(&self) -> SetUp<'_> {
        let copied = match &self.settings.ground {
            Ground::Lent(lot) => &lot.site.copy,
            Ground::Own | Ground::Remembered(_) => &self.settings.site.copy,
        };
        SetUp {
            site: &self.settings.site,
            copied,
            repository: &self.checked.repository,
            below: &self.checked.below,
            environment: &self.checked.environment,
            bounds: self.bounds(),
            run: &self.checked.run,
        }
    }

    /// Returns what brings sessions to the agent and from it.
    pub(super) fn sessions(&self) -> Sessions {
        let store = self.settings.session_store(&self.checked.repository);
        Sessions::new(Arc::clone(&self.settings.agent), store, self.checked.cwd.clone())
    }

    /// Returns what bounds every step.
    pub(super) fn bounds(&self) -> Bounds<'_> {
        Bounds { timeouts: self.timeouts(), limits: &self.limits, cancel: self.settings.cancel.token() }
    }
}

/// Runs from the options to the result.
pub(super) async fn drive<C: Contract>(settings: Settings, mut contract: C) -> Result<RunResult<C::Value>> {
    let (spec, extraction) = (contract.spec(), contract.extraction().cloned());
    let demand = spec.as_deref().map(|spec| Demand { spec, extraction: extraction.as_ref() });
    let checked = entry::check(&settings, demand).await.map_err(|error| settings.cancel.explain(error))?;
    let (job, mut ledger) = Job::begin(settings, checked)?;
    let tag = spec.as_ref().map_or("", |spec| spec.tag()).to_owned();
    let mut judge = |block: &str| ladder::judged(&tag, block, &mut |block| contract.judge(block));
    let span = job.span();
    let ending = go(&job, demand, &mut judge, &mut ledger).instrument(span).await;
    if ending.is_ok() {
        ledger.note_overspending(&job.settings.budget);
    }
    match ending {
        Ok(ending) => match contract.into_value() {
            Some(value) => Ok(RunResult::new(value, ledger.succeed(), ending, job)),
            None => Err(ledger.fail(failure::internal())),
        },
        Err(error) => Err(ledger.fail(job.settings.cancel.explain(error))),
    }
}

/// Goes from iteration to iteration until there is an answer, the completion signal, or there have been enough.
async fn go(
    job: &Job,
    demand: Option<Demand<'_>>,
    judge: &mut Judge<'_>,
    ledger: &mut Ledger,
) -> Result<Ending> {
    let mut known = None;
    for number in 1..=job.settings.max_iterations {
        ledger.afford(&job.settings.budget, &format!("begin iteration {number}"))?;
        let workplace = Workplace::open(job, number, ledger).await?;
        // What the program can do does not change from one iteration to the next.
        let asked = match known.take() {
            Some(asked) => Ok(asked),
            None => settled(job, demand, &workplace).await,
        };
        let (worked, how) = match asked {
            Ok(asked) => {
                known = Some(asked.clone());
                let worked = work(job, number, &workplace, asked, judge, ledger).await;
                let how = ended(&worked);
                (worked, how)
            }
            Err(error) => (Err(error), Work::Unbegun),
        };
        let closed = workplace.close(job, how, ledger).await;
        let ending = ledger.settled(worked, closed)?;
        if ending.completion_signal.is_some() || ending.answer_guarantee.is_some() {
            return Ok(ending);
        }
    }
    Ok(Ending::default())
}

/// Says how the work of an iteration ended.
fn ended(worked: &Result<Ending>) -> Work {
    match worked {
        Ok(ending) if ending.is_stood_in_for() => Work::Replaced,
        Ok(_) => Work::Finished,
        Err(error) if error.kind() == ErrorKind::StructuredOutput => Work::Unanswered,
        Err(error) if error.kind() == ErrorKind::NoSession => Work::Unasked,
        Err(_) => Work::Failed,
    }
}

/// Settles how the schema of an output reaches the model. It is the last of the entry checks: only in the sandbox can the
/// program be asked for its version. Neither the prompt's own commands are run before it, nor is the agent asked for anything.
async fn settled<'s>(
    job: &Job,
    demand: Option<Demand<'s>>,
    workplace: &Workplace,
) -> Result<Option<(Demand<'s>, SchemaPlan)>> {
    let Some((demand, plan)) = demand.zip(job.checked.schema.clone()) else { return Ok(None) };
    let first = match demand.extraction {
        Some(_) => Turns::Resumed,
        None => Turns::first_of(&job.checked.session),
    };
    let plan = plan.settle(&Stage::new(job, workplace), demand.spec, first).await?;
    match (demand.extraction, job.checked.prompt.as_ref().map(entry::as_far_as_known)) {
        (Some(extraction), _) => plan.check_prompt(extraction.prompt(), demand.spec)?,
        (None, Some(known)) if !known.has_expressions() => {
            plan.check_prompt(&known.for_checks(), demand.spec)?;
        }
        (None, _) => {}
    }
    Ok(Some((demand, plan)))
}

/// Lets the agent work in a place that is ready.
async fn work(
    job: &Job,
    number: u32,
    workplace: &Workplace,
    asked: Option<(Demand<'_>, SchemaPlan)>,
    judge: &mut Judge<'_>,
    ledger: &mut Ledger,
) -> Result<Ending> {
    let prompt = resolved_prompt(job, workplace, ledger).await?;
    let session = if number == 1 { job.checked.session.clone() } else { SessionRequest::Fresh };
    let stage = Stage::new(job, workplace);
    let Some((Demand { spec, extraction }, plan)) = asked else {
        stage.bring_in(&session, ledger).await?;
        return once(&stage, &prompt, &session, ledger).await;
    };
    let Some(extraction) = extraction else {
        let plan = plan.asked_by(&prompt, spec)?;
        stage.bring_in(&session, ledger).await?;
        return answered_or_stood_in_for(job, &stage, (spec, plan), (prompt, session), judge, ledger).await;
    };
    stage.bring_in(&session, ledger).await?;
    let produced = once(&stage, &prompt, &session, ledger).await?;
    if produced.completion_signal.is_none() && number < job.settings.max_iterations {
        return Ok(produced);
    }
    let question = Question { job, extraction, spec, plan };
    question.ask_after(produced, stage, judge, ledger).await
}

/// Lets the agent work until there is an answer, or something that stands in for one.
pub(super) async fn answered_or_stood_in_for(
    job: &Job,
    stage: &Stage<'_>,
    (spec, plan): (&OutputSpec, SchemaPlan),
    said: (String, SessionRequest),
    judge: &mut Judge<'_>,
    ledger: &mut Ledger,
) -> Result<Ending> {
    match answered(job, stage, (spec, plan), said, judge, ledger).await {
        Err(error) => fallback::stand_in(job.ladder(spec), spec, error, judge, ledger),
        answered => answered,
    }
}

/// Lets the agent work until its answer is valid or nothing more may be tried.
async fn answered(
    job: &Job,
    stage: &Stage<'_>,
    (spec, plan): (&OutputSpec, SchemaPlan),
    (prompt, session): (String, SessionRequest),
    judge: &mut Judge<'_>,
    ledger: &mut Ledger,
) -> Result<Ending> {
    ledger.asked(spec);
    ledger.chose(&plan);
    let file = match plan.text_for_file() {
        Some(text) => {
            let of = (&job.checked.run, job.settings.sandbox.sharing());
            Some(SchemaFile::write(text, of, stage, ledger).await?)
        }
        None => None,
    };
    let path = file.as_ref().map(SchemaFile::path);
    let ending = Attempts::new(stage, spec, plan, path).run(prompt, session, judge, ledger).await;
    if let Some(file) = file {
        file.remove(stage, ledger).await;
    }
    ending
}

/// Makes the text that the agent is told, with everything in it that has to be run.
pub(super) async fn resolved_prompt(job: &Job, workplace: &Workplace, ledger: &mut Ledger) -> Result<String> {
    let plan = &job.checked.plan;
    let Some(prompt) = &job.checked.prompt else { return Ok(String::new()) };
    let filled = prompt.fill(&Branches { source: workplace.branch(), target: plan.target_branch() });
    if !filled.has_expressions() {
        return Ok(filled.for_checks());
    }
    let (cwd, environment) = (workplace.cwd(job), job.checked.environment.variables());
    let shell = Shell { sandbox: Some(&**workplace.sandbox()), cwd: &cwd, env: environment };
    let expanded = expand(&filled, &shell, &job.bounds()).await?;
    for (command, tokens) in expanded.expressions {
        ledger.tell(&RunEvent::Expanded { command, tokens });
    }
    if let Some(command) = prompt::slash_command(&expanded.text) {
        ledger.warn(entry::slash_warning(command));
    }
    Ok(expanded.text)
}

/// Plays one agent process that is asked for nothing but to work.
async fn once(
    stage: &Stage<'_>,
    prompt: &str,
    session: &SessionRequest,
    ledger: &mut Ledger,
) -> Result<Ending> {
    let turn = stage.play(prompt, session, None, ledger).await?;
    ledger.record(turn.record);
    match &turn.end {
        TurnEnd::Completed(StopReason::Complete) if turn.spoke => {
            Ok(Ending { completion_signal: turn.signal, ..Ending::default() })
        }
        end => Err(failure::error_of(end, stage)),
    }
}
