//! What a run gives back, and what a failed output keeps.

use std::error::Error as StdError;
use std::fmt;
use std::path::PathBuf;

use serde_json::Value;

use super::driver::Job;
use super::options::{RunOptions, Settings};
use crate::budget::Spent;
use crate::cancellation::Cancellation;
use crate::error::{Error, Reworded};
use crate::id::{BranchName, RunId, SessionId};
use crate::output::ladder::Ladder;
use crate::output::{AnswerForm, ExtractError, Problem, Stage};
use crate::secret::Secrets;
use crate::strategy::{AnswerGuarantee, StrategyChoice};
use crate::work::{Attempt, Commit, Iteration, Usage, Work};

/// Holds what a run did, and the output it was asked for.
#[non_exhaustive]
pub struct RunResult<O> {
    /// The output; `()` when none was asked for.
    pub output: O,
    /// The end of what the agent said in the last iteration, at most 1 MiB; with an extraction, what it said while it worked.
    pub text: String,
    /// The agent processes, in order.
    pub iterations: Vec<Iteration>,
    /// The completion signal that the agent gave.
    pub completion_signal: Option<String>,
    /// The commits that the agent made, oldest first, of every iteration and attempt.
    pub commits: Vec<Commit>,
    /// The branch that has the commits: the one that it worked on, or with
    /// [`merge_to_head`](crate::BranchStrategy::merge_to_head) the one that they landed on. Where something stood in for
    /// the answer (see `answer_guarantee`), nothing has landed, and it is the one that was worked on.
    pub branch: BranchName,
    /// Where the run log is.
    pub log_file: Option<PathBuf>,
    /// The worktree that was kept because it holds something of value.
    pub preserved_worktree: Option<PathBuf>,
    /// The tries at the output, in order; empty when none was asked for.
    pub attempts: Vec<Attempt>,
    /// How the answer was held to its schema; `None` when no output was asked for.
    pub answer_guarantee: Option<AnswerGuarantee>,
    /// How the schema reached the model in the end, and why in this way; `None` when no output was asked for.
    pub strategy: Option<StrategyChoice>,
    /// The sum over all iterations.
    pub usage: Usage,
    /// Things that went wrong without failing the run.
    pub warnings: Vec<String>,
    /// Names the run, as [`Runs`](crate::journal::Runs) lists it.
    pub run_id: RunId,
    secrets: Secrets,
    settings: Settings,
}

impl<O> RunResult<O> {
    pub(super) fn new(output: O, work: Work, end: Ending, job: Job) -> Self {
        let mut settings = job.settings;
        settings.ground = settings.ground.remembered();
        Self {
            output,
            text: work.text,
            iterations: work.iterations,
            completion_signal: end.completion_signal,
            commits: work.commits,
            branch: work.branch.unwrap_or_else(|| BranchName::from_git("HEAD")),
            log_file: work.log_file,
            preserved_worktree: work.preserved_worktree,
            attempts: work.attempts,
            answer_guarantee: end.answer_guarantee,
            strategy: end.strategy,
            usage: work.usage,
            warnings: work.warnings,
            run_id: job.checked.run,
            secrets: job.checked.secrets,
            settings,
        }
    }

    /// Returns what was masked where the run was shown. `output` and `text` are data, and have it as it is: mask what of them is
    /// for everybody's eyes.
    #[must_use]
    pub fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    /// Returns the conversation of the last iteration that had one.
    #[must_use]
    pub fn session_id(&self) -> Option<&SessionId> {
        self.iterations.iter().rev().find_map(|iteration| iteration.session_id.as_ref())
    }

    /// Returns what was done, without the output: what an error of whoever goes on with this result is to carry.
    #[must_use]
    pub fn work(&self) -> Work {
        Work {
            run_id: Some(self.run_id.clone()),
            commits: self.commits.clone(),
            branch: Some(self.branch.clone()),
            preserved_worktree: self.preserved_worktree.clone(),
            iterations: self.iterations.clone(),
            attempts: self.attempts.clone(),
            usage: self.usage,
            text: self.text.clone(),
            answer: None,
            log_file: self.log_file.clone(),
            warnings: self.warnings.clone(),
        }
    }

    /// Prepares a run that continues the conversation with `prompt`.
    ///
    /// Await the options to run them, or change them first. What belonged to the first turn alone does not come along,
    /// so that nothing of it can stop the next one:
    ///
    /// - the prompt, or its file, and its arguments: this prompt takes their place and is passed on as it is;
    /// - the output, with its retries and what stands in for it: ask for one with [`RunOptions::output`];
    /// - the cancellation, which may be cancelled by now: set one with [`RunOptions::cancel`];
    /// - the number of iterations: there is one;
    /// - a session that the first run itself had resumed or forked.
    ///
    /// Everything else stays: the agent, the place (sandbox, folder, branch strategy, environment, hooks, files that are
    /// copied), the limits and the budget, which begin anew, the completion signals, the name, the log and the callback. Where the
    /// place is made anew, the session is brought there. If the agent named no session, or cannot resume one, the run is
    /// refused before anything is touched.
    pub fn resume(&self, prompt: impl Into<String>) -> RunOptions {
        self.follow_up(prompt).resume_session(self.known_session())
    }

    /// Prepares a run that begins a new conversation with the history of this one, which stays as it is.
    ///
    /// The same options stay as for [`RunResult::resume`], and the branch strategy is one of them: only the conversation
    /// parts. Forks that run at once need branches of their own.
    pub fn fork(&self, prompt: impl Into<String>) -> RunOptions {
        self.follow_up(prompt).fork_session(self.known_session())
    }

    fn follow_up(&self, prompt: impl Into<String>) -> RunOptions {
        let mut settings = self.settings.clone();
        settings.ground = settings.ground.found_again();
        settings.prompts.clear();
        settings.prompt_args.clear();
        settings.ladder = Ladder::default();
        settings.max_iterations = 1;
        settings.resume = None;
        settings.fork = None;
        settings.cancel = Cancellation::new();
        RunOptions::from_settings(settings).prompt(prompt)
    }

    /// An empty id is refused by the entry check, which says that there is no session.
    fn known_session(&self) -> String {
        self.session_id().map(ToString::to_string).unwrap_or_default()
    }
}

impl<O: fmt::Debug> fmt::Debug for RunResult<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunResult")
            .field("output", &self.output)
            .field("branch", &self.branch)
            .field("commits", &self.commits)
            .field("iterations", &self.iterations)
            .field("attempts", &self.attempts)
            .field("completion_signal", &self.completion_signal)
            .field("usage", &self.usage)
            .field("warnings", &self.warnings)
            .finish_non_exhaustive()
    }
}

/// How a run that succeeded came to its end.
#[derive(Clone, Debug, Default)]
pub(super) struct Ending {
    pub(super) completion_signal: Option<String>,
    pub(super) answer_guarantee: Option<AnswerGuarantee>,
    pub(super) strategy: Option<StrategyChoice>,
}

impl Ending {
    /// Tells whether no answer was valid, and something else was given in its place.
    pub(super) fn is_stood_in_for(&self) -> bool {
        matches!(self.answer_guarantee, Some(AnswerGuarantee::Fallback | AnswerGuarantee::Canned))
    }
}

/// Says why no valid output was obtained, and holds everything that is needed to go on.
///
/// `{}` is one line; `{:#}` adds every problem and an excerpt of the answer with a caret. [`Error::structured_output`]
/// finds it in an error of a run.
///
/// What it shows, by `Display` and `Debug`, is masked like the log, see [`Secrets`]. Its fields and
/// [`feedback`](Self::feedback) are what the agent said, for the caller and for the agent.
#[non_exhaustive]
pub struct StructuredOutputError {
    /// The tag that was asked for.
    pub tag: String,
    /// The inside of the last block, exactly as the agent wrote it.
    pub raw_matched: Option<String>,
    /// The whole of the last answer of a model run, exactly as the model wrote it; of an
    /// [extraction](crate::run_with_extraction) the end of what was said last, at most 1 MiB. Other runs of agents keep
    /// that in [`Work::text`].
    pub answer: Option<String>,
    /// The last value, if the block was JSON.
    pub value: Option<Value>,
    /// Everything that is wrong with it.
    pub problems: Vec<Problem>,
    /// The commits that the agent made, of every attempt.
    pub commits: Vec<Commit>,
    /// The branch that it worked on, and that has the commits: without a valid output nothing is merged.
    pub branch: Option<BranchName>,
    /// The worktree that was kept because it holds something of value.
    pub preserved_worktree: Option<PathBuf>,
    /// The conversation to resume.
    pub session_id: Option<SessionId>,
    /// The agent's own file of that conversation.
    pub session_file: Option<PathBuf>,
    /// The tries, in order.
    pub attempts: Vec<Attempt>,
    /// How the schema reached the model in the end, and why in this way.
    pub strategy: Option<StrategyChoice>,
    /// The sum over all attempts.
    pub usage: Usage,
    /// The budget that allowed no further retry, if that is why there was none.
    pub spent: Option<Spent>,
    cause: ExtractError,
    /// In which form the last answer was asked for.
    form: AnswerForm,
    secrets: Secrets,
    /// What caused it, where that would show a secret.
    masked_source: Option<Reworded>,
}

impl StructuredOutputError {
    pub(crate) fn new(cause: ExtractError, form: AnswerForm, work: &Work) -> Self {
        Self {
            tag: cause.tag.clone(),
            raw_matched: cause.raw_matched.clone(),
            answer: None,
            value: cause.value.clone(),
            problems: cause.problems.clone(),
            commits: work.commits.clone(),
            branch: work.branch.clone(),
            preserved_worktree: work.preserved_worktree.clone(),
            session_id: work.session_id().cloned(),
            session_file: work.session_file().cloned(),
            attempts: work.attempts.clone(),
            strategy: None,
            usage: work.usage,
            spent: None,
            cause,
            form,
            secrets: Secrets::none(),
            masked_source: None,
        }
    }

    /// Names the budget that allowed no further retry.
    pub(super) fn with_spent(mut self, spent: Option<Spent>) -> Self {
        self.spent = spent;
        self
    }

    pub(super) fn cause(&self) -> &ExtractError {
        &self.cause
    }

    /// Keeps the whole of the answer.
    pub(crate) fn with_answer(mut self, answer: &str) -> Self {
        self.answer = Some(answer.to_owned());
        self
    }

    /// Hides secrets in what it shows; its data stay what they are.
    fn conceal(&mut self, secrets: &Secrets) {
        let mask = |text: &str| secrets.mask(text).into_owned();
        self.secrets = secrets.clone();
        for attempt in &mut self.attempts {
            attempt.message = attempt.message.as_deref().map(mask);
        }
        self.masked_source = self
            .cause
            .source()
            .and_then(|source| Reworded::unless_the_same(source, &|text| secrets.mask(text)));
    }

    /// Returns the step at which the last answer failed.
    #[must_use]
    pub fn stage(&self) -> Stage {
        self.cause.stage()
    }

    /// Returns the text that tells the agent what to correct, as the last retry would send it.
    #[must_use]
    pub fn feedback(&self) -> String {
        self.cause.correction(self.form, 0, None)
    }
}

impl fmt::Display for StructuredOutputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.secrets.is_empty() {
            return fmt::Display::fmt(&self.cause, f);
        }
        let shown = if f.alternate() { format!("{:#}", self.cause) } else { self.cause.to_string() };
        f.write_str(&self.secrets.mask(&shown))
    }
}

impl fmt::Debug for StructuredOutputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields = fmt::from_fn(|f| {
            f.debug_struct("StructuredOutputError")
                .field("cause", &self.cause)
                .field("commits", &self.commits)
                .field("branch", &self.branch)
                .field("preserved_worktree", &self.preserved_worktree)
                .field("session_id", &self.session_id)
                .field("session_file", &self.session_file)
                .field("attempts", &self.attempts)
                .field("strategy", &self.strategy)
                .field("usage", &self.usage)
                .field("spent", &self.spent)
                .finish()
        });
        let shown = if f.alternate() { format!("{fields:#?}") } else { format!("{fields:?}") };
        f.write_str(&self.secrets.mask(&shown))
    }
}

impl StdError for StructuredOutputError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match &self.masked_source {
            Some(masked) => Some(masked),
            None => self.cause.source(),
        }
    }
}

/// Hides secrets in what an error of a run shows. Its data, the answer of the agent among them, stay what they are.
pub(crate) fn masked(mut error: Error, secrets: &Secrets) -> Error {
    if secrets.is_empty() {
        return error;
    }
    if let Some(output) = error.source_as_mut::<StructuredOutputError>() {
        output.conceal(secrets);
    }
    secrets.mask_error(error)
}

/// Puts into a failed output what became known after it had failed: where the work is in the end. How it was asked for, the
/// record of the run knows.
pub(super) fn complete(error: &mut Error, work: &Work, strategy: Option<&StrategyChoice>) {
    if let Some(output) = error.source_as_mut::<StructuredOutputError>() {
        output.commits.clone_from(&work.commits);
        output.branch.clone_from(&work.branch);
        output.preserved_worktree.clone_from(&work.preserved_worktree);
        output.session_file = work.session_file().cloned();
        output.strategy = strategy.cloned();
    }
}

impl Error {
    /// Returns why no valid output was obtained, if that is what happened, or what the last answer lacked when
    /// something else ended the run afterwards.
    #[must_use]
    pub fn structured_output(&self) -> Option<&StructuredOutputError> {
        self.source_as()
    }
}
