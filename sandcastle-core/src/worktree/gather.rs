//! Which commits are the agent's own.
//!
//! Those that can be reached from what it left, and from nothing that others have: neither from where it began, nor from any
//! ref that was there when it began, as that ref was then and is now. So a rebase onto a branch that moved on, a merge of
//! that branch, and commits of others in the same repository do not count; nor does it matter whether the agent left a
//! branch, a detached `HEAD` or another branch behind. An error is an error and never an empty list.

use std::collections::HashSet;
use std::sync::Arc;

use super::opening::{Kind, quoted};
use super::place::Place;
use crate::error::Result;
use crate::git::{Head, Operation, Refs, Repository, branch_ref};
use crate::id::{BranchName, CommitId};
use crate::work::Commit;

/// What an agent has left in a place.
#[derive(Clone, Debug)]
pub(crate) struct Gathered {
    /// Its own commits, oldest first.
    pub(crate) commits: Vec<Commit>,
    /// What is checked out.
    pub(crate) branch: BranchName,
    /// What should land; `None` when there is no commit at all.
    pub(crate) tip: Option<CommitId>,
    /// How many of the commits do not land with it.
    pub(crate) left_out: usize,
    /// The branches of others that are not where they were when the work began, whoever moved them.
    pub(crate) moved: Vec<BranchName>,
    /// What a person should know about it.
    pub(crate) notes: Vec<String>,
}

/// Where work begins: what the commits that come after it are counted from.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    base: Option<CommitId>,
    /// Every ref as it was then.
    before: Arc<Refs>,
    /// How far the log of the `HEAD` had come then.
    log_end: u64,
    /// What the user had begun there and not ended.
    operation: Option<Operation>,
}

impl Origin {
    /// Takes the work tree for what it begins from: with this commit checked out, and these refs.
    pub(super) fn new(tree: &Repository, base: Option<CommitId>, before: Refs) -> Self {
        let (log_end, operation) = (tree.head_log_end(), tree.operation());
        Self { base, before: Arc::new(before), log_end, operation }
    }

    pub(crate) fn base(&self) -> Option<&CommitId> {
        self.base.as_ref()
    }

    /// Returns how far the log of the `HEAD` had come, in bytes.
    pub(crate) fn log_end(&self) -> u64 {
        self.log_end
    }

    pub(super) fn before(&self) -> &Refs {
        &self.before
    }
}

/// Where the work ends.
struct Ends {
    tips: Vec<CommitId>,
    tip: Option<CommitId>,
    note: Option<String>,
}

/// Looks at what the agent has left.
pub(super) async fn gather(place: &Place, origin: &Origin) -> Result<Gathered> {
    let repository = place.repository();
    let (head, now) = repository.head_and_refs().await?;
    let ends = ends(place, origin, &head, &now).await?;
    let own = [branch_ref(place.branch()), branch_ref(&head.branch)];
    // The agent may have pushed its own branch.
    let pushed = format!("/{}", place.branch());
    let is_own = |name: &str| {
        own.iter().any(|own| own == name) || name.starts_with("refs/remotes/") && name.ends_with(&pushed)
    };
    let then = origin.before.iter().map(|(_, id)| id);
    let others = now.iter().filter(|(name, _)| !is_own(name) && origin.before.get(name).is_some());
    let others: Vec<&CommitId> =
        origin.base().into_iter().chain(then).chain(others.map(|(_, id)| id)).collect();
    let tips: Vec<&CommitId> = ends.tips.iter().collect();
    let commits = own_commits(place, origin, &tips, &others).await?;
    let left_out = left_out(repository, &commits, &tips, ends.tip.as_ref()).await?;
    let moved = moved(origin, &now, &own);
    let branch = if re_attached(place, &head, &ends).await? { place.branch().clone() } else { head.branch };
    let notes = ends.note.into_iter().chain(left_unfinished(place, origin)).collect();
    Ok(Gathered { commits, branch, tip: ends.tip, left_out, moved, notes })
}

/// Says what the agent began in the user's own work tree and did not end. A worktree with that is kept, and says it itself.
fn left_unfinished(place: &Place, origin: &Origin) -> Option<String> {
    let operation = place.repository().operation().filter(|now| Some(*now) != origin.operation)?;
    (place.kind() == Kind::InPlace).then(|| {
        let (name, back, top) = (operation.name(), operation.way_back(), quoted(place.top()));
        format!(
            "the agent began a {name} and did not end it: `git -C {top} status` says how it stands, and \
             `git -C {top} {name} {back}` takes it back"
        )
    })
}

/// Lists the branches, other than `own`, that are not where they were.
fn moved(origin: &Origin, now: &Refs, own: &[String]) -> Vec<BranchName> {
    let others = origin.before.iter().filter(|(name, _)| !own.iter().any(|own| own == name));
    let moved = others.filter(|(name, then)| now.get(name) != Some(*then));
    moved.filter_map(|(name, _)| name.strip_prefix("refs/heads/")).map(BranchName::from_git).collect()
}

/// Counts the commits that cannot be reached from what should land: the agent left two ends, neither ahead of the other.
async fn left_out(
    repository: &Repository,
    commits: &[Commit],
    tips: &[&CommitId],
    tip: Option<&CommitId>,
) -> Result<usize> {
    let landing: Vec<&CommitId> = tip.into_iter().collect();
    if commits.is_empty() || tips.iter().all(|tip| landing.contains(tip)) {
        return Ok(0);
    }
    let beyond = repository.commits_between(tips, &landing).await?;
    let beyond: HashSet<&str> = beyond.iter().map(|commit| commit.sha.as_str()).collect();
    Ok(commits.iter().filter(|commit| beyond.contains(commit.sha.as_str())).count())
}

/// Lists the commits of nobody else, and those that the log of this work tree says were made in it.
///
/// Two agents that do the same in the same second make the same commit; it is the work of each of them.
async fn own_commits(
    place: &Place,
    origin: &Origin,
    tips: &[&CommitId],
    others: &[&CommitId],
) -> Result<Vec<Commit>> {
    let repository = place.repository();
    let commits = repository.commits_between(tips, others).await?;
    let found: HashSet<String> = commits.iter().map(|commit| commit.sha.to_string()).collect();
    let made = repository.committed_here(origin.log_end);
    if made.is_subset(&found) {
        return Ok(commits);
    }
    let bases: Vec<&CommitId> = origin.base().into_iter().collect();
    let mut all = repository.commits_between(tips, &bases).await?;
    all.retain(|commit| found.contains(commit.sha.as_str()) || made.contains(commit.sha.as_str()));
    Ok(all)
}

/// Finds out where the work ends, and advances the branch to a detached `HEAD` that is ahead of it.
async fn ends(place: &Place, origin: &Origin, head: &Head, now: &Refs) -> Result<Ends> {
    let repository = place.repository();
    let branch = place.branch();
    let source = now.get(&branch_ref(branch)).cloned();
    let (Some(commit), true) = (&head.commit, head.branch != *branch) else {
        let tip = head.commit.clone().or(source);
        return Ok(Ends { tips: tip.iter().cloned().collect(), tip, note: None });
    };
    if repository.operation() == Some(Operation::Rebase) {
        // Its `HEAD` is a half of the work; the branch still is the whole of it.
        let tip = source.or_else(|| Some(commit.clone()));
        let note =
            format!("a rebase of `{branch}` was begun and not ended: what was rebased so far is left out");
        return Ok(Ends { tips: tip.iter().cloned().collect(), tip, note: Some(note) });
    }
    let began = source.as_ref().or(origin.base());
    let is_ahead = match began {
        Some(began) => repository.is_ancestor(began, commit).await?,
        None => true,
    };
    let tips: Vec<CommitId> = source.iter().chain([commit]).cloned().collect();
    if !is_ahead {
        let what = if head.branch == "HEAD" { "a detached `HEAD`" } else { head.branch.as_str() };
        let note =
            format!("the agent left {what} checked out, at {commit:.12}, which is not ahead of `{branch}`");
        return Ok(Ends { tips, tip: source.or_else(|| Some(commit.clone())), note: Some(note) });
    }
    let note = stray(place, repository, head, source.as_ref(), commit).await?;
    Ok(Ends { tips, tip: Some(commit.clone()), note })
}

/// Says what became of a `HEAD` that is ahead of the branch and not on it.
async fn stray(
    place: &Place,
    repository: &Repository,
    head: &Head,
    source: Option<&CommitId>,
    commit: &CommitId,
) -> Result<Option<String>> {
    let branch = place.branch();
    if place.kind() == Kind::InPlace || (head.branch == "HEAD" && source == Some(commit)) {
        return Ok(None);
    }
    if head.branch != "HEAD" {
        return Ok(Some(format!("the agent worked on `{}`, which is ahead of `{branch}`", head.branch)));
    }
    let note = if repository.move_branch(branch, source, commit).await? {
        format!("the agent worked on a detached `HEAD`; `{branch}` was advanced to it")
    } else {
        format!(
            "the agent worked on a detached `HEAD`, at {commit}, to which `{branch}` could not be advanced"
        )
    };
    Ok(Some(note))
}

/// Checks the branch out again where it points to the very commit that is checked out: no file changes by that.
async fn re_attached(place: &Place, head: &Head, ends: &Ends) -> Result<bool> {
    let repository = place.repository();
    let is_detached =
        head.branch == "HEAD" && place.kind() != Kind::InPlace && repository.operation().is_none();
    if !is_detached || ends.tip != head.commit || repository.tip(place.branch()).await? != head.commit {
        return Ok(false);
    }
    repository.point_head_at(place.branch()).await?;
    Ok(true)
}
