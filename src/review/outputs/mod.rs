//! What agents answer with, at the end of their work on a pull request.
//!
//! The types are derived like anybody's, and what they say is what the agent is told: words, schema and reader come from here.
//! They are strict. `drift` knows what models write instead of the names that they are told, `lines` how they name lines, and
//! `meaning` what a schema cannot say. Whether a comment or a line exists is not asked here: that takes a pull request and a
//! diff.

mod drift;
mod lines;
mod meaning;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::AgentOutput;

/// The most characters that GitHub takes for a comment, a reply or the text of a review.
pub(super) const MAX_BODY: usize = 65_536;

/// Says what a review of a pull request came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, AgentOutput)]
#[serde(rename_all = "camelCase")]
#[output(tag = "output", max_retries = 2, prepare = "drift::review", validate = "meaning::review")]
pub struct ReviewOutput {
    /// What the review comes to, in Markdown.
    #[schemars(length(min = 1, max = MAX_BODY))]
    pub summary: String,
    /// Comments on lines of the diff.
    pub inline_comments: Vec<InlineComment>,
    /// Replies in threads that are not resolved.
    pub replies: Vec<ThreadReply>,
}

/// Says what is to be said after feedback was worked in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, AgentOutput)]
#[serde(rename_all = "camelCase")]
#[output(tag = "output", max_retries = 2, prepare = "drift::implement", validate = "meaning::implement")]
pub struct ImplementOutput {
    /// Replies in threads that are not resolved.
    pub thread_replies: Vec<ThreadReply>,
    /// Comments on lines of the diff.
    pub new_inline_comments: Vec<InlineComment>,
    /// Comments on the pull request as a whole.
    pub top_level_comments: Vec<TopLevelComment>,
}

/// Says what somebody found who only looked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, AgentOutput)]
#[serde(rename_all = "camelCase")]
#[output(tag = "output", max_retries = 2, prepare = "drift::explore", validate = "meaning::explore")]
pub struct ExploreOutput {
    /// The comment to make, in Markdown.
    #[schemars(length(min = 1, max = MAX_BODY))]
    pub comment: String,
}

/// Says what became of the conflicts with the base branch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, AgentOutput)]
#[serde(rename_all = "camelCase")]
#[output(
    tag = "output",
    max_retries = 2,
    prepare = "drift::update_branch",
    validate = "meaning::update_branch"
)]
pub struct UpdateBranchOutput {
    /// The comment to make, in Markdown: which conflicts there were, and how each was resolved.
    #[schemars(length(min = 1, max = MAX_BODY))]
    pub comment: String,
}

/// A comment on one line of the new side of the diff.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InlineComment {
    /// The path of the file, from the root of the repository.
    #[schemars(length(min = 1))]
    pub path: String,
    /// The line in the file as it is now, counted from 1.
    #[schemars(range(min = 1, max = u32::MAX))]
    pub line: u64,
    /// Markdown.
    #[schemars(length(min = 1, max = MAX_BODY))]
    pub body: String,
}

/// A reply in a thread.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadReply {
    /// The `commentId` of the comment that is answered, as the pull request's comments have it.
    #[schemars(length(min = 1))]
    pub comment_id: String,
    /// Markdown.
    #[schemars(length(min = 1, max = MAX_BODY))]
    pub body: String,
}

/// A comment on the pull request as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TopLevelComment {
    /// Markdown.
    #[schemars(length(min = 1, max = MAX_BODY))]
    pub body: String,
}
