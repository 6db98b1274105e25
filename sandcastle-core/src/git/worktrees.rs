//! The work trees of a repository: which there are, one more, one less.
//!
//! A work tree is found through the repository's own list and its folders `worktrees/*`, never through the file `.git` in
//! the work tree itself, which belongs to whoever worked there.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::command::path_from;
use super::refs::branch_ref;
use super::repository::Repository;
use super::status::{read_small, rebased_branch};
use crate::error::{Error, ErrorKind, Result};
use crate::id::{BranchName, CommitId};

/// How often it is looked again at worktrees that cannot be listed.
const SECOND_LOOKS: u32 = 5;
/// How long it is waited before that.
const PAUSE: Duration = Duration::from_millis(20);

/// One work tree as the repository lists it.
#[derive(Clone, Debug)]
pub(crate) struct Worktree {
    /// Where it is, without symlinks as far as it is there.
    pub(crate) path: PathBuf,
    /// The folder of its own state; `None` when that cannot be found.
    pub(crate) git_dir: Option<PathBuf>,
    /// The commit that is checked out.
    pub(crate) head: Option<CommitId>,
    /// The branch that is checked out, or that a rebase in it is about.
    pub(crate) branch: Option<BranchName>,
    /// Whether its folder is there.
    pub(crate) presence: Presence,
    /// Why it was locked with `git worktree lock`.
    pub(crate) locked: Option<String>,
}

/// Says whether the folder of a work tree is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    /// It is.
    There,
    /// It has gone, the repository still lists it.
    Gone,
}

/// Says which work trees are removed. What is in one does not matter: the caller has looked. Git's own look starts
/// another git in every submodule, steered by what the agent has written there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Removal {
    /// One that is not locked with `git worktree lock`.
    UnlessLocked,
    /// Any; git itself locks one until it is made.
    Anyway,
}

/// What git reads of the state of every work tree when it lists them.
const STATE_FILES: [&str; 4] = ["HEAD", "gitdir", "commondir", "locked"];

/// Resolves the symlinks of a path, of its folder at least if it is not there itself.
pub(crate) fn real_path(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) => {
            folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf()).join(name)
        }
        _ => path.to_path_buf(),
    })
}

impl Repository {
    /// Has git list all work trees, the main one first, as fields that end with zeros.
    pub(crate) async fn worktree_list(&self) -> Result<Vec<u8>> {
        let states = fs::read_dir(self.common_dir().join("worktrees")).into_iter().flatten().flatten();
        let read = states.flat_map(|state| STATE_FILES.map(|file| state.path().join(file)));
        let git = self.git().clone().reads_first(read);
        let mut looks_left = SECOND_LOOKS;
        loop {
            match git.does("list the worktrees", ["worktree", "list", "--porcelain", "-z"]).await {
                Ok(answer) => return Ok(answer.stdout),
                // One that is just being made has files that are empty for a moment, and git takes that for the end.
                Err(error) if looks_left == 0 || error.kind() != ErrorKind::Git => return Err(error),
                Err(_) => looks_left -= 1,
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Lists all work trees, the main one first.
    pub(crate) async fn worktrees(&self) -> Result<Vec<Worktree>> {
        let list = self.worktree_list().await?;
        let own_folders = self.worktree_git_dirs();
        let mut found: Vec<Worktree> = Vec::new();
        for line in list.split(|byte| *byte == 0) {
            let (key, value) = match line.iter().position(|byte| *byte == b' ') {
                Some(space) => (&line[..space], &line[space + 1..]),
                None => (line, &[][..]),
            };
            match (key, found.last_mut()) {
                (b"worktree", last) => {
                    let is_main = last.is_none();
                    found.push(self.listed(&path_from(value), is_main, &own_folders));
                }
                (b"HEAD", Some(worktree)) => {
                    let id = String::from_utf8_lossy(value);
                    // A branch without commits is listed with zeros.
                    worktree.head = id.bytes().any(|byte| byte != b'0').then(|| CommitId::from_git(id));
                }
                (b"branch", Some(worktree)) => {
                    let name = String::from_utf8_lossy(value);
                    let name = name.strip_prefix("refs/heads/").unwrap_or(&name);
                    worktree.branch = Some(BranchName::from_git(name));
                }
                (b"locked", Some(worktree)) => {
                    worktree.locked = Some(String::from_utf8_lossy(value).into_owned())
                }
                _ => {}
            }
        }
        Ok(found)
    }

    fn listed(&self, path: &Path, is_main: bool, own_folders: &HashMap<PathBuf, PathBuf>) -> Worktree {
        let path = real_path(path);
        let git_dir =
            if is_main { Some(self.common_dir().to_path_buf()) } else { own_folders.get(&path).cloned() };
        let branch = git_dir.as_deref().and_then(rebased_branch);
        let presence = if path.exists() { Presence::There } else { Presence::Gone };
        Worktree { path, git_dir, head: None, branch, presence, locked: None }
    }

    /// Maps the linked work trees to the folders of their own state.
    fn worktree_git_dirs(&self) -> HashMap<PathBuf, PathBuf> {
        let entries = fs::read_dir(self.common_dir().join("worktrees")).into_iter().flatten().flatten();
        entries
            .filter_map(|entry| {
                let git_dir = entry.path();
                let link = read_small(&git_dir.join("gitdir"))?;
                // Relative to the folder in which it is written down, in repositories that say so.
                let file = git_dir.join(path_from(link.strip_suffix(b"\n").unwrap_or(&link)));
                Some((real_path(file.parent()?), real_path(&git_dir)))
            })
            .collect()
    }

    /// Finds the folder of the own state of the linked work tree `top`.
    pub(crate) fn git_dir_of(&self, top: &Path) -> Result<PathBuf> {
        self.worktree_git_dirs().remove(&real_path(top)).ok_or_else(|| {
            Error::new(ErrorKind::Worktree, format!("find the state of the worktree `{}`", top.display()))
                .with_hint("`git worktree repair` writes it anew")
        })
    }

    /// Adds a work tree for a branch that is there, with nothing in it yet, and aims at it.
    pub(crate) async fn add_worktree(&self, top: &Path, branch: &BranchName) -> Result<Self> {
        let what = format!("add a worktree for `{branch}`");
        // The branch is there already, so git has nothing to set up for it and writes no configuration.
        let args = ["worktree", "add", "--quiet", "--no-checkout", "--"].map(AsRef::as_ref);
        let args = args.into_iter().chain([top.as_os_str(), branch.as_str().as_ref()]);
        self.git().to_its_end().does(&what, args).await?;
        Ok(self.aimed_at(top, &self.git_dir_of(top)?))
    }

    /// Writes the files of what is checked out, over anything that is there.
    pub(crate) async fn populate(&self, limit: Duration) -> Result<()> {
        let git = self.git().clone().timeout(limit);
        // Not `reset`, which locks the branch as well: one that is killed would leave that lock in the repository.
        let args = ["read-tree", "--reset", "-u", "--no-recurse-submodules", "HEAD"];
        // A partial clone fetches what it has not got.
        let answer = git.reach(args).await?;
        if answer.is_success() { Ok(()) } else { Err(answer.refused("check out the files", git.cwd())) }
    }

    /// Checks out a branch in place of what is checked out; the caller has seen that nothing gets lost.
    pub(crate) async fn attach(&self, branch: &BranchName) -> Result<()> {
        self.point_head_at(branch).await?;
        let what = format!("check out `{branch}`");
        self.git()
            .to_its_end()
            .does(&what, ["reset", "--hard", "--quiet", "--no-recurse-submodules"])
            .await
            .map(drop)
    }

    /// Says that a branch is checked out, without a look at the files.
    pub(crate) async fn point_head_at(&self, branch: &BranchName) -> Result<()> {
        let what = format!("check out `{branch}`");
        self.git().to_its_end().does(&what, ["symbolic-ref", "HEAD", &branch_ref(branch)]).await.map(drop)
    }

    /// Writes down anew where a work tree is, after it or the repository was moved.
    pub(crate) async fn repair_worktree(&self, top: &Path) -> Result<()> {
        let args = ["worktree", "repair"].map(AsRef::as_ref);
        let what = format!("find the worktree `{}` again", top.display());
        self.git().to_its_end().does(&what, args.into_iter().chain([top.as_os_str()])).await.map(drop)
    }

    /// Removes a work tree, and only it.
    pub(crate) async fn remove_worktree(&self, top: &Path, removal: Removal) -> Result<()> {
        let force: &[&str] = match removal {
            Removal::UnlessLocked => &["--force"],
            Removal::Anyway => &["--force", "--force"],
        };
        let args = ["worktree", "remove"].iter().chain(force).chain(&["--"]).map(AsRef::as_ref);
        let what = format!("remove the worktree `{}`", top.display());
        self.git().to_its_end().does(&what, args.chain([top.as_os_str()])).await.map(drop)
    }

    /// Removes whatever is left of a work tree that was not completed. Symlinks are removed, not followed.
    pub(crate) async fn clear_worktree(&self, top: &Path) -> Result<()> {
        // Git does not know one whose adding ended early.
        if self.remove_worktree(top, Removal::Anyway).await.is_ok() {
            return Ok(());
        }
        let state = self.git_dir_of(top).ok();
        let leftovers = [Some(top), state.as_deref()].into_iter().flatten();
        for folder in leftovers.filter(|path| path.symlink_metadata().is_ok_and(|meta| meta.is_dir())) {
            fs::remove_dir_all(folder).map_err(|error| {
                Error::new(ErrorKind::Worktree, format!("remove `{}`", folder.display())).with_source(error)
            })?;
        }
        Ok(())
    }
}
