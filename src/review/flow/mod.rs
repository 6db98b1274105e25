//! Work on a pull request, from its number to what is to be said there.
//!
//! A [`PullRequestRun`] is checked by `entry`, reads the pull request from its host, has its branch here, and tells an agent
//! what `arguments` make of it; what the agent reports is filtered, and is a [`PullRequestResult`]. `update` has the one kind
//! of work that git may do alone. Files, pushes and posts are the result's, each on request: nothing leaves before that.

mod arguments;
mod entry;
mod outcome;
mod posting;
mod task;
mod update;

use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use self::arguments::Sources;
use self::outcome::Produced;
pub use self::outcome::PullRequestResult;
pub use self::posting::{Posting, PostingState};
pub use self::task::PullRequestOutput;
use super::{
    Checkout, CheckoutOptions, ExploreOutput, Forge, ImplementOutput, PullRequest, ReviewOutput,
    UpdateBranchOutput, extraction_prompt,
};
use crate::secret::Token;
use crate::{BranchName, Error, ErrorKind, Result, RunOptions, RunResult};

/// Work on one pull request: which one, by which agent, and what of the defaults is not wanted.
///
/// The options of the run say the agent, the sandbox, the folder, limits and whatever else a run can be told, and neither a
/// prompt nor a branch: those are set here. [`prompt`](Self::prompt) and [`prompt_file`](Self::prompt_file) replace the built-in
/// template, for which further arguments can be given with [`RunOptions::prompt_arg`].
///
/// | argument | what |
/// |---|---|
/// | `PR_NUMBER`, `PR_TITLE`, `PR_BODY` | the pull request |
/// | `BRANCH`, `BASE_BRANCH`, `BASE_COMMIT` | the local branch, where it is to go, and the commit that this stands at |
/// | `ISSUE_NUMBER`, `ISSUE_TITLE`, `LINKED_ISSUE` | the first issue that it closes, or words for none |
/// | `DIFF` | against where the branch left its base; cut after 48 KiB, with a word on how to see the rest |
/// | `PR_COMMENTS_JSON` | `issue_comments`, `review_summaries`, and of `review_threads` those that are not resolved |
/// | `CONFLICTS` | the files that do not merge by themselves, for [`update_branch`](Self::update_branch) |
/// | `MARK` | a random word, to fence other people's texts with |
///
/// # Examples
/// ```no_run
/// # async fn example(agent: impl sandcastle::Agent, token: String) -> sandcastle::Result<()> {
/// use sandcastle::forges::GitHub;
/// use sandcastle::review::PullRequestRun;
/// use sandcastle::{Docker, RunOptions};
///
/// let github = GitHub::new("owner/name").token(token);
/// let options = RunOptions::new(agent, Docker::new("sandcastle:name"));
/// let mut done = PullRequestRun::new(github, 12, options).review().await?;
/// println!("{}: {} comments on lines", done.output.summary, done.output.inline_comments.len());
/// done.push().await?;
/// done.post().await?;
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
#[must_use = "it does nothing until one of its kinds of work is awaited"]
pub struct PullRequestRun {
    forge: Arc<dyn Forge>,
    number: u64,
    options: RunOptions,
    prompt: Prompt,
    remote: String,
    push_remote: Option<String>,
    git_token: Option<Token>,
    branch: Option<String>,
    strangers: Strangers,
    purpose: Purpose,
}

/// Where the prompt of the work comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Prompt {
    BuiltIn,
    Template(String),
    File(PathBuf),
}

/// Whether code of strangers may run without a sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Strangers {
    Refused,
    Allowed,
}

/// What is to become of the commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    Keep,
    Push,
}

/// The kinds of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Task {
    Explore,
    Review,
    Implement,
    UpdateBranch,
}

impl Task {
    /// Returns its name, as the command has it.
    fn name(self) -> &'static str {
        match self {
            Self::Explore => "explore",
            Self::Review => "review",
            Self::Implement => "implement",
            Self::UpdateBranch => "update-branch",
        }
    }

    /// Completes "failed to ... #12".
    fn verb(self) -> &'static str {
        match self {
            Self::Explore => "explore",
            Self::Review => "review",
            Self::Implement => "work in the feedback on",
            Self::UpdateBranch => "update the branch of",
        }
    }

    fn template(self) -> &'static str {
        match self {
            Self::Explore => include_str!("../prompts/explore.md"),
            Self::Review => include_str!("../prompts/review.md"),
            Self::Implement => include_str!("../prompts/implement.md"),
            Self::UpdateBranch => include_str!("../prompts/update_branch.md"),
        }
    }
}

/// A pull request that was read, and its branch here.
#[derive(Debug)]
struct Opened {
    pull_request: PullRequest,
    checkout: Checkout,
}

impl PullRequestRun {
    /// Says which pull request of which repository is worked on, by which agent and where.
    pub fn new(forge: impl Forge, number: u64, options: RunOptions) -> Self {
        Self {
            forge: Arc::new(forge),
            number,
            options,
            prompt: Prompt::BuiltIn,
            remote: "origin".to_owned(),
            push_remote: None,
            git_token: None,
            branch: None,
            strangers: Strangers::Refused,
            purpose: Purpose::Keep,
        }
    }

    /// Sets the template of the prompt, in the place of the built-in one. The last call of this and
    /// [`prompt_file`](Self::prompt_file) counts.
    pub fn prompt(mut self, template: impl Into<String>) -> Self {
        self.prompt = Prompt::Template(template.into());
        self
    }

    /// Sets the file that the template of the prompt is in. A relative path is looked up in the folder of this process.
    pub fn prompt_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.prompt = Prompt::File(path.into());
        self
    }

    /// Sets the remote that has the pull request; the default is `origin`.
    pub fn remote(mut self, name: impl Into<String>) -> Self {
        self.remote = name.into();
        self
    }

    /// Sets the remote that is the fork which the pull request comes from, so that its branch can be pushed to.
    pub fn push_remote(mut self, name: impl Into<String>) -> Self {
        self.push_remote = Some(name.into());
        self
    }

    /// Opens the remotes to git by a token, where neither the user's credentials nor the repository's headers do; see
    /// [`CheckoutOptions::token`].
    pub fn git_token(mut self, token: impl Into<Token>) -> Self {
        self.git_token = Some(token.into());
        self
    }

    /// Sets the name of the local branch; the default is that of the pull request's own branch, or `pull/N` when that is in a
    /// fork.
    pub fn branch(mut self, name: impl Into<String>) -> Self {
        self.branch = Some(name.into());
        self
    }

    /// Lets the code of a fork run where there is no sandbox, with the rights, the files and the keys of this process.
    pub fn allow_untrusted(mut self) -> Self {
        self.strangers = Strangers::Allowed;
        self
    }

    /// Says that the result is going to be pushed, so that a pull request whose branch is out of reach is refused before the
    /// agent works.
    pub fn for_push(mut self) -> Self {
        self.purpose = Purpose::Push;
        self
    }

    /// Looks at the pull request, for whoever is going to review it.
    ///
    /// # Errors
    /// As [`review`](Self::review).
    ///
    /// # Cancel safety
    /// As [`review`](Self::review).
    pub async fn explore(self) -> Result<PullRequestResult<ExploreOutput>> {
        Box::pin(self.produce(Task::Explore)).await
    }

    /// Reviews the pull request, and mends what is plainly wrong.
    ///
    /// # Errors
    /// Before the host is asked, when the options cannot be used ([`Error::is_entry_check`]). [`ErrorKind::Forge`] when the pull
    /// request cannot be read, [`ErrorKind::Git`] when its branch cannot be had here, [`ErrorKind::InvalidOptions`] when it is
    /// over, or strangers' and there is no sandbox. Afterwards as
    /// [`run_with_extraction`](crate::run_with_extraction), and [`ErrorKind::NothingProduced`] when there is neither a commit
    /// nor anything to say. Every error after the agent began carries what was done ([`Error::work`]).
    ///
    /// # Cancel safety
    /// Dropping the future ends the agent and everything it started; its commits, files and worktree stay as they are. So it is
    /// when the token of the options is cancelled, which gives [`ErrorKind::Cancelled`]. Nothing was pushed or posted.
    pub async fn review(self) -> Result<PullRequestResult<ReviewOutput>> {
        Box::pin(self.produce(Task::Review)).await
    }

    /// Works in the feedback on the pull request, and answers it.
    ///
    /// # Errors
    /// As [`review`](Self::review).
    ///
    /// # Cancel safety
    /// As [`review`](Self::review).
    pub async fn implement(self) -> Result<PullRequestResult<ImplementOutput>> {
        Box::pin(self.produce(Task::Implement)).await
    }

    /// Brings the branch of the pull request up to date with its base.
    ///
    /// Where the two merge by themselves, git does it and no agent is asked: [`PullRequestResult::run`] is `None`, and so it is
    /// where there is nothing to merge. Otherwise an agent resolves the conflicts in a merge of its own.
    ///
    /// # Errors
    /// As [`review`](Self::review). [`ErrorKind::Merge`] when the agent left the base unmerged, or the marks of a conflict in a
    /// file; the error names it.
    ///
    /// # Cancel safety
    /// As [`review`](Self::review). A merge that git does alone is done in one step, or not at all.
    pub async fn update_branch(self) -> Result<PullRequestResult<UpdateBranchOutput>> {
        Box::pin(self.update()).await
    }

    /// Has the agent work, and keeps what of its report is true.
    async fn produce<T: PullRequestOutput>(self, task: Task) -> Result<PullRequestResult<T>> {
        let (options, branch) = self.checked(task)?;
        let Opened { pull_request, checkout } = self.open(task, branch).await?;
        let diff = self.before_it_is_cancelled(checkout.diff()).await?;
        let sources =
            Sources { pull_request: &pull_request, checkout: &checkout, diff: &diff, conflicts: &[] };
        let run = self.run::<T>(options, task, &sources).await?;
        self.finish(pull_request, checkout, Produced::by_agent(run)).await
    }

    /// Returns the options with their prompt, and the name of the branch, checked as far as they can be before anything is
    /// read.
    fn checked(&self, task: Task) -> Result<(RunOptions, Option<BranchName>)> {
        let options = self.options.clone();
        let options = match &self.prompt {
            Prompt::BuiltIn => {
                options.prompt_template(format!("<the prompt of {}>", task.name()), task.template())
            }
            Prompt::Template(text) => options.prompt_template("<prompt>", text),
            Prompt::File(path) => options.prompt_file(path),
        };
        let branch = entry::check(self, &options)?;
        Ok((options, branch))
    }

    /// Reads the pull request, and has its branch here.
    async fn open(&self, task: Task, branch: Option<BranchName>) -> Result<Opened> {
        let pull_request = self.before_it_is_cancelled(self.forge.pull_request(self.number)).await?;
        entry::check_read(self, task, &pull_request)?;
        let mut options = CheckoutOptions::new(self.options.given().cwd.unwrap_or(Path::new(".")));
        options.remote.clone_from(&self.remote);
        options.branch = branch;
        options.push_remote.clone_from(&self.push_remote);
        if let Some(token) = &self.git_token {
            options = options.token(token.clone());
        }
        let checkout = self.before_it_is_cancelled(Checkout::open(&pull_request, &options)).await?;
        Ok(Opened { pull_request, checkout })
    }

    /// Runs the agent on the branch, and asks it for its report.
    async fn run<T: PullRequestOutput>(
        &self,
        options: RunOptions,
        task: Task,
        sources: &Sources<'_>,
    ) -> Result<RunResult<T>> {
        let needed = options.missing_prompt_args()?;
        let (strategy, base) = (sources.checkout.strategy().await?, sources.checkout.base().clone());
        let mut options = options.branch_strategy(strategy).bring_commit(base);
        if self.options.given().name.is_none() {
            options = options.name(format!("{}-{}", task.name(), self.number));
        }
        for name in needed {
            if let Some(value) = sources.value(&name) {
                options = options.prompt_arg(name, value);
            }
        }
        crate::run_with_extraction::<T>(options, extraction_prompt::<T>()).await
    }

    /// Waits for something before the run begins, which sees to its own cancellation.
    async fn before_it_is_cancelled<V>(&self, what: impl Future<Output = Result<V>>) -> Result<V> {
        let cancel = self.options.given().cancel.clone();
        // What talks to git and to hosts is large, and is held by futures that hold others.
        cancel.run_until_cancelled(Box::pin(what)).await.unwrap_or_else(|| {
            let what = format!("work on #{}: it was cancelled before the agent began", self.number);
            Err(Error::new(ErrorKind::Cancelled, what))
        })
    }
}
