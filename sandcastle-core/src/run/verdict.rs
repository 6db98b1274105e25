//! What one turn is worth as an attempt at an output.
//!
//! Every answer is judged by the same contract, whether it is a block in what was said or the document of a program's own
//! structured output. Nothing is unwrapped, decoded twice or guessed.

use super::driver::Judge;
use super::iteration::{Turn, TurnEnd};
use super::native::{Document, Heard};
use super::plan::SchemaPlan;
use crate::agent::AnswerPlace;
use crate::event::{FailureKind, StopReason};
use crate::output::locate::{Locator, MAX_BLOCK_BYTES};
use crate::output::lower::Lowering;
use crate::output::{ExtractError, OutputSpec, Seen, Stage, document};
use crate::strategy::AnswerGuarantee;
use crate::work::AttemptOutcome;

/// How it is said that a program has dropped a schema.
pub(super) const DROPPED: &str = "the program did not take it, and did not say why";

/// What became of one turn as an attempt.
pub(super) enum Verdict {
    Accepted(String, AnswerGuarantee),
    Refused(ExtractError, AttemptOutcome),
    /// The schema itself was refused, for this reason.
    SchemaRefused(String),
    Failed(TurnEnd),
}

impl Verdict {
    /// Judges a turn that has ended.
    pub(super) fn of(turn: &mut Turn, spec: &OutputSpec, plan: &SchemaPlan, judge: &mut Judge<'_>) -> Self {
        let tag = spec.tag();
        match &turn.end {
            TurnEnd::Completed(StopReason::Complete) if !turn.spoke && turn.native.is_none() => {
                Self::refused(ExtractError::empty(tag))
            }
            TurnEnd::Completed(StopReason::Complete) => {
                let located = turn.located.take();
                match turn.native.take().zip(plan.lowering()) {
                    None => block(located, spec, judge),
                    Some((heard, lowering)) => native(heard, lowering, located, (spec, plan), judge),
                }
            }
            TurnEnd::Failed(FailureKind::SchemaRefused, why) if turn.native.is_some() => {
                Self::SchemaRefused(why.clone())
            }
            TurnEnd::Failed(FailureKind::InvalidAnswer, why) if turn.native.is_some() => {
                Self::without_value(spec, why)
            }
            end => {
                match end.stop().map(|stop| ExtractError::unless_stopped(tag, stop, turn.located.take())) {
                    Some(Err(error)) => Self::refused(about_document(error, turn.native.take())),
                    _ => Self::Failed(end.clone()),
                }
            }
        }
    }

    fn refused(error: ExtractError) -> Self {
        let outcome = error.stage().outcome();
        Self::Refused(error, outcome)
    }

    fn without_value(spec: &OutputSpec, why: &str) -> Self {
        Self::Refused(document::no_value(spec, why), AttemptOutcome::NativeMissing)
    }
}

/// Judges the block that the prompt has asked for.
fn block(located: Option<Locator>, spec: &OutputSpec, judge: &mut Judge<'_>) -> Verdict {
    let judged = match located {
        Some(locator) => read(locator, judge),
        None => Err(ExtractError::missing(spec.tag(), Seen::Nothing)),
    };
    judged.map_or_else(Verdict::refused, |block| Verdict::Accepted(block, AnswerGuarantee::Tag))
}

/// Judges a turn whose program held the answer to the schema.
fn native(
    heard: Heard,
    lowering: &Lowering,
    located: Option<Locator>,
    (spec, plan): (&OutputSpec, &SchemaPlan),
    judge: &mut Judge<'_>,
) -> Verdict {
    if heard.is_dropped() {
        return Verdict::SchemaRefused(DROPPED.to_owned());
    }
    let place = heard.place();
    let verdict = match (heard.document().filter(|found| !found.is_empty()), place) {
        (Some(found), _) => judged(found, lowering, spec, judge),
        (None, AnswerPlace::LastMessage) => Verdict::refused(ExtractError::empty(spec.tag())),
        (None, _) => Verdict::without_value(spec, "the agent reports success and gave none"),
    };
    // What is no JSON is no value; words may have brought one.
    let is_absent = matches!(
        verdict,
        Verdict::Refused(
            _,
            AttemptOutcome::NativeMissing | AttemptOutcome::JsonParse | AttemptOutcome::Empty
        )
    );
    if !is_absent || !plan.takes_blocks() {
        return verdict;
    }
    match block(located, spec, judge) {
        Verdict::Refused(error, _) if error.stage() == Stage::Missing => verdict,
        of_block => of_block,
    }
}

/// Keeps the document that there is of an answer which was refused, held back or cut off.
fn about_document(error: ExtractError, heard: Option<Heard>) -> ExtractError {
    match heard.and_then(Heard::document).filter(|found| !found.is_empty()) {
        Some(found) => error.about(&found.into_text()),
        None => error,
    }
}

/// Judges the document of a program's own structured output.
fn judged(found: Document, lowering: &Lowering, spec: &OutputSpec, judge: &mut Judge<'_>) -> Verdict {
    if let Document::Oversize(text) = found {
        return Verdict::refused(ExtractError::oversize(spec.tag(), text, MAX_BLOCK_BYTES));
    }
    let text = found.into_text();
    let judged = document::judged(&text, (spec, lowering), judge);
    judged
        .map_or_else(Verdict::refused, |block| Verdict::Accepted(block.into_owned(), AnswerGuarantee::Native))
}

/// Judges what was located in an answer, and returns the block, as the agent wrote it.
fn read(locator: Locator, judge: &mut Judge<'_>) -> Result<String, ExtractError> {
    let block = locator.finish()?;
    judge(block.as_str())?;
    Ok(block.into_string())
}
