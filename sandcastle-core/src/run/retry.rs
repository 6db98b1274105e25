//! The attempts at a structured output.
//!
//! An answer that is not valid is followed by a correction in the same session, as often as the output allows. Trouble
//! of the model's service is not the answer's fault: it does not use up those attempts, and the correction that could
//! not be delivered is sent again, a few times and each time later. So is the question of an extraction.

use std::error::Error as _;
use std::path::Path;
use std::time::Duration;

use tracing::Instrument;

use super::driver::Judge;
use super::event::RunEvent;
use super::iteration::{Stage, Turn, TurnEnd};
use super::ledger::Ledger;
use super::native::Heard;
use super::outcome::{Ending, StructuredOutputError};
use super::plan::SchemaPlan;
use super::verdict::{self, Verdict};
use super::{failure, trace};
use crate::agent::TurnMode;
use crate::error::{Error, ErrorKind, Result};
use crate::event::FailureKind;
use crate::output::{AnswerForm, ExtractError, OutputSpec, one_line};
use crate::session::SessionRequest;
use crate::strategy::OutputStrategy;
use crate::work::{Attempt, AttemptOutcome};

/// How often a correction is sent again because the model's service failed.
const RESENDS: u32 = 2;
/// How long it is waited before that, times two for each time.
const PAUSE: Duration = Duration::from_millis(500);

/// The attempts of one run.
pub(super) struct Attempts<'a> {
    stage: &'a Stage<'a>,
    spec: &'a OutputSpec,
    plan: SchemaPlan,
    /// Where the schema is, if the program reads it from a file.
    file: Option<&'a Path>,
    retries_left: u32,
    resends_left: u32,
    /// Why the last answer was refused.
    refused: Option<ExtractError>,
    /// In which form the last answer was asked for.
    form: AnswerForm,
}

/// What is said in one turn, and in which conversation.
type Said = (String, SessionRequest);

enum Next {
    /// The output is there.
    Done(Ending),
    /// This is said next.
    Say(Said),
}

impl<'a> Attempts<'a> {
    pub(super) fn new(
        stage: &'a Stage<'a>,
        spec: &'a OutputSpec,
        plan: SchemaPlan,
        file: Option<&'a Path>,
    ) -> Self {
        Self {
            stage,
            spec,
            plan,
            file,
            retries_left: spec.retries(),
            resends_left: RESENDS,
            refused: None,
            form: AnswerForm::Block,
        }
    }

    /// Goes on until the output is there or nothing more may be tried.
    pub(super) async fn run(
        mut self,
        prompt: String,
        session: SessionRequest,
        judge: &mut Judge<'_>,
        ledger: &mut Ledger,
    ) -> Result<Ending> {
        let mut said = (prompt, session);
        loop {
            self.form = self.form_in(&said.1);
            let turn = match self.play(&said, ledger).await {
                Ok(turn) => turn,
                Err(error) => return Err(self.ended_by(error, ledger)),
            };
            match self.judge_turn(turn, said, judge, ledger).await? {
                Next::Done(ending) => return Ok(ending),
                Next::Say(next) => said = next,
            }
        }
    }

    async fn play(&self, (prompt, session): &Said, ledger: &mut Ledger) -> Result<Turn> {
        let span = trace::attempt(following(ledger.work.attempts.len()));
        let ask = self.plan.ask(self.spec, session, self.file);
        self.stage.play(prompt, session, Some(ask), ledger).instrument(span).await
    }

    /// Returns the form that an answer in a session is asked for in.
    fn form_in(&self, session: &SessionRequest) -> AnswerForm {
        match self.plan.ask(self.spec, session, self.file).native {
            Some(_) => AnswerForm::Document,
            None => AnswerForm::Block,
        }
    }

    async fn judge_turn(
        &mut self,
        mut turn: Turn,
        said: Said,
        judge: &mut Judge<'_>,
        ledger: &mut Ledger,
    ) -> Result<Next> {
        let commits = ledger.collect_commits(self.stage.workplace).await;
        let strategy = if turn.native.is_some() { OutputStrategy::Native } else { OutputStrategy::Tag };
        let mut attempt = Attempt {
            number: following(ledger.work.attempts.len()),
            outcome: AttemptOutcome::AgentFailed,
            strategy,
            message: None,
            commits,
            usage: turn.record.usage,
            session_id: turn.record.session_id.clone(),
        };
        self.notice_drop(&mut turn, ledger);
        let verdict = Verdict::of(&mut turn, self.spec, &self.plan, judge);
        let (signal, resumable) = (turn.signal, turn.record.session_id.clone().map(SessionRequest::Resume));
        ledger.record(turn.record);
        match verdict {
            Verdict::Accepted(block, guarantee) => {
                ledger.accepted(block, self.spec);
                attempt.outcome = AttemptOutcome::Accepted;
                ledger.work.attempts.push(attempt);
                Ok(Next::Done(Ending {
                    completion_signal: signal,
                    answer_guarantee: Some(guarantee),
                    strategy: ledger.strategy().cloned(),
                }))
            }
            Verdict::Refused(error, outcome) => {
                attempt.outcome = outcome;
                attempt.message = Some(error.to_string());
                self.after_refusal(attempt, error, resumable, ledger)
            }
            Verdict::SchemaRefused(why) => {
                attempt.outcome = AttemptOutcome::SchemaRefused;
                let session = resumable.filter(|_| turn.acted && self.can_resume());
                self.after_refused_schema(attempt, &why, (said.0, session.unwrap_or(said.1)), ledger)
            }
            Verdict::Failed(end) => self.after_failure(attempt, end, said, ledger).await,
        }
    }

    fn after_refusal(
        &mut self,
        attempt: Attempt,
        error: ExtractError,
        session: Option<SessionRequest>,
        ledger: &mut Ledger,
    ) -> Result<Next> {
        let may_retry = self.retries_left > 0 && error.stage().may_be_corrected();
        if may_retry && session.is_none() {
            ledger.warn("the answer cannot be corrected: the agent named no session to resume".to_owned());
        }
        let mut next = session.filter(|_| may_retry);
        let unpaid = next.as_ref().and_then(|_| ledger.afford(&self.stage.budget, "ask again").err());
        if unpaid.is_some() {
            next = None;
        }
        ledger.tell(&RunEvent::AttemptFailed {
            number: attempt.number,
            outcome: attempt.outcome,
            message: error.to_string(),
            problems: error.problems.clone(),
            remaining: if next.is_some() { self.retries_left } else { 0 },
        });
        ledger.work.attempts.push(attempt);
        let Some(session) = next else {
            return Err(not_obtained(error, self.form, unpaid.as_ref(), ledger));
        };
        self.retries_left -= 1;
        let form = self.form_in(&session);
        let block = self.spec.block_for(&error, form);
        let correction = error.correction(form, self.retries_left, block.as_deref());
        self.refused = Some(error);
        Ok(Next::Say((correction, session)))
    }

    /// Has the same said again without the schema, if words may take over. That uses up no retry, and cannot happen twice.
    fn after_refused_schema(
        &mut self,
        mut attempt: Attempt,
        why: &str,
        (prompt, session): Said,
        ledger: &mut Ledger,
    ) -> Result<Next> {
        let error =
            failure::error_of(&TurnEnd::Failed(FailureKind::SchemaRefused, why.to_owned()), self.stage);
        attempt.message = Some(error.to_string());
        let may_go_on = self.plan.may_leave_to_words();
        ledger.tell(&RunEvent::AttemptFailed {
            number: attempt.number,
            outcome: attempt.outcome,
            message: error.to_string(),
            problems: Vec::new(),
            remaining: if may_go_on { self.retries_left.saturating_add(1) } else { 0 },
        });
        ledger.work.attempts.push(attempt);
        if !may_go_on {
            return Err(self.ended_by(error, ledger));
        }
        self.leave_to_words(why, ledger);
        let correction = self.refused.as_ref().map(|error| error.feedback(self.retries_left));
        Ok(Next::Say((correction.unwrap_or(prompt), session)))
    }

    /// Leaves the schema to words where the program has dropped it without a word, and the turn went on to its end.
    fn notice_drop(&mut self, turn: &mut Turn, ledger: &mut Ledger) {
        let is_dropped = turn.native.as_ref().is_some_and(Heard::is_dropped);
        if is_dropped && matches!(turn.end, TurnEnd::Completed(_)) && self.plan.may_leave_to_words() {
            turn.native = None;
            self.leave_to_words(verdict::DROPPED, ledger);
        }
    }

    /// Leaves the schema to words for the rest of the run.
    fn leave_to_words(&mut self, why: &str, ledger: &mut Ledger) {
        let why = one_line(why);
        ledger
            .warn(format!("the answer is asked for by the tag, because the schema was refused: {why:.600}"));
        self.plan.leave_to_words(format!("`native`: the schema was refused: {why:.600}"));
        ledger.chose(&self.plan);
    }

    fn can_resume(&self) -> bool {
        self.stage.agent.capabilities().resume
    }

    async fn after_failure(
        &mut self,
        mut attempt: Attempt,
        end: TurnEnd,
        said: Said,
        ledger: &mut Ledger,
    ) -> Result<Next> {
        let error = failure::error_of(&end, self.stage);
        let transport = matches!(end, TurnEnd::Failed(FailureKind::Transport, _));
        attempt.outcome = if transport { AttemptOutcome::Transport } else { AttemptOutcome::AgentFailed };
        attempt.message = Some(error.to_string());
        // A question that changes nothing can be put again, too, and the work before it is done.
        let is_harmless = self.refused.is_some() || self.stage.mode == TurnMode::SpeakOnly;
        let again = transport && is_harmless && self.resends_left > 0;
        ledger.tell(&RunEvent::AttemptFailed {
            number: attempt.number,
            outcome: attempt.outcome,
            message: error.to_string(),
            problems: Vec::new(),
            remaining: if again { self.retries_left } else { 0 },
        });
        ledger.work.attempts.push(attempt);
        if again {
            if let Err(error) = self.stage.pause(PAUSE * 2_u32.pow(RESENDS - self.resends_left)).await {
                return Err(self.ended_by(error, ledger));
            }
            self.resends_left -= 1;
            return Ok(Next::Say(said));
        }
        Err(self.ended_by(error, ledger))
    }

    /// Makes the error of the run from what ended it. An answer that was refused before is kept with it.
    fn ended_by(&mut self, error: Error, ledger: &mut Ledger) -> Error {
        let Some(refused) = self.refused.take() else { return error };
        if error.is_cancelled() || error.is_timeout() {
            return error.with_source(StructuredOutputError::new(refused, self.form, &ledger.work));
        }
        let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
        ledger.warn(format!("the correction failed: {error}{cause}"));
        not_obtained(refused, self.form, Some(&error), ledger)
    }
}

/// Numbers what follows `count` others.
fn following(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX).saturating_add(1)
}

/// Words the failure; `interrupted` is what kept the last correction from being answered.
fn not_obtained(
    error: ExtractError,
    form: AnswerForm,
    interrupted: Option<&Error>,
    ledger: &Ledger,
) -> Error {
    let spent = interrupted.and_then(|error| error.spent().copied());
    let attempts = ledger.work.attempts.len();
    let attempts = if attempts == 1 { "1 attempt".to_owned() } else { format!("{attempts} attempts") };
    let interrupted = interrupted.map(|error| format!("; then it failed to {error}")).unwrap_or_default();
    let message = format!("get a valid `<{}>` in {attempts}: {error}{interrupted}", error.tag);
    Error::new(ErrorKind::StructuredOutput, message)
        .with_source(StructuredOutputError::new(error, form, &ledger.work).with_spent(spent))
}
