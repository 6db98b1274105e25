//! A remote: where it is, and what is brought in from it.
//!
//! A remote's address is data here: git fetches into a folder of our own, in which the repository's programs for
//! connecting, authenticating and packing are not configured. Those of the user are. Nobody is asked for a password.

use std::fmt;
use std::time::Duration;

use super::borrowed::{Borrowed, FETCH};
use super::command::Answer;
use super::repository::Repository;
use super::{access, shallow};
use crate::error::{Error, ErrorKind, Result};
use crate::id::CommitId;
use crate::secret::Token;

/// Where in the borrowed folder stands what was fetched; a number follows.
const LANDED: &str = "refs/sandcastle/fetched";

/// A remote, as the repository described it at one moment. What is written there later leads nobody elsewhere.
#[derive(Clone)]
pub(crate) struct Remote {
    name: String,
    address: String,
    /// Where it is pushed to.
    pub(super) push_address: String,
    token: Option<Token>,
}

/// Says how much of the history is fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    /// What is not there yet; the history of a shallow clone goes on to end where it ends.
    New,
    /// All that a shallow clone has left out, too.
    #[cfg(feature = "review")]
    Whole,
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
        let address = self.address(name, "url").await?.ok_or_else(|| {
            Error::new(
                ErrorKind::Git,
                format!("reach a remote: there is no remote `{}`", name.escape_debug()),
            )
            .with_hint("`git remote -v` lists the remotes")
        })?;
        let push_address = self.address(name, "pushurl").await?.unwrap_or_else(|| address.clone());
        Ok(Remote { name: name.to_owned(), address, push_address, token: None })
    }

    async fn address(&self, name: &str, key: &str) -> Result<Option<String>> {
        let key = format!("remote.{name}.{key}");
        let answer = self.git().ask(["config", "-z", "--get-all", &key]).await?;
        let first = answer.stdout.split(|byte| *byte == 0).next().filter(|url| !url.is_empty());
        Ok(first.and_then(|url| String::from_utf8(url.to_vec()).ok()))
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

    /// Returns its name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns where it is; there may be a password in it.
    #[cfg(feature = "review")]
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Tells whether its address to push to is that of a repository such as `owner/name`.
    #[cfg(feature = "review")]
    pub(crate) fn is_repository(&self, repository: &str) -> bool {
        let plain = |path: &str| path.trim_end_matches('/').trim_end_matches(".git").to_ascii_lowercase();
        let (address, name) = (plain(&self.push_address), plain(repository));
        let before = address.strip_suffix(&name);
        !name.is_empty() && before.is_some_and(|before| before.ends_with(['/', ':']))
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
        depth: Depth,
        limit: Duration,
    ) -> Result<Vec<CommitId>> {
        let fetched = self.fetch_only(repository, wanted, depth, limit).await;
        let fetched = fetched.map_err(|error| self.masked(error))?;
        for (name, tip) in wanted.iter().zip(&fetched) {
            if let Some(branch) = name.strip_prefix("refs/heads/") {
                repository.track(&self.name, branch, tip).await?;
            }
        }
        Ok(fetched)
    }

    async fn fetch_only(
        &self,
        repository: &Repository,
        wanted: &[&str],
        depth: Depth,
        limit: Duration,
    ) -> Result<Vec<CommitId>> {
        let borrowed = self.open(Borrowed::knowing(repository).await?, &self.address);
        let git = borrowed.git().clone().timeout(limit);
        let refspecs = wanted.iter().enumerate().map(|(number, name)| format!("+{name}:{LANDED}/{number}"));
        let options = depth.option(&borrowed)?.into_iter().chain(["--", &self.address]).map(str::to_owned);
        let args = FETCH.map(str::to_owned).into_iter().chain(options).chain(refspecs);
        let answer = git.reach(args).await?;
        if !answer.is_success() {
            return Err(self.not_fetched(wanted, &answer, repository));
        }
        depth.keep(repository, &borrowed)?;
        let commits = (0..wanted.len()).map(|number| format!("{LANDED}/{number}^{{commit}}"));
        let asked = commits.map(|commit| commit + "\n").collect::<String>().into_bytes();
        let found = git.feed(["cat-file", "--batch-check=%(objectname)"], asked).await?;
        let lines = String::from_utf8_lossy(&found.stdout);
        let commits: Result<Vec<_>> = lines.lines().map(CommitId::new).collect();
        match commits {
            Ok(commits) if commits.len() == wanted.len() => Ok(commits),
            _ => Err(self.not_fetched(wanted, &found, repository)),
        }
    }

    /// Prepares a folder of ours for a call that reaches an address of the remote.
    pub(super) fn open(&self, borrowed: Borrowed, address: &str) -> Borrowed {
        match &self.token {
            Some(token) => borrowed.opened_by(token, address),
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
        answer.refused(&what, repository.git().cwd())
    }
}

impl Depth {
    fn option(self, borrowed: &Borrowed) -> Result<Option<&'static str>> {
        match self {
            Self::New => Ok(None),
            // Git refuses to complete what is complete.
            #[cfg(feature = "review")]
            Self::Whole => Ok(borrowed.shallow().map_err(unread)?.map(|_| "--unshallow")),
        }
    }

    /// Has the repository know of the history that was fetched.
    fn keep(self, repository: &Repository, borrowed: &Borrowed) -> Result<()> {
        match self {
            Self::New => Ok(()),
            #[cfg(feature = "review")]
            Self::Whole => {
                let folder = repository.common_dir();
                let known = shallow::read(folder).map_err(unread)?;
                let new = borrowed.shallow().map_err(unread)?;
                if known == new {
                    return Ok(());
                }
                shallow::replace(folder, known.as_deref(), new.as_deref()).map_err(unread)
            }
        }
    }
}

#[cfg(feature = "review")]
fn unread(error: std::io::Error) -> Error {
    Error::new(ErrorKind::Git, "complete the history of the shallow clone").with_source(error)
}
