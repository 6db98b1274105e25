//! What a caller asks of a model. Nothing is checked here, except a value that is put by; see `entry`.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::event::{Callback, ModelRunEvent};
use super::output::TypedOutput;
use super::tools::Tool;
use crate::budget::Budget;
use crate::cancellation::Cancellation;
use crate::error::Result;
use crate::model::{Message, Model, ToolSpec};
use crate::output::{AgentOutput, AnswerForm, ExtractError, OutputSpec};
use crate::run::NoOutput;
use crate::strategy::OutputStrategy;

/// How often a model may be called unless it is said otherwise.
const DEFAULT_ITERATIONS: u32 = 20;
/// How often a call is made again unless it is said otherwise.
const DEFAULT_TRANSPORT_RETRIES: u32 = 3;

/// Says what to ask a model behind a service, and what its answer must be.
///
/// `O` is the output that the run is to give: [`ModelRun::output`] and [`ModelRun::output_spec`] set it. Awaiting the options
/// runs them: as [`run_typed`](Self::run_typed) where there is an output, and as [`run`](Self::run) where there is none.
///
/// | option | default |
/// |---|---|
/// | [`strategy`](Self::strategy) | [`OutputStrategy::Auto`] |
/// | [`max_retries`](Self::max_retries) | that of the output, which is 0 unless it says otherwise |
/// | [`max_iterations`](Self::max_iterations) | 20 calls of the model |
/// | [`transport_retries`](Self::transport_retries) | 3 for each call |
/// | [`max_cost`](Self::max_cost), [`max_tokens`](Self::max_tokens) | no limit |
/// | [`max_output_tokens`](Self::max_output_tokens), [`temperature`](Self::temperature) | the service's own |
/// | [`total_timeout`](Self::total_timeout) | none |
///
/// # Examples
/// ```
/// # use sandcastle_core as sandcastle;
/// use sandcastle::testing::ScriptedModel;
/// use sandcastle::{ModelRun, OutputSpec};
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> sandcastle::Result<()> {
/// let model = ScriptedModel::new().answer("<sum>{\"value\": \"4\"}</sum>").answer("<sum>{\"value\": 4}</sum>");
/// let schema = json!({ "type": "object", "properties": { "value": { "type": "integer" } }, "required": ["value"] });
/// let result = ModelRun::new(model)
///     .system("You are a calculator.")
///     .prompt("What is 2 + 2?")
///     .output_spec(OutputSpec::json("sum", schema)?)
///     .max_retries(1)
///     .await?;
/// assert_eq!(result.output["value"], 4);
/// assert_eq!(result.attempts.len(), 2);
/// # Ok(()) }
/// ```
#[must_use = "options do nothing until they are run"]
pub struct ModelRun<O = NoOutput> {
    pub(super) settings: Settings,
    output: PhantomData<fn() -> O>,
}

/// Words what a model is told of an answer that was not accepted, in the form that it was asked for, as the attempt of this
/// number, of so many.
type Correction = Arc<dyn Fn(&ExtractError, AnswerForm, u32, u32) -> String + Send + Sync>;

/// The options without the type of the output.
#[derive(Clone)]
pub(super) struct Settings {
    pub(super) model: Arc<dyn Model>,
    pub(super) alternates: Vec<Arc<dyn Model>>,
    name: Option<String>,
    pub(super) system: Option<String>,
    pub(super) prompt: Option<String>,
    pub(super) messages: Vec<Message>,
    pub(super) spec: Option<OutputSpec>,
    pub(super) instruction: Option<String>,
    /// What words a correction in the place of the generated words.
    pub(super) correction: Option<Correction>,
    pub(super) strategy: OutputStrategy,
    /// `None` is as often as the output says.
    pub(super) retries: Option<u32>,
    pub(super) max_iterations: u32,
    pub(super) budget: Budget,
    pub(super) max_output_tokens: Option<u32>,
    pub(super) temperature: Option<f32>,
    pub(super) tools: Vec<Tool>,
    pub(super) callback: Callback,
    pub(super) cancel: Cancellation,
    pub(super) total_timeout: Option<Duration>,
    pub(super) transport_retries: u32,
}

impl Settings {
    /// Returns what the run is called in events and messages.
    pub(super) fn name(&self) -> String {
        let tag = self.spec.as_ref().map(|spec| spec.tag().to_owned());
        self.name.clone().or(tag).unwrap_or_else(|| self.model.name().to_owned())
    }

    pub(super) fn retries(&self) -> u32 {
        self.retries.or_else(|| Some(self.spec.as_ref()?.retries())).unwrap_or(0)
    }
}

impl ModelRun {
    /// Starts with a model.
    pub fn new(model: impl Model) -> Self {
        Self::shared(Arc::new(model))
    }

    /// Starts with a model that others use too.
    pub fn shared(model: Arc<dyn Model>) -> Self {
        let settings = Settings {
            model,
            alternates: Vec::new(),
            name: None,
            system: None,
            prompt: None,
            messages: Vec::new(),
            spec: None,
            instruction: None,
            correction: None,
            strategy: OutputStrategy::Auto,
            retries: None,
            max_iterations: DEFAULT_ITERATIONS,
            budget: Budget::default(),
            max_output_tokens: None,
            temperature: None,
            tools: Vec::new(),
            callback: Callback::default(),
            cancel: Cancellation::new(),
            total_timeout: None,
            transport_retries: DEFAULT_TRANSPORT_RETRIES,
        };
        Self { settings, output: PhantomData }
    }

    /// Asks for a `T`.
    pub fn output<T: AgentOutput>(self) -> ModelRun<T> {
        self.asking_for(OutputSpec::of::<T>())
    }

    /// Asks for a value that is described at run time, with what the description says of retries, a fallback and a value
    /// that is put by.
    pub fn output_spec(self, spec: OutputSpec) -> ModelRun<Value> {
        self.asking_for(spec)
    }

    fn asking_for<O>(mut self, spec: OutputSpec) -> ModelRun<O> {
        self.settings.spec = Some(spec);
        ModelRun { settings: self.settings, output: PhantomData }
    }
}

/// How it is asked, and what is made of the answers.
impl<O> ModelRun<O> {
    /// Sets what the model is told about its part, outside of the conversation. Words about the output are added to it.
    pub fn system(self, text: impl Into<String>) -> Self {
        self.with(|settings| settings.system = Some(text.into()))
    }

    /// Sets what is said last, after the [messages](Self::messages) if there are any.
    pub fn prompt(self, text: impl Into<String>) -> Self {
        self.with(|settings| settings.prompt = Some(text.into()))
    }

    /// Sets a conversation to go on with, such as [`ModelResult::messages`](crate::ModelResult::messages).
    pub fn messages(self, messages: impl IntoIterator<Item = Message>) -> Self {
        self.with(|settings| settings.messages = messages.into_iter().collect())
    }

    /// Names the run in events and messages; the default is the tag of the output, or the name of the model.
    pub fn name(self, name: impl Into<String>) -> Self {
        self.with(|settings| settings.name = Some(name.into()))
    }

    /// Sets how often the model may be called in all: first answers, corrections and turns of tools together. Calls that are
    /// made again because the service failed count once. The default is 20.
    pub fn max_iterations(self, calls: u32) -> Self {
        self.with(|settings| settings.max_iterations = calls)
    }

    /// Sets how much money may be spent, in US dollars; checked before each call, and never in the middle of one.
    ///
    /// The run is refused unless it is known of every model what it costs.
    pub fn max_cost(self, dollars: f64) -> Self {
        self.with(|settings| settings.budget.max_cost = Some(dollars))
    }

    /// Sets how many tokens of every kind may be used; checked before each call, and never in the middle of one.
    pub fn max_tokens(self, tokens: u64) -> Self {
        self.with(|settings| settings.budget.max_tokens = Some(tokens))
    }

    /// Sets the most tokens of one answer; after an answer that was cut off, the next one may have twice as many.
    pub fn max_output_tokens(self, tokens: u32) -> Self {
        self.with(|settings| settings.max_output_tokens = Some(tokens))
    }

    /// Sets how free the choice of words is, in the service's own scale.
    pub fn temperature(self, temperature: f32) -> Self {
        self.with(|settings| settings.temperature = Some(temperature))
    }

    /// Adds a tool that the model may call before it answers.
    ///
    /// The handler gets the arguments, which are JSON and otherwise whatever the model wrote, and returns what the model is
    /// told. An error, or a panic, is told to the model and ends nothing. The calls of one answer are handled one after the
    /// other; when the run is dropped or cut off, the handler's future is dropped.
    ///
    /// # Examples
    /// ```
    /// # use sandcastle_core as sandcastle;
    /// use sandcastle::model::ToolSpec;
    /// use sandcastle::{ModelRun, testing::ScriptedModel};
    /// use serde_json::json;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> sandcastle::Result<()> {
    /// let model = ScriptedModel::new().call("weather", json!({ "city": "Oslo" })).answer("Take a coat.");
    /// let schema = json!({ "type": "object", "properties": { "city": { "type": "string" } }, "required": ["city"] });
    /// let result = ModelRun::new(model)
    ///     .prompt("What shall I wear in Oslo?")
    ///     .tool(ToolSpec::new("weather", "Tells the weather.", schema), async |arguments| {
    ///         let city = arguments["city"].as_str().ok_or("`city` is missing")?;
    ///         Ok(format!("It snows in {city}."))
    ///     })
    ///     .await?;
    /// assert_eq!(result.text, "Take a coat.");
    /// # Ok(()) }
    /// ```
    pub fn tool<F, R>(self, tool: ToolSpec, handler: F) -> Self
    where
        F: Fn(Value) -> R + Send + Sync + 'static,
        R: Future<Output = Result<String, String>> + Send + 'static,
    {
        self.with(|settings| settings.tools.push(Tool::new(tool, handler)))
    }

    /// Adds a model that is asked when the one before it cannot be reached, after that one's own retries.
    ///
    /// How the schema reaches it is decided anew. If it cannot be asked by a strategy that was named, it is left out, and never
    /// sent a weaker request.
    pub fn alternate(self, model: impl Model) -> Self {
        self.alternate_shared(Arc::new(model))
    }

    /// As [`alternate`](Self::alternate), with a model that others use too.
    pub fn alternate_shared(self, model: Arc<dyn Model>) -> Self {
        self.with(|settings| settings.alternates.push(model))
    }

    /// Sets how often one call is made again when the service cannot be reached, is overloaded or limits the rate. The pauses
    /// grow from half a second to a minute, and are as long as the service asks for; one that asks for more than a minute is
    /// given up. The default is 3.
    pub fn transport_retries(self, retries: u32) -> Self {
        self.with(|settings| settings.transport_retries = retries)
    }

    /// Sets a function that is told what happens. It is called in the run, so it should be quick; if it panics it is told
    /// no more, and the result has a warning.
    pub fn on_event(self, function: impl Fn(&ModelRunEvent) + Send + Sync + 'static) -> Self {
        self.with(|settings| settings.callback = Callback::new(function))
    }

    /// Sets what ends the run when it is cancelled: a token, or a [`Cancellation`] that says why.
    pub fn cancel(self, cancel: impl Into<Cancellation>) -> Self {
        self.with(|settings| settings.cancel = cancel.into())
    }

    /// Sets how long the whole run may take.
    pub fn total_timeout(self, limit: Duration) -> Self {
        self.with(|settings| settings.total_timeout = Some(limit))
    }

    /// Sets how the schema reaches the model; the default is [`OutputStrategy::Auto`]. One that is named is never replaced: a
    /// model that cannot be asked so is refused by name, before anything is sent.
    pub fn strategy(self, strategy: OutputStrategy) -> Self {
        self.with(|settings| settings.strategy = strategy)
    }

    /// Sets how often an answer that is not valid is corrected, 10 times at most; the default is what the output says.
    ///
    /// A correction is a turn of its own: it is a call of the model, with its usage and its cost.
    pub fn max_retries(self, retries: u32) -> Self {
        self.with(|settings| settings.retries = Some(retries))
    }

    /// Sets the words about the output, which are added to the system text in the place of the generated ones, whatever the
    /// strategy is. With a tag they have to name it.
    pub fn instruction(self, text: impl Into<String>) -> Self {
        self.with(|settings| settings.instruction = Some(text.into()))
    }

    /// Sets what words a correction. It is called when there is one, and at no other time.
    #[cfg(feature = "workflow")]
    pub(crate) fn correction(
        self,
        word: impl Fn(&ExtractError, AnswerForm, u32, u32) -> String + Send + Sync + 'static,
    ) -> Self {
        self.with(|settings| settings.correction = Some(Arc::new(word)))
    }

    /// Sets what makes a value of an answer that is not valid, as [`OutputSpec::fallback`].
    pub fn fallback<F>(self, fallback: F) -> Self
    where
        O: TypedOutput,
        F: Fn(&ExtractError) -> Result<Value, String> + Send + Sync + 'static,
    {
        self.with(|settings| settings.spec = settings.spec.take().map(|spec| spec.fallback(fallback)))
    }

    /// Puts a value by that is given when no answer is valid, as [`OutputSpec::canned`].
    ///
    /// # Errors
    /// [`ErrorKind::InvalidOutput`](crate::ErrorKind::InvalidOutput) if it is not valid itself.
    pub fn canned(mut self, value: impl Into<Value>) -> Result<Self>
    where
        O: TypedOutput,
    {
        self.settings.spec = self.settings.spec.map(|spec| spec.canned(value)).transpose()?;
        Ok(self)
    }

    fn with(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(&mut self.settings);
        self
    }
}

impl<O> Clone for ModelRun<O> {
    fn clone(&self) -> Self {
        Self { settings: self.settings.clone(), output: PhantomData }
    }
}

impl<O> fmt::Debug for ModelRun<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelRun")
            .field("model", &self.settings.model)
            .field("alternates", &self.settings.alternates)
            .field("strategy", &self.settings.strategy)
            .field("output", &self.settings.spec)
            .finish_non_exhaustive()
    }
}
