//! The way of a model run: call, tools, verdict, correction, until there is an outcome.
//!
//! Limits are asked before each call and never in the middle of one. An answer that is not accepted is kept until there is a
//! better one: whatever keeps the run from getting that one, the caller is told of both.

use std::sync::Arc;

use super::call::{Broken, Caller};
use super::conversation::{Conversation, Corrected, Reader};
use super::entry::{self, Targets};
use super::event::{ModelRunEvent, ServedBy};
use super::ledger::{Ledger, Limit};
use super::options::Settings;
use super::outcome::{self, ModelResult};
use super::plan::{self, Plan};
use super::tools::{self, Came};
use super::verdict::{self, Judge};
use super::watch::{CutOff, Watch};
use crate::error::{Error, Result};
use crate::event::FailureKind;
use crate::model::{Message, Model, ModelAnswer, ModelFailure, ModelStop, ToolCall};
use crate::output::ladder::Rung;
use crate::output::{ExtractError, Stage};
use crate::strategy::AnswerGuarantee;

/// What the model is told of an answer that it gave while it was calling other tools.
const NOT_YET: &str =
    "Not taken, because other tools were called with it. Call it again when you have seen their results.";

/// Runs a model until there is an outcome; an output that was not obtained is one.
pub(super) async fn drive(settings: Settings, judge: &mut Judge<'_>) -> Result<ModelResult<()>> {
    let targets = entry::check(&settings)?;
    Drive::new(settings, targets).run(judge).await
}

struct Drive {
    settings: Settings,
    /// Who is asked now, and how.
    model: Arc<dyn Model>,
    plan: Plan,
    others: std::vec::IntoIter<entry::Target>,
    watch: Watch,
    ledger: Ledger,
    conversation: Conversation,
    /// The name of the answer tool, whether or not the model at hand is asked by it.
    answer_tool: String,
    max_output_tokens: Option<u32>,
    /// What the model said last.
    said: String,
    /// The last answer that was not accepted.
    refused: Option<Refused>,
}

/// An answer that was not accepted.
struct Refused {
    error: ExtractError,
    last: Last,
}

/// The last answer, as far as the outcome holds it.
#[derive(Clone)]
struct Last {
    text: String,
    stop: ModelStop,
    served_by: ServedBy,
}

impl Drive {
    fn new(settings: Settings, targets: Targets) -> Self {
        let Targets { first: (model, plan), others } = targets;
        let tag = settings.spec.as_ref().map_or("", |spec| spec.tag());
        let names = settings.tools.iter().map(|tool| tool.spec.name.as_str());
        let mut conversation = Conversation::default();
        for message in settings.messages.iter().cloned().chain(settings.prompt.clone().map(Message::user)) {
            conversation.push(model.provider(), message);
        }
        Self {
            watch: Watch::new(settings.cancel.clone(), settings.total_timeout),
            ledger: Ledger::new(settings.callback.clone(), settings.budget, settings.max_iterations),
            answer_tool: plan::answer_tool_name(tag, names),
            max_output_tokens: settings.max_output_tokens,
            said: String::new(),
            refused: None,
            conversation,
            others,
            model,
            plan,
            settings,
        }
    }

    async fn run(mut self, judge: &mut Judge<'_>) -> Result<ModelResult<()>> {
        self.ledger.tell(&ModelRunEvent::Started { name: self.settings.name() });
        self.tell_choice();
        loop {
            if let Some(limit) = self.ledger.limit() {
                return self.stopped(limit, judge);
            }
            self.ledger.calls += 1;
            let answer = match self.call().await {
                Ok(answer) => answer,
                Err(broken) => return self.broken(broken, judge),
            };
            self.said.clone_from(&answer.text);
            if self.wants_tools(&answer) {
                if let Err(cut_off) = self.use_tools(answer).await {
                    return Err(self.cut_off(cut_off));
                }
            } else if let Some(ended) = self.take(answer, judge) {
                return Ok(ended);
            }
        }
    }

    /// Calls whoever is asked now, and those after it while they fail on the way.
    async fn call(&mut self) -> Result<ModelAnswer, Broken> {
        loop {
            let reader = Reader { provider: self.model.provider(), answer_tool: self.plan.answer_tool() };
            let messages = self.conversation.put_to(reader, &self.answer_tool);
            let request = self.plan.request(messages, &self.settings, self.max_output_tokens);
            let caller = Caller { watch: &self.watch, retries: self.settings.transport_retries };
            let called = caller.call(&*self.model, &request, self.plan.answer_tool(), &mut self.ledger).await;
            match called {
                Err(Broken::Failed(failure)) if failure.kind == FailureKind::Transport => {
                    self.go_on_to_another(failure)?;
                }
                called => return called,
            }
        }
    }

    /// Takes the next model that can be asked as it was wanted.
    fn go_on_to_another(&mut self, failure: ModelFailure) -> Result<(), Broken> {
        let failed = ServedBy::of(&*self.model);
        for entry::Target { model, plan } in self.others.by_ref() {
            let served_by = ServedBy::of(&*model);
            let plan = match plan {
                Ok(plan) => plan,
                Err(reason) => {
                    self.ledger.warnings.push(format!("left out {served_by}: failed to {reason}"));
                    self.ledger.tell(&ModelRunEvent::ModelSkipped { served_by, reason });
                    continue;
                }
            };
            if let Some(limit) = self.ledger.spent() {
                return Err(Broken::Spent(limit));
            }
            (self.model, self.plan) = (model, plan);
            self.ledger.warn(format!("{failed} failed: {failure}; {served_by} was asked instead"));
            self.tell_choice();
            return Ok(());
        }
        Err(Broken::Failed(failure))
    }

    fn tell_choice(&self) {
        if let Some(choice) = self.plan.choice().cloned() {
            let served_by = ServedBy::of(&*self.model);
            self.ledger.tell(&ModelRunEvent::StrategyChosen { served_by, choice });
        }
    }

    /// Tells whether an answer is one only when other tools have come back.
    fn wants_tools(&self, answer: &ModelAnswer) -> bool {
        let is_whole = matches!(answer.stop, ModelStop::Complete | ModelStop::Other(_));
        is_whole
            && self.plan.has_tools()
            && answer.calls.iter().any(|call| Some(&*call.name) != self.plan.answer_tool())
    }

    async fn use_tools(&mut self, answer: ModelAnswer) -> Result<(), CutOff> {
        let provider = self.model.provider().to_owned();
        let ModelAnswer { text, calls, replay, .. } = answer;
        let said = Message::Assistant { text, calls: calls.clone(), replay };
        self.conversation.push(&provider, said);
        for call in &calls {
            let result = self.use_tool(call).await?;
            self.conversation.push(&provider, result);
        }
        Ok(())
    }

    async fn use_tool(&self, call: &ToolCall) -> Result<Message, CutOff> {
        if Some(&*call.name) == self.plan.answer_tool() {
            return Ok(tools::result(call, NOT_YET.to_owned(), Came::Failed));
        }
        self.ledger.tell(&ModelRunEvent::ToolCalled { call: call.clone() });
        let result = self.watch.over(tools::answer(&self.settings.tools, call)).await?;
        if let Message::ToolResult { name, is_error, .. } = &result {
            self.ledger.tell(&ModelRunEvent::ToolReturned { name: name.clone(), is_error: *is_error });
        }
        Ok(result)
    }

    /// Judges an answer; `None` if it is to be corrected.
    fn take(&mut self, answer: ModelAnswer, judge: &mut Judge<'_>) -> Option<ModelResult<()>> {
        let last = self.last(&answer);
        if let ModelStop::Other(how) = &answer.stop {
            let how = how.escape_debug().take(200).collect::<String>();
            self.ledger.warn(format!("the answer ended in a way that is not known: `{how}`"));
        }
        let (Some(output), Some(spec)) = (&self.plan.output, &self.settings.spec) else {
            return Some(self.answered(answer, last));
        };
        match verdict::on(&answer, &self.plan, output, spec, judge) {
            Ok(()) => {
                let by = output.guarantee();
                self.ledger.accepted(output.choice.strategy, last.served_by.clone(), by);
                self.say_last(answer);
                Some(self.finish(last, Some(by), None))
            }
            Err(error) => self.refuse(answer, Refused { error, last }, judge),
        }
    }

    /// Ends a run that asks for no output.
    fn answered(&mut self, answer: ModelAnswer, last: Last) -> ModelResult<()> {
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

    /// Has an answer corrected, if that may be tried; otherwise it is the last one.
    fn refuse(
        &mut self,
        answer: ModelAnswer,
        refused: Refused,
        judge: &mut Judge<'_>,
    ) -> Option<ModelResult<()>> {
        let (number, retries) = (self.ledger.next_attempt(), self.settings.retries());
        let correctable = !matches!(refused.error.stage(), Stage::Refused | Stage::Filtered);
        let limit = self.ledger.limit().filter(|_| correctable && number <= retries);
        let output = self.plan.output.as_ref()?;
        let (strategy, form) = (output.choice.strategy, output.form());
        let served_by = refused.last.served_by.clone();
        if !correctable || number > retries || limit.is_some() {
            self.ledger.refused(strategy, served_by, &refused.error, None);
            self.say_last(answer);
            let why = limit.map(|limit| limit.error(&self.settings.name()));
            return Some(self.descend(refused, why.as_ref(), judge));
        }
        let correction = refused.error.output_check(form, number, retries + 1);
        let left = retries - number + 1;
        self.ledger.refused(strategy, served_by, &refused.error, Some((correction.clone(), left)));
        if refused.error.stage() == Stage::Truncated {
            self.max_output_tokens = self.max_output_tokens.map(|cap| cap.saturating_mul(2));
        }
        self.conversation.correct(self.corrected(answer, &refused.last, correction));
        self.refused = Some(refused);
        None
    }

    fn corrected(&self, answer: ModelAnswer, last: &Last, correction: String) -> Corrected {
        let ModelAnswer { text, mut calls, replay, .. } = answer;
        // Calls of other tools are there only where the answer was cut off, and are as useless as that.
        let replay = replay.filter(|_| calls.iter().all(|call| self.plan.answer_tool() == Some(&*call.name)));
        calls.retain(|call| self.plan.answer_tool() == Some(&*call.name));
        Corrected {
            provider: self.model.provider().to_owned(),
            text: last.text.clone(),
            beside: text,
            calls,
            replay,
            correction,
        }
    }

    /// Goes down to what is given when no answer is valid.
    fn descend(&mut self, refused: Refused, why: Option<&Error>, judge: &mut Judge<'_>) -> ModelResult<()> {
        let Refused { error, last } = refused;
        let Some(spec) = self.settings.spec.clone() else { return self.finish(last, None, None) };
        let descent = spec.ladder().descend(&error, spec.format(), &mut |block| judge(block));
        for failed in descent.failed {
            self.ledger.warn(format!("{failed}, so it was not used"));
        }
        let message = error.to_string();
        let (event, by) = match descent.reached {
            Some(Rung::Fallback) => (ModelRunEvent::FallbackUsed { message }, AnswerGuarantee::Fallback),
            Some(Rung::Canned) => (ModelRunEvent::CannedUsed { message }, AnswerGuarantee::Canned),
            None => {
                let unmet = outcome::unmet(error, &last.text, why, &self.ledger);
                return self.finish(last, None, Some(unmet));
            }
        };
        self.ledger.tell(&event);
        self.ledger
            .warnings
            .push(format!("no answer was valid, and a value was taken in its place: {error}"));
        self.finish(last, Some(by), None)
    }

    /// Ends a run that may not call once more.
    fn stopped(&mut self, limit: Limit, judge: &mut Judge<'_>) -> Result<ModelResult<()>> {
        let why = limit.error(&self.settings.name());
        match self.refused.take() {
            Some(refused) => Ok(self.descend(refused, Some(&why), judge)),
            None => Err(why.with_work(self.ledger.work(&self.said))),
        }
    }

    /// Ends a run that got no answer.
    fn broken(&mut self, broken: Broken, judge: &mut Judge<'_>) -> Result<ModelResult<()>> {
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

    fn cut_off(&mut self, cut_off: CutOff) -> Error {
        let error = self.watch.error(cut_off, &self.settings.name());
        match self.refused.take() {
            Some(Refused { error: refused, last }) => {
                outcome::with_last_answer(error, refused, &last.text, &self.ledger)
            }
            None => error.with_work(self.ledger.work(&self.said)),
        }
    }

    fn last(&self, answer: &ModelAnswer) -> Last {
        let mut served_by = ServedBy::of(&*self.model);
        if let Some(model) = &answer.served_by {
            served_by.model.clone_from(model);
        }
        let text = verdict::raw(answer, &self.plan).to_owned();
        Last { text, stop: answer.stop.clone(), served_by }
    }

    /// Ends the conversation with an answer; one that came by the answer tool stands in it as text.
    fn say_last(&mut self, answer: ModelAnswer) {
        let provider = self.model.provider().to_owned();
        let text = verdict::raw(&answer, &self.plan).to_owned();
        let replay = answer.replay.filter(|_| answer.calls.is_empty());
        self.conversation.push(&provider, Message::Assistant { text, calls: Vec::new(), replay });
    }

    fn finish(
        &mut self,
        last: Last,
        answer_guarantee: Option<AnswerGuarantee>,
        unmet: Option<Error>,
    ) -> ModelResult<()> {
        if self.ledger.audience.has_panicked() {
            self.ledger.warnings.push("the function that is told events panicked".to_owned());
        }
        self.ledger.tell(&ModelRunEvent::Finished { usage: self.ledger.usage });
        ModelResult {
            output: (),
            text: last.text,
            unmet,
            stop: last.stop,
            attempts: std::mem::take(&mut self.ledger.attempts),
            answer_guarantee,
            strategy: self.plan.choice().cloned(),
            iterations: self.ledger.calls,
            usage: self.ledger.usage,
            messages: std::mem::take(&mut self.conversation).into_messages(&self.answer_tool),
            served_by: last.served_by,
            warnings: std::mem::take(&mut self.ledger.warnings),
        }
    }
}
