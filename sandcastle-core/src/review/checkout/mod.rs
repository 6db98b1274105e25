//! The branch of a pull request in a local repository.
//!
//! `opening` brings it here, `merged` looks at what was merged into it, `pushing` takes it back. What is compared is compared with the commit of the base branch that was
//! there when it was opened. Where the remote is was read then, too: an agent that writes another address into the
//! repository's configuration leads nobody there.

mod merged;
mod opening;
mod options;
mod pushing;
#[cfg(test)]
mod tests;

use std::time::Duration;

pub use self::options::CheckoutOptions;
use self::pushing::Destination;
use crate::error::{Error, ErrorKind, Result};
use crate::forge::PullRequest;
use crate::git::{Remote, Repository};
use crate::id::{BranchName, CommitId};
use crate::worktree::{Landing, Outlook};

/// Holds a pull request's branch in a local repository, at the commit that the host named or ahead of it.
///
/// A dropped future of any of its methods ends the git that it had started; a branch that is being moved is moved or not.
#[derive(Debug)]
pub struct Checkout {
    repository: Repository,
    number: u64,
    branch: BranchName,
    start: CommitId,
    base: CommitId,
    /// The remote-tracking branch that `base` is on.
    tracked_base: BranchName,
    destination: Destination,
    limit: Duration,
}

/// Says what merging the base branch into the pull request would come to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MergeOutlook {
    /// The base has nothing that is not there already.
    UpToDate,
    /// It merges by itself.
    Clean,
    /// These paths are in conflict. What is not UTF-8 in one is shown with a replacement character.
    Conflicts(Vec<String>),
}

impl Checkout {
    /// Fetches the head and the base of a pull request, and makes or finds its local branch.
    ///
    /// A branch that is there is taken if it has the commit of the pull request, whatever it has on top of it. One that is
    /// behind is fast-forwarded, with the files of a work tree in which it is checked out. Nothing else is checked out, and no
    /// upstream is set. The history of a shallow clone is completed if without it nobody could tell where the
    /// branch left its base.
    ///
    /// A dropped future leaves what was fetched by then.
    ///
    /// # Errors
    /// [`ErrorKind::Git`] when they cannot be fetched, the pull request has moved on since it was read, or the local branch has
    /// gone another way or cannot be moved; [`ErrorKind::StepTimeout`] when the remote takes longer than the limit.
    ///
    /// # Examples
    /// ```no_run
    /// # async fn example(pull_request: &sandcastle_core::forge::PullRequest) -> sandcastle_core::Result<()> {
    /// use sandcastle_core::review::{Checkout, CheckoutOptions, Diff};
    ///
    /// let checkout = Checkout::open(pull_request, &CheckoutOptions::new(".")).await?;
    /// let lines = Diff::parse(&checkout.diff().await?)?.commentable();
    /// # Ok(()) }
    /// ```
    pub async fn open(pull_request: &PullRequest, options: &CheckoutOptions) -> Result<Self> {
        opening::open(pull_request, options).await
    }

    /// Returns the local branch.
    #[must_use]
    pub fn branch(&self) -> &BranchName {
        &self.branch
    }

    /// Returns the commit that the pull request stood at.
    #[must_use]
    pub fn start(&self) -> &CommitId {
        &self.start
    }

    /// Returns the commit that the base branch stood at when this was opened.
    ///
    /// A code host may name an older one: it is told what the base was when the pull request last changed.
    #[must_use]
    pub fn base(&self) -> &CommitId {
        &self.base
    }

    /// Tells whether the branch is the one that is checked out in the folder.
    ///
    /// # Errors
    /// [`ErrorKind::Git`] when that cannot be read.
    pub async fn is_checked_out(&self) -> Result<bool> {
        Ok(self.repository.head().await?.branch == self.branch)
    }

    /// Returns the commit that the branch stands at now.
    ///
    /// # Errors
    /// [`ErrorKind::Git`] when there is no such branch any more.
    pub async fn tip(&self) -> Result<CommitId> {
        self.repository.tip(&self.branch).await?.ok_or_else(|| {
            let what = format!("read the branch `{}`: it has gone", self.branch);
            Error::new(ErrorKind::Git, what)
                .with_hint(format!("`git branch <name> {}` makes it anew", self.start))
        })
    }

    /// Returns the diff from where the branch left its base to where the branch stands now, in git's format.
    ///
    /// It is the same whatever the user and the repository have set up: with the prefixes `a/` and `b/`, three lines of
    /// context, renames found, submodules by their commits; no program is run for it.
    ///
    /// # Errors
    /// [`ErrorKind::Git`] when git fails, they have no commit in common, or it is more than 64 MiB.
    pub async fn diff(&self) -> Result<Vec<u8>> {
        let tip = self.tip().await?;
        let left = self.repository.merge_base(&self.base, &tip).await?.ok_or_else(|| {
            let what =
                format!("compare `{}` with `{}`: no commit is in both", self.branch, self.tracked_base);
            Error::new(ErrorKind::Git, what)
        })?;
        match self.repository.diff_between(&left, &tip).await {
            Err(error) => Err(self.repository.missing_in(error, [&self.base, &tip]).await),
            diff => diff,
        }
    }

    /// Says what merging the base would come to. Nothing is changed that anybody sees.
    ///
    /// # Errors
    /// [`ErrorKind::Merge`] when the branch has gone or has no commit in common with the base, [`ErrorKind::Git`] when git
    /// fails.
    pub async fn outlook(&self) -> Result<MergeOutlook> {
        let shown = |path: Vec<u8>| String::from_utf8_lossy(&path).into_owned();
        let outlook = match self.merge().outlook().await {
            Err(error) => Err(self.repository.missing_in(error, [&self.base, &self.start]).await),
            outlook => outlook,
        };
        Ok(match outlook? {
            Outlook::Nothing => MergeOutlook::UpToDate,
            Outlook::Clean => MergeOutlook::Clean,
            Outlook::Conflicts(paths) => MergeOutlook::Conflicts(paths.into_iter().map(shown).collect()),
        })
    }

    /// Merges the base where that needs nobody to decide anything, moves the branch by compare-and-swap, and returns where it
    /// stands then.
    ///
    /// A work tree in which the branch is checked out follows, with its files. A dropped future gives up before both are moved,
    /// or not at all.
    ///
    /// # Errors
    /// [`ErrorKind::Merge`] when it does not merge by itself, or edits in a work tree are in the way; nothing has changed then.
    pub async fn merge_base(&self) -> Result<CommitId> {
        self.merge().land().await?;
        self.tip().await
    }

    /// Pushes the branch to the head branch of the pull request, on condition that it still stands where it stood, and returns
    /// the commit that it stands at then.
    ///
    /// Pushed is only what has the start commit in it, so nothing is ever taken away. No hook of this repository runs. A branch
    /// that is there already, because the answer of an earlier call got lost, is no error.
    ///
    /// When the future is dropped, what the remote was told by then may come to its end there.
    ///
    /// # Errors
    /// [`ErrorKind::Git`] when the branch has moved on meanwhile, the start commit is no longer in it, the remote refuses, it
    /// belongs to a fork that no remote here is, or new files are kept by git-lfs, whose contents would not get there; [`ErrorKind::StepTimeout`] when the remote takes longer than the limit.
    pub async fn push(&self) -> Result<CommitId> {
        pushing::push(self).await
    }

    fn merge(&self) -> Landing<'_> {
        Landing {
            repository: &self.repository,
            source: &self.tracked_base,
            tip: &self.base,
            target: &self.branch,
            limit: self.limit,
        }
    }
}

/// Names a remote-tracking branch as one would in a command.
fn tracked(remote: &Remote, branch: &BranchName) -> BranchName {
    BranchName::from_git(format!("{}/{branch}", remote.name()))
}
