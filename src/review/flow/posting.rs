//! Saying on the host what is to be said: one thing after the other, each once.
//!
//! What a host was told may have arrived although it did not answer, so nothing is ever said a second time by itself.

use crate::forge::{CommentId, Forge, NewReview};
use crate::review::PullRequest;
use crate::{Error, Result};

/// One thing to be said on the host, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Posting {
    /// What it is, for a person, such as ``a reply to the comment `PRRC_1` ``.
    pub what: String,
    /// What became of it.
    pub state: PostingState,
    saying: Saying,
}

/// Says what became of a [`Posting`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PostingState {
    /// It was not sent yet.
    Waiting,
    /// It is there, at this address.
    Posted(String),
    /// It was sent, and the host did not say that it took it. It is not sent again.
    Failed,
}

/// What is said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Saying {
    Reply { comment: CommentId, body: String },
    Review(NewReview),
    Comment(String),
}

impl Posting {
    pub(super) fn new(saying: Saying) -> Self {
        let what = match &saying {
            Saying::Reply { comment, .. } => format!("a reply to the comment `{comment}`"),
            Saying::Review(review) => match review.comments.len() {
                1 => "a review with 1 comment on a line".to_owned(),
                count => format!("a review with {count} comments on lines"),
            },
            Saying::Comment(_) => "a comment on the pull request".to_owned(),
        };
        Self { what, state: PostingState::Waiting, saying }
    }

    async fn send(&self, forge: &dyn Forge, pull_request: &PullRequest) -> Result<String> {
        match &self.saying {
            Saying::Reply { comment, body } => forge.reply(pull_request, comment, body).await,
            Saying::Review(review) => forge.review(pull_request, review).await,
            Saying::Comment(body) => forge.comment(pull_request, body).await,
        }
    }
}

/// Says what waits, in order, and stops at what fails.
pub(super) async fn post_all(
    postings: &mut [Posting],
    forge: &dyn Forge,
    pull_request: &PullRequest,
) -> Result<()> {
    while let Some(at) = postings.iter().position(|posting| posting.state == PostingState::Waiting) {
        // Should this be dropped while it is on its way, nobody knows whether it arrived.
        postings[at].state = PostingState::Failed;
        match postings[at].send(forge, pull_request).await {
            Ok(address) => postings[at].state = PostingState::Posted(address),
            Err(error) => return Err(stopped(error, &postings[at], postings)),
        }
    }
    Ok(())
}

/// Says of a failure what was posted before it, and what was not.
fn stopped(error: Error, failed: &Posting, all: &[Posting]) -> Error {
    let of = |wanted: fn(&PostingState) -> bool| {
        all.iter().filter(|posting| wanted(&posting.state)).collect::<Vec<_>>()
    };
    let posted = of(|state| matches!(state, PostingState::Posted(_)));
    let waiting = of(|state| *state == PostingState::Waiting);
    let mut stopped = Error::new(error.kind(), format!("post {}", failed.what));
    for posting in &posted {
        if let PostingState::Posted(address) = &posting.state {
            stopped = stopped.with_hint(format!("posted before: {}, {address}", posting.what));
        }
    }
    for posting in &waiting {
        stopped = stopped.with_hint(format!("not posted: {}", posting.what));
    }
    stopped.with_hint("see whether it arrived before you post it by hand").with_source(error)
}
