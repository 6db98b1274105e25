//! What GitHub answers with, as far as it is read, and what is asked for in GraphQL.
//!
//! The shapes are those of <https://docs.github.com/en/rest/pulls>, <https://docs.github.com/en/rest/issues> and
//! <https://docs.github.com/en/graphql/reference>. Nothing is checked here.

use serde::Deserialize;

use super::page::Connection;

/// The threads of a pull request, from one on.
pub(super) const THREADS: &str = "
query($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      reviewThreads(first: 50, after: $after) {
        pageInfo { hasNextPage endCursor }
        nodes {
          id
          isResolved
          path
          line
          originalLine
          comments(first: 50) {
            pageInfo { hasNextPage endCursor }
            nodes { id state body author { login } }
          }
        }
      }
    }
  }
}";

/// The comments of a thread, from one on.
pub(super) const THREAD_COMMENTS: &str = "
query($thread: ID!, $after: String) {
  node(id: $thread) {
    ... on PullRequestReviewThread {
      comments(first: 100, after: $after) {
        pageInfo { hasNextPage endCursor }
        nodes { id state body author { login } }
      }
    }
  }
}";

/// The issues that are closed with a pull request, from one on.
pub(super) const CLOSED_ISSUES: &str = "
query($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      closingIssuesReferences(first: 20, after: $after) {
        pageInfo { hasNextPage endCursor }
        nodes { number title body repository { nameWithOwner } }
      }
    }
  }
}";

/// A reply in a thread.
pub(super) const REPLY: &str = "
mutation($thread: ID!, $body: String!) {
  addPullRequestReviewThreadReply(input: { pullRequestReviewThreadId: $thread, body: $body }) {
    comment { url state }
  }
}";

/// Somebody who wrote something. Of whom is gone there is nothing.
#[derive(Debug, Deserialize)]
pub(super) struct Author {
    pub(super) login: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Pull {
    pub(super) number: u64,
    pub(super) node_id: String,
    pub(super) title: String,
    pub(super) body: Option<String>,
    pub(super) user: Option<Author>,
    pub(super) html_url: String,
    pub(super) state: String,
    pub(super) merged_at: Option<String>,
    #[serde(default)]
    pub(super) draft: bool,
    pub(super) base: Side,
    pub(super) head: Side,
}

/// One of the two branches of a pull request.
#[derive(Debug, Deserialize)]
pub(super) struct Side {
    #[serde(rename = "ref")]
    pub(super) branch: String,
    pub(super) sha: String,
    /// `None` when it is there no more.
    pub(super) repo: Option<Repository>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Repository {
    pub(super) full_name: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct IssueComment {
    pub(super) user: Option<Author>,
    pub(super) body: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Review {
    pub(super) user: Option<Author>,
    pub(super) state: String,
    pub(super) body: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Issue {
    pub(super) number: u64,
    pub(super) title: String,
    pub(super) body: Option<String>,
    /// There in those that are pull requests.
    pub(super) pull_request: Option<serde::de::IgnoredAny>,
}

/// What was posted.
#[derive(Debug, Deserialize)]
pub(super) struct Posted {
    pub(super) html_url: String,
}

/// The answer to a question about a pull request.
#[derive(Debug, Deserialize)]
pub(super) struct OfRepository<T> {
    pub(super) repository: Option<OfPull<T>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OfPull<T> {
    pub(super) pull_request: Option<T>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Threads {
    pub(super) review_threads: Connection<Thread>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Thread {
    pub(super) id: String,
    pub(super) is_resolved: bool,
    pub(super) path: String,
    /// Where it is now; `None` when it is nowhere any more.
    pub(super) line: Option<u64>,
    /// Where it was written.
    pub(super) original_line: Option<u64>,
    pub(super) comments: Connection<ThreadNote>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ThreadNote {
    pub(super) id: String,
    pub(super) state: String,
    pub(super) body: String,
    pub(super) author: Option<Author>,
}

/// The answer to a question about a thread.
#[derive(Debug, Deserialize)]
pub(super) struct OfThread {
    pub(super) node: Option<ThreadNotes>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ThreadNotes {
    pub(super) comments: Connection<ThreadNote>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ClosedIssues {
    pub(super) closing_issues_references: Connection<ClosedIssue>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ClosedIssue {
    pub(super) number: u64,
    pub(super) title: String,
    pub(super) body: String,
    pub(super) repository: NamedRepository,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct NamedRepository {
    pub(super) name_with_owner: String,
}

/// The answer to a reply.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Replied {
    pub(super) add_pull_request_review_thread_reply: Option<ReplyPayload>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ReplyPayload {
    pub(super) comment: Option<ReplyComment>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ReplyComment {
    pub(super) url: String,
    pub(super) state: String,
}
