//! Cleans up worktrees that runs have left behind.
//!
//! Each is looked at under the lock of its branch, so that one that is in use, or just being made, is left alone. What is
//! removed holds nothing of value and its commits are on another branch too; everything else is listed with the reason.
//! Folders that git does not know are somebody's: only empty ones go.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::lock::{Attempt, Lock};
use super::names;
use super::opening::{GATE_LIMIT, is_unfinished};
use super::plan::worktrees_folder;
use super::value::look_into;
use crate::error::Result;
use crate::git::{Presence, Removal, Repository, Worktree};
use crate::id::BranchName;

/// Says whether anything is to be removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cleaning {
    /// Nothing is.
    LookOnly,
    /// What holds nothing of value is.
    Remove,
}

/// One folder below `.sandcastle/worktrees/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Leftover {
    pub(crate) path: PathBuf,
    pub(crate) branch: Option<BranchName>,
    /// Why it stays; `None` when it was removed, or would be.
    pub(crate) reason: Option<String>,
}

/// Looks at every worktree of runs, and removes those that hold nothing of value if it is to. Those for which somebody
/// else answers are passed over.
pub(crate) async fn prune(
    repository: &Repository,
    cleaning: Cleaning,
    answered_for: &HashSet<PathBuf>,
) -> Result<Vec<Leftover>> {
    let folder = worktrees_folder(repository);
    let worktrees = repository.worktrees().await?;
    let mut leftovers = Vec::new();
    let is_ours = |worktree: &&Worktree| {
        worktree.path.parent() == Some(&folder) && !answered_for.contains(&worktree.path)
    };
    for worktree in worktrees.iter().filter(is_ours) {
        let reason = match one(repository, worktree, cleaning).await {
            Ok(reason) => reason,
            Err(error) => Some(error.to_string()),
        };
        leftovers.push(Leftover { path: worktree.path.clone(), branch: worktree.branch.clone(), reason });
    }
    leftovers.extend(unknown(repository, &folder, cleaning).await?);
    Ok(leftovers)
}

/// Says why a worktree stays; `None` when it is gone.
async fn one(host: &Repository, worktree: &Worktree, cleaning: Cleaning) -> Result<Option<String>> {
    let stays = |why: &str| Ok(Some(why.to_owned()));
    let Some(branch) = &worktree.branch else { return stays("no branch is checked out in it") };
    let _lock = match Lock::for_cleaning(host, branch)? {
        Attempt::Taken(lock) => lock,
        Attempt::Held(None) => return stays("another run works on it"),
        Attempt::Held(Some(holder)) => return Ok(Some(holder.says())),
    };
    if worktree.locked.is_some() {
        return stays("it is locked with `git worktree lock`");
    }
    if worktree.presence == Presence::Gone {
        if cleaning == Cleaning::Remove {
            let _gate = Lock::of_worktree_list(host, "clean up", GATE_LIMIT).await?;
            host.remove_worktree(&worktree.path, Removal::UnlessLocked).await?;
        }
        return Ok(None);
    }
    let Some(git_dir) = &worktree.git_dir else {
        return stays("its state in the repository cannot be found");
    };
    let repository = host.aimed_at(&worktree.path, git_dir);
    let is_unfinished = is_unfinished(git_dir);
    let _gate = match cleaning {
        Cleaning::LookOnly => None,
        Cleaning::Remove => Some(Lock::of_worktree_list(host, "clean up", GATE_LIMIT).await?),
    };
    let look = look_into(&repository, branch).await;
    if let (Some(why), false) = (look.value.reason(), is_unfinished) {
        return Ok(Some(why));
    }
    let Some(tip) = look.commit else { return stays("its branch has gone") };
    if !host.is_held_beside(&tip, branch).await? {
        return Ok(Some(format!("no other branch holds the commits of `{branch}`")));
    }
    if cleaning == Cleaning::LookOnly {
        return Ok(None);
    }
    host.remove_worktree(&worktree.path, Removal::UnlessLocked).await?;
    if names::is_temporary(branch)
        && let Err(error) = host.delete_branch(branch, &tip).await
    {
        return Ok(Some(format!("the worktree is removed, its branch stays: failed to {error}")));
    }
    Ok(None)
}

/// Lists the folders that git does not know.
async fn unknown(host: &Repository, folder: &Path, cleaning: Cleaning) -> Result<Vec<Leftover>> {
    // Under the lock none is just being made.
    let _gate = Lock::of_worktree_list(host, "clean up", GATE_LIMIT).await?;
    let known: Vec<PathBuf> = host.worktrees().await?.into_iter().map(|worktree| worktree.path).collect();
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut unknown: Vec<PathBuf> = entries
        .filter(|entry| entry.file_name() != ".gitignore")
        .map(|entry| entry.path())
        .filter(|path| !known.contains(path))
        .collect();
    unknown.sort();
    Ok(unknown
        .into_iter()
        .map(|path| {
            let is_gone = cleaning == Cleaning::Remove && fs::remove_dir(&path).is_ok();
            let reason = (!is_gone).then(|| "git does not know it as a worktree".to_owned());
            Leftover { path, branch: None, reason }
        })
        .collect())
}
