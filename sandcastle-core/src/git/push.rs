//! Takes a commit to a branch of a remote, on condition that the branch stands where it is known to stand.
//!
//! Git pushes from a folder of our own, as it fetches into one: no hook of the repository runs, none of its programs is known,
//! and nobody is asked for a password. For the same reason what only a hook would take along stays here, such as the files of
//! git-lfs; `large` knows them.

use std::time::Duration;

use super::borrowed::Borrowed;
use super::command::Answer;
use super::refs::branch_ref;
use super::remote::Remote;
use super::repository::Repository;
use crate::error::{Error, Result};
use crate::id::{BranchName, CommitId};

/// How git pushes: one ref, and nothing that the user has set up to go with it.
const PUSH: [&str; 7] = [
    "push",
    "--porcelain",
    "--no-progress",
    "--no-verify",
    "--no-signed",
    "--no-follow-tags",
    "--recurse-submodules=no",
];

/// What is to go where.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Push<'a> {
    /// The branch, as the remote calls it.
    pub(crate) branch: &'a BranchName,
    /// Where it has to stand.
    pub(crate) from: &'a CommitId,
    /// Where it is to stand.
    pub(crate) to: &'a CommitId,
    /// How long git may take.
    pub(crate) limit: Duration,
}

/// How it ended, if nothing was wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Pushed {
    Done,
    /// The branch stands elsewhere; `None` when there is none any more.
    MovedOn(Option<CommitId>),
}

impl Repository {
    /// Reads where a remote is pushed to, which may be another address than the one it is fetched from.
    ///
    /// # Errors
    /// [`ErrorKind::Git`](crate::ErrorKind::Git) when there is none of that name.
    pub(crate) async fn remote_to_push(&self, name: &str) -> Result<Remote> {
        match self.remote_by(name, "pushurl").await? {
            Some(remote) => Ok(remote),
            None => self.remote(name).await,
        }
    }
}

impl Remote {
    /// Returns its name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns where it is; there may be a password in it.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Tells whether its address is that of a repository such as `owner/name`.
    pub(crate) fn is_repository(&self, repository: &str) -> bool {
        let plain = |path: &str| path.trim_end_matches('/').trim_end_matches(".git").to_ascii_lowercase();
        let (address, name) = (plain(&self.address), plain(repository));
        let before = address.strip_suffix(&name);
        !name.is_empty() && before.is_some_and(|before| before.ends_with(['/', ':']))
    }

    /// Pushes, and moves the remote-tracking branch. A branch that stands where it is to stand already is no error.
    ///
    /// # Errors
    /// [`ErrorKind::Git`](crate::ErrorKind::Git) when the remote refuses or cannot be reached, [`ErrorKind::StepTimeout`](crate::ErrorKind::StepTimeout) when the limit is reached, by
    /// when git is gone; what the remote was told by then may have come to its end.
    pub(crate) async fn push(&self, repository: &Repository, push: &Push<'_>) -> Result<Pushed> {
        let pushed = self.push_only(repository, push).await.map_err(|error| self.masked(error))?;
        if pushed == Pushed::Done {
            repository.track(&self.name, push.branch, push.to).await?;
        }
        Ok(pushed)
    }

    async fn push_only(&self, repository: &Repository, push: &Push<'_>) -> Result<Pushed> {
        let borrowed = self.open(Borrowed::from(repository).await?);
        let git = borrowed.git().clone().timeout(push.limit);
        let name = branch_ref(push.branch);
        let lease = format!("--force-with-lease={name}:{}", push.from);
        let refspec = format!("{}:{name}", push.to);
        let args = PUSH.into_iter().chain([&*lease, "--", &*self.address, &*refspec]);
        let answer = git.reach(args).await?;
        if answer.is_success() {
            return Ok(Pushed::Done);
        }
        let Some(reason) = rejection(&answer) else {
            return Err(self.not_pushed(push, &answer, repository));
        };
        // The remote is asked, and not the words that say why: they are different for each way to be overtaken.
        let listed = git.reach(["ls-remote", "--", &self.address, &name]).await?;
        if !listed.is_success() {
            return Err(self.not_pushed(push, &listed, repository));
        }
        let tip = tip_in(&listed, &name);
        if tip.as_ref() != Some(push.from) {
            return Ok(Pushed::MovedOn(tip));
        }
        let error = self.not_pushed(push, &answer, repository);
        Err(error.with_source(std::io::Error::other(reason)))
    }

    fn not_pushed(&self, push: &Push<'_>, answer: &Answer, repository: &Repository) -> Error {
        let what = format!("push `{}` to `{}`", push.branch, self.name);
        answer.refused(&what, repository.git().cwd())
    }
}

/// Returns why the ref was refused, if git says of it that it was.
fn rejection(answer: &Answer) -> Option<String> {
    let said = String::from_utf8_lossy(&answer.stdout);
    let refused = said.lines().find(|line| line.starts_with("!\t"))?;
    refused.rsplit('\t').next().map(str::to_owned)
}

fn tip_in(listed: &Answer, name: &str) -> Option<CommitId> {
    let lines = String::from_utf8_lossy(&listed.stdout);
    let mut entries = lines.lines().filter_map(|line| line.split_once('\t'));
    let (id, _) = entries.find(|(_, listed)| *listed == name)?;
    CommitId::new(id).ok()
}
