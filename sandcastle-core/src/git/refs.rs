//! Names of commits: what a revision means, all refs at one moment, and changes by compare-and-swap.
//!
//! A ref is only ever changed from a value that is named, so that nobody's later commit can get lost. Nothing here writes
//! configuration, and nothing looks at a work tree.

use super::repository::Repository;
use crate::error::{Error, ErrorKind, Result};
use crate::id::{BranchName, CommitId};
use crate::work::Commit;

/// Every ref of a repository and what it pointed to at one moment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Refs {
    all: Vec<(String, CommitId)>,
    /// Which of them is checked out.
    checked_out: Option<usize>,
}

/// Returns the full name of a branch.
pub(crate) fn branch_ref(branch: &BranchName) -> String {
    format!("refs/heads/{branch}")
}

impl Refs {
    /// Returns what a ref pointed to.
    pub(crate) fn get(&self, name: &str) -> Option<&CommitId> {
        self.all.iter().find(|(known, _)| known == name).map(|(_, id)| id)
    }

    /// Goes through the names and what they pointed to.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &CommitId)> {
        self.all.iter().map(|(name, id)| (name.as_str(), id))
    }

    /// Returns the branch that is checked out, by its full name; `None` if none is, or if it has no commit.
    pub(super) fn checked_out(&self) -> Option<(&str, &CommitId)> {
        self.checked_out.and_then(|at| self.all.get(at)).map(|(name, id)| (name.as_str(), id))
    }

    /// Goes through the names of the branches.
    pub(crate) fn branches(&self) -> impl Iterator<Item = &str> {
        self.all.iter().filter_map(|(name, _)| name.strip_prefix("refs/heads/"))
    }
}

impl Repository {
    /// Lists every ref.
    pub(crate) async fn refs(&self) -> Result<Refs> {
        let answer = self
            .git()
            .does("list the branches", ["for-each-ref", "--format=%(HEAD)%(objectname) %(refname)"])
            .await?;
        let mut refs = Refs::default();
        for line in String::from_utf8_lossy(&answer.stdout).lines() {
            let Some((id, name)) = line.get(1..).and_then(|line| line.split_once(' ')) else { continue };
            if line.starts_with('*') {
                refs.checked_out = Some(refs.all.len());
            }
            refs.all.push((name.to_owned(), CommitId::from_git(id)));
        }
        Ok(refs)
    }

    /// Looks up the commit that a revision names; `None` when it names none.
    pub(crate) async fn resolve(&self, revision: &str) -> Result<Option<CommitId>> {
        let commit = format!("{revision}^{{commit}}");
        let answer =
            self.git().ask(["rev-parse", "--verify", "--quiet", "--end-of-options", &commit]).await?;
        match answer.code {
            Some(0 | 1) => Ok(answer.line().map(CommitId::from_git)),
            _ => Err(answer.refused(&format!("look up `{revision}`"), self.git().cwd())),
        }
    }

    /// Looks up the last commit of a branch; `None` when there is no such branch.
    pub(crate) async fn tip(&self, branch: &BranchName) -> Result<Option<CommitId>> {
        self.resolve(&branch_ref(branch)).await
    }

    /// Makes a branch that is not there yet; no upstream is set. Says whether it was made.
    pub(crate) async fn create_branch(&self, branch: &BranchName, at: &CommitId) -> Result<bool> {
        let name = branch_ref(branch);
        let args =
            ["update-ref", "--no-deref", "--create-reflog", "-m", "sandcastle: make a branch", &name, at, ""];
        let answer = self.git().to_its_end().ask(args).await?;
        if answer.is_success() {
            return Ok(true);
        }
        match self.tip(branch).await? {
            Some(_) => Ok(false),
            None => Err(answer.refused(&format!("make the branch `{branch}`"), self.git().cwd())),
        }
    }

    /// Moves a branch if it still points to `from`; `None` stands for a branch that is not there. Says whether it did.
    pub(crate) async fn move_branch(
        &self,
        branch: &BranchName,
        from: Option<&CommitId>,
        to: &CommitId,
    ) -> Result<bool> {
        let name = branch_ref(branch);
        let from = from.map_or("", |id| id.as_str());
        let args =
            ["update-ref", "--no-deref", "-m", "sandcastle: take in what was detached", &name, to, from];
        Ok(self.git().to_its_end().ask(args).await?.is_success())
    }

    /// Deletes a branch if it still points to `from`. One that has gone already is no error.
    pub(crate) async fn delete_branch(&self, branch: &BranchName, from: &CommitId) -> Result<()> {
        let name = branch_ref(branch);
        let answer = self.git().to_its_end().ask(["update-ref", "--no-deref", "-d", &name, from]).await?;
        if answer.is_success() {
            return Ok(());
        }
        let what = format!("delete the branch `{branch}`");
        match self.tip(branch).await? {
            None => Ok(()),
            Some(tip) if tip == *from => Err(answer.refused(&what, self.git().cwd())),
            Some(tip) => {
                Err(Error::new(ErrorKind::Git, format!("{what}: it has moved meanwhile, to {tip:.12}")))
            }
        }
    }

    /// Tells whether `older` can be reached from `newer`.
    pub(crate) async fn is_ancestor(&self, older: &CommitId, newer: &CommitId) -> Result<bool> {
        let answer = self.git().ask(["merge-base", "--is-ancestor", older, newer]).await?;
        match answer.code {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(answer.refused(&format!("compare `{older}` with `{newer}`"), self.git().cwd())),
        }
    }

    /// Tells whether a commit can be reached from one of `holders`.
    pub(crate) async fn is_held(&self, commit: &CommitId, holders: &[&CommitId]) -> Result<bool> {
        let range = range(&[commit], holders);
        let answer =
            self.git().feed(["rev-list", "--max-count=1", "--ignore-missing", "--stdin"], range).await?;
        if !answer.is_success() {
            return Err(answer.refused(&format!("see which branches hold `{commit}`"), self.git().cwd()));
        }
        Ok(answer.stdout.is_empty())
    }

    /// Tells whether a commit can be reached from any ref but the branch `except`.
    pub(crate) async fn is_held_beside(&self, commit: &CommitId, except: &BranchName) -> Result<bool> {
        // No name of a ref has a character in it that means something in a pattern.
        let except = format!("--exclude={}", branch_ref(except));
        // Not `--all`, which has the `HEAD` of every work tree in it.
        let args =
            ["rev-list", "--max-count=1", "--ignore-missing", commit, "--not", &except, "--glob=refs/*"];
        let answer = self.git().does(&format!("see which branches hold `{commit}`"), args).await?;
        Ok(answer.stdout.is_empty())
    }

    /// Lists the commits that can be reached from `tips` and from none of `others`, oldest first.
    ///
    /// One of `others` that has gone since is left out; the tips have to be there.
    pub(crate) async fn commits_between(
        &self,
        tips: &[&CommitId],
        others: &[&CommitId],
    ) -> Result<Vec<Commit>> {
        if tips.iter().all(|tip| others.contains(tip)) {
            return Ok(Vec::new());
        }
        let git = self.git();
        let args = ["rev-list", "--reverse", "--topo-order", "--no-commit-header", "--format=%H %s"];
        let input = range(tips, others);
        let mut answer = git.feed(args.iter().chain(&["--stdin"]), input.clone()).await?;
        if !answer.is_success() {
            // With this, git passes over a tip that is missing, too.
            for tip in tips {
                let is_there = ["cat-file", "-e", &format!("{tip}^{{commit}}")];
                git.does("find the new commits", is_there).await?;
            }
            answer = git.feed(args.iter().chain(&["--ignore-missing", "--stdin"]), input).await?;
        }
        if !answer.is_success() {
            return Err(answer.refused("list the new commits", git.cwd()));
        }
        let log = String::from_utf8_lossy(&answer.stdout);
        let entries = log.split('\n').filter_map(|entry| entry.split_once(' '));
        Ok(entries.map(|(sha, subject)| Commit::new(CommitId::from_git(sha), subject)).collect())
    }
}

/// Writes a range as git reads it from its standard input: there may be more refs than an argument list holds.
fn range(tips: &[&CommitId], others: &[&CommitId]) -> Vec<u8> {
    let mut lines: Vec<String> = others.iter().map(|id| format!("^{id}\n")).collect();
    lines.sort_unstable();
    lines.dedup();
    lines.extend(tips.iter().map(|id| format!("{id}\n")));
    lines.concat().into_bytes()
}
