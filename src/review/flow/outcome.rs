//! What came of work on a pull request, and what can be done with it: files, a push, posts.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use super::posting::{Posting, post_all};
use super::task::{About, Commits, PullRequestOutput};
use super::{Opened, PullRequestRun};
use crate::forge::Forge;
use crate::review::trust::told;
use crate::review::{
    Checkout, CommentableLines, Counts, Diff, Dropped, PullRequest, ResultFiles, ResultFolder,
};
use crate::secret::Secrets;
use crate::{Commit, CommitId, Error, ErrorKind, Result, RunResult, Work};

/// Holds what came of work on a pull request. Nothing of it has left this machine.
#[derive(Debug)]
#[non_exhaustive]
pub struct PullRequestResult<T> {
    /// What is to be said, less what was dropped, with a mask over secrets of the run.
    pub output: T,
    /// What of the agent's report was not true of the pull request, and why; `warnings` has it in words, if it is not too much.
    pub dropped: Vec<Dropped>,
    /// How much there is.
    pub counts: Counts,
    /// What the agent did, with its report as it was; `None` where git did all there was to do.
    pub run: Option<RunResult<T>>,
    /// The pull request as it was read.
    pub pull_request: PullRequest,
    /// Its branch here.
    pub checkout: Checkout,
    /// The commit that the branch stands at.
    pub tip: CommitId,
    /// Things that went wrong without failing it.
    pub warnings: Vec<String>,
    /// Whether the agent made commits, and all of them on another branch.
    is_elsewhere: bool,
    forge: Arc<dyn Forge>,
    postings: Option<Vec<Posting>>,
    pushed: Option<CommitId>,
}

/// What was done, before any of it was looked at.
#[derive(Debug)]
pub(super) struct Produced<T> {
    pub(super) output: T,
    /// How many commits were made.
    pub(super) commits: usize,
    pub(super) run: Option<RunResult<T>>,
}

impl<T: PullRequestOutput> Produced<T> {
    /// What an agent did.
    pub(super) fn by_agent(run: RunResult<T>) -> Self {
        Self { output: run.output.clone(), commits: run.commits.len(), run: Some(run) }
    }
}

impl PullRequestRun {
    /// Keeps what of a report is true of the pull request, with its branch as it is now.
    pub(super) async fn finish<T: PullRequestOutput>(
        self,
        opened: Opened,
        produced: Produced<T>,
    ) -> Result<PullRequestResult<T>> {
        let Opened { pull_request, checkout, earlier } = opened;
        let work = produced.run.as_ref().map(RunResult::work);
        let looked = Box::pin(Now::of(&checkout, produced.run.as_ref().map(|run| &*run.commits))).await;
        let now = looked.map_err(|error| carrying(error, work.as_ref()))?;
        let mut report = produced.output;
        let hidden = produced.run.as_ref().and_then(|run| hide(&mut report, run.secrets()));
        let (output, dropped) = report.kept(&pull_request, &now.lines);
        let counts = output.counts(now.landed.unwrap_or(produced.commits));
        let is_elsewhere = produced.commits > 0 && counts.commits == 0;
        if counts.is_nothing() {
            let nothing = nothing_produced(self.number, &dropped);
            let nothing = earlier.iter().fold(nothing, Error::with_hint);
            return Err(carrying(nothing, work.as_ref()));
        }
        let mut warnings = work.map(|work| work.warnings).unwrap_or_default();
        warnings.extend(hidden);
        warnings.extend(earlier);
        warnings.extend(told(&dropped));
        Ok(PullRequestResult {
            output,
            dropped,
            counts,
            run: produced.run,
            pull_request,
            checkout,
            tip: now.tip,
            warnings,
            is_elsewhere,
            forge: self.forge,
            postings: None,
            pushed: None,
        })
    }
}

/// Masks secrets in what everybody may read: others may have talked the agent into saying one. Returns a warning if there was
/// any.
fn hide<T: PullRequestOutput>(report: &mut T, secrets: &Secrets) -> Option<String> {
    let mut warning = None;
    for text in report.texts() {
        if let Cow::Owned(masked) = secrets.mask(text) {
            *text = masked;
            warning = Some("the agent's report had a secret in it, which is masked".to_owned());
        }
    }
    warning
}

/// A branch after the work on it.
struct Now {
    tip: CommitId,
    /// What of it can be commented on.
    lines: CommentableLines,
    /// How many of an agent's commits are on it.
    landed: Option<usize>,
}

impl Now {
    async fn of(checkout: &Checkout, commits: Option<&[Commit]>) -> Result<Self> {
        let tip = checkout.tip().await?;
        let lines = Diff::parse(&checkout.diff().await?)?.commentable();
        let landed = match commits {
            Some(commits) => Some(checkout.count_of(commits).await?),
            None => None,
        };
        Ok(Self { tip, lines, landed })
    }
}

impl<T: PullRequestOutput> PullRequestResult<T> {
    /// Words it as files; [`ResultFiles`] says which.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] if it cannot be written as JSON.
    pub fn files(&self) -> Result<ResultFiles> {
        let is_ahead = self.tip != *self.checkout.start();
        self.output.files(&self.tip, Commits { made: self.counts.commits, is_ahead })
    }

    /// Writes it into a folder, in the place of what an earlier run has left there.
    ///
    /// Where an agent could get at the folder, open it before the agent begins, and write [`files`](Self::files) to it.
    ///
    /// # Errors
    /// [`ErrorKind::Io`], with the path.
    pub fn write_files(&self, folder: impl Into<PathBuf>) -> Result<()> {
        ResultFolder::open(folder)?.write(&self.files()?)
    }

    /// Tells whether the branch has commits that the pull request does not have.
    #[must_use]
    pub fn has_unpushed(&self) -> bool {
        self.tip != *self.checkout.start() && self.pushed.as_ref() != Some(&self.tip)
    }

    /// Pushes the branch to that of the pull request, on condition that this still stands where it stood when it was read.
    /// Without commits there is nothing to do.
    ///
    /// # Errors
    /// [`ErrorKind::Git`] when the branch has moved on meanwhile, is in a fork, or the remote refuses. The commits stay on the
    /// branch here; the error carries what was done.
    ///
    /// # Cancel safety
    /// A push whose future is dropped may have arrived.
    pub async fn push(&mut self) -> Result<()> {
        if self.has_unpushed() {
            let pushed = Box::pin(self.checkout.push()).await;
            self.pushed = Some(pushed.map_err(|error| self.carrying(error))?);
        }
        Ok(())
    }

    /// Says on the host what is to be said: replies, then the review or the comments on lines, then comments on the whole.
    ///
    /// Each is sent once. After a failure, a second call goes on behind the one that failed, which may have arrived;
    /// [`postings`](Self::postings) tells.
    ///
    /// # Errors
    /// [`ErrorKind::Forge`] when the host does not take something, with what was posted before it and what was not; also when
    /// it would be about commits that were not [pushed](Self::push), or that the agent made on another branch. The error carries
    /// what was done.
    ///
    /// # Cancel safety
    /// What was being sent when the future is dropped may have arrived, and is not sent again.
    pub async fn post(&mut self) -> Result<&[Posting]> {
        if T::ABOUT == About::WhatWasMade {
            self.check_seen().map_err(|error| self.carrying(error))?;
        }
        let (output, tip) = (&self.output, &self.tip);
        let postings =
            self.postings.get_or_insert_with(|| output.sayings(tip).into_iter().map(Posting::new).collect());
        let posted = Box::pin(post_all(postings, &*self.forge, &self.pull_request)).await;
        posted.map_err(|error| self.carrying(error))?;
        Ok(self.postings())
    }

    /// Checks that others can see what is talked about.
    fn check_seen(&self) -> Result<()> {
        let (number, branch) = (self.pull_request.number, self.checkout.branch());
        let (which, hint) = if self.is_elsewhere {
            let hint =
                "the agent had something else checked out when it made them: bring them over, or begin again";
            (format!("are not on `{branch}`"), hint)
        } else if self.has_unpushed() {
            ("were not pushed".to_owned(), "push them first, with `push`")
        } else {
            return Ok(());
        };
        let what = format!("post on #{number}: it is about commits that {which}");
        Err(Error::new(ErrorKind::Forge, what).with_hint(hint))
    }

    /// Returns what was to be posted and what became of it; nothing before [`post`](Self::post) was called.
    #[must_use]
    pub fn postings(&self) -> &[Posting] {
        self.postings.as_deref().unwrap_or_default()
    }

    /// Has an error of whoever goes on with this carry what was done, unless it carries something already.
    #[must_use]
    pub fn carrying(&self, error: Error) -> Error {
        carrying(error, self.run.as_ref().map(RunResult::work).as_ref())
    }
}

/// Has an error carry what was done, unless it carries something already.
pub(super) fn carrying(error: Error, work: Option<&Work>) -> Error {
    match (work, error.work()) {
        (Some(work), None) => error.with_work(work.clone()),
        _ => error,
    }
}

fn nothing_produced(number: u64, dropped: &[Dropped]) -> Error {
    let what = format!("produce anything for #{number}: there is neither a commit nor anything to say");
    let error = Error::new(ErrorKind::NothingProduced, what);
    told(dropped).fold(error, Error::with_hint)
}
