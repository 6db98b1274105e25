//! Questions to a repository.

use std::path::{Path, PathBuf};

use super::command::{ask, refused};
use crate::error::{Error, ErrorKind, Result};
use crate::id::{BranchName, CommitId};
use crate::work::Commit;

/// A repository, seen from one of its work trees.
#[derive(Clone, Debug)]
pub(crate) struct Repository {
    top: PathBuf,
}

/// What is checked out.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    /// The commit; `None` on a branch that has none yet.
    pub(crate) commit: Option<CommitId>,
    /// The branch; `HEAD` when none is checked out.
    pub(crate) branch: BranchName,
}

impl Repository {
    /// Finds the repository that `cwd` is in.
    ///
    /// # Errors
    /// [`ErrorKind::Git`] when there is none with a work tree, or git cannot use it.
    pub(crate) async fn discover(cwd: &Path) -> Result<Self> {
        let answer = ask(cwd, ["rev-parse", "--show-toplevel"]).await?;
        match answer.path() {
            Some(top) => Ok(Self { top }),
            None if answer.stderr.contains("not a git repository") => Err(Error::new(
                ErrorKind::Git,
                format!("use `{}`: it is not inside a git repository", cwd.display()),
            )
            .with_hint("run `git init` there, or name a folder inside a repository")),
            None if answer.stderr.contains("must be run in a work tree") => Err(Error::new(
                ErrorKind::Git,
                format!("work in `{}`: it is inside a repository but not in a work tree", cwd.display()),
            )
            .with_hint("name a folder of a work tree; a bare repository has none")),
            None => Err(refused("find the repository", cwd, &answer)),
        }
    }

    /// Returns the root of the work tree.
    pub(crate) fn top(&self) -> &Path {
        &self.top
    }

    /// Reads what is checked out. Whether the commit is really there is not looked at.
    pub(crate) async fn head(&self) -> Result<Head> {
        let branch = ask(&self.top, ["symbolic-ref", "--quiet", "--short", "HEAD"]).await?;
        // Without a branch git ends with 1; anything else is a repository that it cannot read.
        if !matches!(branch.code, Some(0 | 1)) {
            return Err(refused("read what is checked out", &self.top, &branch));
        }
        let commit = ask(&self.top, ["rev-parse", "--quiet", "--verify", "HEAD"]).await?;
        Ok(Head {
            commit: commit.line().map(CommitId::from_git),
            branch: BranchName::from_git(branch.line().unwrap_or("HEAD")),
        })
    }

    /// Lists the commits that can be reached from `head`, which is checked out, and not from `base`, oldest first.
    pub(crate) async fn commits_since(&self, base: Option<&CommitId>, head: &Head) -> Result<Vec<Commit>> {
        if head.commit.is_none() || head.commit.as_ref() == base {
            return Ok(Vec::new());
        }
        let range = base.map_or_else(|| "HEAD".to_owned(), |base| format!("{base}..HEAD"));
        let args = ["log", "-z", "--reverse", "--topo-order", "--no-color", "--format=%H %s", &range, "--"];
        let answer = ask(&self.top, args).await?;
        if answer.code != Some(0) {
            return Err(refused("list the new commits", &self.top, &answer));
        }
        Ok(commits(&answer.stdout))
    }
}

fn commits(log: &[u8]) -> Vec<Commit> {
    String::from_utf8_lossy(log)
        .split('\0')
        .filter_map(|entry| entry.split_once(' '))
        .map(|(sha, subject)| Commit::new(CommitId::from_git(sha), subject))
        .collect()
}
