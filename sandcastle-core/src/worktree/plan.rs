//! What a run does about branches, decided at its entry: nothing is written, and whatever cannot work is refused.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::lock::Lock;
use super::names;
use super::opening::{Kind, Opening, Start};
use super::place::Place;
use super::strategy::{BranchStrategy, Way};
use crate::config::{ConfigDir, Kept};
use crate::error::{Error, ErrorKind, Result};
use crate::git::{Head, Presence, Repository, Worktree, branch_ref, real_path};
use crate::id::{BranchName, CommitId, RunId};

/// The branches of one run.
#[derive(Debug)]
pub(crate) struct Plan {
    repository: Repository,
    branches: Branches,
    run: RunId,
    target: BranchName,
    /// Where the branch was at the entry, or begins if it was not there.
    base: Option<CommitId>,
    /// The lock of a named branch, from the first opening on.
    lock: Mutex<Option<Arc<Lock>>>,
}

#[derive(Debug)]
enum Branches {
    /// The one that is checked out.
    Host,
    /// One of its own for each iteration; they begin with this.
    Temporary(String),
    /// One that the caller named, and where it begins if it is not there yet.
    Named(BranchName, Option<Start>),
}

impl Plan {
    /// Decides. Only reads.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidOptions`] when the strategy contradicts itself or the repository, [`ErrorKind::Git`] when git
    /// cannot read the repository or there is no work tree for `head`.
    pub(crate) async fn new(
        repository: &Repository,
        strategy: &BranchStrategy,
        run: &RunId,
        name: Option<&str>,
    ) -> Result<Self> {
        if strategy.base.is_some() && !matches!(strategy.way, Way::Branch(_)) {
            return Err(invalid("use a base: only the branch strategy `branch` has one")
                .with_hint("the other strategies begin at what is checked out; drop `base`"));
        }
        let (branches, target, base) = match &strategy.way {
            Way::Head => {
                repository.top()?;
                let head = repository.head().await?;
                (Branches::Host, head.branch, head.commit)
            }
            Way::MergeToHead => {
                let head = repository.head().await?;
                merge_target(&head)?;
                (Branches::Temporary(names::temporary_branch(run, name)), head.branch, head.commit)
            }
            Way::Branch(name) => named(repository, name, strategy.base.as_deref()).await?,
        };
        let repository = repository.clone();
        Ok(Self { repository, branches, run: run.clone(), target, base, lock: Mutex::default() })
    }

    /// Returns the branch that an iteration, counted from 1, works on.
    pub(crate) fn source_branch(&self, iteration: u32) -> BranchName {
        match &self.branches {
            Branches::Host => self.target.clone(),
            Branches::Named(branch, _) => branch.clone(),
            Branches::Temporary(stem) if iteration <= 1 => BranchName::from_git(stem),
            Branches::Temporary(stem) => BranchName::from_git(format!("{stem}-{iteration}")),
        }
    }

    /// Returns the branch of the caller at the entry of the run; `HEAD` when none was checked out.
    pub(crate) fn target_branch(&self) -> &BranchName {
        &self.target
    }

    /// Returns where the branch of the first iteration was at the entry of the run, or begins if it was not there; `None` in a
    /// repository without a commit.
    pub(crate) fn base(&self) -> Option<&CommitId> {
        self.base.as_ref()
    }

    /// Returns the name of the strategy.
    pub(crate) fn strategy(&self) -> &'static str {
        match self.branches {
            Branches::Host => "head",
            Branches::Temporary(_) => "merge-to-head",
            Branches::Named(..) => "branch",
        }
    }

    /// Returns where the worktree of an iteration is, or will be; `None` for the caller's own work tree.
    pub(crate) fn folder(&self, iteration: u32) -> Option<PathBuf> {
        let folder = names::folder_of(&self.source_branch(iteration));
        let is_own = matches!(self.branches, Branches::Host);
        (!is_own).then(|| real_path(&ConfigDir::of(&self.repository).place_of(Kept::Worktrees)).join(folder))
    }

    /// Tells whether what the agent commits is to be merged into the target branch.
    pub(crate) fn merges(&self) -> bool {
        matches!(self.branches, Branches::Temporary(_))
    }

    /// Makes the work tree of an iteration ready, or uses the one that is there.
    ///
    /// The lock of a named branch is taken once and is the plan's from then on; that of a temporary branch is the place's.
    /// `limit` is for git, not for waiting until others of this process have made theirs. A dropped future leaves a worktree
    /// that the next opening of the branch, or cleaning up, finds.
    ///
    /// # Errors
    /// [`ErrorKind::BranchBusy`] when another run works on the branch, [`ErrorKind::StepTimeout`] when it took longer than
    /// `limit`, [`ErrorKind::Worktree`] or [`ErrorKind::Git`] when it cannot be made. Nothing new is left behind then.
    pub(crate) async fn open(&self, iteration: u32, limit: Duration) -> Result<Place> {
        let branch = self.source_branch(iteration);
        let (kind, start, lock) = match &self.branches {
            Branches::Host => return Place::in_place(&self.repository).await,
            Branches::Temporary(_) => {
                let lock = Lock::of_branch(&self.repository, &branch, self.run.as_str()).await?;
                (Kind::Temporary, None, Arc::new(lock))
            }
            Branches::Named(_, start) => (Kind::Named, start.clone(), self.named_lock(&branch).await?),
        };
        let host = &self.repository;
        Opening { host, branch: &branch, kind, start, limit, lock }.place().await
    }

    /// Takes the lock of a named branch, so that from here on whatever is in its worktree belongs to this run. A temporary
    /// branch is nobody else's anyway.
    ///
    /// # Errors
    /// [`ErrorKind::BranchBusy`] when another run works on the branch.
    pub(crate) async fn reserve(&self) -> Result<()> {
        match &self.branches {
            Branches::Named(branch, _) => self.named_lock(branch).await.map(drop),
            Branches::Host | Branches::Temporary(_) => Ok(()),
        }
    }

    async fn named_lock(&self, branch: &BranchName) -> Result<Arc<Lock>> {
        let held = || self.lock.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(lock) = held() {
            return Ok(lock);
        }
        let lock = Arc::new(Lock::of_branch(&self.repository, branch, self.run.as_str()).await?);
        *self.lock.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&lock));
        Ok(lock)
    }
}

fn invalid(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidOptions, message)
}

fn merge_target(head: &Head) -> Result<()> {
    if head.branch == "HEAD" {
        return Err(invalid("merge into what is checked out: `HEAD` is detached")
            .with_hint("check out a branch, or use the branch strategy `branch`"));
    }
    if head.commit.is_none() {
        return Err(invalid(format!("merge into `{}`: it has no commit yet", head.branch))
            .with_hint("make a first commit"));
    }
    Ok(())
}

/// Decides about a branch that the caller named: what is to be done, what is checked out, and where the branch is or begins.
async fn named(
    repository: &Repository,
    name: &str,
    base: Option<&str>,
) -> Result<(Branches, BranchName, Option<CommitId>)> {
    let branch = names::checked_branch(name)?;
    let (head, refs) = repository.head_and_refs().await?;
    if let Some(other) = names::branch_in_the_way(&branch, refs.branches()) {
        return Err(invalid(format!("use `{branch}` as a branch: there is a branch `{other}`")).with_hint(
            "git keeps branches as files, so one cannot be the folder of another; name another branch",
        ));
    }
    let start = match base {
        Some(revision) => Some(based(repository, revision).await?),
        None => None,
    };
    let tip = refs.get(&branch_ref(&branch)).or(start.as_ref().map(|start| &start.commit));
    let begins_at = tip.or(head.commit.as_ref()).cloned();
    if begins_at.is_none() {
        return Err(invalid(format!("begin the branch `{branch}`: the repository has no commit yet"))
            .with_hint("make a first commit, or name a `base`"));
    }
    let folder = worktrees_folder(repository);
    if let Some(elsewhere) = checked_out_elsewhere(&repository.worktrees().await?, &branch, &folder) {
        return Err(taken(&branch, elsewhere, ErrorKind::InvalidOptions));
    }
    Ok((Branches::Named(branch, start), head.branch, begins_at))
}

async fn based(repository: &Repository, revision: &str) -> Result<Start> {
    names::checked_revision(revision)?;
    let shown = revision.escape_debug().to_string();
    match repository.resolve(revision).await? {
        Some(commit) => Ok(Start { revision: revision.to_owned(), commit }),
        None => Err(invalid(format!("begin the branch at `{shown:.80}`: there is no such commit"))
            .with_hint(
                "name a branch, a tag or the id of a commit; one of a remote has to be fetched first",
            )),
    }
}

/// Returns where worktrees are made, without symlinks.
pub(super) fn worktrees_folder(repository: &Repository) -> PathBuf {
    real_path(&ConfigDir::of(repository).place_of(Kept::Worktrees))
}

/// Finds a work tree that is not one of ours and has the branch.
pub(super) fn checked_out_elsewhere<'a>(
    worktrees: &'a [Worktree],
    branch: &BranchName,
    folder: &Path,
) -> Option<&'a Worktree> {
    let left_behind =
        Path::new(ConfigDir::NAME).join(Kept::Worktrees.folder()).join(names::folder_of(branch));
    worktrees.iter().filter(|worktree| worktree.branch.as_ref() == Some(branch)).find(|worktree| {
        // A repository that was moved lists its worktrees where they were.
        let is_moved = worktree.presence == Presence::Gone && worktree.path.ends_with(&left_behind);
        worktree.path.parent() != Some(folder) && !is_moved
    })
}

/// Says that a branch is checked out in a work tree of somebody else's.
pub(super) fn taken(branch: &BranchName, elsewhere: &Worktree, kind: ErrorKind) -> Error {
    let path = elsewhere.path.display();
    let error = Error::new(kind, format!("make a worktree for `{branch}`: it is checked out in `{path}`"));
    let error = match elsewhere.presence {
        Presence::There => error,
        Presence::Gone => error.with_hint("that folder has gone; `git worktree prune` forgets it"),
    };
    error
        .with_hint(format!(
            "check out another branch in `{path}`, or remove it if it is a worktree that nobody needs"
        ))
        .with_hint("or use the branch strategy `merge_to_head`, `head` in that folder, or another branch")
}
