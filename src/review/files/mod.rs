//! The files that work on a pull request ends in, for whoever goes on from there: their names, and every byte of them.
//!
//! What they hold is made here and touches nothing; [`ResultFolder`] is where they go. A file of one word has no line break, so
//! that it can be compared as it is; the others end in one. JSON is written with two spaces.

mod folder;

use serde::Serialize;

pub use self::folder::ResultFolder;
use super::{ExploreOutput, ImplementOutput, InlineComment, ReviewOutput, UpdateBranchOutput};
use crate::{CommitId, Error, ErrorKind, Result};

/// The files that one kind of work ends in. Whoever writes them writes them together, see [`ResultFolder::write`].
///
/// # Examples
/// ```
/// use sandcastle::review::{ExploreOutput, ResultFiles};
///
/// let output = ExploreOutput { comment: "Two of the three callers are not changed.".to_owned() };
/// let files = ResultFiles::of_explore(&output);
/// assert_eq!(files.iter().next(), Some(("comment.md", "Two of the three callers are not changed.\n")));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultFiles(Vec<(&'static str, String)>);

impl ResultFiles {
    /// Makes `comment.md`.
    #[must_use]
    pub fn of_explore(output: &ExploreOutput) -> Self {
        Self(vec![("comment.md", text(&output.comment))])
    }

    /// Makes `review_payload.json`, which is what GitHub takes for a review, `replies.json`, `summary.md`, and `verdict.txt`:
    /// `improved` if there are commits, else `clean`.
    ///
    /// Lines are counted in `tip`, the commit that the branch stands at after the agent's `commits`.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] if they cannot be written as JSON.
    pub fn of_review(output: &ReviewOutput, tip: &CommitId, commits: usize) -> Result<Self> {
        let payload = Payload {
            commit_id: tip,
            event: "COMMENT",
            body: &output.summary,
            comments: output.inline_comments.iter().map(PayloadComment::from).collect(),
        };
        let verdict = if commits > 0 { "improved" } else { "clean" };
        Ok(Self(vec![
            ("review_payload.json", json(&payload)?),
            ("replies.json", json(&output.replies)?),
            ("summary.md", text(&output.summary)),
            ("verdict.txt", verdict.to_owned()),
        ]))
    }

    /// Makes `has_commits.txt`, with `true` or `false`, and `implement_thread_replies.json`,
    /// `implement_new_inline_comments.json` and `implement_top_level_comments.json`, which are lists.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] if they cannot be written as JSON.
    pub fn of_implement(output: &ImplementOutput, commits: usize) -> Result<Self> {
        Ok(Self(vec![
            ("has_commits.txt", (commits > 0).to_string()),
            ("implement_thread_replies.json", json(&output.thread_replies)?),
            ("implement_new_inline_comments.json", json(&output.new_inline_comments)?),
            ("implement_top_level_comments.json", json(&output.top_level_comments)?),
        ]))
    }

    /// Makes `comment.md`, and `should_push.txt` with `true` if there are commits to push, else `false`.
    #[must_use]
    pub fn of_update_branch(output: &UpdateBranchOutput, commits: usize) -> Self {
        Self(vec![("comment.md", text(&output.comment)), ("should_push.txt", (commits > 0).to_string())])
    }

    /// Makes `failure_reason.txt`.
    #[must_use]
    pub fn of_failure(reason: &str) -> Self {
        Self(vec![(FAILURE_REASON, text(reason))])
    }

    /// Returns the name and the contents of each.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.0.iter().map(|(name, contents)| (*name, contents.as_str()))
    }
}

/// The name of the file that says why there are no others.
const FAILURE_REASON: &str = "failure_reason.txt";

/// The names of the files of all kinds of work.
const NAMES: [&str; 11] = [
    "comment.md",
    "review_payload.json",
    "replies.json",
    "summary.md",
    "verdict.txt",
    "has_commits.txt",
    "implement_thread_replies.json",
    "implement_new_inline_comments.json",
    "implement_top_level_comments.json",
    "should_push.txt",
    FAILURE_REASON,
];

/// A review, as GitHub takes it.
#[derive(Serialize)]
struct Payload<'a> {
    commit_id: &'a CommitId,
    event: &'static str,
    body: &'a str,
    comments: Vec<PayloadComment<'a>>,
}

#[derive(Serialize)]
struct PayloadComment<'a> {
    path: &'a str,
    line: u64,
    side: &'static str,
    body: &'a str,
}

impl<'a> From<&'a InlineComment> for PayloadComment<'a> {
    fn from(comment: &'a InlineComment) -> Self {
        Self { path: &comment.path, line: comment.line, side: "RIGHT", body: &comment.body }
    }
}

fn text(text: &str) -> String {
    format!("{}\n", text.trim_end())
}

fn json(value: &impl Serialize) -> Result<String> {
    let written = serde_json::to_string_pretty(value);
    written
        .map(|json| json + "\n")
        .map_err(|error| Error::new(ErrorKind::Io, "write the results as JSON").with_source(error))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_name_is_that_of_a_file_and_every_file_has_one_of_them() {
        let (comment, summary) = ("Look.".to_owned(), String::new());
        let tip = CommitId::new("0".repeat(40)).unwrap();
        let review = ReviewOutput { summary, inline_comments: Vec::new(), replies: Vec::new() };
        let implement = ImplementOutput {
            new_inline_comments: Vec::new(),
            thread_replies: Vec::new(),
            top_level_comments: Vec::new(),
        };
        let all = [
            ResultFiles::of_explore(&ExploreOutput { comment: comment.clone() }),
            ResultFiles::of_review(&review, &tip, 0).unwrap(),
            ResultFiles::of_implement(&implement, 0).unwrap(),
            ResultFiles::of_update_branch(&UpdateBranchOutput { comment }, 0),
            ResultFiles::of_failure("why"),
        ];
        let written: BTreeSet<&str> = all.iter().flat_map(ResultFiles::iter).map(|(name, _)| name).collect();
        assert_eq!(written, BTreeSet::from(NAMES));
    }
}
