//! A pull request as it was read, with everything that was said of it.

use std::fmt;

use serde::Serialize;

use crate::id::{BranchName, CommitId};

/// Holds a pull request and what belongs to it. Every text in it is somebody else's.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PullRequest {
    /// Its number.
    pub number: u64,
    /// The host's own name for it; may be empty.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Its description, Markdown; may be empty.
    pub body: String,
    /// Who opened it.
    pub author: String,
    /// Where a person looks at it.
    pub url: String,
    /// Whether it is open.
    pub state: PullRequestState,
    /// Whether it is a draft.
    pub is_draft: bool,
    /// Where it wants to go.
    pub base: BranchTip,
    /// Where it comes from.
    pub head: Head,
    /// What was said of it as a whole, oldest first.
    pub comments: Vec<Comment>,
    /// What reviews said of the whole, oldest first; those that said nothing are left out.
    pub reviews: Vec<ReviewSummary>,
    /// The conversations about lines, resolved ones too.
    pub threads: Vec<ReviewThread>,
    /// The issues that it closes.
    pub issues: Vec<LinkedIssue>,
}

impl PullRequest {
    /// Begins with what every pull request has; the rest is empty and can be set.
    #[must_use]
    pub fn new(number: u64, base: BranchTip, head: Head) -> Self {
        Self {
            number,
            id: String::new(),
            title: String::new(),
            body: String::new(),
            author: String::new(),
            url: String::new(),
            state: PullRequestState::Open,
            is_draft: false,
            base,
            head,
            comments: Vec::new(),
            reviews: Vec::new(),
            threads: Vec::new(),
            issues: Vec::new(),
        }
    }

    /// Returns the threads that nobody has resolved yet.
    pub fn unresolved(&self) -> impl Iterator<Item = &ReviewThread> {
        self.threads.iter().filter(|thread| thread.state == ThreadState::Unresolved)
    }
}

/// Says what became of a pull request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum PullRequestState {
    /// It waits.
    Open,
    /// It was closed and not merged.
    Closed,
    /// It was merged.
    Merged,
}

/// A branch and the commit that it stood at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BranchTip {
    /// The branch.
    pub branch: BranchName,
    /// The commit.
    pub commit: CommitId,
}

/// Where a pull request comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Head {
    /// The branch, in the repository that it is in.
    pub branch: BranchName,
    /// The commit.
    pub commit: CommitId,
    /// Whose repository it is in.
    pub origin: HeadOrigin,
}

impl Head {
    /// Names the branch, its commit and the repository that it is in.
    #[must_use]
    pub fn new(branch: BranchName, commit: CommitId, origin: HeadOrigin) -> Self {
        Self { branch, commit, origin }
    }
}

/// Says whose repository the head of a pull request is in. What comes from elsewhere was written by anybody.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum HeadOrigin {
    /// The repository that the pull request is for.
    Same,
    /// Another one, by its name.
    Fork(String),
    /// One that is there no more.
    Gone,
}

/// Something said of a pull request as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Comment {
    /// Who said it.
    pub author: String,
    /// Markdown.
    pub body: String,
}

/// What a review said of the whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReviewSummary {
    /// Who said it.
    pub author: String,
    /// The verdict, as the host words it, in lower case, such as `approved`.
    pub verdict: String,
    /// Markdown.
    pub body: String,
}

/// A conversation about a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReviewThread {
    /// The host's name for it.
    pub id: String,
    /// Whether somebody has resolved it.
    pub state: ThreadState,
    /// The file that it is about.
    pub path: String,
    /// The line in the newest version, or in the one that it was written on; `None` for a whole file.
    pub line: Option<u64>,
    /// What was said, oldest first.
    pub comments: Vec<ThreadComment>,
}

/// Says whether a conversation has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ThreadState {
    /// It waits for an answer.
    Unresolved,
    /// Somebody has ended it.
    Resolved,
}

/// Something said in a conversation about a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ThreadComment {
    /// The host's name for it, which a reply is to name.
    pub id: CommentId,
    /// Who said it.
    pub author: String,
    /// Markdown.
    pub body: String,
}

/// Names a comment of a conversation, as the host does.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct CommentId(String);

impl CommentId {
    /// Takes the id as the host gave it.
    #[must_use]
    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
    }

    /// Returns it as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CommentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An issue that a pull request closes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LinkedIssue {
    /// Its number.
    pub number: u64,
    /// Its title.
    pub title: String,
    /// Its text, Markdown.
    pub body: String,
}
