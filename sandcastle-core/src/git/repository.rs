//! Questions to a repository.

use std::path::{Path, PathBuf};

use super::command::{Git, path_from};
use super::refs::Refs;
use super::settings::Settings;
use crate::error::{Error, ErrorKind, Result};
use crate::id::{BranchName, CommitId};

/// Has git print paths from the root on; seen from a subfolder, one folder would have two names.
const ABSOLUTE: &str = "--path-format=absolute";
/// Asks for the root of the work tree.
const TOP: &str = "--show-toplevel";

/// A repository, seen from one of its work trees or from its own folder if it is bare.
#[derive(Clone, Debug)]
pub(crate) struct Repository {
    git: Git,
    top: Option<PathBuf>,
    git_dir: PathBuf,
    common_dir: PathBuf,
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
    /// [`ErrorKind::Git`] when there is none, or git cannot use it.
    pub(crate) async fn discover(cwd: &Path) -> Result<Self> {
        let git = Git::at(cwd).reads_first(cwd.ancestors().map(|folder| folder.join(".git/config")));
        // What is printed first is printed also where there is no work tree, as in a bare repository.
        let places = git.ask(["rev-parse", ABSOLUTE, "--git-dir", "--git-common-dir", TOP]).await?;
        if places.stderr.contains("not a git repository") {
            return Err(Error::new(
                ErrorKind::Git,
                format!("use `{}`: it is not inside a git repository", cwd.display()),
            )
            .with_hint("run `git init` there, or name a folder inside a repository"));
        }
        let has_top = places.is_success();
        // Inside of a git folder there is no work tree; anything else is a repository that cannot be used.
        if !has_top && !places.stderr.contains("must be run in a work tree") {
            return Err(places.refused("find the repository", cwd));
        }
        // A path may hold line feeds; then each is asked for alone.
        let lines: Vec<&[u8]> = places.stdout.split(|byte| *byte == b'\n').collect();
        let (git_dir, common_dir, top) = match (&lines[..], has_top) {
            ([git_dir, common_dir, top, b""], true) => (*git_dir, *common_dir, Some(*top)),
            ([git_dir, common_dir, b""], false) => (*git_dir, *common_dir, None),
            _ => return Self::discover_one_by_one(&git, has_top).await,
        };
        Ok(Self::of(path_from(git_dir), path_from(common_dir), top.map(path_from)))
    }

    async fn discover_one_by_one(git: &Git, has_top: bool) -> Result<Self> {
        let (git_dir, common_dir) =
            (one_path(git, "--git-dir").await?, one_path(git, "--git-common-dir").await?);
        let top = if has_top { Some(one_path(git, TOP).await?) } else { None };
        Ok(Self::of(git_dir, common_dir, top))
    }

    fn of(git_dir: PathBuf, common_dir: PathBuf, top: Option<PathBuf>) -> Self {
        let settings = Settings::new(common_dir.join("config"), own_settings(&git_dir));
        let git = Self::aimed(top.as_deref(), &git_dir, &common_dir, Some(settings));
        Self { git, top, git_dir, common_dir }
    }

    /// Names the folders in the environment, so that no file in them that names another is asked again.
    fn aimed(top: Option<&Path>, git_dir: &Path, common_dir: &Path, settings: Option<Settings>) -> Git {
        let git = Git::at(top.unwrap_or(git_dir))
            .env("GIT_DIR", git_dir)
            .env("GIT_COMMON_DIR", common_dir)
            .settings(settings)
            .reads_first([common_dir.join("config"), own_settings(git_dir)])
            .reads_first(["HEAD", "commondir", "index"].map(|file| git_dir.join(file)));
        match top {
            Some(top) => {
                let content = [".gitignore", ".gitattributes", ".gitmodules"].map(|file| top.join(file));
                git.env("GIT_WORK_TREE", top).reads_first(content)
            }
            None => git,
        }
    }

    /// Returns the root of the work tree.
    ///
    /// # Errors
    /// [`ErrorKind::Git`] in a bare repository, which has none.
    pub(crate) fn top(&self) -> Result<&Path> {
        self.top.as_deref().ok_or_else(|| {
            Error::new(
                ErrorKind::Git,
                format!("work in `{}`: it is inside a repository but not in a work tree", self.git_dir.display()),
            )
            .with_hint("name a folder of a work tree, or use the branch strategy `branch`; a bare repository has none")
        })
    }

    /// Returns the folder of this work tree's own state: `HEAD`, the index.
    pub(crate) fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// Returns the folder that all work trees share: objects, branches, configuration.
    pub(crate) fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    /// Returns the folder that `.sandcastle/` belongs into: the root of the main work tree, or the repository's own folder
    /// where that is not known, as in a bare repository.
    pub(crate) fn home(&self) -> &Path {
        match &self.top {
            Some(top) if self.git_dir == self.common_dir => top,
            _ if self.common_dir.ends_with(".git") => self.common_dir.parent().unwrap_or(&self.common_dir),
            _ => &self.common_dir,
        }
    }

    /// Aims at the work tree `top`, whose own state is in `git_dir`, whatever the file `.git` in it says.
    pub(crate) fn aimed_at(&self, top: &Path, git_dir: &Path) -> Self {
        let settings = self.git.settings_of(own_settings(git_dir));
        Self {
            git: Self::aimed(Some(top), git_dir, &self.common_dir, settings),
            top: Some(top.to_path_buf()),
            git_dir: git_dir.to_path_buf(),
            common_dir: self.common_dir.clone(),
        }
    }

    /// Returns git, aimed at the folder that all work trees share and at none of them.
    pub(super) fn beside_work_trees(&self) -> Git {
        let settings = self.git.settings_of(own_settings(&self.common_dir));
        Self::aimed(None, &self.common_dir, &self.common_dir, settings)
    }

    /// Aims at the repository `git_dir` with the work tree `top`, whatever either says about the other.
    pub(crate) fn apart(top: &Path, git_dir: &Path) -> Self {
        Self::of(git_dir.to_path_buf(), git_dir.to_path_buf(), Some(top.to_path_buf()))
    }

    /// Returns git, aimed at this work tree.
    pub(crate) fn git(&self) -> &Git {
        &self.git
    }

    /// Reads what is checked out. Whether the commit is really there is not looked at.
    pub(crate) async fn head(&self) -> Result<Head> {
        // Git's short form of a branch is another one when a tag has the same name.
        let both = self.git.ask(["rev-parse", "HEAD", "--symbolic-full-name", "HEAD"]).await?;
        let lines = String::from_utf8_lossy(&both.stdout);
        if let (true, [commit, name, ""]) = (both.is_success(), &lines.split('\n').collect::<Vec<_>>()[..]) {
            return Ok(Head { commit: Some(CommitId::from_git(*commit)), branch: checked_out(name) });
        }
        // There is no commit yet, or something makes the question ambiguous.
        let branch = self.git.ask(["symbolic-ref", "--quiet", "HEAD"]).await?;
        // Without a branch git ends with 1; anything else is a repository that it cannot read.
        if !matches!(branch.code, Some(0 | 1)) {
            return Err(branch.refused("read what is checked out", self.git.cwd()));
        }
        let commit = self.git.ask(["rev-parse", "--quiet", "--verify", "HEAD"]).await?;
        let branch = checked_out(branch.line().unwrap_or("HEAD"));
        Ok(Head { commit: commit.line().map(CommitId::from_git), branch })
    }

    /// Reads what is checked out, and every ref.
    pub(crate) async fn head_and_refs(&self) -> Result<(Head, Refs)> {
        let refs = self.refs().await?;
        match refs.checked_out() {
            Some((name, commit)) => {
                Ok((Head { commit: Some(commit.clone()), branch: checked_out(name) }, refs))
            }
            None => Ok((self.head().await?, refs)),
        }
    }
}

/// Names a branch by its full name.
fn checked_out(name: &str) -> BranchName {
    BranchName::from_git(name.strip_prefix("refs/heads/").unwrap_or(name))
}

/// Names the file of the settings that one work tree has for itself.
fn own_settings(git_dir: &Path) -> PathBuf {
    git_dir.join("config.worktree")
}

async fn one_path(git: &Git, option: &str) -> Result<PathBuf> {
    let answer = git.does("find the repository", ["rev-parse", ABSOLUTE, option]).await?;
    answer.path().ok_or_else(|| answer.refused("find the repository", git.cwd()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::ScratchRepo;

    #[tokio::test]
    async fn the_folders_have_one_name_wherever_the_repository_is_seen_from() {
        let scratch = ScratchRepo::new().await.unwrap();
        let folder = scratch.write("a/b/c.txt", "c\n").unwrap();
        let top = Repository::discover(scratch.path()).await.unwrap();
        let below = Repository::discover(folder.parent().unwrap()).await.unwrap();
        for repository in [&top, &below] {
            assert_eq!(repository.git_dir(), repository.common_dir());
            assert_eq!(repository.home(), repository.top().unwrap());
            assert_eq!(repository.common_dir(), top.common_dir());
        }
    }

    #[tokio::test]
    async fn a_tag_of_the_same_name_does_not_rename_a_branch() {
        let scratch = ScratchRepo::new().await.unwrap();
        scratch.git(["tag", "main"]).await.unwrap();
        let repository = Repository::discover(scratch.path()).await.unwrap();
        let head = repository.head().await.unwrap();
        assert_eq!(head.branch, "main");
        assert_eq!(repository.tip(&head.branch).await.unwrap(), head.commit);
    }
}
