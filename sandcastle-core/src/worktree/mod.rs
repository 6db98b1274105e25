//! Where an agent works: branch strategies, worktrees, their locks, and what becomes of them.
//!
//! A [`Plan`] is made at the entry of a run and only reads. It opens a [`Place`] for every iteration: a work tree that is
//! ready, with the lock of its branch. The place says which commits are the agent's, and is closed, which removes the
//! worktree if nothing of value is in it. What cannot be determined counts as valuable. A [`Landing`] brings commits to the
//! branch they were made for. How an agent runs is not known here.

mod copy;
mod gather;
mod holder;
mod lag;
mod land;
mod lock;
mod names;
mod opening;
mod place;
mod plan;
mod prune;
mod refresh;
mod strategy;
mod submodules;
#[cfg(test)]
mod tests;
mod value;

pub(crate) use self::copy::{check_paths, copy_into};
pub(crate) use self::gather::{Gathered, Origin};
pub(crate) use self::holder::Holder;
pub(crate) use self::lag::lagging;
#[cfg(feature = "review")]
pub(crate) use self::land::Outlook;
pub(crate) use self::land::{Landed, Landing};
pub(crate) use self::lock::{Attempt, Lock};
#[cfg(any(feature = "review", feature = "workflow"))]
pub(crate) use self::names::checked_branch;
#[cfg(feature = "workflow")]
pub(crate) use self::names::checked_revision;
pub(crate) use self::opening::{GATE_LIMIT, is_unfinished};
pub(crate) use self::place::{Closed, Fate, Place};
pub(crate) use self::plan::Plan;
pub(crate) use self::prune::{Cleaning, Leftover, prune};
pub use self::strategy::BranchStrategy;
pub(crate) use self::value::{Look, look_into};
