//! The only code that runs git.
//!
//! Every call is an argument vector with the locale fixed, the caller's `GIT_*` variables dropped, and everything
//! switched off that a repository's own configuration could make git run: hooks, the file-system monitor, pagers and
//! prompts. Nothing is ever written to a global configuration.

mod command;
mod fetch;
mod refs;
mod repository;
mod status;
mod submodules;
mod worktrees;

pub(crate) use self::command::{Answer, DROPPED_VARIABLES, Git, path_from, print};
pub(crate) use self::refs::{Refs, branch_ref};
pub(crate) use self::repository::{Head, Repository};
pub(crate) use self::status::{Hidden, Operation};
pub(crate) use self::worktrees::{Presence, Removal, Worktree, real_path};
