//! A remote: where it is, and what is brought in from it.
//!
//! A remote's address is data here: git fetches into a folder of our own, in which the repository's programs for
//! connecting, authenticating and packing are not configured. Those of the user are. Nobody is asked for a password.

use std::fmt;
use std::time::Duration;

use super::access;
use super::borrowed::{Borrowed, FETCH};
use super::command::Answer;
use super::repository::Repository;
use crate::error::{Error, ErrorKind, Result};
use crate::id::CommitId;
use crate::secret::Token;

/// Where in the borrowed folder stands what was fetched; a number follows.
const LANDED: &str = "refs/sandcastle/fetched";

/// A remote, as the repository described it at one moment. What is written there later leads nobody elsewhere.
#[derive(Clone)]
pub(crate) struct Remote {
    pub(super) name: String,
    pub(super) address: String,
    token: Option<Token>,
}

impl fmt::Debug for Remote {
    /// Names it and shows no address: there may be a password in it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Repository {
    /// Reads where a remote is.
    ///
    /// # Errors
    /// [`ErrorKind::Git`] when there is none of that name.
    pub(crate) async fn remote(&self, name: &str) -> Result<Remote> {
        self.remote_by(name, "url").await?.ok_or_else(|| {
            let what = format!("reach a remote: there is no remote `{}`", name.escape_debug());
            Error::new(ErrorKind::Git, what)
                .with_hint("`git remote -v` lists the remotes, and `git remote add` adds one")
        })
    }

    /// Reads a remote by the setting that has the address.
    pub(super) async fn remote_by(&self, name: &str, setting: &str) -> Result<Option<Remote>> {
        let key = format!("remote.{name}.{setting}");
        let answer = self.git().ask(["config", "-z", "--get-all", &key]).await?;
        let first = answer.stdout.split(|byte| *byte == 0).next().filter(|url| !url.is_empty());
        let address = first.and_then(|url| String::from_utf8(url.to_vec()).ok());
        Ok(address.map(|address| Remote { name: name.to_owned(), address, token: None }))
    }

    /// Moves the remote-tracking branch of a remote's branch.
    pub(super) async fn track(&self, remote: &str, branch: &str, tip: &CommitId) -> Result<()> {
        let tracking = format!("refs/remotes/{remote}/{branch}");
        let args = ["update-ref", "--no-deref", "-m", "fetch", &tracking, tip];
        self.git().to_its_end().does("move the remote-tracking branch", args).await.map(drop)
    }
}

impl Remote {
    /// Has it opened by a token, which goes to no other address.
    #[cfg(feature = "review")]
    #[must_use]
    pub(crate) fn opened_by(self, token: Option<Token>) -> Self {
        Self { token, ..self }
    }

    /// Fetches refs by their full names and returns the commits that they point to, in the same order. Branches move their
    /// remote-tracking branches, and nothing else is moved.
    ///
    /// # Errors
    /// [`ErrorKind::Git`] when one is not there, is no commit, or the remote cannot be reached; [`ErrorKind::StepTimeout`] when
    /// the limit is reached, by when git is gone.
    pub(crate) async fn fetch(
        &self,
        repository: &Repository,
        wanted: &[&str],
        limit: Duration,
    ) -> Result<Vec<CommitId>> {
        let borrowed = self.borrow_knowing(repository).await?;
        self.fetch_into(&borrowed, repository, wanted, None, limit).await
    }

    /// Makes a folder of ours to fetch into.
    pub(super) async fn borrow_knowing(&self, repository: &Repository) -> Result<Borrowed> {
        Ok(self.open(Borrowed::knowing(repository).await?))
    }

    /// As [`Remote::fetch`], into a folder that is there, with an option more.
    pub(super) async fn fetch_into(
        &self,
        borrowed: &Borrowed,
        repository: &Repository,
        wanted: &[&str],
        option: Option<&str>,
        limit: Duration,
    ) -> Result<Vec<CommitId>> {
        let git = borrowed.git().clone().timeout(limit);
        let options = option.into_iter().chain(["--", &self.address]).map(str::to_owned);
        let refspecs = wanted.iter().enumerate().map(|(number, name)| format!("+{name}:{LANDED}/{number}"));
        let args = FETCH.map(str::to_owned).into_iter().chain(options).chain(refspecs);
        let answer = git.reach(args).await?;
        if !answer.is_success() {
            return Err(self.not_fetched(wanted, &answer, repository));
        }
        let commits = (0..wanted.len()).map(|number| format!("{LANDED}/{number}^{{commit}}\n"));
        let commits = commits.collect::<String>().into_bytes();
        let found = git.feed(["cat-file", "--batch-check=%(objectname)"], commits).await?;
        let lines = String::from_utf8_lossy(&found.stdout);
        let Ok(commits) = lines.lines().map(CommitId::new).collect::<Result<Vec<_>>>() else {
            return Err(self.not_fetched(wanted, &found, repository));
        };
        for (name, tip) in wanted.iter().zip(&commits) {
            if let Some(branch) = name.strip_prefix("refs/heads/") {
                repository.track(&self.name, branch, tip).await?;
            }
        }
        Ok(commits)
    }

    /// Prepares a folder of ours for a call that reaches the remote.
    pub(super) fn open(&self, borrowed: Borrowed) -> Borrowed {
        match &self.token {
            Some(token) => borrowed.opened_by(token, &self.address),
            None => borrowed,
        }
    }

    /// Hides the token in an error.
    pub(super) fn masked(&self, error: Error) -> Error {
        match &self.token {
            Some(token) => access::secrets(token).mask_error(error),
            None => error,
        }
    }

    fn not_fetched(&self, wanted: &[&str], answer: &Answer, repository: &Repository) -> Error {
        let names =
            wanted.iter().map(|name| format!("`{}`", name.strip_prefix("refs/heads/").unwrap_or(name)));
        let what = format!("fetch {} from `{}`", names.collect::<Vec<_>>().join(", "), self.name);
        self.masked(answer.refused(&what, repository.git().cwd()))
    }
}
