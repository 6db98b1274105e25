//! What agents answer with, at the end of their work on a pull request.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::AgentOutput;

/// Says what a reviewer found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, AgentOutput)]
#[serde(rename_all = "camelCase")]
#[output(tag = "output")]
pub struct ReviewOutput {
    /// What the review comes to, in Markdown.
    pub summary: String,
    /// Comments on lines of the diff.
    #[serde(default)]
    pub inline_comments: Vec<InlineComment>,
    /// Replies in threads that are not resolved.
    #[serde(default)]
    pub replies: Vec<ThreadReply>,
}

/// Says what is to be said after feedback was worked in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, AgentOutput)]
#[serde(rename_all = "camelCase")]
#[output(tag = "output")]
pub struct ImplementOutput {
    /// Replies in threads that are not resolved.
    #[serde(default)]
    pub thread_replies: Vec<ThreadReply>,
    /// Comments on lines of the diff.
    #[serde(default)]
    pub new_inline_comments: Vec<InlineComment>,
    /// Comments on the pull request as a whole.
    #[serde(default)]
    pub top_level_comments: Vec<TopLevelComment>,
}

/// Says what somebody who only looked found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, AgentOutput)]
#[serde(rename_all = "camelCase")]
#[output(tag = "output")]
pub struct ExploreOutput {
    /// The comment to make, in Markdown.
    pub comment: String,
}

/// Says what became of the conflicts with the base branch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, AgentOutput)]
#[serde(rename_all = "camelCase")]
#[output(tag = "output")]
pub struct UpdateBranchOutput {
    /// The comment to make, in Markdown: which conflicts there were, and how each was resolved.
    pub comment: String,
}

/// A comment on one line of the new side of the diff.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InlineComment {
    /// The path of the file, from the root of the repository.
    pub path: String,
    /// The line, counted from 1.
    pub line: u64,
    /// Markdown.
    pub body: String,
}

/// A reply in a thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadReply {
    /// The id of the comment that is answered, as the pull request's comments have it.
    pub comment_id: String,
    /// Markdown.
    pub body: String,
}

/// A comment on the pull request as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TopLevelComment {
    /// Markdown.
    pub body: String,
}
