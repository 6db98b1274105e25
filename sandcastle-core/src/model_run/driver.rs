//! The way of a model run: call, tools, verdict, correction, until there is an outcome.
//!
//! Limits are asked before each call and never in the middle of one. An answer that is not accepted is kept until there is a
//! better one: whatever keeps the run from getting that one, the caller is told of both.

use std::sync::Arc;

use tracing::Instrument as _;

use super::call::{Broken, Caller};
use super::conversation::{Conversation, Corrected, Reader};
use super::entry::{self, Targets};
use super::event::{ModelRunEvent, ServedBy};
use super::ledger::Ledger;
use super::options::Settings;
use super::outcome::ModelResult;
use super::plan::{self, Plan};
use super::tools::{self, Came};
use super::trace;
use super::verdict::{self, Judge};
use super::watch::{CutOff, Watch};
use crate::error::Result;
use crate::event::FailureKind;
use crate::model::{Message, Model, ModelAnswer, ModelFailure, ModelStop, ToolCall};
use crate::output::ExtractError;
use crate::strategy::StrategyChoice;

/// What the model is told of an answer that it gave while it was calling other tools.
const NOT_YET: &str =
    "Not taken, because other tools were called with it. Call it again when you have seen their results.";

/// Runs a model until there is an outcome; an output that was not obtained is one.
pub(super) async fn drive(settings: Settings, judge: &mut Judge<'_>) -> Result<ModelResult<()>> {
    let cancel = settings.cancel.clone();
    let targets = entry::check(&settings).map_err(|error| cancel.explain(error))?;
    let span = trace::run(&settings.name());
    let ended = Drive::new(settings, targets).run(judge).instrument(span).await;
    ended.map_err(|error| cancel.explain(error))
}

pub(super) struct Drive {
    pub(super) settings: Settings,
    /// Who is asked now, and how.
    pub(super) model: Arc<dyn Model>,
    pub(super) plan: Plan,
    others: std::vec::IntoIter<entry::Target>,
    pub(super) watch: Watch,
    pub(super) ledger: Ledger,
    pub(super) conversation: Conversation,
    /// The name of the answer tool, whether or not the model at hand is asked by it.
    pub(super) answer_tool: String,
    max_output_tokens: Option<u32>,
    /// What the model said last.
    pub(super) said: String,
    /// The last answer that was not accepted.
    pub(super) refused: Option<Refused>,
}

/// An answer that was not accepted.
pub(super) struct Refused {
    pub(super) error: ExtractError,
    pub(super) last: Last,
}

/// The last answer, as far as the outcome holds it.
pub(super) struct Last {
    pub(super) text: String,
    /// How it was asked for; `None` when no output was.
    pub(super) choice: Option<StrategyChoice>,
    pub(super) stop: ModelStop,
    pub(super) served_by: ServedBy,
}

impl Drive {
    fn new(settings: Settings, targets: Targets) -> Self {
        let Targets { first: (model, plan), others } = targets;
        let tag = settings.spec.as_ref().map_or("", |spec| spec.tag());
        let mut conversation = Conversation::default();
        for message in settings.messages.iter().cloned().chain(settings.prompt.clone().map(Message::user)) {
            conversation.push(model.provider(), message);
        }
        Self {
            watch: Watch::new(settings.cancel.token().clone(), settings.total_timeout),
            ledger: Ledger::new(settings.callback.clone(), settings.budget, settings.max_iterations),
            answer_tool: plan::answer_tool_name(tag, &settings.tools),
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
        let ended = self.go(judge).await;
        self.ledger.tell(&ModelRunEvent::Finished { usage: self.ledger.usage });
        ended
    }

    async fn go(&mut self, judge: &mut Judge<'_>) -> Result<ModelResult<()>> {
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

    /// Tells whether an answer is one only when other tools have come back. A call of the answer tool is no reason to go on,
    /// not even by a model that was told of none.
    fn wants_tools(&self, answer: &ModelAnswer) -> bool {
        let is_whole = matches!(answer.stop, ModelStop::Complete | ModelStop::Other(_));
        is_whole && self.plan.has_own_tools() && answer.calls.iter().any(|call| call.name != self.answer_tool)
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
        if call.name == self.answer_tool {
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
        if let Some(how) = answer.stop.unknown() {
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

    /// Has an answer corrected, if that may be tried; otherwise it is the last one.
    fn refuse(
        &mut self,
        answer: ModelAnswer,
        refused: Refused,
        judge: &mut Judge<'_>,
    ) -> Option<ModelResult<()>> {
        let (number, retries) = (self.ledger.next_attempt(), self.settings.retries());
        let may_be_corrected = number <= retries && refused.error.stage().may_be_corrected();
        let limit = self.ledger.limit().filter(|_| may_be_corrected);
        let output = self.plan.output.as_ref()?;
        let (strategy, served_by) = (output.choice.strategy, refused.last.served_by.clone());
        if !may_be_corrected || limit.is_some() {
            self.ledger.refused(strategy, served_by, &refused.error, None);
            let why = limit.map(|limit| limit.error(&self.settings.name()));
            return Some(self.descend(refused, why.as_ref(), judge));
        }
        let correction = match &self.settings.correction {
            Some(word) => word(&refused.error, output.form(), number, retries + 1),
            None => {
                let spec = self.settings.spec.as_ref();
                let block = spec.and_then(|spec| spec.block_for(&refused.error, output.form()));
                refused.error.output_check(output.form(), number, retries + 1, block.as_deref())
            }
        };
        let told = Some((correction.clone(), retries + 1 - number));
        self.ledger.refused(strategy, served_by, &refused.error, told);
        self.correct(answer, refused, correction);
        None
    }

    fn correct(&mut self, answer: ModelAnswer, refused: Refused, correction: String) {
        if refused.last.stop == ModelStop::OutputLimit {
            self.max_output_tokens = self.max_output_tokens.map(|cap| cap.saturating_mul(2));
        }
        let corrected = self.corrected(answer, &refused.last, correction);
        self.conversation.correct(corrected);
        self.refused = Some(refused);
    }

    fn corrected(&self, answer: ModelAnswer, last: &Last, correction: String) -> Corrected {
        let ModelAnswer { text, mut calls, replay, .. } = answer;
        // Calls of other tools are there only where the answer was cut off, and are as useless as that.
        let replay = replay.filter(|_| calls.iter().all(|call| self.plan.answer_tool() == Some(&*call.name)));
        calls.retain(|call| self.plan.answer_tool() == Some(&*call.name));
        let provider = self.model.provider().to_owned();
        // Where the conversation fills all that the model can see, there is no room for the answer in it.
        let (text, beside, calls) = match last.stop {
            ModelStop::ContextLimit => (String::new(), String::new(), Vec::new()),
            _ => (last.text.clone(), text, calls),
        };
        Corrected { provider, text, beside, calls, replay, correction }
    }

    fn last(&self, answer: &ModelAnswer) -> Last {
        let mut served_by = ServedBy::of(&*self.model);
        if let Some(model) = &answer.served_by {
            served_by.model.clone_from(model);
        }
        let text = verdict::raw(answer, &self.plan).to_owned();
        Last { text, choice: self.plan.choice().cloned(), stop: answer.stop.clone(), served_by }
    }
}
