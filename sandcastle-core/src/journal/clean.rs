//! Removes what a run left: what is provably worthless, or what a person has named.
//!
//! A worktree is worthless when git sees nothing in it that is in no commit, and every commit in it has another name. A
//! branch is worthless when the run made it for itself and another branch or tag has its commits. Both are removed under
//! the lock of the branch and after another look; branches that a person named are never removed. Worktrees that no
//! journal names are left to `worktree::prune`, which keeps to the same rules.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::ground::{Force, Ground};
use super::note::Note;
use super::reader::History;
use super::remains::{is_own_branch, resolved};
use super::report::{BranchLeft, Cleaned, CleanedItem, RunReport, RunState, SandboxLeft, WorktreeLeft};
use super::runs::{Read, Removal, is_unborn};
use super::scratch;
use super::shelf;
use super::writer::{self, JOURNAL};
use crate::error::Result;
use crate::git::{Repository, Worktree};
use crate::id::{BranchName, CommitId, RunId};
use crate::sandbox;
use crate::worktree::{Attempt, Cleaning, GATE_LIMIT, Holder, Leftover, Lock, prune};

/// Cleans up after one run.
#[derive(Debug)]
pub(super) struct Cleaner<'a> {
    pub(super) ground: &'a Ground,
    pub(super) removal: Removal,
    pub(super) force: Force,
    /// The branches that somebody works on, and who.
    pub(super) busy: HashMap<String, String>,
    pub(super) cleaned: &'a mut Cleaned,
}

impl Cleaner<'_> {
    /// Removes what may be removed, and the journal when it has nothing more to tell.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](crate::ErrorKind::Io) when no lock can be made.
    pub(super) async fn clean(&mut self, history: &History, report: &RunReport, folder: &Path) -> Result<()> {
        let id = &report.id;
        if report.state == RunState::Running {
            self.keep(id, "the run", "it goes on");
            return Ok(());
        }
        let _locks = self.take_locks(history, report)?;
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
            self.sandbox(id, sandbox, folder).await;
        }
        if let Some(scratch) = &report.scratch {
            self.scratch(id, scratch, has_processes);
        }
        if self.cleaned.kept.len() == kept {
            self.journal(report, folder);
        }
        Ok(())
    }

    /// Takes the locks of the branches that are looked at, as far as nobody has them.
    fn take_locks(&mut self, history: &History, report: &RunReport) -> Result<Vec<Lock>> {
        let noted = history.worktrees.iter().map(|noted| noted.branch.as_str());
        let there = report.worktrees.iter().filter_map(|left| left.branch.as_deref());
        let branches: BTreeSet<&str> = match report.worktrees.is_empty() && report.branches.is_empty() {
            true => BTreeSet::new(),
            false => noted.chain(there).collect(),
        };
        let mut locks = Vec::new();
        for branch in branches {
            match Lock::for_cleaning(&self.ground.repository, &BranchName::from_git(branch))? {
                Attempt::Taken(lock) => locks.push(lock),
                Attempt::Held(holder) => {
                    let who =
                        holder.as_ref().map_or_else(|| "another run works on it".to_owned(), Holder::says);
                    self.busy.insert(branch.to_owned(), who);
                }
            }
        }
        Ok(locks)
    }

    /// Says who works on the branch that a worktree has, or on the one that the run had in it.
    fn user_of(&self, history: &History, left: &WorktreeLeft) -> Option<String> {
        let noted = history.worktrees.iter().filter(|noted| resolved(&noted.path) == left.path);
        let mut branches = noted.map(|noted| noted.branch.as_str()).chain(left.branch.as_deref());
        branches.find_map(|branch| self.busy.get(branch).cloned())
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
        if let Some(who) = self.user_of(history, left) {
            return self.keep(id, &what, &who);
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
        match (self.removal, self.ground.find(&left.path)) {
            (Removal::DryRun, _) | (_, None) => self.note(id, &what, &why, Ok(())),
            (Removal::Real, Some(listed)) => match self.remove(listed).await {
                Ok(None) => self.note(id, &what, &why, Ok(())),
                Ok(Some(changed)) => self.keep(id, &what, &changed),
                Err(error) => self.note(id, &what, &why, Err(error)),
            },
        }
    }

    /// Removes a worktree, unless it has come to hold something meanwhile, and says what.
    async fn remove(&self, listed: &Worktree) -> Result<Option<String>> {
        let _gate = Lock::of_worktree_list(&self.ground.repository, "clean up", GATE_LIMIT).await?;
        if self.force == Force::No
            && let Some(why) = self.ground.contents(listed).await.and_then(|look| look.value.reason())
        {
            return Ok(Some(why));
        }
        self.ground.remove_worktree(listed).await.map(|()| None)
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
        match self.ground.holder(&CommitId::from_git(head.as_str()), own).await {
            Ok(Some(_)) => None,
            Ok(None) if own.is_some() => Some("its commits are on no other branch".to_owned()),
            Ok(None) => Some("its commits are on no branch".to_owned()),
            Err(error) => Some(format!("it was not possible to {error}")),
        }
    }

    /// Removes a sandbox whose owner is gone, as it says itself: what a journal says of it is a claim.
    async fn sandbox(&mut self, run: &RunId, left: &SandboxLeft, folder: &Path) {
        let what = format!("the sandbox {} of {}", left.id, left.provider);
        let unknown = match sandbox::left(&left.provider, &left.id).await {
            Some(Ok(sandbox::Left::Gone)) => return self.note_gone(left, folder),
            Some(Ok(sandbox::Left::Orphan)) => {
                let removed = match self.removal {
                    Removal::DryRun => Ok(()),
                    Removal::Real => sandbox::remove_left(&left.provider, &left.id).await,
                };
                if removed.is_ok() {
                    self.note_gone(left, folder);
                }
                return self.note(run, &what, "its run is over", removed);
            }
            Some(Ok(sandbox::Left::Kept(why))) => why,
            Some(Err(error)) => format!("it was not possible to {error}"),
            None => "whether it is still there is not known".to_owned(),
        };
        if self.force == Force::No {
            self.keep(run, &what, &unknown);
        }
    }

    fn scratch(&mut self, id: &RunId, path: &Path, has_processes: bool) {
        let what = format!("the scratch folder `{}`", path.display());
        if has_processes {
            return self.keep(id, &what, "processes of the run live");
        }
        match if self.removal == Removal::Real { scratch::remove(path) } else { Ok(()) } {
            Ok(()) => self.note(id, &what, "its run is over", Ok(())),
            Err(error) => self.keep(id, &what, &format!("it cannot be removed: {error}")),
        }
    }

    /// Notes that a sandbox is gone, so that it is not listed any more. Where it cannot be noted it is looked for again.
    fn note_gone(&self, left: &SandboxLeft, folder: &Path) {
        if self.removal == Removal::Real {
            let _ = writer::append(&folder.join(JOURNAL), &Note::SandboxClosed { id: left.id.clone() });
        }
    }

    async fn branch(&mut self, history: &History, id: &RunId, left: &BranchLeft) {
        let what = format!("the branch `{}`", left.name);
        if !is_own_branch(history, &left.name) {
            // It is somebody's branch and stays; that keeps nothing else from going.
            return;
        }
        if let Some(who) = self.busy.get(&left.name).cloned() {
            return self.keep(id, &what, &who);
        }
        let ground = self.ground;
        let is_free = !ground.is_checked_out(&left.name)
            || self
                .cleaned
                .removed
                .iter()
                .any(|item| item.run.as_ref() == Some(id) && item.what.starts_with("the worktree"));
        if !is_free {
            return self.keep(id, &what, "it is checked out");
        }
        let tip = CommitId::from_git(left.tip.as_str());
        let why = match (ground.holder(&tip, Some(&left.name)).await, self.force) {
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
            Removal::Real => {
                let branch = BranchName::from_git(left.name.as_str());
                ground.repository.delete_branch(&branch, &tip).await
            }
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
        let run = Some(run.clone());
        self.cleaned.kept.push(CleanedItem { run, what: what.to_owned(), why: why.to_owned() });
    }

    fn note(&mut self, run: &RunId, what: &str, why: &str, removed: Result<()>) {
        match removed {
            Ok(()) => {
                let run = Some(run.clone());
                self.cleaned.removed.push(CleanedItem { run, what: what.to_owned(), why: why.to_owned() });
            }
            Err(error) => self.keep(run, what, &format!("it was not possible to {error}")),
        }
    }
}

/// The worktrees that no journal names: those of handles, and of runs whose journals are gone.
#[derive(Debug)]
pub(super) struct Unnamed {
    /// The worktrees that journals do name.
    named: HashSet<PathBuf>,
    /// Whether there is a journal that may name any, and that cannot be read.
    has_unreadable: bool,
}

impl Unnamed {
    /// Finds out what all journals name.
    pub(super) fn beside(all: &[Read], runs: &Path) -> Self {
        let histories = all.iter().filter_map(|(_, read)| read.as_ref().ok());
        let named = histories.flat_map(|history| &history.worktrees).map(|noted| resolved(&noted.path));
        let is_lost = |(id, read): &Read| read.is_err() && !is_unborn(&runs.join(id.as_str()));
        Self { named: named.collect(), has_unreadable: all.iter().any(is_lost) }
    }

    /// Removes those that are clean, merged and free, and says why the others stay.
    pub(super) async fn clean(
        &self,
        repository: &Repository,
        removal: Removal,
        cleaned: &mut Cleaned,
    ) -> Result<()> {
        let cleaning = match removal {
            Removal::Real if !self.has_unreadable => Cleaning::Remove,
            _ => Cleaning::LookOnly,
        };
        for Leftover { path, reason, .. } in prune(repository, cleaning, &self.named).await? {
            let what = format!("the worktree `{}`", path.display());
            let reason = reason.or_else(|| {
                self.has_unreadable.then(|| "a journal that cannot be read may name it".to_owned())
            });
            match reason {
                Some(why) => cleaned.kept.push(CleanedItem { run: None, what, why }),
                None => {
                    let why = "nothing is in it that is not in a commit of another branch".to_owned();
                    cleaned.removed.push(CleanedItem { run: None, what, why });
                }
            }
        }
        Ok(())
    }
}
