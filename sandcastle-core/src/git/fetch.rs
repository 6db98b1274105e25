//! Brings a branch of a remote into the repository.
//!
//! How a remote is reached is said in `remote`.

use std::time::Duration;

use super::refs::branch_ref;
use super::repository::Repository;
use crate::error::{Error, ErrorKind, Result};
use crate::id::{BranchName, CommitId};

/// A branch to fetch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fetch<'a> {
    /// The name of the remote, such as `origin`.
    pub(crate) remote: &'a str,
    /// The branch, as the remote calls it.
    pub(crate) branch: &'a BranchName,
    /// How long git may take.
    pub(crate) limit: Duration,
}

impl Repository {
    /// Names the remote that a branch belongs to, `origin` unless it says otherwise; `None` when there is no such remote.
    pub(crate) async fn remote_of(&self, branch: &BranchName) -> Result<Option<String>> {
        let listing = self.git().listing().await?;
        let configured = listing.value(&format!("branch.{branch}.remote"));
        let remote = configured.and_then(|name| std::str::from_utf8(name).ok()).unwrap_or("origin");
        let has_url = listing.value(&format!("remote.{remote}.url")).is_some_and(|url| !url.is_empty());
        Ok((has_url && !remote.starts_with('-') && remote != ".").then(|| remote.to_owned()))
    }

    /// Moves the branch that is checked out to a commit ahead of it, with its files.
    pub(crate) async fn fast_forward(&self, to: &CommitId, limit: Duration) -> Result<()> {
        let git = self.git().to_its_end().timeout(limit);
        let args = ["merge", "--quiet", "--ff-only", "--no-autostash", to];
        let answer = git.ask(args).await?;
        if answer.is_success() { Ok(()) } else { Err(answer.refused("fast-forward", git.cwd())) }
    }
}

impl Fetch<'_> {
    /// Fetches, moves the remote-tracking branch and returns its new tip.
    ///
    /// # Errors
    /// [`ErrorKind::Git`] when there is no such remote or branch, or it cannot be reached; [`ErrorKind::StepTimeout`]
    /// when the limit is reached, by when git is gone.
    pub(crate) async fn into(self, repository: &Repository) -> Result<CommitId> {
        let remote = repository.remote(self.remote).await?;
        let name = branch_ref(self.branch);
        let tips = remote.fetch(repository, &[name.as_str()], self.limit).await?;
        tips.into_iter().next().ok_or_else(|| {
            Error::new(ErrorKind::Git, format!("fetch `{}` from `{}`", self.branch, self.remote))
        })
    }
}
