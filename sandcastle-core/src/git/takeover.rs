//! Refs that somebody else has moved in a git folder of their own, taken over into the repository.
//!
//! Each is changed from the value that it had before. One that is somebody else's is never moved: what was made of it is kept
//! under `refs/sandcastle/` and named.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::repository::Repository;
use crate::error::{Error, ErrorKind, Result};

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
        let mut notes = Vec::new();
        for moved in moved(known, now) {
            notes.extend(self.apply(&moved).await?);
        }
        self.check_out(now, &mut notes).await?;
        Ok(notes)
    }

    /// Moves one ref, or keeps aside what was made of it.
    async fn apply(&mut self, moved: &Moved<'_>) -> Result<Option<String>> {
        let Moved { name, from, to } = moved;
        let is_own = self.own.contains(*name);
        let is_new = from.is_none() && (name.starts_with("refs/heads/") || name.starts_with("refs/tags/"));
        if name.starts_with("refs/remotes/") {
            return Ok(None);
        }
        if is_own || is_new {
            let zero = "0".repeat(to.len());
            let line = format!("update {name} {to} {}\n", from.unwrap_or(&zero));
            let args = ["update-ref", "--create-reflog", "-m", "sandcastle: work of a sandbox", "--stdin"];
            let answer = self.repository.git().to_its_end().feed(args, line.into_bytes()).await?;
            if answer.is_success() {
                self.own.insert((*name).to_owned());
                return Ok(None);
            }
        }
        let aside = format!("refs/sandcastle/{}/{}", self.name, name.trim_start_matches("refs/"));
        let args = ["update-ref", "-m", "sandcastle: work of a sandbox", &aside, to];
        self.repository.git().to_its_end().does("keep what was made inside", args).await?;
        if is_own {
            let what = format!("move `{name}` to {to:.12}: it was moved by somebody else meanwhile");
            return Err(
                Error::new(ErrorKind::Git, what).with_hint(format!("what was done inside is `{aside}`"))
            );
        }
        Ok(Some(format!(
            "`{name}` is not the agent's own and was not moved; what was made of it inside is kept as `{aside}`"
        )))
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
