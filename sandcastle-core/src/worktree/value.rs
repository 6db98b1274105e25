//! Whether a worktree holds anything that would be lost with it.
//!
//! Of value is what is in no commit of a branch: changes, staged or not, untracked files, an operation that was not ended, a
//! `HEAD` that is on no branch, and the same in submodules. Files that git ignores, such as the output of a build, are not. A
//! question that git does not answer makes the answer unknown, and unknown is never clean.

use std::path::Path;

use super::submodules;
use crate::error::Result;
use crate::git::{Change, Hidden, Repository, Status};
use crate::id::{BranchName, CommitId};

/// How many changed files a reason names.
const NAMED: usize = 3;

/// Says what a worktree holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// Nothing that is not on its branch.
    Clean,
    /// Nothing but a `HEAD` that is not on the branch.
    Detached(String),
    /// Something; what.
    Dirty(String),
    /// It cannot be told; why.
    Unknown(String),
}

impl Value {
    /// Says why a worktree is kept; `None` if nothing is lost with it.
    pub(crate) fn reason(self) -> Option<String> {
        match self {
            Self::Clean => None,
            Self::Dirty(what) | Self::Detached(what) => Some(what),
            Self::Unknown(why) => Some(format!("what is in it cannot be told: {why}")),
        }
    }
}

/// What a worktree held when somebody looked.
#[derive(Clone, Debug)]
pub(crate) struct Look {
    pub(crate) value: Value,
    /// The files that differ; `None` if that cannot be told.
    pub(crate) changes: Option<Vec<Change>>,
    /// What else there is.
    pub(crate) others: Vec<String>,
    /// The commit that was checked out.
    pub(crate) commit: Option<CommitId>,
}

/// Looks at the worktree that `repository` is aimed at and that belongs to `branch`.
pub(crate) async fn value_of(repository: &Repository, branch: &BranchName) -> Value {
    look_into(repository, branch).await.value
}

/// As [`value_of`], with what was seen.
pub(crate) async fn look_into(repository: &Repository, branch: &BranchName) -> Look {
    let mut look = Look { value: Value::Clean, changes: None, others: Vec::new(), commit: None };
    if let Err(error) = look.judge(repository, branch).await {
        look.note(Value::Unknown(match std::error::Error::source(&error) {
            Some(cause) => format!("{error}: {cause}"),
            None => error.to_string(),
        }));
    }
    look
}

impl Look {
    async fn judge(&mut self, repository: &Repository, branch: &BranchName) -> Result<()> {
        let top = repository.top()?;
        if !top.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
            self.note(Value::Unknown(format!("`{}` is no folder any more", top.display())));
            return Ok(());
        }
        if let Some(operation) = repository.operation() {
            self.note(Value::Dirty(format!("a {} was begun in it and not ended", operation.name())));
        }
        let (status, hidden) = tokio::join!(repository.status(), repository.hidden());
        let Status { head, changes } = status?;
        self.commit = head.commit;
        self.change(changes);
        let Hidden { repositories, files } = hidden?;
        if !files.is_empty() {
            let files: Vec<String> = files.iter().map(|path| path.display().to_string()).collect();
            self.note(Value::Unknown(named("git was told not to look at some files", &files)));
        }
        for (path, commit) in &repositories {
            self.note(submodules::value_of(repository, path, commit).await?);
        }
        if head.branch != *branch {
            let what = if head.branch == "HEAD" { "no branch" } else { head.branch.as_str() };
            self.note(Value::Detached(format!("`{what}` is checked out in it and not `{branch}`")));
        }
        Ok(())
    }

    fn change(&mut self, changes: Vec<Change>) {
        if !changes.is_empty() && self.value == Value::Clean {
            let shown: Vec<String> = changes.iter().map(Change::to_string).collect();
            self.value = Value::Dirty(named("uncommitted changes", &shown));
        }
        self.changes = Some(changes);
    }

    /// Notes something; the first of all counts.
    fn note(&mut self, value: Value) {
        self.others.extend(value.clone().reason());
        if self.value == Value::Clean {
            self.value = value;
        }
    }
}

fn named(what: &str, entries: &[String]) -> String {
    let shown: Vec<String> = entries
        .iter()
        .take(NAMED)
        .map(|entry| format!("`{:.100}`", entry.trim().escape_debug().to_string()))
        .collect();
    let more = match entries.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{what}: {}{more}", shown.join(", "))
}

/// Tells whether there is anything at a path below the worktree.
pub(super) fn is_filled(path: &Path) -> bool {
    match path.symlink_metadata() {
        Ok(meta) if meta.is_dir() => {
            std::fs::read_dir(path).map_or(true, |mut entries| entries.next().is_some())
        }
        Ok(_) => true,
        Err(_) => false,
    }
}
