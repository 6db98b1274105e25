//! A work tree that is ready for an agent, and what becomes of it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::gather::{self, Gathered, Origin};
use super::lock::Lock;
use super::opening::{GATE_LIMIT, Kind, Opening, quoted, turn};
use super::value::look_into;
use crate::error::{Error, ErrorKind, Result};
use crate::git::{Head, Refs, Removal, Repository};
use crate::id::{BranchName, CommitId};

/// After how long a look into a worktree is repeated before it is removed: others may have been waited for.
const STALE: Duration = Duration::from_millis(20);

/// A work tree that is ready; with the strategy `head` the caller's own.
///
/// A place that is dropped keeps its worktree and gives up its lock.
#[derive(Debug)]
pub(crate) struct Place {
    host: Repository,
    repository: Repository,
    top: PathBuf,
    branch: BranchName,
    origin: Origin,
    kind: Kind,
    is_fresh: bool,
    /// Where the branch begins, if it was made for this place.
    made_branch: Option<CommitId>,
    notes: Vec<String>,
    _lock: Option<Arc<Lock>>,
    /// Whether a run is at work in it.
    occupied: AtomicBool,
}

/// Says how the work in a place ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It never began: what was made for it goes.
    Worthless,
    /// It ended; whether what it left was merged where it belongs.
    Finished { landed: bool },
}

/// What became of a place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Closed {
    /// The worktree that was kept.
    pub(crate) preserved: Option<PathBuf>,
    /// Why, and what to do about it.
    pub(crate) notes: Vec<String>,
}

impl Place {
    /// Takes the work tree of the caller.
    pub(super) async fn in_place(host: &Repository) -> Result<Self> {
        let top = host.top()?.to_path_buf();
        let (head, refs) = host.head_and_refs().await?;
        Ok(Self {
            host: host.clone(),
            repository: host.aimed_at(&top, host.git_dir()),
            top,
            branch: head.branch,
            origin: Origin::new(host, head.commit, refs),
            kind: Kind::InPlace,
            is_fresh: false,
            made_branch: None,
            notes: Vec::new(),
            _lock: None,
            occupied: AtomicBool::new(false),
        })
    }

    /// Takes a worktree that is ready.
    pub(super) fn of(
        opening: &Opening<'_>,
        repository: Repository,
        top: PathBuf,
        base: CommitId,
        before: Refs,
    ) -> Self {
        Self {
            host: opening.host.clone(),
            origin: Origin::new(&repository, Some(base), before),
            repository,
            top,
            branch: opening.branch.clone(),
            kind: opening.kind,
            is_fresh: false,
            made_branch: None,
            notes: Vec::new(),
            _lock: Some(Arc::clone(&opening.lock)),
            occupied: AtomicBool::new(false),
        }
    }

    /// Notes what was made for it.
    pub(super) fn made(mut self, is_fresh: bool, branch: Option<CommitId>, notes: Vec<String>) -> Self {
        (self.is_fresh, self.made_branch, self.notes) = (is_fresh, branch, notes);
        self
    }

    /// Returns the root of the work tree.
    pub(crate) fn top(&self) -> &Path {
        &self.top
    }

    /// Returns the repository, aimed at this work tree whatever its file `.git` says.
    pub(crate) fn repository(&self) -> &Repository {
        &self.repository
    }

    /// Returns the branch that belongs to it; `HEAD` when the caller has none checked out.
    pub(crate) fn branch(&self) -> &BranchName {
        &self.branch
    }

    /// Returns the commit at which the work begins; `None` in a repository without commits.
    pub(crate) fn base(&self) -> Option<&CommitId> {
        self.origin.base()
    }

    /// Tells whether the worktree was made just now.
    pub(crate) fn is_fresh(&self) -> bool {
        self.is_fresh
    }

    /// Returns where the work begins.
    pub(crate) fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Returns what was checked out and every ref when the place was made.
    pub(crate) fn seen(&self) -> (Head, &Refs) {
        let head = Head { commit: self.origin.base().cloned(), branch: self.branch.clone() };
        (head, self.origin.before())
    }

    /// Returns where work would begin now.
    ///
    /// # Errors
    /// [`ErrorKind::Git`](crate::ErrorKind::Git) when git cannot tell.
    pub(crate) async fn origin_now(&self) -> Result<Origin> {
        let (head, refs) = self.repository.head_and_refs().await?;
        Ok(Origin::new(&self.repository, head.commit, refs))
    }

    /// Takes it for one run; `false` while another is at work in it, whose commits could not be told from those of this one.
    pub(crate) fn occupy(&self) -> bool {
        !self.occupied.swap(true, Ordering::AcqRel)
    }

    /// Gives up what [`occupy`](Self::occupy) took.
    pub(crate) fn vacate(&self) {
        self.occupied.store(false, Ordering::Release);
    }

    /// Tells whether it is the caller's own work tree.
    pub(crate) fn is_in_place(&self) -> bool {
        self.kind == Kind::InPlace
    }

    pub(super) fn kind(&self) -> Kind {
        self.kind
    }

    /// Takes what a person should know about how it was made ready.
    pub(crate) fn notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    /// Finds the commits that the agent made since `origin`.
    ///
    /// A detached `HEAD` that is ahead of the branch is taken in: the branch is advanced to it and checked out again.
    ///
    /// # Errors
    /// [`ErrorKind::Git`](crate::ErrorKind::Git) when git cannot tell.
    ///
    /// The limit is for git, not for waiting until others of this process have had their turn.
    pub(crate) async fn gather(&self, origin: &Origin, limit: Duration) -> Result<Gathered> {
        let _turn = turn().await;
        tokio::time::timeout(limit, gather::gather(self, origin)).await.unwrap_or_else(|_| {
            let what = format!("collect the commits of `{}` within {limit:?}", self.branch);
            Err(Error::new(ErrorKind::StepTimeout, what)
                .with_hint("raise `commit_collection` in the timeouts; the commits are on their branch"))
        })
    }

    /// Puts the place away: a worktree with nothing of value in it is removed, any other is kept and named.
    ///
    /// Whatever goes wrong keeps the worktree. A temporary branch is deleted if nothing is lost with it; a named one stays.
    pub(crate) async fn close(self, fate: Fate) -> Closed {
        if self.kind == Kind::InPlace {
            return Closed::default();
        }
        let _turn = turn().await;
        match fate {
            Fate::Worthless if !self.is_fresh => Closed::default(),
            Fate::Worthless if self.is_untouched().await => self.discard().await,
            Fate::Worthless => self.put_away(false).await,
            Fate::Finished { landed } => self.put_away(landed).await,
        }
    }

    /// Keeps the place as it is, and says why.
    pub(crate) fn keep(self, why: &str) -> Closed {
        if self.kind == Kind::InPlace { Closed::default() } else { self.kept(why) }
    }

    /// Tells whether there are no commits on top of where it began.
    async fn is_untouched(&self) -> bool {
        let head = self.repository.head().await.ok().and_then(|head| head.commit);
        let tip = self.repository.tip(&self.branch).await.ok().flatten();
        self.repository.operation().is_none() && head.as_ref() == self.base() && tip.as_ref() == self.base()
    }

    async fn discard(self) -> Closed {
        let gate = Lock::of_worktree_list(&self.host, "remove a worktree", GATE_LIMIT).await;
        let removed = match &gate {
            Ok(_) => self.host.clear_worktree(&self.top).await,
            Err(_) => Ok(()),
        };
        if let Err(error) = gate.as_ref().map(drop).and(removed.as_ref().map(drop)) {
            return self.kept(&format!("it could not be removed: {error}"));
        }
        let mut closed = Closed::default();
        if let Some(commit) = &self.made_branch
            && let Err(error) = self.host.delete_branch(&self.branch, commit).await
        {
            closed.notes.push(format!("the branch `{}` stays: failed to {error}", self.branch));
        }
        closed
    }

    async fn put_away(self, landed: bool) -> Closed {
        let mut look = look_into(&self.repository, &self.branch).await;
        let looked = Instant::now();
        if let Some(why) = look.value.reason() {
            return self.kept(&why);
        }
        let gate = match Lock::of_worktree_list(&self.host, "remove a worktree", GATE_LIMIT).await {
            Ok(gate) => gate,
            Err(error) => return self.kept(&format!("it could not be removed: {error}")),
        };
        if looked.elapsed() > STALE {
            look = look_into(&self.repository, &self.branch).await;
            if let Some(why) = look.value.reason() {
                return self.kept(&why);
            }
        }
        if let Err(error) = self.host.remove_worktree(&self.top, Removal::UnlessLocked).await {
            return self.kept(&format!("it could not be removed: {error}"));
        }
        let mut closed = Closed::default();
        if self.kind == Kind::Temporary {
            closed.notes.extend(self.drop_branch(look.commit, landed).await);
        }
        drop(gate);
        closed
    }

    /// Deletes the temporary branch if it still is at `tip`, and says why if it stays.
    async fn drop_branch(&self, tip: Option<CommitId>, landed: bool) -> Option<String> {
        let (branch, tip) = (&self.branch, tip?);
        let why = if landed || Some(&tip) == self.base() {
            match self.host.is_held_beside(&tip, branch).await {
                Ok(true) => match self.host.delete_branch(branch, &tip).await {
                    Ok(()) => return None,
                    Err(error) => format!("failed to {error}"),
                },
                Ok(false) => "no other branch holds its commits".to_owned(),
                Err(error) => format!("failed to {error}"),
            }
        } else {
            "its commits were not merged".to_owned()
        };
        Some(format!("the branch `{branch}` stays: {why}; `git branch -D {branch}` deletes it"))
    }

    fn kept(self, why: &str) -> Closed {
        let (top, folder) = (quoted(&self.top), quoted(self.host.git().cwd()));
        // Git wants it twice for one that is locked.
        let is_locked = self.repository.git_dir().join("locked").symlink_metadata().is_ok();
        let force = if is_locked { "--force --force" } else { "--force" };
        let note = format!(
            "the worktree `{}` is kept: {why}; look: `cd {top}`; clean up: `git -C {folder} worktree remove {force} {top}`",
            self.top.display()
        );
        Closed { preserved: Some(self.top), notes: vec![note] }
    }
}
