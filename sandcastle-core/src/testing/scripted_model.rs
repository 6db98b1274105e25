//! A model that says what it is told to: for tests of programs that ask models, without a service.

use std::collections::VecDeque;
use std::future::pending;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use crate::event::FailureKind;
use crate::model::{
    Model, ModelAnswer, ModelFailure, ModelFuture, ModelListener, ModelPiece, ModelRequest, ModelStop,
    OwnTools, Price, ToolCall,
};
use crate::output::lower::Dialect;
use crate::strategy::{SchemaSupport, Support};

/// A [`Model`] that plays a script, and keeps what it was asked.
///
/// One entry of the script answers one call; when there is none left, calls fail. It declares nothing unless it is told to, so
/// that an output is asked for in words. Clones share the script and the requests.
///
/// # Examples
/// ```
/// # use sandcastle_core as sandcastle;
/// use sandcastle::testing::ScriptedModel;
/// use sandcastle::{ModelRun, OutputSpec};
/// use sandcastle::output::lower::Dialect;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> sandcastle::Result<()> {
/// let model = ScriptedModel::new().native(Dialect::LlamaCpp).answer(r#"{"n": 3}"#);
/// let schema = serde_json::json!({ "type": "object", "properties": { "n": { "type": "integer" } } });
/// let run = ModelRun::new(model.clone()).prompt("Count.").output_spec(OutputSpec::json("count", schema)?);
/// assert_eq!(run.await?.output["n"], 3);
/// assert!(model.requests()[0].schema.is_some());
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
#[must_use = "a model does nothing until it is asked"]
pub struct ScriptedModel {
    provider: String,
    name: String,
    dialect: Option<Dialect>,
    native: Option<Support>,
    forced_tool: Option<Support>,
    price: Option<Price>,
    played: Arc<Mutex<Played>>,
}

#[derive(Debug, Default)]
struct Played {
    script: VecDeque<Entry>,
    requests: Vec<ModelRequest>,
}

#[derive(Debug)]
enum Entry {
    Answer(ModelAnswer),
    Failure(ModelFailure),
    Hang,
}

impl Default for ScriptedModel {
    fn default() -> Self {
        Self::new()
    }
}

impl ScriptedModel {
    /// Starts with an empty script, as the model `model` of `scripted`.
    pub fn new() -> Self {
        Self {
            provider: "scripted".to_owned(),
            name: "model".to_owned(),
            dialect: None,
            native: None,
            forced_tool: None,
            price: None,
            played: Arc::default(),
        }
    }

    /// Sets the names of the service and the model.
    pub fn named(mut self, provider: impl Into<String>, model: impl Into<String>) -> Self {
        (self.provider, self.name) = (provider.into(), model.into());
        self
    }

    /// Declares a structured output of the service's own, in a dialect.
    pub fn native(mut self, dialect: Dialect) -> Self {
        (self.dialect, self.native) = (Some(dialect), Some(Support::Declared));
        self
    }

    /// Declares that it can be made to call a tool, whose schema is in a dialect.
    pub fn forced_tool(mut self, dialect: Dialect) -> Self {
        (self.dialect, self.forced_tool) = (Some(dialect), Some(Support::Declared));
        self
    }

    /// Sets what it costs.
    pub fn price(mut self, price: Price) -> Self {
        self.price = Some(price);
        self
    }

    /// Answers the next call with a text.
    pub fn answer(self, text: impl Into<String>) -> Self {
        self.reply(ModelAnswer { text: text.into(), ..ModelAnswer::default() })
    }

    /// Answers the next call with a text that ends in this way.
    pub fn answer_ending(self, text: impl Into<String>, stop: ModelStop) -> Self {
        self.reply(ModelAnswer { text: text.into(), stop, ..ModelAnswer::default() })
    }

    /// Answers the next call by calling a tool.
    pub fn call(self, tool: impl Into<String>, arguments: impl Into<Value>) -> Self {
        let call = ToolCall::new("", tool, arguments.into().to_string());
        self.reply(ModelAnswer { calls: vec![call], ..ModelAnswer::default() })
    }

    /// Answers the next call; calls of tools without an id are given one.
    pub fn reply(self, mut answer: ModelAnswer) -> Self {
        let turn = self.lock().script.len();
        for (index, call) in answer.calls.iter_mut().enumerate() {
            if call.id.is_empty() {
                call.id = format!("call-{turn}-{index}");
            }
        }
        self.lock().script.push_back(Entry::Answer(answer));
        self
    }

    /// Fails the next call.
    pub fn fail(self, failure: ModelFailure) -> Self {
        self.lock().script.push_back(Entry::Failure(failure));
        self
    }

    /// Never answers the next call.
    pub fn hang(self) -> Self {
        self.lock().script.push_back(Entry::Hang);
        self
    }

    /// Returns what it was asked so far.
    #[must_use]
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.lock().requests.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Played> {
        // Nothing in here can be left half done.
        self.played.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Model for ScriptedModel {
    fn provider(&self) -> &str {
        &self.provider
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn support(&self, _: OwnTools) -> SchemaSupport {
        let mut support = SchemaSupport::none(format!("the model `{}` of `{}`", self.name, self.provider));
        support.dialect = self.dialect;
        support.native = self.native.clone().unwrap_or(support.native);
        support.forced_tool = self.forced_tool.clone().unwrap_or(support.forced_tool);
        support
    }

    fn price(&self) -> Option<Price> {
        self.price
    }

    fn answer<'a>(
        &'a self,
        request: &'a ModelRequest,
        listener: &'a mut ModelListener<'a>,
    ) -> ModelFuture<'a> {
        Box::pin(async move {
            // Not held while anybody listens, who may look at the requests.
            let entry = {
                let mut played = self.lock();
                played.requests.push(request.clone());
                played.script.pop_front()
            };
            match entry {
                Some(Entry::Answer(answer)) => Ok(told(answer, listener)),
                Some(Entry::Failure(failure)) => Err(failure),
                Some(Entry::Hang) => pending().await,
                None => {
                    let message = "the script of the model has no further answer";
                    Err(ModelFailure::new(FailureKind::Other, message))
                }
            }
        })
    }
}

/// Tells an answer in pieces, as if it arrived.
fn told(answer: ModelAnswer, listener: &mut ModelListener<'_>) -> ModelAnswer {
    for call in &answer.calls {
        listener(ModelPiece::ToolCall { name: call.name.clone() });
    }
    if !answer.text.is_empty() {
        listener(ModelPiece::Text { text: answer.text.clone() });
    }
    answer
}
