//! Saves what a dead run left and nobody else holds: processes are ended, and work that is in no branch gets one.
//!
//! The files of a worktree become a commit without touching it: in an index of our own, by plumbing that runs no hook
//! and no filter, under a name that is only ever created. The worktree stays as it is. The same work gives the same
//! commit, so it does no harm to recover twice, or twice at once.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use super::ground::{Ground, PATIENCE, is_half_made};
use super::reader::History;
use super::remains::{InUse, tip_without_branch, user_of};
use super::report::{Rescued, RescuedWork};
use crate::error::{Error, ErrorKind, Result};
use crate::git::{Git, Worktree, path_from};
use crate::id::{BranchName, CommitId, RunId};
use crate::process::{Leftovers, are_own};

/// What the names of rescue branches begin with.
pub(super) const BRANCHES: &str = "sandcastle-rescue/";
/// How many different states of one run can be saved.
const MOST: usize = 50;

/// What was saved, and what was not.
#[derive(Debug, Default)]
pub(super) struct Saved {
    pub(super) ended: usize,
    pub(super) rescued: Vec<Rescued>,
    pub(super) left_in_place: Vec<String>,
}

/// Ends the processes of a dead run. `alive` are the processes of runs that go on.
pub(super) async fn end_processes(history: &History, alive: &[(u32, RunId)], saved: &mut Saved) {
    let marks: Vec<_> = history.marks.iter().cloned().collect();
    if are_own(&marks) {
        let why = "its processes: this command was itself started by that run";
        saved.left_in_place.push(why.to_owned());
        return;
    }
    let mut left = Leftovers::of(marks);
    let processes = left.list();
    if let Some((pid, run)) = alive.iter().find(|(pid, _)| processes.iter().any(|left| left.pid == *pid)) {
        let why = format!("its processes: one of them, {pid}, drives the run {run}, which goes on");
        saved.left_in_place.push(why);
        return;
    }
    if !processes.is_empty() {
        saved.ended = left.end().await;
    }
}

/// Makes branches of what no branch holds.
pub(super) async fn save(
    history: &History,
    ground: &Ground,
    in_use: &InUse,
    saved: &mut Saved,
) -> Result<()> {
    for noted in &history.worktrees {
        let Some(listed) = ground.find(&noted.path) else { continue };
        if let Some(run) = user_of(&listed.path, in_use) {
            let path = listed.path.display();
            saved.left_in_place.push(format!("the worktree `{path}`: the run {run} goes on in it"));
            continue;
        }
        save_worktree(history, ground, listed, saved).await?;
    }
    if let Some(tip) = tip_without_branch(history, ground).await? {
        name(&history.id, ground, tip, RescuedWork::Commits, saved).await?;
    }
    Ok(())
}

async fn save_worktree(
    history: &History,
    ground: &Ground,
    listed: &Worktree,
    saved: &mut Saved,
) -> Result<()> {
    let path = listed.path.display();
    if is_half_made(listed) {
        // Nobody has worked in it; what is missing in it was never there.
        saved.left_in_place.push(format!("the worktree `{path}`: its making was not finished"));
        return Ok(());
    }
    match snapshot(history, ground, listed, saved).await {
        Ok(Some(commit)) => name(&history.id, ground, commit, RescuedWork::Uncommitted, saved).await?,
        Ok(None) => {}
        Err(error) => saved.left_in_place.push(format!("the files of the worktree `{path}`: {error}")),
    }
    match ground.contents(listed).await {
        Some(look) => {
            let others = look.others.iter().map(|why| format!("in the worktree `{path}`: {why}"));
            saved.left_in_place.extend(others);
        }
        None => saved.left_in_place.push(format!("the worktree `{path}`: the repository has no state of it")),
    }
    let Some(head) = &listed.head else { return Ok(()) };
    let Some(head) = ground.commit(head).await? else { return Ok(()) };
    if ground.holder(&head, None).await?.is_none() {
        name(&history.id, ground, head, RescuedWork::Commits, saved).await?;
    }
    Ok(())
}

/// Gives a commit a name that no other has.
async fn name(
    run: &RunId,
    ground: &Ground,
    commit: CommitId,
    what: RescuedWork,
    saved: &mut Saved,
) -> Result<()> {
    for number in 1..=MOST {
        let branch = match number {
            1 => format!("{BRANCHES}{run}"),
            number => format!("{BRANCHES}{run}-{number}"),
        };
        if ground.make_branch(&BranchName::from_git(branch.as_str()), &commit).await? {
            saved.rescued.push(Rescued { branch, commit: commit.to_string(), what });
            return Ok(());
        }
    }
    Err(Error::new(
        ErrorKind::Git,
        format!("name the commit {commit}: there are {MOST} rescue branches already"),
    ))
}

/// Makes a commit of the files of a worktree that are in none; `None` if there are no such files.
async fn snapshot(
    history: &History,
    ground: &Ground,
    listed: &Worktree,
    saved: &mut Saved,
) -> Result<Option<CommitId>> {
    let (Some(inside), Some(head)) = (ground.inside(listed), &listed.head) else { return Ok(None) };
    let folder = tempfile::tempdir()
        .map_err(|error| Error::new(ErrorKind::Io, "make a temporary folder").with_source(error))?;
    let index = folder.path().join("index");
    let git = inside.git().clone().timeout(PATIENCE).env("GIT_INDEX_FILE", &index);
    let git = signed(git, &history.head.started_at);
    take_index(&git, inside.git_dir(), &index).await?;
    let committed = tree_of(&git, head).await?;
    // What was staged may be another state than that of the files. In the middle of a merge there is none.
    let staged = git.ask(["write-tree"]).await?.line().map(str::to_owned);
    add_files(&git, listed, saved).await?;
    let files = git.does("write the tree", ["write-tree"]).await?;
    let files = files.line().unwrap_or_default().to_owned();
    let staged = staged.filter(|staged| *staged != committed && *staged != files);
    if files == committed && staged.is_none() {
        return Ok(None);
    }
    let mut parents = vec![head.to_string()];
    if let Some(staged) = staged {
        parents.push(commit(&git, &staged, &parents, &format!("staged by the run {}", history.id)).await?);
    }
    let message = format!("uncommitted work of the run {}", history.id);
    Ok(Some(CommitId::from_git(commit(&git, &files, &parents, &message).await?)))
}

/// Copies the index, so that only files are read which changed since it was written.
async fn take_index(git: &Git, state: &Path, index: &Path) -> Result<()> {
    let own = state.join("index");
    if fs::symlink_metadata(&own).is_ok_and(|metadata| metadata.is_file()) && fs::copy(&own, index).is_ok() {
        return Ok(());
    }
    git.does("read the tree", ["read-tree", "HEAD"]).await.map(drop)
}

/// Brings changed, removed and new files into the index. Folders are repositories of their own.
async fn add_files(git: &Git, listed: &Worktree, saved: &mut Saved) -> Result<()> {
    let args = ["ls-files", "-z", "--modified", "--deleted", "--others", "--exclude-standard"];
    let listing = git.does("list the changed files", args).await?;
    let (mut here, mut gone) = (Vec::new(), Vec::new());
    for path in listing.stdout.split(|byte| *byte == 0).filter(|path| !path.is_empty()) {
        let file = path_from(path);
        if path.ends_with(b"/") {
            saved.left_in_place.push(format!("the repository `{}`", listed.path.join(file).display()));
            continue;
        }
        let paths = if is_here(&listed.path, &file) { &mut here } else { &mut gone };
        paths.extend_from_slice(path);
        paths.push(0);
    }
    // What is gone goes first: a file may stand where a folder was.
    for (how, paths) in [("--force-remove", gone), ("--add", here)] {
        if paths.is_empty() {
            continue;
        }
        let answer = git.feed(["update-index", how, "-z", "--stdin"], paths).await?;
        if !answer.is_success() {
            return Err(answer.refused("read the changed files", &listed.path));
        }
    }
    Ok(())
}

/// Tells whether a path is something that git can keep, and not in a folder that a link leads to. A folder is one if it
/// is a repository of its own.
fn is_here(top: &Path, file: &Path) -> bool {
    let mut folders = file.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
    let file = top.join(file);
    folders.all(|folder| top.join(folder).symlink_metadata().is_ok_and(|metadata| metadata.is_dir()))
        && file.symlink_metadata().is_ok_and(|metadata| {
            metadata.is_file() || metadata.is_symlink() || (metadata.is_dir() && file.join(".git").exists())
        })
}

async fn tree_of(git: &Git, commit: &str) -> Result<String> {
    let tree = git.does("read a commit", ["rev-parse", "--verify", &format!("{commit}^{{tree}}")]).await?;
    Ok(tree.line().unwrap_or_default().to_owned())
}

async fn commit(git: &Git, tree: &str, parents: &[String], message: &str) -> Result<String> {
    let parents = parents.iter().flat_map(|parent| ["-p", parent]);
    let args = ["commit-tree", tree].into_iter().chain(parents).chain(["-m", message]);
    let answer = git.does("make a commit", args).await?;
    Ok(answer.line().unwrap_or_default().to_owned())
}

/// Sets the author and the time, so that the same work always gives the same commit.
fn signed(git: Git, started_at: &str) -> Git {
    let second = started_at.parse::<jiff::Timestamp>().map_or(0, jiff::Timestamp::as_second).max(0);
    let date = format!("@{second} +0000");
    ["AUTHOR", "COMMITTER"].iter().fold(git, |git, role| {
        git.env(format!("GIT_{role}_NAME"), OsStr::new("sandcastle"))
            .env(format!("GIT_{role}_EMAIL"), OsStr::new("sandcastle@localhost"))
            .env(format!("GIT_{role}_DATE"), OsStr::new(&date))
    })
}
