//! What the engine needs to know of a code host, where pull requests are.
//!
//! A [`Forge`] reads a [`PullRequest`] with everything that was said of it, and says things there. It filters nothing and
//! judges nothing: what it gives is other people's text, and what it is told to say was checked by who tells it. No host is
//! known by name here, and no repository on this machine.

mod pull_request;

use std::fmt;
use std::future::Future;
use std::pin::Pin;

pub use self::pull_request::{
    BranchTip, Comment, CommentId, Head, HeadOrigin, LinkedIssue, PullRequest, PullRequestState,
    ReviewSummary, ReviewThread, ThreadComment, ThreadState,
};
use crate::error::Result;
use crate::id::CommitId;

/// One call, or several, of a code host.
pub type ForgeFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

/// Describes one repository on a code host.
///
/// Implement it for a host that is not built in. Dropping a future closes its connection; what had been sent may have
/// arrived.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a code host",
    note = "the one that is built in is `sandcastle::forges::GitHub`, with the feature `github`"
)]
pub trait Forge: Send + Sync + fmt::Debug + 'static {
    /// Returns the name of the host's kind, in kebab case, such as `github`.
    fn name(&self) -> &str;

    /// Returns the repository as the host calls it, such as `owner/name`.
    fn repository(&self) -> &str;

    /// Reads a pull request with its comments, reviews, threads and linked issues, all pages of them.
    ///
    /// # Errors
    /// [`ErrorKind::Forge`](crate::ErrorKind::Forge) when it is not there, may not be read, or the host cannot be reached.
    fn pull_request(&self, number: u64) -> ForgeFuture<'_, PullRequest>;

    /// Replies in the thread that a comment belongs to, and returns the address of the reply.
    ///
    /// # Errors
    /// [`ErrorKind::Forge`](crate::ErrorKind::Forge) when the host does not take it.
    fn reply<'a>(
        &'a self,
        pull_request: &'a PullRequest,
        comment: &'a CommentId,
        body: &'a str,
    ) -> ForgeFuture<'a, String>;

    /// Posts a review with comments on lines, without approval or refusal, and returns its address.
    ///
    /// # Errors
    /// [`ErrorKind::Forge`](crate::ErrorKind::Forge) when the host does not take it, for example because a line is not in
    /// the diff.
    fn review<'a>(&'a self, pull_request: &'a PullRequest, review: &'a NewReview) -> ForgeFuture<'a, String>;

    /// Comments on the pull request as a whole, and returns the address of the comment.
    ///
    /// # Errors
    /// [`ErrorKind::Forge`](crate::ErrorKind::Forge) when the host does not take it.
    fn comment<'a>(&'a self, pull_request: &'a PullRequest, body: &'a str) -> ForgeFuture<'a, String>;
}

/// A review that is to be posted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewReview {
    /// The commit that the lines are counted in.
    pub commit: CommitId,
    /// What it says of the whole; may be empty.
    pub body: String,
    /// What it says of lines.
    pub comments: Vec<LineComment>,
}

/// A comment on one line of the new side of a diff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineComment {
    /// The path of the file, from the root of the repository.
    pub path: String,
    /// The line, counted from 1.
    pub line: u64,
    /// Markdown.
    pub body: String,
}
