//! Brings the commits of a run into the branch from which it began.
//!
//! The merge is prepared beside the repository, and the branch is moved in one step that happens or does not. A
//! checkout of the branch follows by a fast-forward, which git refuses as a whole when an edit of the user is in the way.
//! Whatever is refused is refused by name, with the source branch kept and the commands that finish by hand.
//!
//! The target is the branch that was recorded at the start, whatever is checked out now. Landings of one repository
//! happen one after another, also from several processes.

mod checkout;
mod prepare;
mod refusal;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use self::checkout::{Checkout, Moved};
#[cfg(feature = "review")]
use self::prepare::{Combined, combine};
use self::prepare::{Prepared, prepare};
use self::refusal::Refusal;
use crate::error::{Error, ErrorKind, Result};
use crate::git::Repository;
use crate::id::{BranchName, CommitId};
use crate::worktree::lock::Lock;

/// How long to wait before what another git held is tried again.
const PAUSE: Duration = Duration::from_millis(25);

/// What is to land where.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Landing<'a> {
    /// The repository, seen from the host.
    pub(crate) repository: &'a Repository,
    /// The branch that keeps the commits if they cannot land.
    pub(crate) source: &'a BranchName,
    /// The last of the commits.
    pub(crate) tip: &'a CommitId,
    /// The branch that takes them.
    pub(crate) target: &'a BranchName,
    /// How long it may take once the landings of this process that began before are over, and how long one of another
    /// process is waited for.
    pub(crate) limit: Duration,
}

/// How the commits landed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Landed {
    /// The target had them already.
    Nothing,
    /// The target had no others and was moved to their tip.
    FastForward { to: CommitId },
    /// A merge commit was made.
    Merged { commit: CommitId },
}

/// What would become of the commits if they were to land now.
#[cfg(feature = "review")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outlook {
    /// The target has them already.
    Nothing,
    /// They land without anybody deciding anything.
    Clean,
    /// The paths that are in conflict.
    Conflicts(Vec<Vec<u8>>),
}

/// What was worked out; nothing has been moved yet.
#[derive(Debug)]
struct Ready {
    old: CommitId,
    prepared: Prepared,
    checkout: Option<Checkout>,
}

impl Landing<'_> {
    /// Lands the commits.
    ///
    /// When the target is moved by somebody else meanwhile, the merge is prepared again until the limit. A dropped future
    /// gives up before the branch and its checkout are moved, or not at all: that one step goes on to its end.
    ///
    /// # Errors
    /// [`ErrorKind::Merge`] when they cannot: a conflict, an edit in the way, an unfinished operation of the user, a
    /// target that is gone. [`ErrorKind::StepTimeout`] at the limit, and [`ErrorKind::Git`] when git fails otherwise. The
    /// host is as it was, and the source branch is kept.
    pub(crate) async fn land(&self) -> Result<Landed> {
        let landed = async {
            let what = format!("merge `{}` into `{}`", self.source, self.target);
            let lock = Arc::new(Lock::of_landings(self.repository, &what, self.limit).await?);
            let deadline = Instant::now() + self.limit;
            let mut held = None;
            loop {
                let attempt = tokio::time::timeout_at(deadline, self.prepare()).await;
                let ready = attempt.map_err(|_| self.late(held.as_deref()))??;
                match self.advance(&ready, &lock).await? {
                    Moved::Done => return Ok(ready.prepared.landed()),
                    Moved::Held(lock) => held = Some(lock),
                    Moved::Overtaken => {}
                }
                tokio::time::sleep(PAUSE).await;
            }
        };
        landed.await.map_err(|error| self.advise(error))
    }

    /// Says what would become of the commits, and moves nothing. Whether a checkout would be in the way is not looked at.
    ///
    /// # Errors
    /// [`ErrorKind::Merge`] when the target is gone or has nothing in common with them, [`ErrorKind::Git`] when git fails
    /// otherwise.
    #[cfg(feature = "review")]
    pub(crate) async fn outlook(&self) -> Result<Outlook> {
        Ok(match combine(self, &self.target_tip().await?).await? {
            Combined::Nothing => Outlook::Nothing,
            Combined::FastForward | Combined::Tree(..) => Outlook::Clean,
            Combined::Conflict(conflicts) => {
                Outlook::Conflicts(conflicts.into_iter().map(|conflict| conflict.path).collect())
            }
        })
    }

    /// Works out what is to be moved, and from where to where.
    async fn prepare(&self) -> Result<Ready> {
        let old = self.target_tip().await?;
        let prepared = prepare(self, &old).await?;
        let checkout = match prepared.tip() {
            Some(new) => Some(Checkout::find(self, &old, new).await?),
            None => None,
        };
        Ok(Ready { old, prepared, checkout })
    }

    async fn advance(&self, ready: &Ready, lock: &Arc<Lock>) -> Result<Moved> {
        match (ready.prepared.tip(), &ready.checkout) {
            (Some(new), Some(checkout)) => checkout.advance(self, &ready.old, new, lock).await,
            _ => Ok(Moved::Done),
        }
    }

    async fn target_tip(&self) -> Result<CommitId> {
        let name = format!("refs/heads/{}", self.target);
        let args = ["for-each-ref", "--format=%(objectname) %(refname) %(symref)", &name];
        let answer = self.repository.git().does("look up the target branch", args).await?;
        let lines = String::from_utf8_lossy(&answer.stdout);
        let mut entries = lines.lines().map(|line| line.splitn(3, ' ').collect::<Vec<_>>());
        match entries.find(|entry| entry.get(1) == Some(&name.as_str())).as_deref() {
            Some([tip, _, ""]) => Ok(CommitId::from_git(*tip)),
            Some(_) => Err(Refusal::SymbolicTarget.into_error(self)),
            None => Err(Refusal::NoTarget.into_error(self)),
        }
    }

    fn late(&self, held: Option<&str>) -> Error {
        let what =
            format!("merge `{}` into `{}` within {} s", self.source, self.target, self.limit.as_secs_f32());
        let error = Error::new(ErrorKind::StepTimeout, what);
        match held {
            Some(lock) => error.with_source(std::io::Error::other(lock.to_owned())).with_hint(
                "another git was at work all the time; if none is, a lock was left behind and may be removed",
            ),
            None => error,
        }
    }

    /// Says where the commits are, and how to finish by hand.
    fn advise(&self, error: Error) -> Error {
        if error.kind() == ErrorKind::Merge {
            return error;
        }
        error.with_hint(refusal::how_to_finish(self))
    }
}
