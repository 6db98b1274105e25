//! What a model run gives back, and how its failures are worded.

use super::driver::{Last, Refused};
use super::event::ServedBy;
use super::ledger::{Ledger, ModelAttempt};
use super::plan;
use crate::error::{Error, ErrorKind};
use crate::event::FailureKind;
use crate::model::{Message, ModelFailure, ModelStop};
use crate::output::AnswerForm;
use crate::run::StructuredOutputError;
use crate::strategy::{AnswerGuarantee, StrategyChoice};
use crate::work::Usage;

/// Holds what a model answered, the output that it was asked for, and what that took.
#[derive(Debug)]
#[non_exhaustive]
pub struct ModelResult<O> {
    /// The output; `()` when none was asked for.
    pub output: O,
    /// The last answer, exactly as the model wrote it: its text, or the arguments of the answer tool.
    pub text: String,
    /// Why there is no valid output, as [`ModelRun::run_typed`](crate::ModelRun::run_typed) would have failed; always `None`
    /// where it has not.
    pub unmet: Option<Error>,
    /// How the last answer ended.
    pub stop: ModelStop,
    /// The answers that were judged, in order; empty when no output was asked for.
    pub attempts: Vec<ModelAttempt>,
    /// How the output was held to its schema; `None` when there is no output.
    pub answer_guarantee: Option<AnswerGuarantee>,
    /// How the schema reached the model that answered last; `None` when no output was asked for.
    pub strategy: Option<StrategyChoice>,
    /// How often the model was called; calls that its service failed to answer, and that were made again, count once.
    pub iterations: u32,
    /// What all calls used, failed ones included, with the cost where it is known.
    pub usage: Usage,
    /// The conversation, to go on with: [`ModelRun::messages`](crate::ModelRun::messages) takes it. Answers that were
    /// not accepted, but for the last one, and what was said about them are left out.
    pub messages: Vec<Message>,
    /// Who answered last, as the service names it.
    pub served_by: ServedBy,
    /// Things that went wrong without failing the run.
    pub warnings: Vec<String>,
}

impl<O> ModelResult<O> {
    /// Returns what all calls cost, in US dollars, as far as that is known.
    #[must_use]
    pub fn cost(&self) -> Option<f64> {
        self.usage.cost_usd
    }

    /// Puts an output in the place of this one.
    pub(super) fn with_output<P>(self, output: P) -> ModelResult<P> {
        ModelResult {
            output,
            text: self.text,
            unmet: self.unmet,
            stop: self.stop,
            attempts: self.attempts,
            answer_guarantee: self.answer_guarantee,
            strategy: self.strategy,
            iterations: self.iterations,
            usage: self.usage,
            messages: self.messages,
            served_by: self.served_by,
            warnings: self.warnings,
        }
    }
}

impl Error {
    /// Returns why a model's service gave no answer, if that is what ended a model run.
    #[must_use]
    pub fn model_failure(&self) -> Option<&ModelFailure> {
        self.source_as()
    }
}

/// Words what a service said, or did not.
pub(super) fn model_failed(failure: ModelFailure, served_by: &ServedBy) -> Error {
    let hint = hint_on(&failure);
    let error =
        Error::new(ErrorKind::ModelFailed, format!("ask {served_by}: {failure}")).with_source(failure);
    hint.into_iter().fold(error, Error::with_hint)
}

/// Returns what can be done about a failure: what who asked the service knows, or else what its kind says.
fn hint_on(failure: &ModelFailure) -> Option<String> {
    let known = match (failure.kind, failure.retry_after) {
        (FailureKind::Transport, Some(wait)) if !wait.is_zero() => {
            let wait = wait.as_secs_f32();
            return Some(format!("try again in {wait} s, or name another model with `alternate`"));
        }
        (FailureKind::Transport, _) => "try again later, or name another model with `alternate`",
        (FailureKind::Authentication, _) => "give the service a valid key",
        (FailureKind::Limit, _) => "raise the limit at the service",
        _ if failure.status == Some(404) => "see that the base address and the name of the model are right",
        _ => return failure.hint.clone(),
    };
    failure.hint.clone().or_else(|| Some(known.to_owned()))
}

/// Words that there is no valid output, and `why` the last answer was not corrected.
pub(super) fn unmet(refused: Refused, why: Option<&Error>, ledger: &Ledger) -> (Error, Last) {
    let error = &refused.error;
    let attempts = match ledger.attempts.len() {
        1 => "1 attempt".to_owned(),
        count => format!("{count} attempts"),
    };
    let then = why.map(|why| format!("; then it failed to {why}")).unwrap_or_default();
    let ended = refused.last.stop.unknown().map(|how| format!(" (the answer ended as `{how}`)"));
    let ended = ended.unwrap_or_default();
    let message = format!("get a valid `<{}>` in {attempts}: {error}{ended}{then}", error.tag);
    let worded = Error::new(ErrorKind::StructuredOutput, message);
    let hints = why.into_iter().flat_map(|why| why.hints().to_vec());
    let (mut worded, last) = with_last_answer(hints.fold(worded, Error::with_hint), refused, ledger);
    if let Some(output) = worded.source_as_mut::<StructuredOutputError>() {
        output.spent = why.and_then(|why| why.spent().copied());
    }
    (worded, last)
}

/// Adds the last answer, which was not accepted, to what ended a run.
pub(super) fn with_last_answer(error: Error, refused: Refused, ledger: &Ledger) -> (Error, Last) {
    let Refused { error: cause, last } = refused;
    let work = ledger.work(&last.text);
    let form = last.choice.as_ref().map_or(AnswerForm::Block, |choice| plan::form_of(choice.strategy));
    let mut output = StructuredOutputError::new(cause, form, &work).with_answer(&last.text);
    output.strategy.clone_from(&last.choice);
    (error.with_source(output).with_work(work), last)
}
