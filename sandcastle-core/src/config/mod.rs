//! The folder `.sandcastle/` of a repository: what is in it and where.
//!
//! Everything that is written there by runs hides itself from git; what a person keeps there (prompts, a `Dockerfile`)
//! does not. Nothing is written before a run begins.

mod env_file;

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use crate::error::{Error, ErrorKind, Result};
use crate::git::Repository;

/// The folder `.sandcastle/` of one repository; it need not be there.
#[derive(Clone, Debug)]
pub(crate) struct ConfigDir {
    root: PathBuf,
}

/// What runs write into the configuration folder, each into a folder that git ignores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    /// Run logs.
    Logs,
    /// The journals of runs.
    Runs,
    /// Worktrees of branches.
    Worktrees,
    /// Lock files.
    Locks,
    /// Sessions of agents whose home goes with their sandbox.
    Sessions,
    /// Git folders that stand in for the repository's own inside a sandbox.
    Sandboxes,
}

impl Kept {
    /// Returns the name of the folder.
    pub(crate) fn folder(self) -> &'static str {
        match self {
            Self::Logs => "logs",
            Self::Runs => "runs",
            Self::Worktrees => "worktrees",
            Self::Locks => "locks",
            Self::Sandboxes => "sandboxes",
            Self::Sessions => "sessions",
        }
    }

    /// Tells who may look into the folder. What agents said is the user's own; a worktree is also for the user of a sandbox.
    fn mode(self) -> u32 {
        match self {
            Self::Logs | Self::Runs | Self::Sessions => 0o700,
            Self::Worktrees | Self::Locks | Self::Sandboxes => 0o777,
        }
    }
}

impl ConfigDir {
    /// The name of the folder.
    pub(crate) const NAME: &str = ".sandcastle";

    /// Names the configuration folder of a repository: that of its main work tree, also when the run begins in another.
    pub(crate) fn of(repository: &Repository) -> Self {
        Self::in_folder(repository.home())
    }

    /// Names the configuration folder in `folder`.
    pub(crate) fn in_folder(folder: &Path) -> Self {
        Self { root: folder.join(Self::NAME) }
    }

    /// Returns its path.
    pub(crate) fn path(&self) -> &Path {
        &self.root
    }

    /// Returns where things of this kind are kept, whether the folder is there or not.
    pub(crate) fn place_of(&self, kept: Kept) -> PathBuf {
        self.root.join(kept.folder())
    }

    /// Refuses a link in the place of the folder for things of this kind, if it is one for what agents and runs leave: agents
    /// commit links, too, and it would be written and looked for wherever one leads. A person may have put the whole of
    /// `.sandcastle/`, or worktrees, logs and the like, on another disk.
    ///
    /// # Errors
    /// Names the link.
    pub(crate) fn refuse_links(&self, kept: Kept) -> io::Result<()> {
        let place = self.place_of(kept);
        if matches!(kept, Kept::Runs | Kept::Sandboxes) && place.is_symlink() {
            return Err(io::Error::other(format!("`{}` is a symbolic link", place.display())));
        }
        Ok(())
    }

    /// Makes the folder for things of this kind, hidden from git so that no agent commits it.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] when it cannot be made.
    pub(crate) fn make(&self, kept: Kept) -> Result<PathBuf> {
        let folder = self.place_of(kept);
        let ignore = folder.join(".gitignore");
        let hide = || {
            self.refuse_links(kept)?;
            fs::create_dir_all(&self.root)?;
            fs::DirBuilder::new().recursive(true).mode(kept.mode()).create(&folder)?;
            // An empty one was left by somebody who was killed before it was written.
            let is_hidden = fs::metadata(&ignore).is_ok_and(|file| file.len() > 0);
            if is_hidden { Ok(()) } else { fs::write(&ignore, "*\n") }
        };
        hide().map_err(|error| {
            Error::new(ErrorKind::Io, format!("make the folder `{}`: {error}", folder.display()))
                .with_source(error)
        })?;
        Ok(folder)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn what_runs_leave_goes_through_no_link() {
        let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let config = ConfigDir::in_folder(folder.path());
        fs::create_dir(config.path()).unwrap();
        for kept in [Kept::Runs, Kept::Sandboxes] {
            symlink(elsewhere.path(), config.place_of(kept)).unwrap();
            let error = config.make(kept).unwrap_err();
            assert!(format!("{error:#}").contains(kept.folder()), "{error:#}");
        }
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    }
}
