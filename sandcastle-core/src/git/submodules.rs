//! Other repositories within a work tree, as the repository itself keeps them.
//!
//! The program `git submodule` is never used: it runs what `.gitmodules` and the configuration say. A submodule is a clone of
//! the copy in `.git/modules`, with a configuration of its own in which nothing is to be run.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use super::command::{Git, path_from};
use super::repository::Repository;
use super::wall::read_bounded;
use crate::error::{Error, ErrorKind, Result};

/// The longest file that says where a git folder is.
const MAX_POINTER: u64 = 8192;
/// What the configuration of a submodule that was populated here may hold; nothing in it makes git run anything.
const HARMLESS: &[&str] = &[
    "core.bare",
    "core.filemode",
    "core.ignorecase",
    "core.logallrefupdates",
    "core.precomposeunicode",
    "core.repositoryformatversion",
    "core.symlinks",
    "core.worktree",
    "extensions.objectformat",
    "extensions.refstorage",
    "remote.origin.fetch",
    "remote.origin.url",
    "user.email",
    "user.name",
];

impl Repository {
    /// Maps the paths of the submodules of `HEAD` to their names, as far as these can be used as folders.
    pub(crate) async fn submodule_names(&self) -> Result<HashMap<PathBuf, String>> {
        let args = [
            "config",
            "--blob",
            "HEAD:.gitmodules",
            "--no-includes",
            "-z",
            "--get-regexp",
            r"^submodule\..*\.path$",
        ];
        let answer = self.git().ask(args).await?;
        if !answer.is_success() {
            return Ok(HashMap::new());
        }
        let entries = answer.stdout.split(|byte| *byte == 0);
        Ok(entries
            .filter_map(|entry| {
                let end = entry.iter().position(|byte| *byte == b'\n')?;
                let name = std::str::from_utf8(&entry[..end]).ok()?;
                let name = name.strip_prefix("submodule.")?.strip_suffix(".path")?;
                stays_below(Path::new(name)).then(|| (path_from(&entry[end + 1..]), name.to_owned()))
            })
            .collect())
    }

    /// Returns where the repository of a submodule of this work tree is.
    pub(crate) fn module_dir(&self, name: &str) -> PathBuf {
        self.git_dir().join("modules").join(name)
    }

    /// Returns where the copy of a submodule is that belongs to the main work tree.
    fn shared_module(&self, name: &str) -> PathBuf {
        self.common_dir().join("modules").join(name)
    }

    /// Tells whether a commit of a submodule is in the shared `.git/modules`, and thus outlives this work tree.
    pub(crate) async fn shares_commit(&self, name: &str, commit: &str) -> Result<bool> {
        let shared = self.shared_module(name);
        if !shared.join("HEAD").is_file() {
            return Ok(false);
        }
        let git = Git::at(&shared).env("GIT_DIR", &shared).env("GIT_COMMON_DIR", &shared);
        Ok(git.ask(["cat-file", "-e", commit]).await?.is_success())
    }

    /// Copies a submodule out of the shared `.git/modules` into the empty folder at `path`, at `commit`.
    ///
    /// # Errors
    /// [`ErrorKind::Git`] when it is not there, or is there without that commit.
    pub(crate) async fn populate_submodule(
        &self,
        path: &Path,
        name: &str,
        commit: &str,
        limit: Duration,
    ) -> Result<()> {
        let source = self.shared_module(name);
        if !source.join("HEAD").is_file() {
            return Err(Error::new(ErrorKind::Git, format!("find `{}`", source.display())));
        }
        if !self.shares_commit(name, commit).await? {
            let what = format!("find the commit {commit} in `{}`", source.display());
            return Err(Error::new(ErrorKind::Git, what));
        }
        let (top, module) = (self.top()?.join(path), self.module_dir(name));
        let copied = copy(&source, &module, &top, commit, limit).await;
        if copied.is_err() {
            // What is half there would be taken for work of somebody's.
            let _ = fs::remove_dir_all(&module);
            let _ = fs::remove_dir_all(&top).and_then(|()| fs::create_dir(&top));
        }
        copied
    }

    /// Tells whether a populated submodule has a configuration that makes git run nothing.
    pub(crate) async fn is_module_harmless(&self, name: &str) -> Result<bool> {
        let config = self.module_dir(name).join("config");
        let args = ["config", "--no-includes", "--list", "--name-only", "-z", "--file"].map(AsRef::as_ref);
        let what = "read the configuration of a submodule";
        let answer = self.git().does(what, args.into_iter().chain([config.as_os_str()])).await?;
        let keys = String::from_utf8_lossy(&answer.stdout);
        Ok(keys.split('\0').filter(|key| !key.is_empty()).all(|key| {
            HARMLESS.contains(&key)
                || key.starts_with("branch.") && key.ends_with(".merge")
                || is_remote_of_branch(key)
        }))
    }

    /// Tells whether this repository has commits that neither a remote nor a commit that is `known` elsewhere holds.
    pub(crate) async fn has_commits_beside(&self, known: Option<&str>) -> Result<bool> {
        let args =
            ["rev-list", "--max-count=1", "HEAD", "--exclude=refs/tags/*", "--all", "--not", "--remotes"];
        let args = args.into_iter().chain(known);
        Ok(!self.git().does("look for commits", args).await?.stdout.is_empty())
    }
}

/// Finds the git folder of a repository in a work tree.
pub(super) fn nested_git_dir(folder: &Path) -> Option<PathBuf> {
    let own = folder.join(".git");
    let kind = fs::symlink_metadata(&own).ok()?;
    let own = if kind.is_file() {
        let text = read_bounded(&own, MAX_POINTER).ok().flatten()?;
        folder.join(path_from(text.strip_prefix(b"gitdir:")?.trim_ascii()))
    } else {
        own
    };
    own.canonicalize().ok().filter(|own| own.join("HEAD").exists())
}

fn is_remote_of_branch(key: &str) -> bool {
    key.starts_with("branch.") && key.ends_with(".remote")
}

/// Tells whether a path of somebody else's leads to something below the folder it is joined to.
fn stays_below(path: &Path) -> bool {
    path.components().next().is_some() && path.components().all(|part| matches!(part, Component::Normal(_)))
}

async fn copy(source: &Path, module: &Path, top: &Path, commit: &str, limit: Duration) -> Result<()> {
    if let Some(folder) = module.parent() {
        fs::create_dir_all(folder).map_err(|error| {
            Error::new(ErrorKind::Io, format!("make `{}`", folder.display())).with_source(error)
        })?;
    }
    let mut separate = OsString::from("--separate-git-dir=");
    separate.push(module);
    let options = ["clone", "--quiet", "--local", "--no-checkout", "--no-recurse-submodules", "--template="];
    let options = options.map(AsRef::as_ref).into_iter().chain([separate.as_os_str(), "--".as_ref()]);
    let git = Git::at(top).timeout(limit);
    let cloned = git.reach(options.chain([source.as_os_str(), top.as_os_str()])).await?;
    if !cloned.is_success() {
        return Err(cloned.refused("copy it", top));
    }
    let checkout = ["checkout", "--quiet", "--force", "--detach", commit];
    let copy = Repository::apart(top, module);
    copy.git().clone().timeout(limit).does("check it out", checkout).await?;
    // Its remote is where the copy that it was made from comes from, not that copy.
    let config = source.join("config");
    let file =
        ["config", "--no-includes", "--file"].map(AsRef::as_ref).into_iter().chain([config.as_os_str()]);
    if let Some(url) = git.ask(file.chain(["--get", "remote.origin.url"].map(AsRef::as_ref))).await?.line() {
        copy.git().does("name its remote", ["config", "remote.origin.url", url]).await?;
    }
    Ok(())
}
