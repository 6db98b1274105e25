//! The only code that runs git.
//!
//! Every call is an argument vector with the locale fixed, the caller's `GIT_*` variables dropped, and everything
//! switched off that a repository's own configuration could make git run. A [`Wall`] compares that configuration before
//! and after a run. Nothing is ever written to a global configuration.

mod access;
mod borrowed;
mod command;
#[cfg(feature = "review")]
mod comparison;
mod exchange;
mod fetch;
mod filtered;
mod identity;
#[cfg(feature = "review")]
mod large;
mod memory;
mod overrides;
#[cfg(feature = "review")]
mod partial;
mod passage;
#[cfg(feature = "review")]
mod push;
mod refs;
mod remote;
mod repository;
mod settings;
#[cfg(feature = "review")]
mod shallow;
mod snapshot;
mod stand_in;
mod status;
mod submodules;
mod takeover;
#[cfg(test)]
pub(crate) mod tests;
mod wall;
mod worktrees;

pub(crate) use self::borrowed::Borrowed;
pub(crate) use self::command::{Answer, DROPPED_VARIABLES, Git, path_from, print};
pub(crate) use self::exchange::{Exchange, Parcel};
pub(crate) use self::fetch::Fetch;
pub(crate) use self::identity::Identity;
pub(crate) use self::memory::{Memory, Undone, Witness};
#[cfg(feature = "review")]
pub(crate) use self::push::{Push, Pushed};
pub(crate) use self::refs::{Refs, branch_ref};
#[cfg(feature = "review")]
pub(crate) use self::remote::Remote;
pub(crate) use self::repository::{Head, Repository};
pub(crate) use self::stand_in::{Inhabitant, Left, Original, Seen, StandIn};
pub(crate) use self::status::{Change, Hidden, Operation, Status};
pub(crate) use self::wall::{Wall, read_bounded};
pub(crate) use self::worktrees::{Presence, Removal, Worktree, real_path};
