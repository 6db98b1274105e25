//! Makes the worktree of a branch ready: adds it, or takes the one that is there.
//!
//! The set of worktrees and branches is changed under one lock per repository, because git's own locks give up after a
//! moment when many want them at once; files are checked out outside of it. What was begun and could not be completed is
//! taken away again.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::Instant;

use super::lock::Lock;
use super::names;
use super::place::Place;
use super::plan::{checked_out_elsewhere, taken};
use super::refresh;
use super::submodules;
use super::value::{Value, value_of};
use crate::config::{ConfigDir, Kept};
use crate::error::{Error, ErrorKind, Result};
use crate::git::{Presence, Removal, Repository, Worktree, real_path};
use crate::id::{BranchName, CommitId};

/// How long another process may change the set of worktrees before it is given up on.
pub(crate) const GATE_LIMIT: Duration = Duration::from_secs(60);
/// How many worktrees are filled, looked at or removed at once: more would only fight for the disk and for descriptors.
const AT_ONCE: usize = 8;

/// The file in the state of a worktree that says that no agent has worked there yet.
const UNFINISHED: &str = "sandcastle-unfinished";

/// What a place is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The work tree of the caller.
    InPlace,
    /// A branch that the run made for itself.
    Temporary,
    /// A branch that the caller named.
    Named,
}

/// Where a new branch begins.
#[derive(Clone, Debug)]
pub(super) struct Start {
    pub(super) revision: String,
    pub(super) commit: CommitId,
}

/// One worktree that is to be made ready.
pub(super) struct Opening<'a> {
    pub(super) host: &'a Repository,
    pub(super) branch: &'a BranchName,
    pub(super) kind: Kind,
    /// The `HEAD` of the caller if absent.
    pub(super) start: Option<Start>,
    pub(super) limit: Duration,
    pub(super) lock: Arc<Lock>,
}

/// What has been made so far, and has to go if the rest fails.
#[derive(Default)]
struct Made {
    worktree: Option<PathBuf>,
    branch: Option<CommitId>,
    notes: Vec<String>,
}

/// Waits for a turn at the disk.
pub(super) async fn turn() -> Option<SemaphorePermit<'static>> {
    static TURNS: Semaphore = Semaphore::const_new(AT_ONCE);
    TURNS.acquire().await.ok()
}

impl Opening<'_> {
    /// Makes it ready.
    pub(super) async fn place(self) -> Result<Place> {
        let _turn = turn().await;
        let folder = real_path(&ConfigDir::of(self.host).make(Kept::Worktrees)?);
        let mut made = Made::default();
        match self.ready(&folder, &mut made).await {
            Ok(place) => Ok(place.made(made.worktree.is_some(), made.branch, made.notes)),
            Err(error) => Err(self.undo(made, error).await),
        }
    }

    async fn ready(&self, folder: &Path, made: &mut Made) -> Result<Place> {
        let gate = Lock::of_worktree_list(self.host, "make a worktree", GATE_LIMIT).await?;
        let deadline = Instant::now() + self.limit;
        // Not cut short: a git that is killed while it changes branches leaves its locks in the repository. Each call is
        // a matter of milliseconds, and has a limit of its own.
        let repository = self.find_or_add(folder, made).await?;
        drop(gate);
        self.in_time(deadline, self.fill(&repository, deadline, made)).await?;
        let (head, before) = repository.head_and_refs().await?;
        let base = head.commit.ok_or_else(|| self.failed("it has no commit"))?;
        let top = repository.top()?.to_path_buf();
        Ok(Place::of(self, repository, top, base, before))
    }

    async fn in_time<T>(&self, deadline: Instant, work: impl Future<Output = Result<T>>) -> Result<T> {
        tokio::time::timeout_at(deadline, work).await.unwrap_or_else(|_| {
            let limit = self.limit.as_secs_f32();
            let what = format!("make the worktree of `{}`: it took longer than {limit} s", self.branch);
            Err(Error::new(ErrorKind::StepTimeout, what))
        })
    }

    fn failed(&self, why: &str) -> Error {
        Error::new(ErrorKind::Worktree, format!("make the worktree of `{}`: {why}", self.branch))
    }

    async fn find_or_add(&self, folder: &Path, made: &mut Made) -> Result<Repository> {
        let top = folder.join(names::folder_of(self.branch));
        let mut worktrees = self.host.worktrees().await?;
        if top.join(".git").is_file() && !worktrees.iter().any(|listed| listed.path == top) {
            // The repository was moved, and its list does not know yet.
            self.host.repair_worktree(&top).await?;
            worktrees = self.host.worktrees().await?;
        }
        if let Some(elsewhere) = checked_out_elsewhere(&worktrees, self.branch, folder) {
            return Err(taken(self.branch, elsewhere, ErrorKind::Worktree));
        }
        let has_branch = |listed: &&Worktree| listed.branch.as_ref() == Some(self.branch);
        let listed = worktrees.iter().find(has_branch).or_else(|| worktrees.iter().find(|w| w.path == top));
        let begin = self.begin_at(&worktrees).await?;
        match listed {
            None => self.add(&top, begin, made).await,
            Some(listed) if listed.presence == Presence::Gone => {
                self.host.remove_worktree(&listed.path, Removal::UnlessLocked).await?;
                made.notes.push(format!("the worktree of `{}` had gone and is made anew", self.branch));
                self.add(&top, begin, made).await
            }
            Some(listed) if self.is_unfinished(listed) => {
                self.host.clear_worktree(&listed.path).await?;
                self.add(&top, begin, made).await
            }
            Some(listed) => self.take(listed, begin, made).await,
        }
    }

    /// Returns the commit at which the branch begins if it is not there yet; `None` if the caller has none checked out.
    async fn begin_at(&self, worktrees: &[Worktree]) -> Result<Option<CommitId>> {
        if let Some(start) = &self.start {
            return Ok(Some(start.commit.clone()));
        }
        let is_host = |listed: &&Worktree| listed.git_dir.as_deref() == Some(self.host.git_dir());
        match worktrees.iter().find(is_host).and_then(|listed| listed.head.clone()) {
            Some(head) => Ok(Some(head)),
            // A bare repository is listed without.
            None => Ok(self.host.head().await?.commit),
        }
    }

    /// Tells whether a worktree was never ready, because whoever made it was killed or dropped meanwhile.
    fn is_unfinished(&self, listed: &Worktree) -> bool {
        let has = |file: &str| listed.git_dir.as_ref().is_some_and(|git_dir| git_dir.join(file).exists());
        if listed.git_dir.as_deref().is_some_and(is_unfinished) {
            return true;
        }
        // Git itself was ended while it added it: there is nothing but the link to the repository.
        let entries = fs::read_dir(&listed.path).map(|entries| entries.take(2).flatten().collect::<Vec<_>>());
        let is_empty = entries.is_ok_and(|entries| entries.iter().all(|entry| entry.file_name() == ".git"));
        let is_its_own = listed.branch.as_ref().is_none_or(|branch| branch == self.branch);
        is_empty && is_its_own && !has("index") && !has("rebase-merge") && !has("rebase-apply")
    }

    async fn add(&self, top: &Path, begin: Option<CommitId>, made: &mut Made) -> Result<Repository> {
        if top.symlink_metadata().is_ok() && fs::remove_dir(top).is_err() {
            let why = format!("`{}` is in the way, and git does not know it as a worktree", top.display());
            return Err(self.failed(&why).with_hint("look what is in it, and move it away or remove it"));
        }
        self.have_branch(begin, made).await?;
        made.worktree = Some(top.to_path_buf());
        let repository = self.host.add_worktree(top, self.branch).await?;
        fs::write(repository.git_dir().join(UNFINISHED), "")
            .map_err(|error| self.failed("its state cannot be written").with_source(error))?;
        Ok(repository)
    }

    /// Makes the branch if it is not there.
    async fn have_branch(&self, begin: Option<CommitId>, made: &mut Made) -> Result<()> {
        if let Some(commit) = &begin {
            made.branch = Some(commit.clone());
            if self.host.create_branch(self.branch, commit).await? {
                return Ok(());
            }
            made.branch = None;
        }
        let Some(tip) = self.host.tip(self.branch).await? else {
            return Err(self.failed("there is no commit to begin at"));
        };
        if let Some(start) = &self.start
            && !self.host.is_ancestor(&start.commit, &tip).await?
        {
            made.notes.push(format!(
                "the branch `{}` was there and does not contain its base `{}`, which is left out",
                self.branch, start.revision
            ));
        }
        Ok(())
    }

    /// Takes a worktree that is there; one with nothing of value in it that was left on another branch comes back.
    async fn take(&self, listed: &Worktree, begin: Option<CommitId>, made: &mut Made) -> Result<Repository> {
        let git_dir = match &listed.git_dir {
            Some(git_dir) => git_dir.clone(),
            None => self.host.git_dir_of(&listed.path)?,
        };
        let repository = self.host.aimed_at(&listed.path, &git_dir);
        self.have_branch(begin, made).await?;
        let head = repository.head().await?;
        if head.branch == *self.branch || repository.operation().is_some() {
            return Ok(repository);
        }
        let is_other_branch = head.branch != "HEAD";
        let is_safe = match (&head.commit, is_other_branch) {
            (Some(commit), false) => {
                let refs = repository.refs().await?;
                let holders: Vec<&CommitId> = refs.iter().map(|(_, id)| id).collect();
                repository.is_held(commit, &holders).await?
            }
            _ => true,
        };
        if is_safe && matches!(value_of(&repository, &head.branch).await, Value::Clean | Value::Detached(_)) {
            repository.attach(self.branch).await?;
            made.notes.push(format!(
                "the worktree had `{}` checked out; it is back on `{}`",
                head.branch, self.branch
            ));
            return Ok(repository);
        }
        if is_other_branch {
            let path = listed.path.display();
            return Err(self
                .failed(&format!("`{path}` has the branch `{}` checked out, with changes", head.branch))
                .with_hint(format!("look: `cd {}`; commit or drop what is there", quoted(&listed.path))));
        }
        made.notes
            .push(format!("the worktree of `{}` is used as it is: its `HEAD` is detached", self.branch));
        Ok(repository)
    }

    async fn fill(&self, repository: &Repository, deadline: Instant, made: &mut Made) -> Result<()> {
        let left = deadline.saturating_duration_since(Instant::now());
        if made.worktree.is_some() {
            // The deadline around all of it comes first, and says so.
            repository.populate(self.limit + GATE_LIMIT).await?;
            made.notes.extend(submodules::populate(repository, left).await?);
            return fs::remove_file(repository.git_dir().join(UNFINISHED))
                .map_err(|error| self.failed("its state cannot be written").with_source(error));
        }
        let path = repository.top()?.display();
        let Some(why_not) = value_of(repository, self.branch).await.reason() else {
            if self.kind == Kind::Named {
                made.notes.extend(refresh::refresh(repository, self.branch, left).await);
            }
            return Ok(());
        };
        made.notes.push(format!("the worktree `{path}` is used as it was left and not refreshed: {why_not}"));
        Ok(())
    }

    /// Takes away what was made.
    async fn undo(&self, made: Made, mut error: Error) -> Error {
        if made.worktree.is_none() && made.branch.is_none() {
            return error;
        }
        let _gate = Lock::of_worktree_list(self.host, "take a worktree away", GATE_LIMIT).await.ok();
        if let Some(top) = &made.worktree
            && let Err(left) = self.host.clear_worktree(top).await
        {
            error = error.with_hint(format!("remove `{}` by hand: {left}", top.display()));
        }
        if let Some(commit) = &made.branch
            && let Err(left) = self.host.delete_branch(self.branch, commit).await
        {
            error = error.with_hint(format!("the branch `{}` stays: failed to {left}", self.branch));
        }
        error
    }
}

/// Tells whether the worktree with this state was being made when its maker was ended, and nobody has worked in it.
pub(crate) fn is_unfinished(git_dir: &Path) -> bool {
    git_dir.join(UNFINISHED).exists()
}

/// Quotes a path for the commands that a person is told.
pub(super) fn quoted(path: &Path) -> String {
    let path = path.to_string_lossy();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,@".contains(c);
    if path.chars().all(is_plain) { path.into_owned() } else { format!("'{}'", path.replace('\'', r"'\''")) }
}
