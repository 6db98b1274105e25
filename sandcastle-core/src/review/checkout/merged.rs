//! How a run works on the branch, what of its work is on it, and whether what it merged is whole.

use std::collections::{BTreeSet, HashSet};

use super::Checkout;
use crate::error::Result;
use crate::id::CommitId;
use crate::work::Commit;
use crate::worktree::BranchStrategy;

impl Checkout {
    /// Returns the branch strategy by which a run works on the branch: in place where it is checked out in the folder, else in a
    /// worktree of its own.
    ///
    /// # Errors
    /// [`ErrorKind::Git`](crate::ErrorKind::Git) when it cannot be read what is checked out.
    pub async fn strategy(&self) -> Result<BranchStrategy> {
        match self.is_checked_out().await? {
            true => Ok(BranchStrategy::head()),
            false => Ok(BranchStrategy::branch(self.branch.as_str())),
        }
    }

    /// Counts those of these commits that are on the branch as it is now, and were not where it began. An agent may have left the
    /// branch for another one.
    ///
    /// # Errors
    /// [`ErrorKind::Git`](crate::ErrorKind::Git) when git fails.
    pub async fn count_of(&self, commits: &[Commit]) -> Result<usize> {
        let tip = self.tip().await?;
        let new = self.repository.commits_between(&[&tip], &[&self.start]).await?;
        let new: HashSet<&CommitId> = new.iter().map(|commit| &commit.sha).collect();
        Ok(commits.iter().filter(|commit| new.contains(&commit.sha)).count())
    }

    /// Returns those of these files in which a merge has left the marks of a conflict: they are in the branch as it is now, and
    /// neither where it began nor in the base.
    ///
    /// # Errors
    /// [`ErrorKind::Git`](crate::ErrorKind::Git) when git fails.
    pub async fn unresolved(&self, paths: &[String]) -> Result<Vec<String>> {
        let tip = self.tip().await?;
        let marked = self.repository.marked_files(&tip, paths).await?;
        let mut before: BTreeSet<String> = BTreeSet::new();
        if !marked.is_empty() {
            before.extend(self.repository.marked_files(&self.start, paths).await?);
            before.extend(self.repository.marked_files(&self.base, paths).await?);
        }
        Ok(marked.into_iter().filter(|path| !before.contains(path)).collect())
    }
}
