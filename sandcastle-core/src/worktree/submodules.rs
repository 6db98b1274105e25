//! Submodules of a worktree: populated where that runs nothing and needs no network, and looked into before it goes.
//!
//! A submodule that is in `.git/modules` already is copied from there; any other, and one within another, stays empty and
//! is named in a note. A submodule whose configuration has something in it that git might run is not looked into: what it
//! holds is unknown.

use std::path::Path;
use std::time::Duration;

use super::value::{Value, is_filled};
use crate::error::Result;
use crate::git::Repository;

/// Populates the submodules of a new worktree and says which stay empty.
pub(super) async fn populate(repository: &Repository, limit: Duration) -> Result<Vec<String>> {
    // Without this file git itself knows of none.
    if repository.top()?.join(".gitmodules").symlink_metadata().is_err() {
        return Ok(Vec::new());
    }
    let modules = repository.hidden().await?.repositories;
    if modules.is_empty() {
        return Ok(Vec::new());
    }
    let names = repository.submodule_names().await?;
    let top = repository.top()?;
    let mut notes = Vec::new();
    for (path, commit) in &modules {
        let note = |why: &str| format!("the submodule `{}` stays empty: {why}", path.display());
        let Some(name) = names.get(path) else {
            notes.push(note("`.gitmodules` does not name it, or names it in a way that cannot be used"));
            continue;
        };
        // A symlink on the way would lead the copy out of the worktree.
        let is_own_folder = top.join(path).canonicalize().is_ok_and(|real| real == top.join(path));
        if !is_own_folder || is_filled(&top.join(path)) {
            notes.push(note("there is something else in its place"));
        } else if let Err(error) = repository.populate_submodule(path, name, commit, limit).await {
            notes.push(note(&format!("failed to {error}; `git submodule update --init` fetches it")));
        }
    }
    Ok(notes)
}

/// Says what the submodule at `path`, for which `commit` is recorded, holds.
pub(super) async fn value_of(repository: &Repository, path: &Path, commit: &str) -> Result<Value> {
    let top = repository.top()?.join(path);
    let shown = path.display();
    if !is_filled(&top) {
        return Ok(Value::Clean);
    }
    let names = repository.submodule_names().await?;
    let name = names.get(path).filter(|name| repository.module_dir(name).join("HEAD").is_file());
    let Some(name) = name.filter(|_| top.join(".git").is_file()) else {
        return Ok(Value::Dirty(format!("`{shown}` is a repository of its own")));
    };
    if !repository.is_module_harmless(name).await? {
        return Ok(Value::Unknown(format!("the configuration of the submodule `{shown}` was changed")));
    }
    let module = Repository::apart(&top, &repository.module_dir(name));
    let hidden = module.hidden().await?;
    let has_changes = module.operation().is_some() || !module.status().await?.changes.is_empty();
    let has_more = hidden.repositories.iter().any(|(path, _)| is_filled(&top.join(path)));
    // A commit that is recorded and was made here is in this copy alone, and would go with it.
    let known = repository.shares_commit(name, commit).await?.then_some(commit);
    if has_changes || has_more || !hidden.files.is_empty() || module.has_commits_beside(known).await? {
        return Ok(Value::Dirty(format!("the submodule `{shown}` holds changes or commits of its own")));
    }
    Ok(Value::Clean)
}
