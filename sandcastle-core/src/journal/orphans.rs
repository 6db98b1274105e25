//! Who still works in a work tree, the user's own or one of a run, though the run that began it was killed.
//!
//! A kill takes the run and leaves its agent, which goes on until it prints something. Nobody else may work beside it.

use std::path::Path;

use super::reader::{self, Life};
use super::remains::resolved;
use super::shelf;
use crate::config::{ConfigDir, Kept};
use crate::id::RunId;
use crate::process::Leftovers;
#[cfg(feature = "workflow")]
use crate::process::ProcessIdentity;

/// The programs of a run that was killed.
#[derive(Debug)]
pub(crate) struct Orphans {
    pub(crate) run: RunId,
    /// Their process ids.
    pub(crate) processes: Vec<u32>,
}

/// Looks for programs that a killed run has left at work in a work tree.
///
/// Journals that cannot be read are passed over: they name nobody.
pub(crate) fn orphans_in(config: &ConfigDir, tree: &Path) -> Option<Orphans> {
    let (runs, tree) = (config.place_of(Kept::Runs), resolved(tree));
    let ids = shelf::ids(&runs).unwrap_or_default().into_iter();
    // Most runs came to their end, and their journals need not be read for that.
    ids.filter(|id| !shelf::has_ended(&runs.join(id.as_str())))
        .filter_map(|id| reader::read(&runs.join(id.as_str()), &id).ok())
        .filter(|run| run.life == Life::Gone && run.ended.is_none())
        .filter(|run| {
            let worktrees = run.worktrees.iter().map(|noted| &noted.path);
            let mut trees = worktrees.chain(run.in_place.iter().map(|noted| &noted.path));
            trees.any(|path| resolved(path) == tree)
        })
        .find_map(|run| {
            let left = Leftovers::of(run.marks.iter().cloned()).list();
            let processes: Vec<u32> = left.into_iter().map(|process| process.pid).collect();
            (!processes.is_empty()).then_some(Orphans { run: run.id, processes })
        })
}

/// Ends the programs that the runs of a process have left at work which was killed, and tells how many there were.
#[cfg(feature = "workflow")]
pub(crate) async fn end_orphans_of(config: &ConfigDir, owner: &ProcessIdentity) -> usize {
    let runs = config.place_of(Kept::Runs);
    let ids = shelf::ids(&runs).unwrap_or_default().into_iter();
    let killed = ids
        .filter_map(|id| reader::read(&runs.join(id.as_str()), &id).ok())
        .filter(|run| run.head.owner == *owner && run.life == Life::Gone && run.ended.is_none());
    let marks: Vec<_> = killed.flat_map(|run| run.marks).collect();
    if marks.is_empty() { 0 } else { Leftovers::of(marks).end().await }
}
