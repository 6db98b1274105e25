//! Locks that end with their holder: one per branch, and short ones around what git cannot do twice at once.
//!
//! A lock is a file that the kernel locks (`flock`) for as long as the process lives, so a crash leaves nothing that has to
//! be cleaned up. What is written into it says who holds it. A file that names a live process counts as held even when the
//! kernel says that it is free, as on file systems without such locks.

use std::collections::HashMap;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use rustix::fs::OFlags;
use tokio::sync::OwnedMutexGuard;
use tokio::time::Instant;

use super::holder::Holder;
use super::names;
use crate::config::{ConfigDir, Kept};
use crate::error::{Error, ErrorKind, Result};
use crate::git::Repository;
use crate::id::BranchName;

/// The most that is read of a lock file.
const MAX_FILE: u64 = 4096;
/// How long the file of a lock may come and go under one attempt.
const ATTEMPTS: u32 = 100;
/// How long a run waits for those who have the lock of a branch for a moment only.
const PATIENCE: Duration = Duration::from_secs(2);
/// What stands in the place of the run while a branch is looked at by `prune`.
const CLEANING: &str = "clean-up";

/// A lock that is held until it is dropped.
#[derive(Debug)]
pub(crate) struct Lock {
    path: PathBuf,
    file: File,
    turn: Option<OwnedMutexGuard<()>>,
}

/// How an attempt to take a lock ended.
#[derive(Debug)]
pub(crate) enum Attempt {
    Taken(Lock),
    /// Somebody alive has it; who, if the file can be read.
    Held(Option<Holder>),
}

impl Lock {
    /// Takes the lock of a branch for a run.
    ///
    /// # Errors
    /// [`ErrorKind::BranchBusy`] when another run that is alive has it.
    pub(crate) async fn of_branch(repository: &Repository, branch: &BranchName, run: &str) -> Result<Self> {
        let path = branch_lock(repository, branch)?;
        let deadline = Instant::now() + PATIENCE;
        loop {
            let holder = match Self::attempt(&path, &Holder::this_process(run, Some(branch)))? {
                Attempt::Taken(lock) => return Ok(lock),
                Attempt::Held(holder) => holder,
            };
            // Whoever is just taking or just looking has not been there for long; everybody else stays.
            let may_go = holder.as_ref().is_none_or(|holder| holder.run == CLEANING);
            if !may_go || Instant::now() >= deadline {
                return Err(busy(branch, holder.as_ref()));
            }
            tokio::time::sleep(Duration::from_millis(fastrand::u64(5..25))).await;
        }
    }

    /// Takes the lock of a branch for a moment of cleaning up.
    pub(crate) fn for_cleaning(repository: &Repository, branch: &BranchName) -> Result<Attempt> {
        let path = branch_lock(repository, branch)?;
        Self::attempt(&path, &Holder::this_process(CLEANING, Some(branch)))
    }

    /// Tries to take the lock that is the file `path`; one that a process left when it died is taken over.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] when the file cannot be made or read.
    pub(crate) fn attempt(path: &Path, holder: &Holder) -> Result<Attempt> {
        let failed = |error| {
            Error::new(ErrorKind::Io, format!("take the lock `{}`", path.display())).with_source(error)
        };
        for _ in 0..ATTEMPTS {
            if let Some(attempt) = attempt_once(path, holder).map_err(failed)? {
                return Ok(attempt);
            }
        }
        Ok(Attempt::Held(None))
    }

    /// Takes a lock that is held for a moment only: `what` says for what.
    ///
    /// Callers within this process take turns in the order in which they came, however long that takes; other processes
    /// are waited for as long as `limit`. A dropped future takes nothing.
    ///
    /// # Errors
    /// [`ErrorKind::StepTimeout`] when another process held it all the time.
    pub(crate) async fn acquire(path: &Path, what: &str, limit: Duration) -> Result<Self> {
        let turn = turn_at(path).lock_owned().await;
        let deadline = Instant::now() + limit;
        loop {
            match Self::attempt(path, &Holder::this_process(what, None))? {
                Attempt::Taken(mut lock) => {
                    lock.turn = Some(turn);
                    return Ok(lock);
                }
                Attempt::Held(holder) if Instant::now() >= deadline => {
                    let holder = holder.map_or_else(String::new, |holder| {
                        format!(
                            ", process {} has had it since {} to {}",
                            holder.process.pid, holder.since, holder.run
                        )
                    });
                    return Err(Error::new(
                        ErrorKind::StepTimeout,
                        format!(
                            "{what}: the lock `{}` was not free within {} s{holder}",
                            path.display(),
                            limit.as_secs_f32()
                        ),
                    ));
                }
                Attempt::Held(_) => tokio::time::sleep(Duration::from_millis(fastrand::u64(5..25))).await,
            }
        }
    }

    /// Takes the lock under which the list of worktrees and the set of branches is changed.
    pub(crate) async fn of_worktree_list(
        repository: &Repository,
        what: &str,
        limit: Duration,
    ) -> Result<Self> {
        let folder = ConfigDir::of(repository).make(Kept::Locks)?;
        Self::acquire(&folder.join("worktrees.lock"), what, limit).await
    }

    /// Takes the lock under which what was left behind is looked after.
    ///
    /// # Errors
    /// As [`Lock::acquire`].
    pub(crate) async fn of_care(config: &ConfigDir, what: &str, limit: Duration) -> Result<Self> {
        let folder = config.make(Kept::Locks)?;
        Self::acquire(&folder.join("care.lock"), what, limit).await
    }

    /// Takes the lock under which commits land.
    pub(super) async fn of_landings(repository: &Repository, what: &str, limit: Duration) -> Result<Self> {
        let folder = ConfigDir::of(repository).make(Kept::Locks)?;
        Self::acquire(&folder.join("landing.lock"), what, limit).await
    }
}

/// Returns the file that is the lock of a branch; no other lock has a name with this end.
fn branch_lock(repository: &Repository, branch: &BranchName) -> Result<PathBuf> {
    let folder = ConfigDir::of(repository).make(Kept::Locks)?;
    Ok(folder.join(format!("{}.branch.lock", names::folder_of(branch))))
}

fn busy(branch: &BranchName, holder: Option<&Holder>) -> Error {
    let who = holder.map_or_else(|| "another run works on it".to_owned(), Holder::says);
    Error::new(ErrorKind::BranchBusy, format!("use the branch `{branch}`: {who}"))
        .with_hint("wait for that run, end it, or name another branch")
}

/// Makes one attempt; `None` when the file went away under it.
fn attempt_once(path: &Path, holder: &Holder) -> io::Result<Option<Attempt>> {
    // An agent on the host may have put a pipe there, or a link to a file of the user.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let mut options = File::options();
    let options = options.read(true).write(true).create(true).truncate(false).custom_flags(flags);
    let mut file = options.open(path)?;
    match file.try_lock() {
        // Without locks in the file system, what is written in the file has to do.
        Ok(()) | Err(TryLockError::Error(_)) => {}
        Err(TryLockError::WouldBlock) => return Ok(Some(Attempt::Held(written(&mut file)))),
    }
    // The last holder may have removed it after it was opened here.
    if !is_at(&file, path) {
        return Ok(None);
    }
    if let Some(other) = written(&mut file).filter(Holder::is_alive) {
        return Ok(Some(Attempt::Held(Some(other))));
    }
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(serde_json::to_string(holder)?.as_bytes())?;
    Ok(Some(Attempt::Taken(Lock { path: path.to_path_buf(), file, turn: None })))
}

fn written(file: &mut File) -> Option<Holder> {
    file.rewind().ok()?;
    let mut text = Vec::new();
    file.take(MAX_FILE).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(open), Ok(named)) => (open.dev(), open.ino()) == (named.dev(), named.ino()),
        _ => false,
    }
}

/// Returns the queue of this process for the lock at `path`.
fn turn_at(path: &Path) -> Arc<tokio::sync::Mutex<()>> {
    static TURNS: Mutex<Option<HashMap<PathBuf, Weak<tokio::sync::Mutex<()>>>>> = Mutex::new(None);
    let mut turns = TURNS.lock().unwrap_or_else(PoisonError::into_inner);
    let turns = turns.get_or_insert_default();
    if let Some(turn) = turns.get(path).and_then(Weak::upgrade) {
        return turn;
    }
    turns.retain(|_, turn| turn.strong_count() > 0);
    let turn = Arc::default();
    turns.insert(path.to_path_buf(), Arc::downgrade(&turn));
    turn
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Only the holder removes the file, and only while it holds it; who has opened it by then sees that it has gone.
        let _ = self.file.set_len(0);
        if is_at(&self.file, &self.path) {
            let _ = fs::remove_file(&self.path);
        }
        // Closing is not enough: a program that is just being started may have a copy of the descriptor.
        let _ = self.file.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::ProcessIdentity;

    fn taken(path: &Path, run: &str) -> Option<Lock> {
        match Lock::attempt(path, &Holder::this_process(run, Some("b"))).unwrap() {
            Attempt::Taken(lock) => Some(lock),
            Attempt::Held(_) => None,
        }
    }

    #[test]
    fn w_27_a_live_owner_keeps_the_lock_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("b.lock");
        let first = taken(&path, "first").unwrap();
        let Attempt::Held(Some(holder)) = Lock::attempt(&path, &Holder::this_process("x", None)).unwrap()
        else {
            panic!("it was given away")
        };
        assert_eq!((holder.run.as_str(), holder.process.pid), ("first", std::process::id()));
        drop(first);
        assert!(!path.exists());
        assert!(taken(&path, "second").is_some());
    }

    #[test]
    fn case_178_a_lock_of_a_dead_or_reused_process_is_taken_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("b.lock");
        let this = Holder::this_process("gone", Some("b"));
        let with = |process| Holder { process, ..this.clone() };
        let dead = with(ProcessIdentity { pid: i32::MAX as u32, ..this.process.clone() });
        let reused = with(ProcessIdentity { start: Some(1), ..this.process.clone() });
        for stale in [dead, reused] {
            fs::write(&path, serde_json::to_vec(&stale).unwrap()).unwrap();
            assert!(taken(&path, "new").is_some(), "{stale:?}");
        }
        fs::write(&path, serde_json::to_vec(&this).unwrap()).unwrap();
        assert!(taken(&path, "new").is_none(), "a live process that the kernel holds no lock for");
        for rubbish in [&b"{"[..], b"", &[0xff; 10_000], b"{\"pid\":-1}", b"[[[["] {
            fs::write(&path, rubbish).unwrap();
            assert!(taken(&path, "new").is_some());
        }
    }

    #[test]
    fn a_link_or_a_pipe_in_the_place_of_a_lock_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let precious = folder.path().join("precious");
        fs::write(&precious, "precious").unwrap();
        let link = folder.path().join("link.lock");
        std::os::unix::fs::symlink(&precious, &link).unwrap();
        let holder = Holder::this_process("r", None);
        assert_eq!(Lock::attempt(&link, &holder).unwrap_err().kind(), ErrorKind::Io);
        assert_eq!(fs::read_to_string(&precious).unwrap(), "precious");
        let pipe = folder.path().join("pipe.lock");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
        assert_eq!(Lock::attempt(&pipe, &holder).unwrap_err().kind(), ErrorKind::Io);
    }

    #[test]
    fn a_lock_never_has_two_owners() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("b.lock");
        let owners = std::sync::atomic::AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..300 {
                        if let Some(lock) = taken(&path, "r") {
                            assert_eq!(owners.fetch_add(1, std::sync::atomic::Ordering::SeqCst), 0);
                            owners.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                            drop(lock);
                        }
                    }
                });
            }
        });
    }

    #[tokio::test]
    async fn a_short_lock_is_waited_for_and_not_for_ever() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.lock");
        let held = taken(&path, "landing").unwrap();
        let error = Lock::acquire(&path, "land", Duration::from_millis(30)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::StepTimeout);
        assert!(error.to_string().contains("landing"), "{error}");
        drop(held);
        let mut set = tokio::task::JoinSet::new();
        for _ in 0..50 {
            let path = path.clone();
            set.spawn(async move { Lock::acquire(&path, "land", Duration::from_secs(5)).await.map(drop) });
        }
        while let Some(done) = set.join_next().await {
            done.unwrap().unwrap();
        }
    }
}
