//! Refs that somebody else has moved in a git folder of their own, taken over into the repository.
//!
//! Each is changed from the value that it had before. One that is somebody else's is never moved: what was made of it is kept
//! under `refs/sandcastle/` and named.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::repository::Repository;
use crate::error::{Error, ErrorKind, Result};

/// How many refs may have been made or moved since the last time.
const MAX_MOVED: usize = 10_000;
/// How many of them are named in what is to be warned of.
const MAX_NAMED: usize = 20;

/// What is checked out, and every ref.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct State {
    pub(crate) head: Checkout,
    /// Ids by full names.
    pub(crate) refs: BTreeMap<String, String>,
}

/// What is checked out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Checkout {
    /// A branch, by its full name.
    Branch(String),
    /// A commit.
    Commit(String),
}

/// What is taken over, and by whom it was made.
#[derive(Debug)]
pub(super) struct Takeover<'a> {
    /// The repository, aimed at the work tree of whoever made it.
    pub(super) repository: &'a Repository,
    /// What the sandbox is called in refs.
    pub(super) name: &'a str,
    /// The refs that are whoever's who works inside: the branch that was checked out first, and what was made since.
    pub(super) own: &'a mut BTreeSet<String>,
}

/// One ref that is not what it was.
struct Moved<'a> {
    name: &'a str,
    from: Option<&'a str>,
    to: &'a str,
}

impl Default for State {
    /// A repository in which nothing was ever made.
    fn default() -> Self {
        Self { head: Checkout::Branch("refs/heads/main".to_owned()), refs: BTreeMap::new() }
    }
}

impl State {
    /// Checks that no more refs differ in `now` than anybody makes who means well.
    pub(super) fn check_size(&self, now: &Self) -> Result<()> {
        match moved(self, now).len() {
            count if count > MAX_MOVED => {
                let what = format!("take over {count} refs that were made inside: more than {MAX_MOVED}");
                Err(Error::new(ErrorKind::Git, what))
            }
            _ => Ok(()),
        }
    }

    /// Lists the commits that are new in `now`, as far as a ref or the `HEAD` names them.
    pub(super) fn tips<'s>(&'s self, now: &'s Self) -> BTreeSet<&'s str> {
        let head = match &now.head {
            Checkout::Commit(id) => Some(id.as_str()),
            Checkout::Branch(_) => None,
        };
        moved(self, now).into_iter().map(|moved| moved.to).chain(head).collect()
    }
}

impl Takeover<'_> {
    /// Takes over what differs between two states; the objects are there already. Returns what is to be warned of.
    pub(super) async fn take(&mut self, known: &State, now: &State) -> Result<Vec<String>> {
        let moved = moved(known, now);
        let (taken, mut rest): (Vec<_>, Vec<_>) =
            moved.iter().partition(|moved| self.is_for_the_taking(moved));
        rest.retain(|moved| !moved.name.starts_with("refs/remotes/"));
        // As one change, which is made as a whole or not at all; one by one only if there is one that cannot be made.
        if self.change(&taken).await? {
            self.own.extend(taken.iter().map(|moved| moved.name.to_owned()));
        } else {
            for moved in taken {
                if self.change(&[moved]).await? {
                    self.own.insert(moved.name.to_owned());
                } else {
                    rest.push(moved);
                }
            }
        }
        let mut notes = self.keep_aside(&rest).await?;
        self.check_out(now, &mut notes).await?;
        Ok(notes)
    }

    /// Tells whether a ref is that of whoever works inside, or of nobody yet.
    fn is_for_the_taking(&self, moved: &Moved<'_>) -> bool {
        let is_new = moved.from.is_none()
            && (moved.name.starts_with("refs/heads/") || moved.name.starts_with("refs/tags/"));
        is_new || self.own.contains(moved.name)
    }

    /// Moves refs from what they were, all or none; tells whether it was done.
    async fn change(&self, all: &[&Moved<'_>]) -> Result<bool> {
        let line = |Moved { name, from, to }: &Moved<'_>| {
            let zero = "0".repeat(to.len());
            format!("update {name} {to} {}\n", from.unwrap_or(&zero))
        };
        let lines: String = all.iter().map(|moved| line(moved)).collect();
        let args = ["update-ref", "--create-reflog", "-m", "sandcastle: work of a sandbox", "--stdin"];
        let git = self.repository.git().to_its_end();
        Ok(lines.is_empty() || git.feed(args, lines.into_bytes()).await?.is_success())
    }

    /// Keeps what was made of refs that are somebody else's, under names of the sandbox.
    async fn keep_aside(&self, all: &[&Moved<'_>]) -> Result<Vec<String>> {
        if all.is_empty() {
            return Ok(Vec::new());
        }
        let aside = |moved: &Moved<'_>| {
            format!("refs/sandcastle/{}/{}", self.name, moved.name.trim_start_matches("refs/"))
        };
        let lines: String =
            all.iter().map(|moved| format!("update {} {}\n", aside(moved), moved.to)).collect();
        let args = ["update-ref", "-m", "sandcastle: work of a sandbox", "--stdin"];
        let kept = self.repository.git().to_its_end().feed(args, lines.into_bytes()).await?;
        if !kept.is_success() {
            return Err(kept.refused("keep what was made inside", self.repository.git().cwd()));
        }
        if let Some(moved) = all.iter().find(|moved| self.own.contains(moved.name)) {
            let Moved { name, to, .. } = moved;
            let what = format!("move `{name}` to {to:.12}: it was moved by somebody else meanwhile");
            let hint = format!("what was done inside is `{}`", aside(moved));
            return Err(Error::new(ErrorKind::Git, what).with_hint(hint));
        }
        let note = |moved: &&Moved<'_>| {
            let (name, aside) = (moved.name, aside(moved));
            format!(
                "`{name}` is not the agent's own and was not moved; what was made of it inside is kept as `{aside}`"
            )
        };
        let mut notes: Vec<String> = all.iter().take(MAX_NAMED).map(note).collect();
        if let Some(more) = all.len().checked_sub(MAX_NAMED).filter(|more| *more > 0) {
            notes.push(format!("{more} more refs are kept under `refs/sandcastle/{}/`", self.name));
        }
        Ok(notes)
    }

    /// Has the work tree check out what is checked out inside; no file changes by that.
    async fn check_out(&self, now: &State, notes: &mut Vec<String>) -> Result<()> {
        let git = self.repository.git().to_its_end();
        let there = git.ask(["symbolic-ref", "--quiet", "HEAD"]).await?;
        let there = there.line().map(str::to_owned);
        let what = "check out what is checked out inside";
        match &now.head {
            Checkout::Branch(name) if there.as_deref() == Some(name) => Ok(()),
            Checkout::Branch(name) => {
                let is_same = match now.refs.get(name) {
                    Some(id) => self.repository.resolve(name).await?.is_some_and(|tip| tip.as_str() == id),
                    None => true,
                };
                if is_same {
                    git.does(what, ["symbolic-ref", "-m", "sandcastle: as inside", "HEAD", name]).await?;
                } else if let Some(id) = now.refs.get(name) {
                    git.does(what, ["update-ref", "--no-deref", "-m", "sandcastle: as inside", "HEAD", id])
                        .await?;
                    notes
                        .push(format!("`{name}` is checked out inside and is another commit here: {id:.12}"));
                }
                Ok(())
            }
            Checkout::Commit(id) => {
                let is_there = there.is_none()
                    && self.repository.resolve("HEAD").await?.is_some_and(|at| at.as_str() == id);
                if !is_there {
                    git.does(what, ["update-ref", "--no-deref", "-m", "sandcastle: as inside", "HEAD", id])
                        .await?;
                }
                Ok(())
            }
        }
    }
}

fn moved<'a>(known: &'a State, now: &'a State) -> Vec<Moved<'a>> {
    let moved = now.refs.iter().filter_map(|(name, to)| {
        let from = known.refs.get(name).map(String::as_str);
        (from != Some(to.as_str())).then_some(Moved { name, from, to })
    });
    moved.collect()
}

/// Tells whether a text is the id of an object.
pub(super) fn is_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Tells whether git would take a text for the full name of a ref, by git's own rules.
pub(super) fn is_name(name: &str) -> bool {
    let bad = |c: char| c.is_control() || " ~^:?*[\\".contains(c);
    let bad_part = |part: &str| part.is_empty() || part.starts_with('.') || part.ends_with(".lock");
    name.starts_with("refs/")
        && name.len() < 1024
        && !name.contains(bad)
        && !name.contains("..")
        && !name.contains("@{")
        && !name.ends_with('.')
        && !name.split('/').any(bad_part)
}
