//! Where the target is checked out, and how branch and checkout are moved together.
//!
//! A work tree is used only if it and its folder in the repository name each other: an agent can write the one, and would
//! choose with it where the host writes files.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::Landing;
use super::refusal::Refusal;
use crate::error::{Error, ErrorKind, Result};
use crate::git::{Answer, Git, Repository, path_from, read_bounded};
use crate::id::CommitId;
use crate::worktree::lag::Lag;
use crate::worktree::lock::Lock;

/// How long moving a checkout may take once it has begun; stopping it half-way is worse than waiting.
const MOVE_LIMIT: Duration = Duration::from_secs(600);
/// How long a file that names a folder or a branch may be.
const MAX_NAME: u64 = 64 * 1024;

/// Files in the folder of a work tree, and what is unfinished when they are there.
const UNFINISHED: &[(&str, &str)] = &[
    ("MERGE_HEAD", "a merge"),
    ("CHERRY_PICK_HEAD", "a cherry-pick"),
    ("REVERT_HEAD", "a revert"),
    ("rebase-merge", "a rebase"),
    ("rebase-apply", "a rebase or `git am`"),
    ("sequencer", "a sequence of cherry-picks or reverts"),
    ("BISECT_LOG", "a bisection"),
];
/// Files there that name branches which an unfinished operation will move itself.
const CLAIMS: &[(&str, &str)] = &[
    ("rebase-merge/head-name", "a rebase of it"),
    ("rebase-merge/update-refs", "a rebase that moves it"),
    ("rebase-apply/head-name", "a rebase of it"),
    ("BISECT_START", "a bisection that began on it"),
];

/// Where the target is checked out.
#[derive(Debug)]
pub(super) enum Checkout {
    Nowhere,
    In(Box<Repository>),
}

/// How an attempt to move ended, if nothing was wrong.
#[derive(Debug)]
pub(super) enum Moved {
    Done,
    /// Somebody else moved the branch or switched to another meanwhile.
    Overtaken,
    /// Another git is at work; what it holds, in git's words.
    Held(String),
}

/// A work tree as git lists it.
#[derive(Debug)]
struct Listed {
    rank: Rank,
    top: PathBuf,
    branch: Vec<u8>,
}

/// Whether a work tree is the repository's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rank {
    Main,
    Linked,
}

impl Checkout {
    /// Finds the work tree, and refuses what would be in the way there.
    pub(super) async fn find(landing: &Landing<'_>, old: &CommitId, new: &CommitId) -> Result<Self> {
        let repository = landing.repository;
        let listed = list(repository).await?;
        let name = format!("refs/heads/{}", landing.target);
        for folder in state_folders(repository) {
            if let Some(operation) = claim(&folder, landing.target, &name) {
                let tree = tree_of(repository, &folder);
                return Err(Refusal::Unfinished { tree: &tree, operation }.into_error(landing));
            }
        }
        let mut trees = listed.into_iter().filter(|tree| tree.branch == name.as_bytes());
        let Some(tree) = trees.next() else { return Ok(Self::Nowhere) };
        let others: Vec<PathBuf> = trees.map(|tree| tree.top).collect();
        if !others.is_empty() {
            let all = std::iter::once(tree.top).chain(others).collect();
            return Err(Refusal::ManyCheckouts(all).into_error(landing));
        }
        let Some(aimed) = aim(repository, &tree).await else {
            return Err(Refusal::BrokenCheckout(&tree.top).into_error(landing));
        };
        if let Some(lag) = Lag::of(&aimed, landing.target).await? {
            return Err(Refusal::Lagging(&lag).into_error(landing));
        }
        check(landing, &aimed, old, new).await?;
        Ok(Self::In(Box::new(aimed)))
    }

    /// Moves the target from `old` to `new`, and its checkout with it.
    pub(super) async fn advance(
        &self,
        landing: &Landing<'_>,
        old: &CommitId,
        new: &CommitId,
        lock: &Arc<Lock>,
    ) -> Result<Moved> {
        let answer = match self {
            Self::Nowhere => {
                let (name, message) =
                    (format!("refs/heads/{}", landing.target), format!("merge {}", landing.source));
                landing
                    .repository
                    .git()
                    .to_its_end()
                    .ask(["update-ref", "-m", &message, &name, new, old])
                    .await?
            }
            Self::In(aimed) => {
                fast_forward(aimed.git().clone(), landing.source, new, Arc::clone(lock)).await?
            }
        };
        let tip = landing.repository.tip(landing.target).await?;
        if tip.as_ref() == Some(new) {
            return Ok(Moved::Done);
        }
        if answer.is_success() || tip.as_ref() != Some(old) {
            return Ok(Moved::Overtaken);
        }
        if let Some(lock) = held(&answer) {
            return Ok(Moved::Held(lock));
        }
        match self {
            Self::In(aimed) => Err(in_the_way(landing, aimed, &answer).await?),
            Self::Nowhere => Err(not_moved(landing, &answer)),
        }
    }
}

/// Has git move the checkout of a branch and the branch. Goes on to its end when the future is dropped, and the lock with
/// it: stopped half-way, git would leave a work tree that is neither the one nor the other.
async fn fast_forward(git: Git, source: &str, new: &CommitId, lock: Arc<Lock>) -> Result<Answer> {
    let git = git.timeout(MOVE_LIMIT).env("GIT_REFLOG_ACTION", format!("merge {source}"));
    let args = [
        "merge",
        "--quiet",
        "--ff-only",
        "--no-squash",
        "--no-stat",
        "--no-autostash",
        "--no-verify-signatures",
        "--no-overwrite-ignore",
        new,
    ]
    .map(str::to_owned);
    // A blocking task is waited for, even by a runtime that is shut down; it needs a runtime of its own for that.
    let task = tokio::task::spawn_blocking(move || {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(unstarted)?;
        let answer = runtime.block_on(git.ask(args));
        drop(lock);
        answer
    });
    task.await.map_err(|error| unstarted(io::Error::other(error)))?
}

fn unstarted(error: io::Error) -> Error {
    Error::new(ErrorKind::Git, "run `git merge` to its end").with_source(error)
}

/// Says what in a work tree kept git from moving it.
async fn in_the_way(landing: &Landing<'_>, aimed: &Repository, answer: &Answer) -> Result<Error> {
    let tree = aimed.top()?;
    let paths = paths_in_the_way(answer);
    if !paths.is_empty() {
        return Ok(Refusal::Edits { tree, paths }.into_error(landing));
    }
    let unmerged = aimed.git().does("list unresolved conflicts", ["ls-files", "--unmerged", "-z"]).await?;
    let entries = unmerged.stdout.split(|byte| *byte == 0);
    let mut paths: Vec<Vec<u8>> = entries.filter_map(path_of_entry).collect();
    paths.dedup();
    if paths.is_empty() {
        return Ok(not_moved(landing, answer));
    }
    Ok(Refusal::Unmerged { tree, paths }.into_error(landing))
}

fn not_moved(landing: &Landing<'_>, answer: &Answer) -> Error {
    answer.refused(&format!("move `{}`", landing.target), landing.repository.git().cwd())
}

/// Looks for what of the user's would be in the way in a work tree.
async fn check(landing: &Landing<'_>, aimed: &Repository, old: &CommitId, new: &CommitId) -> Result<()> {
    let tree = aimed.top()?;
    if let Some(operation) = unfinished(aimed.git_dir()) {
        return Err(Refusal::Unfinished { tree, operation }.into_error(landing));
    }
    let paths = aimed.filtered_between(old, new).await?;
    if paths.is_empty() { Ok(()) } else { Err(Refusal::Filtered { tree, paths }.into_error(landing)) }
}

/// Reads the path of `mode object stage<tab>path`.
fn path_of_entry(entry: &[u8]) -> Option<Vec<u8>> {
    let tab = entry.iter().position(|byte| *byte == b'\t')?;
    Some(entry[tab + 1..].to_vec())
}

async fn list(repository: &Repository) -> Result<Vec<Listed>> {
    let list = repository.worktree_list().await?;
    let mut listed: Vec<Listed> = Vec::new();
    for field in list.split(|byte| *byte == 0) {
        if let Some(top) = field.strip_prefix(b"worktree ") {
            // Git lists the main one first.
            let rank = if listed.is_empty() { Rank::Main } else { Rank::Linked };
            listed.push(Listed { rank, top: path_from(top), branch: Vec::new() });
        } else if let (Some(branch), Some(last)) = (field.strip_prefix(b"branch "), listed.last_mut()) {
            last.branch = branch.to_vec();
        }
    }
    Ok(listed)
}

/// Aims at a work tree, if it is one of the repository.
async fn aim(repository: &Repository, tree: &Listed) -> Option<Repository> {
    let listed = &tree.top;
    if tree.rank == Rank::Main {
        // Where `core.worktree` says that the files are elsewhere, git lists the folder of the repository all the same. The
        // work tree that was found at the start is known; nothing needs to be asked of it.
        if let Ok(top) = repository.top()
            && repository.git_dir() == repository.common_dir()
        {
            return Some(repository.aimed_at(top, repository.git_dir()));
        }
        let moved = repository.git().ask(["config", "--get", "core.worktree"]).await.ok()?;
        if moved.code != Some(1) {
            return None;
        }
    }
    let named = git_folder_of(listed)?;
    let mut folders = state_folders(repository).into_iter();
    let folder = folders.find(|folder| is_same(folder, &named))?;
    let is_mutual = folder == repository.common_dir() || is_same(&tree_of(repository, &folder), listed);
    is_mutual.then(|| repository.aimed_at(listed, &folder))
}

/// Reads which git folder a work tree names.
fn git_folder_of(top: &Path) -> Option<PathBuf> {
    let dot_git = top.join(".git");
    if dot_git.symlink_metadata().ok()?.is_dir() {
        return Some(dot_git);
    }
    let content = read_name(&dot_git)?;
    let named = content.as_os_str().as_encoded_bytes().strip_prefix(b"gitdir: ")?;
    Some(top.join(path_from(named)))
}

/// Lists the folders in which the state of each work tree is kept, the main one's first.
fn state_folders(repository: &Repository) -> Vec<PathBuf> {
    let common = repository.common_dir();
    let linked = std::fs::read_dir(common.join("worktrees")).into_iter().flatten().flatten();
    std::iter::once(common.to_path_buf()).chain(linked.map(|entry| entry.path())).collect()
}

/// Names the work tree whose state a folder keeps, or the folder if it does not say.
fn tree_of(repository: &Repository, folder: &Path) -> PathBuf {
    if folder == repository.common_dir() {
        return folder.parent().unwrap_or(folder).to_path_buf();
    }
    let dot_git = read_name(&folder.join("gitdir")).map(|named| folder.join(named));
    dot_git.as_deref().and_then(Path::parent).unwrap_or(folder).to_path_buf()
}

fn read_name(file: &Path) -> Option<PathBuf> {
    let content = read_bounded(file, MAX_NAME).ok()??;
    let line = content.strip_suffix(b"\n").unwrap_or(&content);
    (!line.is_empty()).then(|| path_from(line))
}

fn is_same(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

/// Tells which unfinished operation will move the branch when it ends.
fn claim(folder: &Path, branch: &str, name: &str) -> Option<&'static str> {
    let names_it = |file: &str| {
        let content = read_bounded(&folder.join(file), MAX_NAME).ok().flatten().unwrap_or_default();
        content.split(|byte| *byte == b'\n').any(|line| line == branch.as_bytes() || line == name.as_bytes())
    };
    CLAIMS.iter().find(|(file, _)| names_it(file)).map(|(_, operation)| *operation)
}

fn unfinished(folder: &Path) -> Option<&'static str> {
    let found = UNFINISHED.iter().find(|(file, _)| folder.join(file).symlink_metadata().is_ok());
    found.map(|(_, operation)| *operation)
}

/// Reads what git says of a lock that another git holds.
fn held(answer: &Answer) -> Option<String> {
    let is_lock = |line: &&str| line.contains(".lock': File exists") || line.contains("cannot lock ref");
    answer.stderr.lines().find(is_lock).map(str::to_owned)
}

/// Reads the paths that git lists, each behind a tab, when it will not overwrite them.
fn paths_in_the_way(answer: &Answer) -> Vec<Vec<u8>> {
    let lines = answer.stderr.lines().filter_map(|line| line.strip_prefix('\t'));
    lines.map(|path| path.as_bytes().to_vec()).collect()
}
