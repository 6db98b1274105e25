//! What is there now of the things that a journal names.
//!
//! A journal is a claim, so nothing that it names reaches git as it is: names of branches are looked for among those that
//! there are, ids have to be ids, and a worktree is one that git lists and that is where runs have their worktrees. It is
//! looked at through the state that the repository itself keeps of it and not through the file `.git` in it.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::reader::InPlace;
use crate::config::{ConfigDir, Kept};
use crate::error::Result;
use crate::git::{Presence, Refs, Removal, Repository, Worktree, branch_ref};
use crate::id::{BranchName, CommitId};
use crate::work::Commit;
use crate::worktree::{Look, is_unfinished, look_into};

/// The most commits that are listed.
const MAX_COMMITS: usize = 1000;
/// How long git may take with the files of a worktree.
pub(super) const PATIENCE: Duration = Duration::from_secs(600);
/// Where references are that keep commits for a person.
const LASTING: &[&str] = &["refs/heads/", "refs/remotes/", "refs/tags/"];

/// A repository, its branches and its worktrees, as they were when somebody looked.
#[derive(Debug)]
pub(super) struct Ground {
    pub(super) repository: Repository,
    /// The folder that worktrees of runs are in, without links.
    worktrees: Option<PathBuf>,
    listed: Vec<Worktree>,
    refs: Refs,
}

/// Says whether something is removed although it may be of value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Force {
    Yes,
    No,
}

impl Ground {
    /// Asks git for its worktrees and branches.
    pub(super) async fn look(repository: &Repository, config: &ConfigDir) -> Result<Self> {
        Ok(Self {
            worktrees: real_folder(&config.place_of(Kept::Worktrees)),
            listed: repository.worktrees().await?,
            refs: repository.refs().await?,
            repository: repository.clone(),
        })
    }

    /// Finds a worktree that a journal names.
    pub(super) fn find(&self, path: &Path) -> Option<&Worktree> {
        let folder = self.worktrees.as_deref()?;
        let real = real_folder(path)?;
        if real == folder || !real.starts_with(folder) {
            return None;
        }
        // The first one is the main work tree, wherever it is.
        self.listed.iter().skip(1).find(|listed| listed.path == real)
    }

    /// Finds a work tree of the user's that a journal names.
    pub(super) fn own_tree(&self, path: &Path) -> Option<&Worktree> {
        let real = real_folder(path)?;
        self.listed.iter().find(|listed| listed.path == real)
    }

    /// Lists the commits between `base` and `tip` that nobody else has or that were made in a work tree of the user's since a run
    /// began there, oldest first.
    pub(super) async fn made_in(
        &self,
        noted: &InPlace,
        tip: &CommitId,
        base: Option<&CommitId>,
    ) -> Result<Vec<Commit>> {
        let (own, pushed) =
            (branch_ref(&BranchName::from_git(noted.branch.as_str())), format!("/{}", noted.branch));
        let is_own = |name: &str| name == own || name.starts_with("refs/remotes/") && name.ends_with(&pushed);
        let others = self.refs.iter().filter(|(name, _)| !is_own(name)).map(|(_, commit)| commit);
        let others: Vec<&CommitId> = base.into_iter().chain(others).collect();
        let tree = self.own_tree(&noted.path).and_then(|listed| self.inside(listed));
        let made = tree.map(|tree| tree.committed_here(noted.log_end)).unwrap_or_default();
        let mut found: HashSet<String> = made;
        let alone = self.repository.commits_between(&[tip], &others).await?;
        found.extend(alone.into_iter().map(|commit| commit.sha.to_string()));
        let mut commits = self.commits(tip, base).await?;
        commits.retain(|commit| found.contains(commit.sha.as_str()));
        Ok(commits)
    }

    /// Tells whether a branch is checked out anywhere.
    pub(super) fn is_checked_out(&self, branch: &str) -> bool {
        let mut there = self.listed.iter().filter(|listed| listed.presence == Presence::There);
        there.any(|listed| listed.branch.as_ref().is_some_and(|name| *name == *branch))
    }

    /// Returns the commit that a branch leads to; `None` if there is no such branch.
    pub(super) fn tip(&self, branch: &str) -> Option<&CommitId> {
        self.refs.get(&branch_ref(&BranchName::from_git(branch)))
    }

    /// Returns the id of a commit that a journal names, if it is there.
    pub(super) async fn commit(&self, id: &str) -> Result<Option<CommitId>> {
        if !is_object_id(id) {
            return Ok(None);
        }
        Ok(self.repository.resolve(id).await?.filter(|found| found.as_str() == id))
    }

    /// Names a branch or tag that leads to a commit, other than the branch `except`.
    pub(super) async fn holder(&self, commit: &CommitId, except: Option<&str>) -> Result<Option<String>> {
        let contains = format!("--contains={commit}");
        let args = ["for-each-ref", &contains, "--count=2", "--format=%(refname)"];
        let args = args.iter().chain(LASTING);
        let answer = self.repository.git().does("find who holds a commit", args).await?;
        let except = except.map(|branch| branch_ref(&BranchName::from_git(branch)));
        let names = String::from_utf8_lossy(&answer.stdout);
        let other = names.lines().find(|name| Some(*name) != except.as_deref());
        Ok(other.map(|name| name.trim_start_matches("refs/heads/").trim_start_matches("refs/").to_owned()))
    }

    /// Lists the last commits that lead to `tip` and not to `without`, oldest first.
    pub(super) async fn commits(&self, tip: &CommitId, without: Option<&CommitId>) -> Result<Vec<Commit>> {
        let without: Vec<&CommitId> = without.into_iter().collect();
        self.listed_commits(tip, &without).await
    }

    /// Lists the last commits that lead to `tip` and to no branch or tag, oldest first.
    pub(super) async fn unreachable(&self, tip: &CommitId) -> Result<Vec<Commit>> {
        let is_lasting = |name: &str| LASTING.iter().any(|place| name.starts_with(place));
        let lasting = self.refs.iter().filter(|(name, _)| is_lasting(name));
        let lasting: Vec<&CommitId> = lasting.map(|(_, commit)| commit).collect();
        self.listed_commits(tip, &lasting).await
    }

    async fn listed_commits(&self, tip: &CommitId, without: &[&CommitId]) -> Result<Vec<Commit>> {
        let mut commits = self.repository.commits_between(&[tip], without).await?;
        commits.drain(..commits.len().saturating_sub(MAX_COMMITS));
        Ok(commits)
    }

    /// Aims at a worktree.
    pub(super) fn inside(&self, listed: &Worktree) -> Option<Repository> {
        let state = listed.git_dir.as_ref()?;
        Some(self.repository.aimed_at(&listed.path, state))
    }

    /// Looks at the files of a worktree; `None` if the repository has no state of it.
    pub(super) async fn contents(&self, listed: &Worktree) -> Option<Look> {
        let branch = listed.branch.clone().unwrap_or_else(|| BranchName::from_git("HEAD"));
        Some(look_into(&self.inside(listed)?, &branch).await)
    }

    /// Makes a branch, or finds that it leads to the same commit already. `false` if it leads elsewhere.
    pub(super) async fn make_branch(&self, name: &BranchName, commit: &CommitId) -> Result<bool> {
        Ok(self.repository.create_branch(name, commit).await?
            || self.repository.tip(name).await?.as_ref() == Some(commit))
    }

    /// Removes a worktree. A lock of the user's is respected; whoever calls it has looked at what is in it.
    pub(super) async fn remove_worktree(&self, listed: &Worktree) -> Result<()> {
        // Git itself has one locked until it is made.
        let removal = if is_half_made(listed) { Removal::Anyway } else { Removal::UnlessLocked };
        self.repository.remove_worktree(&listed.path, removal).await
    }
}

/// Tells whether a worktree was being made when its maker was ended: nobody has worked in it.
pub(super) fn is_half_made(listed: &Worktree) -> bool {
    listed.locked.as_deref() == Some("initializing") || listed.git_dir.as_deref().is_some_and(is_unfinished)
}

/// Tells whether a text is the full id of an object, and nothing that git would take for a name or an option.
fn is_object_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Resolves links above a folder. A link in its place is not a folder.
fn real_folder(path: &Path) -> Option<PathBuf> {
    let is_folder = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir());
    is_folder.then(|| path.canonicalize().ok()).flatten()
}
