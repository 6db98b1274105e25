//! Says things on GitHub: a reply in a thread, a review with comments on lines, a comment on the whole.
//!
//! Each is one request, which is sent once. What it says was checked by who says it.

use sandcastle_core::forge::{CommentId, LineComment, NewReview, PullRequest, ReviewThread};
use serde_json::{Map, Value, json};

use super::address::{RepositoryName, web_address};
use super::client::Client;
use super::failure::Failure;
use super::wire::{Posted, REPLY, Replied};

/// Writes to pull requests of one repository.
pub(super) struct Writer<'w> {
    pub(super) client: Client,
    pub(super) repository: &'w RepositoryName,
    pub(super) pull: &'w PullRequest,
}

impl Writer<'_> {
    /// Replies in the thread of a comment.
    pub(super) async fn reply(self, comment: &CommentId, body: &str) -> Result<String, Failure> {
        let is_in = |thread: &&ReviewThread| thread.comments.iter().any(|known| known.id == *comment);
        let thread = self.pull.threads.iter().find(is_in);
        let thread =
            thread.ok_or_else(|| Failure::unsent(format!("no thread of it has the comment `{comment}`")))?;
        let variables = json!({ "thread": thread.id, "body": body });
        let replied: Replied = self.client.query(REPLY, &variables).await?;
        let comment = replied.add_pull_request_review_thread_reply.and_then(|payload| payload.comment);
        let comment = comment.ok_or_else(|| Failure::strange("it does not show the reply"))?;
        if comment.state == "PENDING" {
            let words =
                "GitHub keeps it for a review that the owner of the token has begun and not submitted";
            return Err(Failure::lost(words).with_hint("submit that review, or discard it, on GitHub's page"));
        }
        Ok(self.address(&comment.url))
    }

    /// Posts a review that neither approves nor refuses.
    pub(super) async fn review(self, review: &NewReview) -> Result<String, Failure> {
        if review.body.trim().is_empty() && review.comments.is_empty() {
            return Err(Failure::unsent("a review that says nothing is none"));
        }
        let comment = |LineComment { path, line, body }: &LineComment| json!({ "path": path, "line": line, "side": "RIGHT", "body": body });
        let mut asked = Map::new();
        asked.insert("commit_id".to_owned(), json!(review.commit.as_str()));
        asked.insert("event".to_owned(), json!("COMMENT"));
        asked.insert("body".to_owned(), json!(body_of(review)));
        asked.insert("comments".to_owned(), review.comments.iter().map(comment).collect());
        self.post("pulls", "reviews", &Value::Object(asked)).await
    }

    /// Comments on the whole.
    pub(super) async fn comment(self, body: &str) -> Result<String, Failure> {
        self.post("issues", "comments", &json!({ "body": body })).await
    }

    async fn post(&self, kind: &str, list: &str, body: &Value) -> Result<String, Failure> {
        let number = self.pull.number.to_string();
        let url = self.repository.url(self.client.address(), [kind, number.as_str(), list]);
        let posted: Posted = self.client.post(&url, body).await?;
        Ok(self.address(&posted.html_url))
    }

    /// The address of what was said. It was said, even where its address cannot be one.
    fn address(&self, said: &str) -> String {
        web_address(said).unwrap_or_else(|| self.pull.url.clone())
    }
}

/// The words of a review. GitHub asks for some where it neither approves nor refuses, also of one that is all comments on lines.
fn body_of(review: &NewReview) -> String {
    match (review.body.trim(), review.comments.len()) {
        ("", 1) => "1 comment on a line.".to_owned(),
        ("", count) => format!("{count} comments on lines."),
        _ => review.body.clone(),
    }
}
