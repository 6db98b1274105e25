//! Files that git does not carry, such as `node_modules` or `.env`, copied from one work tree into another.
//!
//! Here the paths are checked, the copying is kept within its limit, and it is told what git will make of the copies;
//! `tree` does the copying, on a thread that does not outlive the future. No other step of a run is known here.
//!
//! Copies that git does not ignore make a worktree count as changed. They are told and not hidden: the list of excluded
//! files is shared by all worktrees of a repository, the user's own included.

#[cfg(test)]
mod tests;
mod tree;

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use self::tree::copy_tree;
use crate::error::{Error, ErrorKind, Result};
use crate::git::Git;

/// How long the end of the thread is waited for, which looks whether it is to stop at every mebibyte.
const STOPPING: Duration = Duration::from_secs(2);
/// How many paths are listed in a sentence.
const LISTED: usize = 5;

/// Checks that paths can be copied, without looking at any file.
///
/// # Errors
/// [`ErrorKind::InvalidOptions`] for a path that is absolute, leads upwards, names nothing, or is in `.git`.
pub(crate) fn check_paths(paths: &[PathBuf]) -> Result<()> {
    paths.iter().try_for_each(|path| relative(path).map(drop))
}

/// Copies files, folders and symbolic links from one work tree to the same places in another, and says for the log what
/// is worth knowing.
///
/// Folders are merged into those that are there, so that a second time changes nothing; what else is in the way of a
/// file is replaced. Modes and the times of files are kept, a symbolic link stays one, and what is neither is left out.
/// File systems that can share the content of two files do.
///
/// # Errors
/// [`ErrorKind::InvalidOptions`] as [`check_paths`]; [`ErrorKind::Copy`] when there is no such file, a path leads out of
/// a root through a symbolic link, or a file cannot be read or written; [`ErrorKind::StepTimeout`] when it all takes
/// longer than `limit`.
///
/// # Cancel safety
/// Dropping the future stops the copying; what was copied by then stays.
pub(crate) async fn copy_into(
    from_root: &Path,
    to_root: &Path,
    paths: &[PathBuf],
    limit: Duration,
) -> Result<Vec<String>> {
    let paths: Vec<PathBuf> = paths.iter().map(|path| relative(path)).collect::<Result<_>>()?;
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    let mut worker = Worker::start(from_root, to_root, &paths)?;
    let copied = tokio::time::timeout(limit, &mut worker.copied).await;
    drop(worker);
    let mut notes = match copied {
        Ok(Ok(result)) => result?,
        Ok(Err(_)) => return Err(Error::new(ErrorKind::Copy, "go on copying into the worktree")),
        Err(_) => {
            let listed = listed(&paths);
            return Err(Error::new(
                ErrorKind::StepTimeout,
                format!("copy {listed} into the worktree within {limit:?}"),
            )
            .with_hint("raise `copy_to_worktree` in the timeouts of the run, or copy less"));
        }
    };
    notes.extend(what_git_sees(to_root, &paths).await);
    Ok(notes)
}

/// A thread that copies. Dropping it makes it stop, and waits until it has.
struct Worker {
    stop: Arc<AtomicBool>,
    copied: oneshot::Receiver<Result<Vec<String>>>,
    thread: JoinHandle<()>,
}

impl Worker {
    fn start(from: &Path, to: &Path, paths: &[PathBuf]) -> Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let (sender, copied) = oneshot::channel();
        let (from, to, paths, told) =
            (from.to_path_buf(), to.to_path_buf(), paths.to_vec(), Arc::clone(&stop));
        let copy = move || {
            // Nobody waits any more when the future was dropped.
            let _ = sender.send(copy_tree(&from, &to, &paths, &told));
        };
        let thread =
            std::thread::Builder::new().name("sandcastle-copy".to_owned()).spawn(copy).map_err(|error| {
                Error::new(ErrorKind::Copy, "start copying into the worktree").with_source(error)
            })?;
        Ok(Self { stop, copied, thread })
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let begun = Instant::now();
        while !self.thread.is_finished() && begun.elapsed() < STOPPING {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Takes a path apart and puts it together again, if it names something below a root.
fn relative(path: &Path) -> Result<PathBuf> {
    let refused = |why: &str| {
        let shown = shown(path);
        Error::new(ErrorKind::InvalidOptions, format!("copy {shown} into the worktree: {why}"))
            .with_hint("name files and folders relative to the root of the work tree")
    };
    let mut relative = PathBuf::new();
    for component in path.components() {
        match component {
            Component::Normal(name) if name.as_encoded_bytes().contains(&0) => {
                return Err(refused("it has a NUL character"));
            }
            Component::Normal(name) => relative.push(name),
            Component::CurDir => {}
            Component::ParentDir => return Err(refused("it leads upwards")),
            Component::RootDir | Component::Prefix(_) => return Err(refused("it is absolute")),
        }
    }
    match relative.iter().next() {
        None => Err(refused("it names nothing in the work tree")),
        Some(first) if first.eq_ignore_ascii_case(".git") => Err(refused("it belongs to git")),
        Some(_) => Ok(relative),
    }
}

/// Says which of the copies git does not ignore; nothing where git cannot tell.
async fn what_git_sees(root: &Path, paths: &[PathBuf]) -> Vec<String> {
    let options = [
        "--literal-pathspecs",
        "ls-files",
        "-z",
        "-t",
        "--cached",
        "--others",
        "--exclude-standard",
        "--directory",
        "--no-empty-directory",
        "--",
    ];
    let args = options.iter().map(Path::new).chain(paths.iter().map(PathBuf::as_path));
    let Ok(answer) = Git::at(root).ask(args).await else { return Vec::new() };
    if !answer.is_success() {
        return Vec::new();
    }
    let (mut unknown, mut tracked) = (Vec::new(), Vec::new());
    for entry in answer.stdout.split(|byte| *byte == 0) {
        match entry {
            [b'?', b' ', path @ ..] => unknown.push(crate::git::path_from(path)),
            [_, b' ', path @ ..] => tracked.push(crate::git::path_from(path)),
            _ => {}
        }
    }
    let mut notes = Vec::new();
    if !unknown.is_empty() {
        let listed = listed(&unknown);
        notes.push(format!("git does not ignore the copies {listed}: the worktree counts as changed"));
    }
    if !tracked.is_empty() {
        let listed = listed(&tracked);
        notes.push(format!("git tracks the copies {listed}: if they differ, the worktree counts as changed"));
    }
    notes
}

/// Lists paths in a sentence, the first few of them.
fn listed(paths: &[PathBuf]) -> String {
    let mut listed: Vec<String> = paths.iter().take(LISTED).map(|path| shown(path)).collect();
    if paths.len() > LISTED {
        listed.push(format!("and {} more", paths.len() - LISTED));
    }
    listed.join(", ")
}

/// Shows a path, whose name may be hostile, in one line.
fn shown(path: &Path) -> String {
    format!("`{:.200}`", path.to_string_lossy().escape_debug().to_string())
}
