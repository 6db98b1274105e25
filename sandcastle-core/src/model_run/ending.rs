//! How a model run comes to its end: with an answer, with what is given in the place of one, or with neither.

use serde_json::Value;

use super::call::Broken;
use super::driver::{Drive, Last, Refused};
use super::event::{ModelRunEvent, ServedBy};
use super::ledger::Limit;
use super::outcome::{self, ModelResult};
use super::verdict::{self, Judge};
use super::watch::CutOff;
use crate::error::{Error, Result};
use crate::model::{Message, ModelAnswer, ModelStop};
use crate::output::ladder::Rung;
use crate::strategy::AnswerGuarantee;

impl Drive {
    /// Ends a run that asks for no output.
    pub(super) fn answered(&mut self, answer: ModelAnswer, last: Last) -> ModelResult<()> {
        let how = match answer.stop {
            ModelStop::Complete | ModelStop::Other(_) => None,
            ModelStop::Refused => Some("the model refused to answer"),
            ModelStop::Filtered => Some("the service held the answer back because of what it says"),
            ModelStop::OutputLimit => Some("the answer was cut off by the output limit of the model"),
            ModelStop::ContextLimit => Some("the conversation fills all that the model can see"),
        };
        if let Some(how) = how {
            self.ledger.warn(how.to_owned());
        }
        self.say_last(answer);
        self.finish(last, None, None)
    }

    /// Goes down to what is given when no answer is valid.
    pub(super) fn descend(
        &mut self,
        refused: Refused,
        why: Option<&Error>,
        judge: &mut Judge<'_>,
    ) -> ModelResult<()> {
        self.say(refused.last.text.clone(), None);
        let Some(spec) = self.settings.spec.clone() else { return self.finish(refused.last, None, None) };
        let descent = spec.ladder().descend(&refused.error, spec.format(), &mut |block| judge(block));
        for failed in descent.failed {
            self.ledger.warn(format!("{failed}, so it was not used"));
        }
        let message = refused.error.to_string();
        let (event, by) = match descent.reached {
            Some(Rung::Fallback) => (ModelRunEvent::FallbackUsed { message }, AnswerGuarantee::Fallback),
            Some(Rung::Canned) => (ModelRunEvent::CannedUsed { message }, AnswerGuarantee::Canned),
            None => {
                let (unmet, last) = outcome::unmet(refused, why, &self.ledger);
                return self.finish(last, None, Some(unmet));
            }
        };
        self.ledger.tell(&event);
        self.ledger
            .warnings
            .push(format!("no answer was valid, and a value was taken in its place: {}", refused.error));
        self.finish(refused.last, Some(by), None)
    }

    /// Ends a run that may not call once more.
    pub(super) fn stopped(&mut self, limit: Limit, judge: &mut Judge<'_>) -> Result<ModelResult<()>> {
        let why = limit.error(&self.settings.name());
        match self.refused.take() {
            Some(refused) => Ok(self.descend(refused, Some(&why), judge)),
            None => Err(why.with_work(self.ledger.work(&self.said))),
        }
    }

    /// Ends a run that got no answer.
    pub(super) fn broken(&mut self, broken: Broken, judge: &mut Judge<'_>) -> Result<ModelResult<()>> {
        let failure = match broken {
            Broken::Cut(cut_off) => return Err(self.cut_off(cut_off)),
            Broken::Spent(limit) => return self.stopped(limit, judge),
            Broken::Failed(failure) => failure,
        };
        let error = outcome::model_failed(failure, &ServedBy::of(&*self.model));
        match self.refused.take() {
            Some(refused) => {
                self.ledger.warn(format!("the correction failed: failed to {error}"));
                Ok(self.descend(refused, Some(&error), judge))
            }
            None => Err(error.with_work(self.ledger.work(&self.said))),
        }
    }

    pub(super) fn cut_off(&mut self, cut_off: CutOff) -> Error {
        let error = self.watch.error(cut_off, &self.settings.name());
        match self.refused.take() {
            Some(refused) => outcome::with_last_answer(error, refused, &self.ledger).0,
            None => error.with_work(self.ledger.work(&self.said)),
        }
    }

    /// Ends the conversation with an answer; one that came by the answer tool stands in it as text.
    pub(super) fn say_last(&mut self, answer: ModelAnswer) {
        let text = verdict::raw(&answer, &self.plan).to_owned();
        let replay = answer.replay.filter(|_| answer.calls.is_empty());
        self.say(text, replay);
    }

    /// Says something for the model; an empty message is refused by some services.
    fn say(&mut self, text: String, replay: Option<Value>) {
        if !text.trim().is_empty() {
            let said = Message::Assistant { text, calls: Vec::new(), replay };
            self.conversation.push(self.model.provider(), said);
        }
    }

    pub(super) fn finish(
        &mut self,
        last: Last,
        answer_guarantee: Option<AnswerGuarantee>,
        unmet: Option<Error>,
    ) -> ModelResult<()> {
        if self.ledger.audience.has_panicked() {
            self.ledger.warnings.push("the function that is told events panicked".to_owned());
        }
        ModelResult {
            output: (),
            text: last.text,
            unmet,
            stop: last.stop,
            attempts: std::mem::take(&mut self.ledger.attempts),
            answer_guarantee,
            strategy: last.choice,
            iterations: self.ledger.calls,
            usage: self.ledger.usage,
            messages: std::mem::take(&mut self.conversation).into_messages(&self.answer_tool),
            served_by: last.served_by,
            warnings: std::mem::take(&mut self.ledger.warnings),
        }
    }
}
