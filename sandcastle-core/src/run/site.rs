//! Where a run works: the settings that every entry point has, and their setters.
//!
//! A run, a sandbox and a worktree are set up alike; what is set here is honoured by each of them, or refused by name
//! where it cannot apply.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;

use super::hooks::Hooks;
use super::timeouts::Timeouts;
use crate::id::CommitId;
use crate::worktree::BranchStrategy;

/// The settings that every entry point has.
#[derive(Clone, Default)]
pub(super) struct Site {
    pub(super) cwd: Option<PathBuf>,
    pub(super) name: Option<String>,
    pub(super) strategy: Option<BranchStrategy>,
    pub(super) copy: Vec<PathBuf>,
    /// Commits that are wanted inside besides those of the branch.
    pub(super) commits: Vec<CommitId>,
    pub(super) hooks: Hooks,
    pub(super) timeouts: Timeouts,
    pub(super) env: Vec<(OsString, OsString)>,
    pub(super) secrets: Vec<String>,
}

impl Site {
    /// Returns the branch strategy, which is the default one unless it was set.
    pub(super) fn strategy(&self) -> BranchStrategy {
        self.strategy.clone().unwrap_or_default()
    }

    /// Adds what everything in a place that is there already gets. What is set here is over it.
    pub(super) fn inherit(&mut self, place: &Self) {
        self.env.splice(0..0, place.env.iter().cloned());
        self.secrets.splice(0..0, place.secrets.iter().cloned());
        self.copy.splice(0..0, place.copy.iter().cloned());
    }
}

impl fmt::Debug for Site {
    /// Shows the names of variables and never their values.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&OsStr> = self.env.iter().map(|(key, _)| key.as_os_str()).collect();
        f.debug_struct("Site")
            .field("cwd", &self.cwd)
            .field("name", &self.name)
            .field("strategy", &self.strategy)
            .field("copy", &self.copy)
            .field("hooks", &self.hooks)
            .field("env", &names)
            .field("secrets", &self.secrets.len())
            .finish_non_exhaustive()
    }
}

/// Writes the setters of a [`Site`] into the `impl` of a builder; the arguments are the path to it from `self`, and what its
/// documentation says of the default branch strategy.
macro_rules! site_setters {
    ($($site:ident).+, $by_default:literal) => {
        /// Sets the folder to work in; it must be in a git repository. By default it is the folder of this process.
        ///
        /// The repository, its `.sandcastle/` and the folder that the agent starts in follow from it.
        pub fn cwd(mut self, path: impl Into<std::path::PathBuf>) -> Self {
            self.$($site).+.cwd = Some(path.into());
            self
        }

        /// Gives a name, which is part of the log's name and of the names of temporary branches.
        pub fn name(mut self, name: impl Into<String>) -> Self {
            self.$($site).+.name = Some(name.into());
            self
        }

        /// Sets which branch the agent works on; the default is
        #[doc = $by_default]
        pub fn branch_strategy(mut self, strategy: crate::BranchStrategy) -> Self {
            self.$($site).+.strategy = Some(strategy);
            self
        }

        /// Copies files and folders of the repository that git does not know, such as `.env` or `node_modules`, into a
        /// worktree that is made.
        ///
        /// Paths are relative to the root of the work tree that `cwd` is in. Calls add up.
        pub fn copy_to_worktree<P: Into<std::path::PathBuf>>(mut self, paths: impl IntoIterator<Item = P>) -> Self {
            self.$($site).+.copy.extend(paths.into_iter().map(Into::into));
            self
        }

        /// Sets the commands that are run when a worktree and a sandbox are ready. The last call counts.
        pub fn hooks(mut self, hooks: crate::Hooks) -> Self {
            self.$($site).+.hooks = hooks;
            self
        }

        /// Sets how long the steps around the agent may take. The last call counts.
        pub fn timeouts(mut self, timeouts: crate::Timeouts) -> Self {
            self.$($site).+.timeouts = timeouts;
            self
        }

        /// Sets a variable for everything that runs inside, on top of what the sandbox and the agent set. Hooks of this host do
        /// not get it.
        pub fn env(mut self, key: impl Into<std::ffi::OsString>, value: impl Into<std::ffi::OsString>) -> Self {
            self.$($site).+.env.push((key.into(), value.into()));
            self
        }

        /// Declares a text that must not be shown: it is masked in logs and errors.
        ///
        /// The values of variables whose names look secret, such as `API_TOKEN`, are masked without being declared. What would
        /// put a declared one into an argument of a program is refused: every user of the host can read those.
        pub fn secret(mut self, value: impl Into<String>) -> Self {
            self.$($site).+.secrets.push(value.into());
            self
        }
    };
}

pub(super) use site_setters;
