//! Brings a worktree that is used again up to its remote branch: only if it is clean, and only forwards.

use std::time::Duration;

use crate::error::Result;
use crate::git::{Fetch, Repository};
use crate::id::BranchName;

/// How long a remote may take to answer.
const FETCH_LIMIT: Duration = Duration::from_secs(15);

/// Fast-forwards the branch that is checked out, and says what was done, or why it was not.
pub(super) async fn refresh(repository: &Repository, branch: &BranchName, limit: Duration) -> Vec<String> {
    match forward(repository, branch, limit).await {
        Ok(note) => note.into_iter().collect(),
        Err(error) => vec![format!("`{branch}` is used as it is: {error:#}")],
    }
}

async fn forward(repository: &Repository, branch: &BranchName, limit: Duration) -> Result<Option<String>> {
    let Some(remote) = repository.remote_of(branch).await? else { return Ok(None) };
    let theirs = Fetch { remote: &remote, branch, limit: limit.min(FETCH_LIMIT) }.into(repository).await?;
    let Some(ours) = repository.tip(branch).await? else { return Ok(None) };
    if repository.is_ancestor(&theirs, &ours).await? {
        return Ok(None);
    }
    if !repository.is_ancestor(&ours, &theirs).await? {
        return Ok(Some(format!(
            "`{branch}` is used as it is: it and `{remote}/{branch}` have both moved on and would have to be merged"
        )));
    }
    repository.fast_forward(&theirs, limit).await?;
    Ok(Some(format!("`{branch}` was fast-forwarded to `{remote}/{branch}`")))
}
