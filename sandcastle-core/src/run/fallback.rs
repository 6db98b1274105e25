//! What a run gives when it has obtained no valid output, if its caller has said what.
//!
//! The steps are those of the ladder of the output; here it is decided when they are gone down, and told that they were.
//! What the agent did is treated as after any answer that is not valid: nothing of it lands because of a value that it did
//! not give.

use super::driver::Judge;
use super::event::RunEvent;
use super::ledger::Ledger;
use super::outcome::{Ending, StructuredOutputError};
use crate::error::{Error, ErrorKind, Result};
use crate::output::ladder::{Descent, Ladder, Rung};
use crate::output::{OutputSpec, clip, one_line};
use crate::strategy::AnswerGuarantee;

/// The most characters of a rejected answer that are told.
const PREVIEW: usize = 200;

/// Gives a value in the place of the answer whose failure is `error`, or the error, if there is no value.
///
/// A run that failed in another way, was cancelled or ran out of time is not concerned: its agent may have had an answer.
pub(super) fn stand_in(
    ladder: &Ladder,
    spec: &OutputSpec,
    error: Error,
    judge: &mut Judge<'_>,
    ledger: &mut Ledger,
) -> Result<Ending> {
    if ladder.is_empty() || error.kind() != ErrorKind::StructuredOutput {
        return Err(error);
    }
    let Some(failed) = error.structured_output() else { return Err(error) };
    let descent = ladder.descend(failed.cause(), spec.format(), &mut |block| judge(block));
    match descent.reached {
        Some(rung) => Ok(tell(rung, &descent, failed, ledger)),
        None => {
            ledger.warn(format!("nothing was given in place of the answer: {}", descent.failed.join("; ")));
            Err(error)
        }
    }
}

/// Tells everybody which step was taken, and what was paid for no answer.
fn tell(rung: Rung, descent: &Descent, failed: &StructuredOutputError, ledger: &mut Ledger) -> Ending {
    let (message, preview) = (failed.to_string(), preview(failed, ledger));
    let attempts = failed.attempts.len();
    let retries = match attempts.saturating_sub(1) {
        0 => String::new(),
        1 => ", 1 retry included".to_owned(),
        count => format!(", {count} retries included"),
    };
    let plural = if attempts == 1 { "" } else { "s" };
    let above = descent.failed.iter().map(|why| format!("; {why}")).collect::<String>();
    ledger.warn(format!(
        "no valid `<{}>` was obtained in {attempts} attempt{plural}{retries}: {message}; {rung} is given in its place{above}",
        failed.tag
    ));
    let (event, guarantee) = match rung {
        Rung::Fallback => (RunEvent::FallbackUsed { message, preview }, AnswerGuarantee::Fallback),
        Rung::Canned => {
            let failed = descent.failed.clone();
            (RunEvent::CannedUsed { message, preview, failed }, AnswerGuarantee::Canned)
        }
    };
    ledger.tell(&event);
    Ending {
        completion_signal: None,
        answer_guarantee: Some(guarantee),
        strategy: ledger.strategy().cloned(),
    }
}

/// Shows the beginning of what was rejected. It is masked while it is whole: the beginning of a secret is one.
fn preview(failed: &StructuredOutputError, ledger: &Ledger) -> String {
    let rejected = failed.raw_matched.as_deref().unwrap_or(&ledger.work.text);
    let masked = ledger.secrets().mask(rejected.trim());
    clip(&one_line(&masked), PREVIEW).into_owned()
}
