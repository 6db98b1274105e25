//! Checkouts whose branch was moved behind their back: it is elsewhere by now, and the files are still those of before.
//!
//! Git keeps everybody from that who works with it, but not those who move the ref itself (`git update-ref`), as an agent
//! on this host can. Here it is found and put into words, with the commands that put it right. Nothing is changed: the
//! files in there are the user's.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::opening::quoted;
use super::plan::worktrees_folder;
use crate::error::Result;
use crate::git::Repository;
use crate::id::{BranchName, CommitId};

/// How often is looked again at what git may just be moving: it writes its log a moment before the branch.
const LOOKS: u32 = 4;
/// How long it is waited before that.
const PAUSE: Duration = Duration::from_millis(25);

/// A checkout that lags behind its branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lag {
    top: PathBuf,
    branch: BranchName,
    /// The commit that the files are of.
    was: CommitId,
    /// Where the branch is.
    now: CommitId,
}

impl Lag {
    /// Looks at a work tree, in which `branch` is checked out.
    ///
    /// The log of its `HEAD` says what was checked out there last, unless the branch was moved from elsewhere; and then files
    /// that changed between the two are in its index as they were. Without a log nothing can be told.
    ///
    /// # Errors
    /// [`ErrorKind::Git`](crate::ErrorKind::Git) when git cannot tell.
    pub(super) async fn of(tree: &Repository, branch: &BranchName) -> Result<Option<Self>> {
        let mut looks = LOOKS;
        let (was, now) = loop {
            let (Some(was), Some(now)) = (tree.last_checked_out(), tree.tip(branch).await?) else {
                return Ok(None);
            };
            if was == now {
                return Ok(None);
            }
            if looks == 0 {
                break (was, now);
            }
            looks -= 1;
            tokio::time::sleep(PAUSE).await;
        };
        if !is_behind(tree, &was, &now).await? {
            return Ok(None);
        }
        Ok(Some(Self { top: tree.top()?.to_path_buf(), branch: branch.clone(), was, now }))
    }

    /// Returns the root of the work tree.
    pub(super) fn top(&self) -> &Path {
        &self.top
    }

    /// Says how it is, and what puts it right.
    pub(crate) fn says(&self) -> String {
        format!(
            "the branch `{}`, which is checked out in `{}`, was moved by something else than this run, from {:.12} to {:.12}, and \
             the files there lag behind; {}",
            self.branch,
            self.top.display(),
            self.was,
            self.now,
            self.remedy()
        )
    }

    /// Says what puts it right: both commands leave uncommitted work as it is, or do nothing where it is in the way.
    pub(super) fn remedy(&self) -> String {
        let (top, was, now) = (quoted(&self.top), &self.was, &self.now);
        let name = quoted(Path::new(&format!("refs/heads/{}", self.branch)));
        format!(
            "to bring them up, uncommitted work kept: `git -C {top} read-tree -m -u {was} {now}`; \
             or to move the branch back: `git -C {top} update-ref {name} {was} {now}`"
        )
    }
}

/// Finds the checkouts of the user, other than the one at `except`, that lag behind one of `branches`.
///
/// # Errors
/// [`ErrorKind::Git`](crate::ErrorKind::Git) when git cannot tell.
pub(crate) async fn lagging(host: &Repository, branches: &[BranchName], except: &Path) -> Result<Vec<Lag>> {
    let mut found = Vec::new();
    if branches.is_empty() {
        return Ok(found);
    }
    let folder = worktrees_folder(host);
    for listed in host.worktrees().await? {
        let (Some(branch), Some(state)) = (&listed.branch, &listed.git_dir) else { continue };
        let is_ours = listed.path.starts_with(&folder) || listed.path == except;
        if is_ours || !branches.contains(branch) || host.tip(branch).await? != listed.head {
            continue;
        }
        found.extend(Lag::of(&host.aimed_at(&listed.path, state), branch).await?);
    }
    Ok(found)
}

/// Tells whether a file that is different in the two commits is in the index as it was in the first.
async fn is_behind(tree: &Repository, was: &CommitId, now: &CommitId) -> Result<bool> {
    let git = tree.git();
    let between = git.ask(["diff-tree", "-r", "-z", "--name-only", "--no-renames", was, now]).await?;
    let staged = git.ask(["diff-index", "--cached", "-z", "--name-only", "--no-renames", was, "--"]).await?;
    if !between.is_success() || !staged.is_success() {
        // The commit is not there any more.
        return Ok(false);
    }
    let staged: HashSet<&[u8]> = paths(&staged.stdout).collect();
    Ok(paths(&between.stdout).any(|path| !staged.contains(path)))
}

fn paths(listed: &[u8]) -> impl Iterator<Item = &[u8]> {
    listed.split(|byte| *byte == 0).filter(|path| !path.is_empty())
}
