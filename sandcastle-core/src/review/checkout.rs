//! The branch of a pull request in a local repository.

use std::path::PathBuf;

use crate::error::{Error, ErrorKind, Result};
use crate::forge::PullRequest;
use crate::id::{BranchName, CommitId};

/// Says where a pull request is worked on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckoutOptions {
    /// A folder in the repository.
    pub folder: PathBuf,
    /// The remote that has the pull request; the default is `origin`.
    pub remote: String,
    /// The name of the local branch; the default is the head branch's own name, or `pull/N` when that comes from a fork.
    pub branch: Option<BranchName>,
}

impl CheckoutOptions {
    /// Works in `folder`, with the defaults.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), remote: "origin".to_owned(), branch: None }
    }
}

/// Holds a pull request's branch in a local repository, at the commit that the host named.
#[derive(Debug)]
pub struct Checkout {
    branch: BranchName,
    start: CommitId,
}

/// Says what merging the base branch into the pull request would come to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MergeOutlook {
    /// The base has nothing that is not there already.
    UpToDate,
    /// It merges by itself.
    Clean,
    /// These paths are in conflict.
    Conflicts(Vec<String>),
}

impl Checkout {
    /// Fetches the head and the base of a pull request, and makes or finds its local branch.
    ///
    /// # Errors
    /// [`ErrorKind::Git`] when they cannot be fetched, or the local branch has gone another way than the pull request.
    pub async fn open(pull_request: &PullRequest, options: &CheckoutOptions) -> Result<Self> {
        let _ = (pull_request, options);
        Err(Error::new(ErrorKind::Git, "fetch the pull request"))
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

    /// Returns the commit that the branch stands at now.
    ///
    /// # Errors
    /// [`ErrorKind::Git`].
    pub async fn tip(&self) -> Result<CommitId> {
        Err(Error::new(ErrorKind::Git, "read the branch"))
    }

    /// Returns the diff from where the branch left its base to where the branch stands now, in git's format.
    ///
    /// # Errors
    /// [`ErrorKind::Git`].
    pub async fn diff(&self) -> Result<Vec<u8>> {
        Err(Error::new(ErrorKind::Git, "compare the branches"))
    }

    /// Says what merging the base would come to, without changing anything.
    ///
    /// # Errors
    /// [`ErrorKind::Git`].
    pub async fn outlook(&self) -> Result<MergeOutlook> {
        Err(Error::new(ErrorKind::Git, "compare the branches"))
    }

    /// Merges the base where that needs nobody to decide anything, and moves the branch by compare-and-swap.
    ///
    /// # Errors
    /// [`ErrorKind::Merge`] when it does not merge by itself.
    pub async fn merge_base(&self) -> Result<CommitId> {
        Err(Error::new(ErrorKind::Merge, "merge the base"))
    }

    /// Pushes the branch to the head branch of the pull request, on condition that it still stands where it stood.
    ///
    /// # Errors
    /// [`ErrorKind::Git`] when it moved on meanwhile, or the remote refuses.
    pub async fn push(&self) -> Result<CommitId> {
        Err(Error::new(ErrorKind::Git, "push the branch"))
    }

    /// Returns the strategy by which a run works on the branch.
    #[must_use]
    pub fn strategy(&self) -> crate::worktree::BranchStrategy {
        crate::worktree::BranchStrategy::branch(self.branch.as_str())
    }

    /// Returns those of these files in which marks of conflicts were left.
    ///
    /// # Errors
    /// [`ErrorKind::Git`].
    pub async fn unresolved(&self, paths: &[String]) -> Result<Vec<String>> {
        let _ = paths;
        Err(Error::new(ErrorKind::Git, "read the branch"))
    }
}
