//! The verdict on one answer: what of it is judged, and what is wrong with it.
//!
//! How an answer ended comes before what it says: one that was refused, held back or cut off fails by that name, even if
//! what is there of it would do. The strategy says what is judged, and nothing else is: a value in a tag is no answer
//! where the service was to give it, nor the other way round.

use super::plan::{Plan, PlannedOutput};
use crate::model::{ModelAnswer, ModelStop, ToolCall};
use crate::output::locate::Locator;
use crate::output::lower::Lowering;
use crate::output::{AnswerForm, ExtractError, OutputSpec, document, ladder};

/// Judges what an answer says in the place of a block, and keeps its value if it is good.
pub(super) type Judge<'a> = dyn FnMut(&str) -> Result<(), ExtractError> + Send + 'a;

/// Returns what of an answer is judged, exactly as it was written.
pub(super) fn raw<'a>(answer: &'a ModelAnswer, plan: &Plan) -> &'a str {
    answer_call(answer, plan).map_or(&answer.text, |call| &call.arguments)
}

/// Returns the call that gives the answer: the first one of the answer tool.
pub(super) fn answer_call<'a>(answer: &'a ModelAnswer, plan: &Plan) -> Option<&'a ToolCall> {
    let tool = plan.answer_tool()?;
    answer.calls.iter().find(|call| call.name == tool)
}

/// Judges an answer.
pub(super) fn on(
    answer: &ModelAnswer,
    plan: &Plan,
    output: &PlannedOutput,
    spec: &OutputSpec,
    judge: &mut Judge<'_>,
) -> Result<(), ExtractError> {
    let (raw, form) = (raw(answer, plan), output.form());
    let located = || (form == AnswerForm::Block).then(|| locator(spec, raw));
    let whole = |error: ExtractError| if form == AnswerForm::Block { error } else { error.about(raw) };
    match answer.stop {
        ModelStop::Refused => return Err(whole(ExtractError::refused(spec.tag(), located()))),
        ModelStop::Filtered => return Err(whole(ExtractError::filtered(spec.tag(), located()))),
        ModelStop::OutputLimit => return Err(whole(ExtractError::truncated(spec.tag(), located()))),
        ModelStop::ContextLimit => return Err(whole(ExtractError::out_of_room(spec.tag(), located()))),
        ModelStop::Complete | ModelStop::Other(_) => {}
    }
    let called = answer_call(answer, plan).is_some();
    if raw.trim().is_empty() && answer.calls.is_empty() {
        return Err(ExtractError::empty(spec.tag()));
    }
    if let Some(tool) = plan.answer_tool().filter(|_| !called) {
        return Err(ExtractError::uncalled(spec.tag(), tool, raw));
    }
    on_text(raw, form, output.lowering.as_ref(), spec, judge)
}

/// Judges the text of an answer that came to its end. Every door of a model run comes through here.
pub(super) fn on_text(
    raw: &str,
    form: AnswerForm,
    lowering: Option<&Lowering>,
    spec: &OutputSpec,
    judge: &mut Judge<'_>,
) -> Result<(), ExtractError> {
    if form == AnswerForm::Block {
        let block = locator(spec, raw).finish()?;
        return judged(block.as_str(), spec, judge);
    }
    let Some(lowering) = lowering else { return judged(raw, spec, judge) };
    document::judged(raw, (spec, lowering), &mut |block| judged(block, spec, judge)).map(drop)
}

fn judged(text: &str, spec: &OutputSpec, judge: &mut Judge<'_>) -> Result<(), ExtractError> {
    ladder::judged(spec.tag(), text, judge)
}

fn locator(spec: &OutputSpec, text: &str) -> Locator {
    let mut locator = spec.locator();
    locator.push(text);
    locator
}
