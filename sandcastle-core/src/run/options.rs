//! What a caller asks for. Nothing is checked here; see `entry`.

use std::fmt;
use std::future::IntoFuture;
use std::marker::PhantomData;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::event::{Callback, RunEvent};
use super::ground::{Ground, Lot};
use super::liveness::Liveness;
use super::logging::Logging;
use super::outcome::RunResult;
use super::output_mode::{NoOutput, RunFuture, RunOutput, run};
use super::site::{Site, site_setters};
use crate::agent::Agent;
use crate::budget::Budget;
use crate::config::{ConfigDir, Kept};
use crate::error::Result;
use crate::git::Repository;
use crate::id::CommitId;
use crate::output::ladder::Ladder;
use crate::output::{AgentOutput, ExtractError, OutputSpec};
use crate::prompt::PromptSource;
use crate::sandbox::SandboxProvider;
use crate::strategy::OutputStrategy;

/// The completion signal that is looked for unless another one is set.
pub(super) const DEFAULT_SIGNAL: &str = "<promise>COMPLETE</promise>";

/// Says what to run: an agent, a sandbox, a prompt, and everything that has a default.
///
/// `O` is the output that the run is to give; [`RunOptions::output`] sets it. Awaiting the options runs them.
///
/// | option | default |
/// |---|---|
/// | [`cwd`](Self::cwd) | the folder of this process |
/// | [`branch_strategy`](Self::branch_strategy) | [`BranchStrategy::head`](crate::BranchStrategy::head) |
/// | [`timeouts`](Self::timeouts) | [`Timeouts::default`](crate::Timeouts) |
/// | [`max_iterations`](Self::max_iterations) | 1 |
/// | [`output_strategy`](Self::output_strategy) | [`OutputStrategy::Tag`] |
/// | [`completion_signal`](Self::completion_signal) | `<promise>COMPLETE</promise>` |
/// | [`idle_timeout`](Self::idle_timeout) | 600 s |
/// | [`liveness`](Self::liveness) | [`Liveness::Output`] |
/// | [`completion_timeout`](Self::completion_timeout) | 60 s |
/// | [`total_timeout`](Self::total_timeout) | none |
/// | [`max_cost`](Self::max_cost), [`max_tokens`](Self::max_tokens) | no limit |
/// | [`fallback`](Self::fallback), [`canned`](Self::canned) | none |
/// | [`logging`](Self::logging) | a file in `.sandcastle/logs/` of the repository |
#[must_use = "options do nothing until they are run"]
pub struct RunOptions<O = NoOutput> {
    pub(super) settings: Settings,
    output: PhantomData<fn() -> O>,
}

/// The options without the type of the output.
#[derive(Clone)]
pub(super) struct Settings {
    pub(super) agent: Arc<dyn Agent>,
    pub(super) sandbox: Arc<dyn SandboxProvider>,
    pub(super) prompts: Vec<PromptSource>,
    pub(super) prompt_args: Vec<(String, String)>,
    pub(super) site: Site,
    pub(super) ground: Ground,
    pub(super) max_iterations: u32,
    /// `None` is the default one.
    pub(super) completion_signals: Option<Vec<String>>,
    /// `None` is the default one; so with the next.
    pub(super) idle_timeout: Option<Duration>,
    pub(super) completion_timeout: Option<Duration>,
    pub(super) liveness: Liveness,
    pub(super) total_timeout: Option<Duration>,
    pub(super) budget: Budget,
    /// What stands in for an output of the type that is asked for.
    pub(super) ladder: Ladder,
    pub(super) logging: Option<Logging>,
    pub(super) on_event: Option<Callback>,
    pub(super) output_strategy: OutputStrategy,
    pub(super) resume: Option<String>,
    pub(super) fork: Option<String>,
    pub(super) session_store: Option<PathBuf>,
    pub(super) cancel: CancellationToken,
}

impl Settings {
    /// Returns the folder that sessions are kept in beside the agent's home: the one that was named, or one in `.sandcastle/`
    /// where that home goes with the sandbox.
    pub(super) fn session_store(&self, repository: &Repository) -> Option<PathBuf> {
        let stays = || self.sandbox.home().is_some();
        match &self.session_store {
            Some(named) => Some(named.clone()),
            None if stays() => None,
            // Where it cannot be made, sessions are not captured, which is told.
            None => Some(
                ConfigDir::of(repository)
                    .make(Kept::Sessions)
                    .unwrap_or_else(|_| ConfigDir::of(repository).place_of(Kept::Sessions)),
            ),
        }
    }

    /// Returns the texts that end the run.
    pub(super) fn signals(&self) -> Vec<String> {
        self.completion_signals.clone().unwrap_or_else(|| vec![DEFAULT_SIGNAL.to_owned()])
    }
}

impl RunOptions {
    /// Starts with an agent and a place for it to run.
    pub fn new(agent: impl Agent, sandbox: impl SandboxProvider) -> Self {
        Self::shared(Arc::new(agent), Arc::new(sandbox))
    }

    /// Starts with an agent and a provider that others use too.
    pub fn shared(agent: Arc<dyn Agent>, sandbox: Arc<dyn SandboxProvider>) -> Self {
        Self {
            settings: Settings {
                agent,
                sandbox,
                prompts: Vec::new(),
                prompt_args: Vec::new(),
                site: Site::default(),
                ground: Ground::Own,
                max_iterations: 1,
                completion_signals: None,
                idle_timeout: None,
                completion_timeout: None,
                liveness: Liveness::default(),
                total_timeout: None,
                budget: Budget::default(),
                ladder: Ladder::default(),
                logging: None,
                on_event: None,
                output_strategy: OutputStrategy::default(),
                resume: None,
                fork: None,
                session_store: None,
                cancel: CancellationToken::new(),
            },
            output: PhantomData,
        }
    }

    pub(super) fn from_settings(settings: Settings) -> Self {
        Self { settings, output: PhantomData }
    }

    /// Asks for an output of type `T`: the agent has to answer with a `<tag>` block that holds one.
    ///
    /// The prompt must contain the opening tag, unless the [strategy](Self::output_strategy) needs none;
    /// [`AgentOutput::prompt_snippet`] is made for that.
    pub fn output<T: AgentOutput>(self) -> RunOptions<T> {
        RunOptions { settings: self.settings, output: PhantomData }
    }
}

impl<T: AgentOutput> RunOptions<T> {
    /// Sets what makes a value when no valid output was obtained and no retry is left; what it returns is judged as an
    /// answer is, and given only if it is good.
    ///
    /// It is not asked when the run fails for another reason, is cancelled or runs out of time. A value that it gives is
    /// told as [`AnswerGuarantee::Fallback`](crate::AnswerGuarantee), with an event and a warning. It changes nothing for
    /// what the agent did: without a valid answer nothing is merged, the commits stay on the branch that
    /// [`RunResult::branch`](crate::RunResult) names, and a worktree with anything of value is kept. A panic of the function
    /// counts as no value.
    ///
    /// # Examples
    /// ```
    /// # use sandcastle_core as sandcastle;
    /// # use sandcastle::{Agent, SandboxProvider};
    /// # fn example<Review: sandcastle::AgentOutput>(agent: impl Agent, sandbox: impl SandboxProvider) -> sandcastle::Result<()> {
    /// use sandcastle::RunOptions;
    /// use serde_json::json;
    ///
    /// let options = RunOptions::new(agent, sandbox)
    ///     .output::<Review>()
    ///     .fallback(|error| error.value.clone().ok_or_else(|| "there was no JSON".to_owned()))
    ///     .canned(json!({ "verdict": "unknown" }))?;
    /// # let _ = options; Ok(()) }
    /// ```
    pub fn fallback(
        mut self,
        fallback: impl Fn(&ExtractError) -> Result<Value, String> + Send + Sync + 'static,
    ) -> Self {
        self.settings.ladder.set_fallback(fallback);
        self
    }

    /// Puts a value by that is given when no valid output was obtained, and [`fallback`](Self::fallback) has none either;
    /// otherwise as there. It is told as [`AnswerGuarantee::Canned`](crate::AnswerGuarantee).
    ///
    /// # Errors
    /// [`ErrorKind::InvalidOutput`](crate::ErrorKind::InvalidOutput) if it is no valid `T`.
    pub fn canned(mut self, value: impl Into<Value>) -> Result<Self> {
        let value = value.into();
        OutputSpec::of::<T>().canned(value.clone())?;
        self.settings.ladder.set_canned(value);
        Ok(self)
    }
}

impl<O> RunOptions<O> {
    /// Sets the prompt; it is passed on as it is.
    pub fn prompt(mut self, text: impl Into<String>) -> Self {
        self.settings.prompts.push(PromptSource::Inline(text.into()));
        self
    }

    /// Sets the template file to read the prompt from. A relative path is looked up in the folder of this process.
    ///
    /// `{{KEY}}` in it stands for the argument of that name, `\{{` for two braces. `{{SOURCE_BRANCH}}` and `{{TARGET_BRANCH}}` are
    /// built in. An exclamation mark before a command in single backticks stands for what the command prints in the sandbox.
    pub fn prompt_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.settings.prompts.push(PromptSource::File(path.into()));
        self
    }

    /// Sets an argument of the prompt template. What it brings is text: nothing in it acts as a placeholder.
    #[expect(clippy::needless_pass_by_value, reason = "a value is given away, as to every other setter")]
    pub fn prompt_arg(mut self, key: impl Into<String>, value: impl ToString) -> Self {
        self.settings.prompt_args.push((key.into(), value.to_string()));
        self
    }

    site_setters!(settings.site, "[`BranchStrategy::head`](crate::BranchStrategy::head).");

    /// Sets how many agent processes may run one after the other. A run with an output has exactly one.
    pub fn max_iterations(mut self, count: u32) -> Self {
        self.settings.max_iterations = count;
        self
    }

    /// Sets the text that ends the run when the agent says it. It carries no data.
    ///
    /// The first call replaces the default; further calls add alternatives.
    pub fn completion_signal(mut self, text: impl Into<String>) -> Self {
        self.settings.completion_signals.get_or_insert_default().push(text.into());
        self
    }

    /// Sets what the whole run may cost at the most, in US dollars, retries and iterations included.
    ///
    /// The agent's own figures count. Once they reach the limit, no further agent process is started, and one that is at work
    /// is ended with everything it started if it tells its costs while it works; an agent that can hold itself to a limit is
    /// told what is left. One that tells no costs is refused before anything is started. The run fails as [`ErrorKind::Budget`](crate::ErrorKind::Budget) with all that was done; a turn that is
    /// completed by then counts. A model that the agent has no price for costs nothing, which is warned of.
    pub fn max_cost(mut self, dollars: f64) -> Self {
        self.settings.budget.max_cost = Some(dollars);
        self
    }

    /// Sets how many tokens the whole run may use at the most, of every kind, those that are read from a cache included;
    /// otherwise as [`max_cost`](Self::max_cost).
    pub fn max_tokens(mut self, tokens: u64) -> Self {
        self.settings.budget.max_tokens = Some(tokens);
        self
    }

    /// Has a commit of the repository at hand where the agent works, such as one that it is to merge. Calls add up.
    ///
    /// It takes a sandbox that shares no files with this host, and to which else only the branch goes that is worked on; others
    /// see every commit. A sandbox that is there already has what it was made with.
    pub fn bring_commit(mut self, commit: CommitId) -> Self {
        self.settings.site.commits.push(commit);
        self
    }

    /// Sets where the run log goes.
    pub fn logging(mut self, logging: Logging) -> Self {
        self.settings.logging = Some(logging);
        self
    }

    /// Calls `callback` with everything that happens, in order, on the task that runs.
    ///
    /// One that panics is not called again; the run goes on, with a warning.
    pub fn on_event(mut self, callback: impl Fn(&RunEvent) + Send + Sync + 'static) -> Self {
        self.settings.on_event = Some(Callback::new(callback));
        self
    }

    /// Sets how the schema of the output reaches the model; [`OutputStrategy::Tag`] by default, for which the prompt has to
    /// contain the opening tag. It matters only where an output is asked for.
    ///
    /// [`Native`](OutputStrategy::Native) needs no tag and takes none. With [`Auto`](OutputStrategy::Auto) the tag is needed if
    /// words turn out to carry the shape, which depends on the agent, its model and the schema, and is known before anything is
    /// started; a prompt that has it all the same lets the run leave the schema to words when the program is too old or the schema is
    /// refused. Without it there is nothing else to go by. [`RunResult::strategy`] says what was chosen, and why.
    ///
    /// No agent program can be made to call a tool, so [`ForcedTool`](OutputStrategy::ForcedTool) is refused.
    pub fn output_strategy(mut self, strategy: OutputStrategy) -> Self {
        self.settings.output_strategy = strategy;
        self
    }

    /// Continues a session of the agent.
    pub fn resume_session(mut self, id: impl Into<String>) -> Self {
        self.settings.resume = Some(id.into());
        self
    }

    /// Begins a new session with the history of an old one, which stays as it is.
    pub fn fork_session(mut self, id: impl Into<String>) -> Self {
        self.settings.fork = Some(id.into());
        self
    }

    /// Keeps sessions in `folder`, which has the form of a home folder: they are copied there after each agent process,
    /// and from there before one is continued.
    ///
    /// Without it a session stays in the home folder that the agent has. It is still found there when it is continued
    /// from another worktree. Where that home goes with the sandbox, the default is the folder `.sandcastle/sessions`.
    pub fn session_store(mut self, folder: impl Into<PathBuf>) -> Self {
        self.settings.session_store = Some(folder.into());
        self
    }

    /// Ends the run, and everything the agent started, when `token` is cancelled.
    pub fn cancel(mut self, token: CancellationToken) -> Self {
        self.settings.cancel = token;
        self
    }

    /// Returns the arguments that the prompt template needs and was not given, each once, in the order of the file.
    ///
    /// For a program that can ask somebody for them. There are none without a template.
    ///
    /// # Errors
    /// [`ErrorKind::Prompt`](crate::ErrorKind::Prompt) when the template cannot be read or filled in, whatever is given.
    pub fn missing_prompt_args(&self) -> Result<Vec<String>> {
        let [source] = self.settings.prompts.as_slice() else { return Ok(Vec::new()) };
        let template = source.template(&self.settings.prompt_args)?;
        Ok(template.missing().into_iter().map(str::to_owned).collect())
    }
}

impl<O> RunOptions<O> {
    /// Puts the run onto ground that is there already.
    pub(super) fn on(mut self, lot: &Arc<Lot>) -> Self {
        self.settings.ground = Ground::Lent(Arc::clone(lot));
        self
    }

    /// Puts the run into a sandbox that is there already: what is asked of a provider is asked of the one that made it.
    pub(super) fn inside(mut self, provider: &Arc<dyn SandboxProvider>, lot: &Arc<Lot>) -> Self {
        self.settings.sandbox = Arc::clone(provider);
        self.on(lot)
    }
}

impl<O> Clone for RunOptions<O> {
    fn clone(&self) -> Self {
        Self { settings: self.settings.clone(), output: PhantomData }
    }
}

impl<O> fmt::Debug for RunOptions<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RunOptions").field(&self.settings).finish()
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("agent", &self.agent)
            .field("sandbox", &self.sandbox)
            .field("site", &self.site)
            .field("max_iterations", &self.max_iterations)
            .finish_non_exhaustive()
    }
}

impl<O: RunOutput> IntoFuture for RunOptions<O> {
    type Output = Result<RunResult<O::Value>>;
    type IntoFuture = RunFuture<O::Value>;

    fn into_future(self) -> Self::IntoFuture {
        run(self)
    }
}
