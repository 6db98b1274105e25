//! The files of a work tree as they are, changed and untracked ones included, as trees of git; the work tree is not touched.
//!
//! It is done in an index of our own, by plumbing that runs no hook and no filter. What git ignores is not part of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::command::{Git, path_from};
use super::repository::Repository;
use crate::error::{Error, ErrorKind, Result};

/// What a work tree holds.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    /// The tree of the commit that is checked out; the empty tree if there is none.
    pub(crate) committed: String,
    /// The tree of the files.
    pub(crate) files: String,
    /// The tree of what is staged; `None` in the middle of a merge.
    pub(crate) staged: Option<String>,
    /// Folders that are repositories of their own and untracked: they are left out.
    pub(crate) repositories: Vec<PathBuf>,
}

impl Repository {
    /// Makes trees of what the work tree holds. Each call of git may take `limit`.
    ///
    /// # Errors
    /// [`ErrorKind::Git`] when git cannot read the files.
    pub(crate) async fn snapshot(&self, limit: Duration) -> Result<Snapshot> {
        let folder = tempfile::tempdir()
            .map_err(|error| Error::new(ErrorKind::Io, "make a temporary folder").with_source(error))?;
        let index = folder.path().join("index");
        let git = self.git().clone().timeout(limit).env("GIT_INDEX_FILE", &index);
        let committed = match self.resolve("HEAD").await? {
            Some(_) => tree_of(&git, "HEAD").await?,
            None => git
                .does("write a tree", ["hash-object", "-t", "tree", "-w", "--stdin"])
                .await?
                .line()
                .unwrap_or_default()
                .to_owned(),
        };
        take_index(&git, self.git_dir(), &index, &committed).await?;
        let staged = git.ask(["write-tree"]).await?.line().map(str::to_owned);
        let mut repositories = Vec::new();
        add_files(&git, self.top()?, &mut repositories).await?;
        let files = git.does("write the tree", ["write-tree"]).await?;
        let files = files.line().unwrap_or_default().to_owned();
        Ok(Snapshot { committed, files, staged, repositories })
    }
}

/// Copies the index, so that only files are read which changed since it was written.
async fn take_index(git: &Git, state: &Path, index: &Path, otherwise: &str) -> Result<()> {
    let own = state.join("index");
    if fs::symlink_metadata(&own).is_ok_and(|metadata| metadata.is_file()) && fs::copy(&own, index).is_ok() {
        return Ok(());
    }
    git.does("read the tree", ["read-tree", otherwise]).await.map(drop)
}

/// Brings changed, removed and new files into the index. Folders are repositories of their own.
async fn add_files(git: &Git, top: &Path, repositories: &mut Vec<PathBuf>) -> Result<()> {
    let args = ["ls-files", "-z", "--modified", "--deleted", "--others", "--exclude-standard"];
    let listing = git.does("list the changed files", args).await?;
    let (mut here, mut gone) = (Vec::new(), Vec::new());
    for path in listing.stdout.split(|byte| *byte == 0).filter(|path| !path.is_empty()) {
        let file = path_from(path);
        if path.ends_with(b"/") {
            repositories.push(top.join(file));
            continue;
        }
        let paths = if is_here(top, &file) { &mut here } else { &mut gone };
        paths.extend_from_slice(path);
        paths.push(0);
    }
    enter(git, top, gone, here).await
}

/// Takes paths out of an index and brings others into it as they are; each ends with a NUL.
pub(super) async fn enter(git: &Git, top: &Path, gone: Vec<u8>, here: Vec<u8>) -> Result<()> {
    // What is gone goes first: a file may stand where a folder was.
    for (how, paths) in [("--force-remove", gone), ("--add", here)] {
        if paths.is_empty() {
            continue;
        }
        let answer = git.feed(["update-index", how, "-z", "--stdin"], paths).await?;
        if !answer.is_success() {
            return Err(answer.refused("read the changed files", top));
        }
    }
    Ok(())
}

/// Tells whether a path is something that git can keep, and not in a folder that a link leads to. A folder is one if it
/// is a repository of its own.
fn is_here(top: &Path, file: &Path) -> bool {
    let mut folders = file.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
    let file = top.join(file);
    folders.all(|folder| top.join(folder).symlink_metadata().is_ok_and(|metadata| metadata.is_dir()))
        && file.symlink_metadata().is_ok_and(|metadata| {
            metadata.is_file() || metadata.is_symlink() || (metadata.is_dir() && file.join(".git").exists())
        })
}

async fn tree_of(git: &Git, commit: &str) -> Result<String> {
    let tree = git.does("read a commit", ["rev-parse", "--verify", &format!("{commit}^{{tree}}")]).await?;
    Ok(tree.line().unwrap_or_default().to_owned())
}
