//! Git folders of sandboxes whose owner was killed: what was committed inside is brought back before anything is judged.
//!
//! A folder `.sandcastle/sandboxes/<name>` stands in for the repository's own git folder in a sandbox. While its owner lives
//! it is the owner's affair. Bringing back moves no branch but the one that the sandbox was made for, and removes nothing
//! that it has not brought.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use super::runs::Removal;
use crate::config::{ConfigDir, Kept};
use crate::git::{Inhabitant, Left, Repository, StandIn};
use crate::id::RunId;
use crate::process::ProcessIdentity;
use crate::sandbox;

/// What became of one folder.
#[derive(Debug)]
pub(super) enum Brought {
    /// Everything in it is in the repository, and it is gone; with what is to be told.
    Home(String, Vec<String>),
    /// It stays; why.
    Kept(String, String),
}

/// Brings back what is in the folders of owners that are gone: those of one run, or all.
///
/// With [`Removal::DryRun`] nothing is done, and what would be tried is taken to succeed.
pub(super) async fn bring_back(
    config: &ConfigDir,
    repository: &Repository,
    only: Option<&RunId>,
    removal: Removal,
) -> Vec<Brought> {
    let mut all = Vec::new();
    let place = config.place_of(Kept::Sandboxes);
    let Ok(entries) = fs::read_dir(&place) else { return all };
    if place.is_symlink() {
        return all;
    }
    for entry in entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
        let path = entry.path();
        if removal != Removal::DryRun && is_unborn(&path) {
            let _ = fs::remove_dir_all(&path);
            continue;
        }
        let what = format!("the git folder `{}` of a sandbox", path.display());
        let (stand_in, run) = match StandIn::left_in(&path, repository).await {
            Ok(Some(Left::Abandoned(stand_in, run))) => (stand_in, run),
            Ok(Some(Left::InUse) | None) => continue,
            Err(error) => {
                all.push(Brought::Kept(what, error.to_string()));
                continue;
            }
        };
        if only.is_some_and(|only| run.as_deref() != Some(only.as_str())) {
            continue;
        }
        if removal == Removal::DryRun {
            all.push(Brought::Home(what, Vec::new()));
            continue;
        }
        if let Err(why) = end_inhabitant(&stand_in).await {
            all.push(Brought::Kept(what, why));
            continue;
        }
        let brought = stand_in.bring_back().await;
        all.push(match brought.and_then(|notes| stand_in.remove().map(|()| notes)) {
            Ok(notes) => Brought::Home(what, notes),
            Err(error) => Brought::Kept(what, error.to_string()),
        });
    }
    all
}

/// Ends the sandbox that still has the folder: whoever is inside goes on committing.
async fn end_inhabitant(stand_in: &StandIn) -> Result<(), String> {
    let Some(Inhabitant { provider, id }) = stand_in.inhabitant() else { return Ok(()) };
    match sandbox::left(provider, id).await {
        None | Some(Ok(sandbox::Left::Gone)) => Ok(()),
        Some(Ok(sandbox::Left::Orphan)) => {
            sandbox::remove_left(provider, id).await.map_err(|error| error.to_string())
        }
        Some(Ok(sandbox::Left::Kept(why))) => {
            Err(format!("the sandbox {id} of {provider} has it, and {why}"))
        }
        Some(Err(error)) => Err(format!("it was not possible to {error}")),
    }
}

/// Tells whether a folder was never finished, so that no sandbox ever had it: its maker, after whom it is named, was killed
/// before it was noted what is in it.
fn is_unborn(folder: &Path) -> bool {
    let maker = folder.file_name().and_then(|name| name.to_str()?.split_once('-')?.0.parse().ok());
    let Some(pid) = maker else { return false };
    let maker = ProcessIdentity { pid, start: None, boot: None };
    let names: Vec<_> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name()).collect();
    let is_begun = |name: &OsString| {
        let half_written =
            name.to_str().is_some_and(|name| name.starts_with("known.") && name != "known.json");
        name == "git" || name == "alternates" || half_written
    };
    names.iter().all(is_begun) && !maker.is_alive()
}
