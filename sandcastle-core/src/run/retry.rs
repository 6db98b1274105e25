//! The attempts at a structured output.
//!
//! An answer that is not valid is followed by a correction in the same session, as often as the output allows. Trouble
//! of the model's service is not the answer's fault: it does not use up those attempts, and the correction that could
//! not be delivered is sent again, a few times and each time later.

use std::error::Error as _;
use std::time::Duration;

use tracing::Instrument;

use super::driver::Judge;
use super::event::RunEvent;
use super::failure;
use super::iteration::{Stage, Turn, TurnEnd};
use super::ledger::Ledger;
use super::outcome::{Ending, StructuredOutputError};
use super::trace;
use crate::error::{Error, ErrorKind, Result};
use crate::event::{FailureKind, StopReason};
use crate::output::locate::Locator;
use crate::output::{ExtractError, OutputSpec, Seen, Stage as OutputStage};
use crate::session::SessionRequest;
use crate::strategy::AnswerGuarantee;
use crate::work::{Attempt, AttemptOutcome};

/// How often a correction is sent again because the model's service failed.
const RESENDS: u32 = 2;
/// How long it is waited before that, times two for each time.
const PAUSE: Duration = Duration::from_millis(500);

/// What became of one turn as an attempt.
enum Verdict {
    Accepted(String),
    Refused(ExtractError),
    Failed(TurnEnd),
}

/// The attempts of one run.
pub(super) struct Attempts<'a> {
    stage: &'a Stage<'a>,
    spec: &'a OutputSpec,
    retries_left: u32,
    resends_left: u32,
    /// Why the last answer was refused.
    refused: Option<ExtractError>,
}

enum Next {
    /// The output is there.
    Done(Ending),
    /// This is said next, in this session.
    Say(String, SessionRequest),
}

impl<'a> Attempts<'a> {
    pub(super) fn new(stage: &'a Stage<'a>, spec: &'a OutputSpec) -> Self {
        Self { stage, spec, retries_left: spec.retries(), resends_left: RESENDS, refused: None }
    }

    /// Goes on until the output is there or nothing more may be tried.
    pub(super) async fn run(
        mut self,
        prompt: String,
        session: SessionRequest,
        judge: &mut Judge<'_>,
        ledger: &mut Ledger,
    ) -> Result<Ending> {
        let (mut prompt, mut session) = (prompt, session);
        loop {
            let turn = match self.play(&prompt, &session, ledger).await {
                Ok(turn) => turn,
                Err(error) => return Err(self.ended_by(error, ledger)),
            };
            match self.judge_turn(turn, (prompt, session), judge, ledger).await? {
                Next::Done(ending) => return Ok(ending),
                Next::Say(next, in_session) => (prompt, session) = (next, in_session),
            }
        }
    }

    async fn play(&self, prompt: &str, session: &SessionRequest, ledger: &mut Ledger) -> Result<Turn> {
        let span = trace::attempt(following(ledger.work.attempts.len()));
        self.stage.play(prompt, session, Some(self.spec), ledger).instrument(span).await
    }

    async fn judge_turn(
        &mut self,
        mut turn: Turn,
        said: (String, SessionRequest),
        judge: &mut Judge<'_>,
        ledger: &mut Ledger,
    ) -> Result<Next> {
        let commits = ledger.collect_commits(self.stage.workplace).await;
        let mut attempt = Attempt {
            number: following(ledger.work.attempts.len()),
            outcome: AttemptOutcome::AgentFailed,
            message: None,
            commits,
            usage: turn.record.usage,
            session_id: turn.record.session_id.clone(),
        };
        let verdict = self.verdict(&mut turn, judge);
        let (signal, resumable) = (turn.signal, turn.record.session_id.clone());
        ledger.record(turn.record);
        match verdict {
            Verdict::Accepted(block) => {
                ledger.accepted(block, self.spec);
                attempt.outcome = AttemptOutcome::Accepted;
                ledger.work.attempts.push(attempt);
                Ok(Next::Done(Ending {
                    completion_signal: signal,
                    answer_guarantee: Some(AnswerGuarantee::Tag),
                }))
            }
            Verdict::Refused(error) => {
                attempt.outcome = outcome_of(error.stage());
                attempt.message = Some(error.to_string());
                self.after_refusal(attempt, error, resumable.map(SessionRequest::Resume), ledger)
            }
            Verdict::Failed(end) => self.after_failure(attempt, end, said, ledger).await,
        }
    }

    fn verdict(&self, turn: &mut Turn, judge: &mut Judge<'_>) -> Verdict {
        let tag = self.spec.tag();
        match &turn.end {
            TurnEnd::Completed(StopReason::Complete) if !turn.spoke => {
                Verdict::Refused(ExtractError::empty(tag))
            }
            TurnEnd::Completed(StopReason::Complete) => match turn.located.take() {
                Some(locator) => read(locator, judge).map_or_else(Verdict::Refused, Verdict::Accepted),
                None => Verdict::Refused(ExtractError::missing(tag, Seen::Nothing)),
            },
            TurnEnd::Completed(StopReason::ContextLimit) => {
                Verdict::Refused(ExtractError::out_of_room(tag, turn.located.take()))
            }
            TurnEnd::Completed(StopReason::OutputLimit) | TurnEnd::Failed(FailureKind::OutputLimit, _) => {
                Verdict::Refused(ExtractError::truncated(tag, turn.located.take()))
            }
            TurnEnd::Completed(StopReason::Refused) | TurnEnd::Failed(FailureKind::Refused, _) => {
                Verdict::Refused(ExtractError::refused(tag, turn.located.take()))
            }
            TurnEnd::Completed(StopReason::Filtered) | TurnEnd::Failed(FailureKind::Filtered, _) => {
                Verdict::Refused(ExtractError::filtered(tag, turn.located.take()))
            }
            end => Verdict::Failed(end.clone()),
        }
    }

    fn after_refusal(
        &mut self,
        attempt: Attempt,
        error: ExtractError,
        session: Option<SessionRequest>,
        ledger: &mut Ledger,
    ) -> Result<Next> {
        let may_retry =
            self.retries_left > 0 && !matches!(error.stage(), OutputStage::Refused | OutputStage::Filtered);
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
            remaining: if next.is_some() { self.retries_left } else { 0 },
        });
        ledger.work.attempts.push(attempt);
        let Some(session) = next else { return Err(not_obtained(error, unpaid.as_ref(), ledger)) };
        self.retries_left -= 1;
        let feedback = error.feedback(self.retries_left);
        self.refused = Some(error);
        Ok(Next::Say(feedback, session))
    }

    async fn after_failure(
        &mut self,
        mut attempt: Attempt,
        end: TurnEnd,
        said: (String, SessionRequest),
        ledger: &mut Ledger,
    ) -> Result<Next> {
        let error = failure::error_of(&end, self.stage);
        let transport = matches!(end, TurnEnd::Failed(FailureKind::Transport, _));
        attempt.outcome = if transport { AttemptOutcome::Transport } else { AttemptOutcome::AgentFailed };
        attempt.message = Some(error.to_string());
        let again = transport && self.refused.is_some() && self.resends_left > 0;
        ledger.tell(&RunEvent::AttemptFailed {
            number: attempt.number,
            outcome: attempt.outcome,
            message: error.to_string(),
            remaining: if again { self.retries_left } else { 0 },
        });
        ledger.work.attempts.push(attempt);
        if again {
            if let Err(error) = self.stage.pause(PAUSE * 2_u32.pow(RESENDS - self.resends_left)).await {
                return Err(self.ended_by(error, ledger));
            }
            self.resends_left -= 1;
            return Ok(Next::Say(said.0, said.1));
        }
        Err(self.ended_by(error, ledger))
    }

    /// Makes the error of the run from what ended it. An answer that was refused before is kept with it.
    fn ended_by(&mut self, error: Error, ledger: &mut Ledger) -> Error {
        let Some(refused) = self.refused.take() else { return error };
        if error.is_cancelled() || error.is_timeout() {
            return error.with_source(StructuredOutputError::new(refused, &ledger.work));
        }
        let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
        ledger.warn(format!("the correction failed: {error}{cause}"));
        not_obtained(refused, Some(&error), ledger)
    }
}

/// Judges what was located in an answer, and returns the block, as the agent wrote it.
fn read(locator: Locator, judge: &mut Judge<'_>) -> Result<String, ExtractError> {
    let block = locator.finish()?;
    judge(block.as_str())?;
    Ok(block.into_string())
}

/// Numbers what follows `count` others.
fn following(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX).saturating_add(1)
}

/// Words the failure; `interrupted` is what kept the last correction from being answered.
fn not_obtained(error: ExtractError, interrupted: Option<&Error>, ledger: &Ledger) -> Error {
    let spent = interrupted.and_then(|error| error.spent().copied());
    let attempts = ledger.work.attempts.len();
    let attempts = if attempts == 1 { "1 attempt".to_owned() } else { format!("{attempts} attempts") };
    let interrupted = interrupted.map(|error| format!("; then it failed to {error}")).unwrap_or_default();
    let message = format!("get a valid `<{}>` in {attempts}: {error}{interrupted}", error.tag);
    Error::new(ErrorKind::StructuredOutput, message)
        .with_source(StructuredOutputError::new(error, &ledger.work).with_spent(spent))
}

fn outcome_of(stage: OutputStage) -> AttemptOutcome {
    match stage {
        OutputStage::Missing => AttemptOutcome::Missing,
        OutputStage::Unclosed => AttemptOutcome::Unclosed,
        OutputStage::JsonParse => AttemptOutcome::JsonParse,
        OutputStage::SchemaValidate => AttemptOutcome::SchemaValidate,
        OutputStage::Rejected => AttemptOutcome::Rejected,
        OutputStage::Refused => AttemptOutcome::Refused,
        OutputStage::Filtered => AttemptOutcome::Filtered,
        OutputStage::Truncated => AttemptOutcome::Truncated,
        OutputStage::Empty => AttemptOutcome::Empty,
    }
}
