//! Objects from elsewhere: a branch of a remote.
//!
//! Only the protocols that are named here are spoken; nothing is merged, and nothing is started in the background.

use std::time::Duration;

use super::repository::Repository;
use crate::error::{Error, ErrorKind, Result};
use crate::id::{BranchName, CommitId};

impl Repository {
    /// Names the remote that a branch belongs to, `origin` unless it says otherwise; `None` when there is no such remote.
    pub(crate) async fn remote_of(&self, branch: &BranchName) -> Result<Option<String>> {
        let configured = self.git().ask(["config", "--get", &format!("branch.{branch}.remote")]).await?;
        let remote = configured.line().unwrap_or("origin").to_owned();
        let url = self.git().ask(["config", "--get", &format!("remote.{remote}.url")]).await?;
        let is_usable = url.line().is_some() && !remote.starts_with('-') && remote != ".";
        Ok(is_usable.then_some(remote))
    }

    /// Fetches one branch of a remote and returns its last commit.
    pub(crate) async fn fetch_branch(
        &self,
        remote: &str,
        branch: &BranchName,
        limit: Duration,
    ) -> Result<CommitId> {
        let tracking = format!("refs/remotes/{remote}/{branch}");
        let what = format!("+refs/heads/{branch}:{tracking}");
        let options = ["fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-auto-maintenance"];
        let rest = ["--no-write-fetch-head", "--", remote, &what];
        let git = self.git().clone().timeout(limit);
        let answer = git.reach(options.iter().chain(&rest)).await?;
        if !answer.is_success() {
            return Err(answer.refused(&format!("fetch `{branch}` from `{remote}`"), git.cwd()));
        }
        self.resolve(&tracking).await?.ok_or_else(|| {
            Error::new(ErrorKind::Git, format!("find `{branch}` after fetching it from `{remote}`"))
        })
    }

    /// Moves the branch that is checked out to a commit ahead of it, with its files.
    pub(crate) async fn fast_forward(&self, to: &CommitId, limit: Duration) -> Result<()> {
        let git = self.git().clone().timeout(limit);
        let args = ["merge", "--quiet", "--ff-only", "--no-autostash", to];
        let answer = git.reach(args).await?;
        if answer.is_success() { Ok(()) } else { Err(answer.refused("fast-forward", git.cwd())) }
    }
}
