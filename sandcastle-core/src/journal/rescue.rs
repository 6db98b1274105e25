//! Saves what a dead run left and nobody else holds: processes are ended, and work that is in no branch gets one.
//!
//! The files of a worktree become a commit without touching it: in an index of our own, by plumbing that runs no hook
//! and no filter, under a name that is only ever created. The worktree stays as it is. The same work gives the same
//! commit, so it does no harm to recover twice, or twice at once.

use std::ffi::OsStr;

use super::ground::{Ground, PATIENCE, is_half_made};
use super::reader::History;
use super::remains::{InUse, tip_without_branch, user_of};
use super::report::{Rescued, RescuedWork};
use crate::error::{Error, ErrorKind, Result};
use crate::git::{Git, Worktree};
use crate::id::{BranchName, CommitId, RunId};
use crate::process::{Leftovers, are_own};

/// What the names of rescue branches begin with.
pub(crate) const BRANCHES: &str = "sandcastle-rescue/";
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
    let snapshot = inside.snapshot(PATIENCE).await?;
    let others = snapshot.repositories.iter().map(|path| format!("the repository `{}`", path.display()));
    saved.left_in_place.extend(others);
    let (committed, files) = (&snapshot.committed, &snapshot.files);
    // What was staged may be another state than that of the files.
    let staged = snapshot.staged.filter(|staged| staged != committed && staged != files);
    if files == committed && staged.is_none() {
        return Ok(None);
    }
    let git = signed(inside.git().clone().timeout(PATIENCE), &history.head.started_at);
    let mut parents = vec![head.to_string()];
    if let Some(staged) = staged {
        parents.push(commit(&git, &staged, &parents, &format!("staged by the run {}", history.id)).await?);
    }
    let message = format!("uncommitted work of the run {}", history.id);
    Ok(Some(CommitId::from_git(commit(&git, files, &parents, &message).await?)))
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
