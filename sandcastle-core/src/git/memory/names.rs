//! What is checked out, every ref, and what is put aside: as it was, and put back by compare-and-swap.
//!
//! A repository is used by others at the same time, so it is decided here which changes are those of the work tree that is looked
//! at. What somebody else has done is left as it is.

use std::collections::{BTreeMap, BTreeSet};

use super::Witness;
use crate::error::{Error, ErrorKind, Result};
use crate::git::{Git, Refs, Repository, branch_ref};
use crate::id::CommitId;

/// What is put aside.
pub(super) const STASH: &str = "refs/stash";
/// The most entries of what is put aside that are looked at.
const MAX_STASHED: usize = 1000;
/// What belongs to nobody's work here: what is known of remotes, what was kept of sandboxes, and other runs' own.
const OTHERS: [&str; 4] =
    ["refs/remotes/", "refs/sandcastle/", "refs/heads/sandcastle/", "refs/heads/sandcastle-rescue/"];

/// An entry of what is put aside: its commit and its message.
type Stashed = (String, String);

/// What is checked out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Head {
    /// The full name of the branch; `None` if none is.
    pub(super) branch: Option<String>,
    pub(super) commit: Option<CommitId>,
}

/// Names of commits at one moment.
#[derive(Clone, Debug)]
pub(super) struct Names {
    pub(super) head: Head,
    refs: BTreeMap<String, String>,
    /// What is put aside, the last first.
    stash: Vec<Stashed>,
}

/// Names that are not what they were.
#[derive(Clone, Debug, Default)]
pub(super) struct Renamed {
    head: Option<(Head, Head)>,
    /// Full names, with what they were and what they are.
    refs: BTreeMap<String, (Option<String>, Option<String>)>,
    stash: Option<(Vec<Stashed>, Vec<Stashed>)>,
}

impl Renamed {
    pub(super) fn is_empty(&self) -> bool {
        self.head.is_none() && self.refs.is_empty() && self.stash.is_none()
    }

    /// Lists them, as they are shown.
    pub(super) fn names(&self) -> Vec<String> {
        let head = self.head.iter().map(|_| "HEAD".to_owned());
        let stash = self.stash.iter().map(|_| STASH.to_owned());
        head.chain(self.refs.keys().cloned()).chain(stash).collect()
    }

    /// Lists the commits that only these names may lead to.
    pub(super) fn tips(&self) -> BTreeSet<String> {
        let head = self.head.iter().filter_map(|(_, now)| now.commit.as_ref().map(ToString::to_string));
        let refs = self.refs.values().filter_map(|(_, now)| now.clone());
        let stash = self.stash.iter().flat_map(|(_, now)| now.iter().map(|(id, _)| id.clone()));
        head.chain(refs).chain(stash).collect()
    }
}

impl Names {
    pub(super) async fn of(repository: &Repository) -> Result<Self> {
        let (head, refs) = repository.head_and_refs().await?;
        let branch = (head.branch != "HEAD").then(|| branch_ref(&head.branch));
        let stash = if refs.get(STASH).is_some() { stash(repository).await? } else { Vec::new() };
        Ok(Self { head: Head { branch, commit: head.commit }, refs: all(&refs), stash })
    }

    /// Returns every commit that a name leads to.
    pub(super) fn commits(&self) -> impl Iterator<Item = &str> {
        self.refs.values().map(String::as_str).chain(self.head.commit.as_ref().map(CommitId::as_str))
    }

    /// Looks what has changed since that is the doing of whoever works in the work tree. `log_end` is how far the log of its `HEAD`
    /// had come.
    pub(super) async fn changed(
        &self,
        repository: &Repository,
        log_end: u64,
        witness: &Witness,
    ) -> Result<Renamed> {
        let now = Self::of(repository).await?;
        let mut renamed = Renamed::default();
        if self.head.branch != now.head.branch || (now.head.branch.is_none() && self.head != now.head) {
            renamed.head = Some((self.head.clone(), now.head.clone()));
        }
        let then = self.refs_before(&now, witness);
        let mut differ = self.differing(&then, &now);
        if matches!(witness, Witness::Nobody) {
            differ = self.own_of(differ, &now, repository, log_end).await?;
            if self.is_stashed_here(&now, repository, log_end).await? {
                renamed.stash = Some((self.stash.clone(), now.stash.clone()));
            }
        }
        for name in differ {
            let change = (then.get(&name).cloned(), now.refs.get(&name).cloned());
            renamed.refs.insert(name, change);
        }
        Ok(renamed)
    }

    /// Returns what refs are held against.
    fn refs_before(&self, now: &Self, witness: &Witness) -> BTreeMap<String, String> {
        match witness {
            Witness::Nobody => self.refs.clone(),
            // Of the branch of the work tree nobody else has a say.
            Witness::Outside(refs) => {
                let mut then = all(refs);
                then.retain(|name, _| !self.is_own(name, now));
                then.extend(self.refs.clone().into_iter().filter(|(name, _)| self.is_own(name, now)));
                then
            }
        }
    }

    /// Lists the refs that are not as they were and may be somebody's work here. What is put aside is more than a ref.
    fn differing(&self, then: &BTreeMap<String, String>, now: &Self) -> Vec<String> {
        let names: BTreeSet<&String> = then.keys().chain(now.refs.keys()).collect();
        let differ = names.into_iter().filter(|name| then.get(*name) != now.refs.get(*name));
        let mut differ: Vec<String> = differ.filter(|name| *name != STASH).cloned().collect();
        let is_of_others = |name: &str| OTHERS.iter().any(|others| name.starts_with(others));
        differ.retain(|name| !is_of_others(name) || self.is_own(name, now));
        differ
    }

    /// Tells whether a branch is or was the one of the work tree.
    fn is_own(&self, name: &str, now: &Self) -> bool {
        [&self.head.branch, &now.head.branch].into_iter().flatten().any(|branch| branch == name)
    }

    /// Picks the refs that were changed from this work tree. Others use the repository meanwhile: what they have checked out is
    /// theirs, and so is what leads to commits that were never here.
    async fn own_of(
        &self,
        names: Vec<String>,
        now: &Self,
        repository: &Repository,
        log_end: u64,
    ) -> Result<Vec<String>> {
        if names.is_empty() {
            return Ok(names);
        }
        let elsewhere: BTreeSet<String> = repository
            .worktrees()
            .await?
            .into_iter()
            .filter(|worktree| worktree.git_dir.as_deref() != Some(repository.git_dir()))
            .filter_map(|worktree| worktree.branch.as_ref().map(branch_ref))
            .collect();
        let here = self.own_tips(now, repository, log_end);
        let mut own = Vec::new();
        for name in names {
            if self.is_own(&name, now) {
                own.push(name);
                continue;
            }
            let is_from_here = match now.refs.get(&name) {
                Some(id) => is_from(id, &here, repository).await?,
                None => true,
            };
            if is_from_here && !elsewhere.contains(&name) {
                own.push(name);
            }
        }
        Ok(own)
    }

    /// Lists the commits that were checked out or made in the work tree.
    fn own_tips(&self, now: &Self, repository: &Repository, log_end: u64) -> Vec<CommitId> {
        let made = repository.committed_here(log_end).into_iter().map(CommitId::from_git);
        self.head.commit.iter().chain(&now.head.commit).cloned().chain(made).collect()
    }

    /// Tells whether what is put aside was changed, and whatever is new in it was put aside here.
    async fn is_stashed_here(&self, now: &Self, repository: &Repository, log_end: u64) -> Result<bool> {
        let here = self.own_tips(now, repository, log_end);
        for (id, _) in now.stash.iter().filter(|entry| !self.stash.contains(entry)) {
            let base = repository.resolve(&format!("{id}^1")).await?;
            if base.is_some_and(|base| !here.contains(&base)) {
                return Ok(false);
            }
        }
        Ok(self.stash != now.stash)
    }
}

impl Renamed {
    /// Puts the names back, each from the value that was seen. Returns those that were changed again meanwhile.
    pub(super) async fn put_back(&self, repository: &Repository) -> Result<Vec<String>> {
        let git = repository.git().to_its_end();
        let mut left = Vec::new();
        // As one change if that can be, so that nobody sees a half of it.
        let lines: Vec<String> = self.refs.iter().map(|(name, change)| line(name, change)).collect();
        if !update(&git, &lines).await? {
            for (line, name) in lines.iter().zip(self.refs.keys()) {
                if !update(&git, std::slice::from_ref(line)).await? {
                    left.push(name.clone());
                }
            }
        }
        if let Some((then, now)) = &self.head {
            check_out(&git, then, now).await?;
        }
        if let Some((then, now)) = &self.stash {
            put_aside_again(&git, then, now).await?;
        }
        Ok(left)
    }
}

fn line(name: &str, (then, now): &(Option<String>, Option<String>)) -> String {
    match (then, now) {
        (Some(then), Some(now)) => format!("update {name} {then} {now}\n"),
        (Some(then), None) => format!("create {name} {then}\n"),
        (None, Some(now)) => format!("delete {name} {now}\n"),
        (None, None) => String::new(),
    }
}

async fn update(git: &Git, lines: &[String]) -> Result<bool> {
    if lines.is_empty() {
        return Ok(true);
    }
    let args = ["update-ref", "--no-deref", "--create-reflog", "-m", UNDONE, "--stdin"];
    Ok(git.feed(args, lines.concat().into_bytes()).await?.is_success())
}

/// What is written into logs of refs.
const UNDONE: &str = "sandcastle: undo what was changed while the agent could only speak";

/// Checks out what was checked out; no file changes by that.
async fn check_out(git: &Git, then: &Head, now: &Head) -> Result<()> {
    let what = "check out what was checked out";
    match (&then.branch, &then.commit) {
        (Some(branch), _) => git.does(what, ["symbolic-ref", "-m", UNDONE, "HEAD", branch]).await.map(drop),
        (None, Some(commit)) => {
            let now = now.commit.as_ref().map_or("", CommitId::as_str);
            let args = ["update-ref", "--no-deref", "-m", UNDONE, "HEAD", commit.as_str(), now];
            git.does(what, args).await.map(drop)
        }
        (None, None) => Err(Error::new(ErrorKind::Git, format!("{what}: that was nothing"))),
    }
}

/// Makes the list of what is put aside anew: its order is in the log of one ref, which goes with it.
async fn put_aside_again(git: &Git, then: &[Stashed], now: &[Stashed]) -> Result<()> {
    if let Some((tip, _)) = now.first() {
        git.does("undo what was put aside", ["update-ref", "--no-deref", "-d", STASH, tip]).await?;
    }
    for (commit, message) in then.iter().rev() {
        git.does("put aside again what was", ["stash", "store", "-q", "-m", message, commit]).await?;
    }
    Ok(())
}

async fn stash(repository: &Repository) -> Result<Vec<Stashed>> {
    let most = format!("--max-count={MAX_STASHED}");
    let args = ["log", "-g", "-z", &most, "--format=%H %gs", STASH, "--"];
    let listing = repository.git().does("list what is put aside", args).await?.stdout;
    let listing = String::from_utf8_lossy(&listing);
    let entries = listing.split('\0').filter_map(|entry| entry.trim_end_matches('\n').split_once(' '));
    Ok(entries.map(|(commit, message)| (commit.to_owned(), message.to_owned())).collect())
}

/// Tells whether a ref leads to a commit that one of `here` leads to.
async fn is_from(id: &str, here: &[CommitId], repository: &Repository) -> Result<bool> {
    let Some(commit) = repository.resolve(id).await? else { return Ok(false) };
    repository.is_held(&commit, &here.iter().collect::<Vec<_>>()).await
}

fn all(refs: &Refs) -> BTreeMap<String, String> {
    refs.iter().map(|(name, id)| (name.to_owned(), id.to_string())).collect()
}
