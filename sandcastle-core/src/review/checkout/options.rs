//! Where a pull request is worked on, and how its remote is reached.

use std::path::PathBuf;
use std::time::Duration;

use crate::id::BranchName;
use crate::secret::Token;

/// How long a remote may take by default.
const LIMIT: Duration = Duration::from_secs(300);

/// Says where a pull request is worked on.
///
/// The remote is reached as the user's own configuration of git says: with the user's credential helpers and ssh, which ask
/// nobody anything. Of the repository's configuration only the address counts, and headers (`http.<url>.extraheader`), by which
/// build servers hand over access.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckoutOptions {
    /// A folder in the repository.
    pub folder: PathBuf,
    /// The remote that has the pull request; the default is `origin`.
    pub remote: String,
    /// The remote that has the head of a pull request from a fork, which it can be pushed to; by default there is none.
    pub push_remote: Option<String>,
    /// The name of the local branch; the default is the head branch's own name, or `pull/N` when that comes from a fork, or its
    /// name is not one that a run takes.
    pub branch: Option<BranchName>,
    /// How long the remote may take each time it is asked; the default is five minutes.
    pub limit: Duration,
    pub(super) token: Option<Token>,
}

impl CheckoutOptions {
    /// Works in `folder`, with the defaults.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            remote: "origin".to_owned(),
            push_remote: None,
            branch: None,
            limit: LIMIT,
            token: None,
        }
    }

    /// Opens the remote by a token, where neither the user's credentials nor the repository's headers do.
    ///
    /// It is sent to the addresses of the remotes that are named here and to no other, over `https` or within this machine, and
    /// is in no argument, file or message. Other headers are not sent then: a code host refuses two that authorize.
    #[must_use]
    pub fn token(mut self, token: impl Into<Token>) -> Self {
        self.token = Some(token.into());
        self
    }
}
