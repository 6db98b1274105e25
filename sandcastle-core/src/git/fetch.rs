//! Brings a branch of a remote into the repository.
//!
//! The remote's address is data here: git fetches into a folder of our own, in which the repository's programs for
//! connecting, authenticating and packing are not configured. Those of the user are. Nobody is asked for a password.

use std::time::Duration;

use super::borrowed::{Borrowed, FETCH};
use super::command::Answer;
use super::repository::Repository;
use crate::error::{Error, ErrorKind, Result};
use crate::id::{BranchName, CommitId};

/// Where the fetched branch stands in the borrowed folder.
const LANDED: &str = "refs/sandcastle/fetched";

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
        let address = self.address(repository).await?;
        let borrowed = Borrowed::knowing(repository).await?;
        let git = borrowed.git().clone().timeout(self.limit);
        let refspec = format!("+refs/heads/{}:{LANDED}", self.branch);
        let args = FETCH.into_iter().chain([address.as_str(), refspec.as_str()]);
        let answer = git.reach(args).await?;
        if !answer.is_success() {
            return Err(self.failed(&answer, repository));
        }
        let tip = git.does("read what was fetched", ["rev-parse", "--verify", LANDED]).await?;
        let Some(tip) = tip.line() else { return Err(self.failed(&tip, repository)) };
        let tracking = format!("refs/remotes/{}/{}", self.remote, self.branch);
        let args = ["update-ref", "--no-deref", "-m", "fetch", &tracking, tip];
        repository.git().to_its_end().does("move the remote-tracking branch", args).await?;
        Ok(CommitId::from_git(tip))
    }

    async fn address(&self, repository: &Repository) -> Result<String> {
        let key = format!("remote.{}.url", self.remote);
        let answer = repository.git().ask(["config", "-z", "--get-all", &key]).await?;
        let first = answer.stdout.split(|byte| *byte == 0).next().filter(|url| !url.is_empty());
        first.and_then(|url| String::from_utf8(url.to_vec()).ok()).ok_or_else(|| {
            let what = format!("fetch `{}`: there is no remote `{}`", self.branch, self.remote);
            Error::new(ErrorKind::Git, what).with_hint("`git remote -v` lists the remotes")
        })
    }

    fn failed(&self, answer: &Answer, repository: &Repository) -> Error {
        let what = format!("fetch `{}` from `{}`", self.branch, self.remote);
        answer.refused(&what, repository.git().cwd())
    }
}
