//! Bringing a branch up to date with its base: by git alone where that can, and otherwise by an agent, whose merge is looked at.

use super::arguments::Sources;
use super::outcome::{Produced, carrying};
use super::{Opened, PullRequestResult, PullRequestRun, Task};
use crate::review::{Checkout, MergeOutlook, PullRequest, UpdateBranchOutput};
use crate::{Error, ErrorKind, Result, RunOptions, RunResult};

impl PullRequestRun {
    pub(super) async fn update(self) -> Result<PullRequestResult<UpdateBranchOutput>> {
        let task = Task::UpdateBranch;
        let (options, branch) = self.checked(task)?;
        let opened = self.open(task, branch).await?;
        let Opened { pull_request, checkout, .. } = &opened;
        let (head, base) = (checkout.branch().clone(), pull_request.base.branch.clone());
        let produced = match self.before_it_is_cancelled(checkout.outlook()).await? {
            MergeOutlook::UpToDate => by_git(0, format!("`{head}` has everything that `{base}` has.")),
            MergeOutlook::Clean => {
                Box::pin(checkout.merge_base()).await?;
                by_git(1, format!("Merged `{base}` into `{head}`. Nothing was in conflict."))
            }
            MergeOutlook::Conflicts(paths) => {
                let resolved = self.resolve(options, pull_request, checkout, &paths).await?;
                Produced::by_agent(resolved)
            }
            // What is not known is left to nobody.
            outlook => {
                let what = format!("merge `{base}` into `{head}`: it would be {outlook:?}");
                return Err(Error::new(ErrorKind::Merge, what));
            }
        };
        self.finish(opened, produced).await
    }

    /// Has an agent merge, and sees whether it did.
    async fn resolve(
        &self,
        options: RunOptions,
        pull_request: &PullRequest,
        checkout: &Checkout,
        conflicts: &[String],
    ) -> Result<RunResult<UpdateBranchOutput>> {
        let diff = self.before_it_is_cancelled(checkout.diff()).await?;
        let sources = Sources { pull_request, checkout, diff: &diff, conflicts };
        let run = self.run::<UpdateBranchOutput>(options, Task::UpdateBranch, &sources).await?;
        let seen = Box::pin(see(pull_request, checkout, conflicts)).await;
        seen.map_err(|error| carrying(error, Some(&run.work())))?;
        Ok(run)
    }
}

/// What git did alone, in words.
fn by_git(commits: usize, comment: String) -> Produced<UpdateBranchOutput> {
    Produced { output: UpdateBranchOutput { comment }, commits, run: None }
}

/// Looks at a merge of an agent's.
///
/// # Errors
/// [`ErrorKind::Merge`] when the base is not merged, or a file is half a merge.
async fn see(pull_request: &PullRequest, checkout: &Checkout, conflicts: &[String]) -> Result<()> {
    let (branch, base) = (checkout.branch(), &pull_request.base.branch);
    let failed = |why: String| Error::new(ErrorKind::Merge, format!("merge `{base}` into `{branch}`: {why}"));
    if checkout.outlook().await? != MergeOutlook::UpToDate {
        let why = match checkout.tip().await? == *checkout.start() {
            true => "the agent made no commit",
            false => "the agent made commits, and none of them merges it",
        };
        return Err(failed(why.to_owned()));
    }
    let unresolved = checkout.unresolved(conflicts).await?;
    if unresolved.is_empty() {
        return Ok(());
    }
    let named: Vec<String> = unresolved.iter().map(|path| format!("`{path}`")).collect();
    Err(failed(format!("the agent left marks of conflicts in {}", named.join(", ")))
        .with_hint("nothing was pushed; the commits are on the local branch"))
}
