//! Works out what the target becomes, or would become, without touching anything that anybody sees.
//!
//! A merge is made in a git folder of our own: no driver, attribute file, hook or signing program of the repository is
//! known there. What it leaves are objects that nothing names.

use std::collections::BTreeMap;

use super::refusal::{Conflict, Refusal};
use super::{Landed, Landing};
use crate::error::{Error, ErrorKind, Result};
use crate::git::{Answer, Borrowed, Git};
use crate::id::CommitId;

/// The first version of git that merges without a work tree.
const NEEDED_VERSION: (u32, u32) = (2, 38);
/// The mode of a submodule in a tree.
const SUBMODULE_MODE: &[u8] = b"160000";

/// What the target is to become.
#[derive(Debug)]
pub(super) enum Prepared {
    Nothing,
    FastForward(CommitId),
    Merge(CommitId),
}

impl Prepared {
    /// Returns the commit to which the target moves, if it moves.
    pub(super) fn tip(&self) -> Option<&CommitId> {
        match self {
            Self::Nothing => None,
            Self::FastForward(tip) | Self::Merge(tip) => Some(tip),
        }
    }

    pub(super) fn landed(self) -> Landed {
        match self {
            Self::Nothing => Landed::Nothing,
            Self::FastForward(to) => Landed::FastForward { to },
            Self::Merge(commit) => Landed::Merged { commit },
        }
    }
}

/// What comes of the two sides.
#[derive(Debug)]
pub(super) enum Combined {
    /// The target has it all.
    Nothing,
    /// The target has nothing of its own.
    FastForward,
    /// Both have something of their own; this is the tree of both.
    Tree(Box<Borrowed>, String),
    Conflict(Vec<Conflict>),
}

/// Prepares the landing on `target`, the tip of the target branch.
pub(super) async fn prepare(landing: &Landing<'_>, target: &CommitId) -> Result<Prepared> {
    match combine(landing, target).await? {
        Combined::Nothing => Ok(Prepared::Nothing),
        Combined::FastForward => Ok(Prepared::FastForward(landing.tip.clone())),
        Combined::Tree(borrowed, tree) => {
            commit(landing, &borrowed, target, &tree).await.map(Prepared::Merge)
        }
        Combined::Conflict(conflicts) => Err(Refusal::Conflict(conflicts).into_error(landing)),
    }
}

/// Brings the two sides together, as objects that nothing names.
pub(super) async fn combine(landing: &Landing<'_>, target: &CommitId) -> Result<Combined> {
    let git = landing.repository.git();
    if let Some(commit) = missing(git, [target, landing.tip]).await? {
        return Err(Refusal::NoCommit(commit).into_error(landing));
    }
    let base = git.ask(["merge-base", target, landing.tip]).await?;
    match base.line() {
        Some(base) if base == landing.tip.as_str() => return Ok(Combined::Nothing),
        Some(base) if base == target.as_str() => return Ok(Combined::FastForward),
        Some(_) => {}
        None if base.code == Some(1) => return Err(Refusal::Unrelated.into_error(landing)),
        None => return Err(base.refused("compare the branches", git.cwd())),
    }
    merge(landing, Borrowed::from(landing.repository).await?, target).await
}

/// Finds the first that is not the id of a commit that is there.
async fn missing<'a>(git: &Git, commits: [&'a CommitId; 2]) -> Result<Option<&'a CommitId>> {
    let asked = commits.map(|commit| format!("{commit}\n")).concat().into_bytes();
    let format = "--batch-check=%(objectname) %(objecttype)";
    let answer = git.feed(["cat-file", format], asked).await?;
    if !answer.is_success() {
        return Err(answer.refused("look for the commits", git.cwd()));
    }
    let found = String::from_utf8_lossy(&answer.stdout);
    let mut found = found.lines();
    let is_missing = |commit: &&CommitId| found.next() != Some(&format!("{commit} commit"));
    Ok(commits.into_iter().find(is_missing))
}

/// Merges the trees.
async fn merge(landing: &Landing<'_>, borrowed: Borrowed, target: &CommitId) -> Result<Combined> {
    // The target's own attributes may name a driver that is built into git, such as `union`.
    let git = borrowed.git().clone().env("GIT_ATTR_SOURCE", target.as_str()).timeout(landing.limit);
    let args = ["merge-tree", "--write-tree", "-z", "--no-messages", target, landing.tip];
    let answer = git.ask(args).await?;
    match answer.code {
        Some(0 | 1) => {}
        _ => {
            check_version(&git).await?;
            return Err(answer.refused("merge the trees", landing.repository.git().cwd()));
        }
    }
    let mut fields = answer.stdout.split(|byte| *byte == 0);
    let tree = fields.next().and_then(|tree| std::str::from_utf8(tree).ok()).unwrap_or_default();
    if answer.is_success() {
        let tree = tree.to_owned();
        return Ok(Combined::Tree(Box::new(borrowed), tree));
    }
    Ok(Combined::Conflict(conflicts(fields)))
}

/// Reads the entries `mode object stage<tab>path` of what could not be merged.
fn conflicts<'a>(fields: impl Iterator<Item = &'a [u8]>) -> Vec<Conflict> {
    let mut by_path: BTreeMap<&[u8], bool> = BTreeMap::new();
    for entry in fields.take_while(|entry| !entry.is_empty()) {
        let Some(tab) = entry.iter().position(|byte| *byte == b'\t') else { continue };
        *by_path.entry(&entry[tab + 1..]).or_default() |= entry.starts_with(SUBMODULE_MODE);
    }
    let conflicts = by_path.into_iter();
    conflicts.map(|(path, is_submodule)| Conflict { path: path.to_vec(), is_submodule }).collect()
}

async fn commit(
    landing: &Landing<'_>,
    borrowed: &Borrowed,
    target: &CommitId,
    tree: &str,
) -> Result<CommitId> {
    let mut git = borrowed.git().clone();
    for (variable, value) in landing.repository.identity().await?.variables() {
        git = git.env(variable, value);
    }
    let message = format!("Merge branch '{}' into {}", landing.source, landing.target);
    let args = ["commit-tree", tree, "-p", target, "-p", landing.tip, "-m", &message];
    let answer: Answer = git.does("make the merge commit", args).await?;
    answer.line().map(CommitId::from_git).ok_or_else(|| answer.refused("make the merge commit", git.cwd()))
}

async fn check_version(git: &Git) -> Result<()> {
    let answer = git.does("ask for the version of git", ["version"]).await?;
    let line = answer.line().unwrap_or_default();
    if version(line).is_some_and(|version| version >= NEEDED_VERSION) {
        return Ok(());
    }
    let (major, minor) = NEEDED_VERSION;
    let what = format!("merge with `{line:.80}`: it cannot merge without a work tree");
    Err(Error::new(ErrorKind::Git, what).with_hint(format!("install git {major}.{minor} or newer")))
}

/// Reads `git version 2.47.3`, behind which anything may follow.
fn version(line: &str) -> Option<(u32, u32)> {
    let mut parts = line.strip_prefix("git version ")?.split(['.', ' ', '-']);
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_every_maker_are_read() {
        for (line, expected) in [
            ("git version 2.47.3", Some((2, 47))),
            ("git version 2.39.5 (Apple Git-154)", Some((2, 39))),
            ("git version 2.38.0.rc1", Some((2, 38))),
            ("git version 3.0-rc0", Some((3, 0))),
            ("hub 2", None),
            ("", None),
        ] {
            assert_eq!(version(line), expected, "{line}");
        }
    }
}
