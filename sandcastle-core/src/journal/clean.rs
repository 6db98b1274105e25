//! Removes what a run left: what is provably worthless, or what a person has named.
//!
//! A worktree is worthless when git sees nothing in it that is in no commit, and every commit in it has another name. A
//! branch is worthless when the run made it for itself and another branch or tag has its commits. Each is removed by a
//! call that looks once more and refuses if that is no longer so. Branches that a person named are never removed.

use std::path::Path;

use super::ground::{Force, Ground};
use super::reader::History;
use super::remains::is_own_branch;
use super::report::{BranchLeft, Cleaned, CleanedItem, RunReport, RunState, WorktreeLeft};
use super::runs::Removal;
use super::shelf;
use crate::error::Result;
use crate::id::RunId;

/// Cleans up after one run.
#[derive(Debug)]
pub(super) struct Cleaner<'a> {
    pub(super) ground: &'a Ground,
    pub(super) removal: Removal,
    pub(super) force: Force,
    pub(super) cleaned: &'a mut Cleaned,
}

impl Cleaner<'_> {
    /// Removes what may be removed, and the journal when it has nothing more to tell.
    pub(super) async fn clean(&mut self, history: &History, report: &RunReport, folder: &Path) {
        let id = &report.id;
        if report.state == RunState::Running {
            return self.keep(id, "the run", "it goes on");
        }
        let kept = self.cleaned.kept.len();
        if !report.processes.is_empty() {
            let pids: Vec<String> = report.processes.iter().map(|left| left.pid.to_string()).collect();
            self.keep(
                id,
                &format!("processes {}", pids.join(", ")),
                "they live; recover the run to end them",
            );
        }
        let has_processes = self.cleaned.kept.len() > kept;
        for worktree in &report.worktrees {
            self.worktree(history, report, worktree, has_processes).await;
        }
        for branch in &report.branches {
            self.branch(history, id, branch).await;
        }
        for sandbox in &report.sandboxes {
            let what = format!("the sandbox {} of {}", sandbox.id, sandbox.provider);
            if self.force == Force::No {
                self.keep(id, &what, "whether it is still there is not known");
            }
        }
        if self.cleaned.kept.len() == kept {
            self.journal(report, folder);
        }
    }

    async fn worktree(
        &mut self,
        history: &History,
        report: &RunReport,
        left: &WorktreeLeft,
        has_processes: bool,
    ) {
        let id = &report.id;
        let what = format!("the worktree `{}`", left.path.display());
        if let Some(run) = &left.used_by {
            return self.keep(id, &what, &format!("the run {run} goes on in it"));
        }
        if has_processes {
            return self.keep(id, &what, "processes of the run live");
        }
        let worth = self.worth(history, left).await;
        if let (Some(why), Force::No) = (&worth, self.force) {
            return self.keep(id, &what, why);
        }
        let why = worth.map_or_else(
            || "nothing is in it that is not in a commit".to_owned(),
            |why| format!("it was named; lost: {why}"),
        );
        let removed = match (self.removal, self.ground.find(&left.path)) {
            (Removal::DryRun, _) | (_, None) => Ok(()),
            (Removal::Real, Some(listed)) => self.ground.remove_worktree(listed, self.force).await,
        };
        self.note(id, &what, &why, removed);
    }

    /// Says what would be lost with a worktree; `None` if that is nothing.
    async fn worth(&self, history: &History, left: &WorktreeLeft) -> Option<String> {
        match &left.changed {
            None => {
                return Some(left.unclear.first().cloned().unwrap_or_else(|| "it cannot be read".to_owned()));
            }
            Some(changed) if !changed.is_empty() => {
                let shown: Vec<String> =
                    changed.iter().take(3).map(|path| path.display().to_string()).collect();
                let more = if changed.len() > shown.len() { ", ..." } else { "" };
                return Some(format!("changes that are in no commit: {}{more}", shown.join(", ")));
            }
            Some(_) => {}
        }
        if let Some(unclear) = left.unclear.first() {
            return Some(unclear.clone());
        }
        let Some(head) = &left.head else {
            return Some("nothing is known of what is checked out".to_owned());
        };
        // A branch of the run's own may go with it, so it does not count as a name for its commits.
        let own = left.branch.as_deref().filter(|branch| is_own_branch(history, branch));
        match self.ground.holder(head, own).await {
            Ok(Some(_)) => None,
            Ok(None) if own.is_some() => Some("its commits are on no other branch".to_owned()),
            Ok(None) => Some("its commits are on no branch".to_owned()),
            Err(error) => Some(format!("it was not possible to {error}")),
        }
    }

    async fn branch(&mut self, history: &History, id: &RunId, left: &BranchLeft) {
        let what = format!("the branch `{}`", left.name);
        if !is_own_branch(history, &left.name) {
            // It is somebody's branch and stays; that keeps nothing else from going.
            return;
        }
        let ground = self.ground;
        let is_free = !ground.is_checked_out(&left.name)
            || self
                .cleaned
                .removed
                .iter()
                .any(|item| item.run == *id && item.what.starts_with("the worktree"));
        if !is_free {
            return self.keep(id, &what, "it is checked out");
        }
        let why = match (ground.holder(&left.tip, Some(&left.name)).await, self.force) {
            (Ok(Some(holder)), _) => format!("its commits are on `{holder}`"),
            (_, Force::Yes) => {
                format!("it was named; lost: commits up to {}, which git keeps for some time", left.tip)
            }
            (Ok(None), Force::No) => return self.keep(id, &what, "its commits are on no other branch"),
            (Err(error), Force::No) => {
                return self.keep(id, &what, &format!("it was not possible to {error}"));
            }
        };
        let removed = match self.removal {
            Removal::DryRun => Ok(()),
            Removal::Real => ground.remove_branch(&left.name, &left.tip).await,
        };
        self.note(id, &what, &why, removed);
    }

    fn journal(&mut self, report: &RunReport, folder: &Path) {
        let unseen = match (&report.answer, &report.session) {
            _ if report.state != RunState::Died || report.recovered || self.force == Force::Yes => None,
            (Some(_), _) => Some("it holds an answer that nobody has seen; recover the run first"),
            (None, Some(_)) => Some("it names a session that can be resumed; recover the run first"),
            (None, None) => None,
        };
        let unseen = unseen.or_else(|| {
            let is_unclear = !report.warnings.is_empty() && self.force == Force::No;
            is_unclear.then_some("not all that it names could be looked at")
        });
        let unseen = unseen.or_else(|| {
            let is_unnamed = !report.unreachable_commits.is_empty() && self.force == Force::No;
            is_unnamed.then_some("it names commits that are on no branch; recover the run first")
        });
        match unseen {
            Some(why) => self.keep(&report.id, "the journal", why),
            None => self.forget(&report.id, folder, "nothing of the run is left"),
        }
    }

    /// Removes a journal.
    pub(super) fn forget(&mut self, id: &RunId, folder: &Path, why: &str) {
        let removed = match self.removal {
            Removal::DryRun => Ok(()),
            Removal::Real => shelf::forget(folder),
        };
        match removed {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                self.keep(id, "the journal", &format!("it cannot be removed: {error}"));
            }
            _ => self.note(id, "the journal", why, Ok(())),
        }
    }

    /// Notes something that stays.
    pub(super) fn keep(&mut self, run: &RunId, what: &str, why: &str) {
        self.cleaned.kept.push(CleanedItem { run: run.clone(), what: what.to_owned(), why: why.to_owned() });
    }

    fn note(&mut self, run: &RunId, what: &str, why: &str, removed: Result<()>) {
        match removed {
            Ok(()) => {
                let item = CleanedItem { run: run.clone(), what: what.to_owned(), why: why.to_owned() };
                self.cleaned.removed.push(item);
            }
            Err(error) => self.keep(run, what, &format!("it was not possible to {error}")),
        }
    }
}
