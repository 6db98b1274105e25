//! What was left out of an agent's report, why, and how a person reads it.

use std::fmt;
use std::ops::RangeInclusive;

use serde::Serialize;

use crate::review::outputs::MAX_BODY;
use crate::review::trust::MAX_REMARKS;
use crate::review::{InlineComment, ThreadReply, TopLevelComment};

/// Something that an agent wanted to say and that is not said, and why. `Display` is one sentence without a period, on one line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Dropped {
    /// What it was.
    pub what: Remark,
    /// Why it is left out.
    pub reason: DropReason,
}

/// One thing that an agent wants to say on a pull request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Remark {
    /// A reply in a thread.
    ThreadReply(ThreadReply),
    /// A comment on a line.
    InlineComment(InlineComment),
    /// A comment on the whole.
    TopLevelComment(TopLevelComment),
}

/// Says why something is not said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum DropReason {
    /// No thread of the pull request has the comment that is replied to.
    UnknownComment,
    /// The comment that is replied to is in a thread that somebody has resolved.
    ResolvedThread,
    /// The diff does not have the file.
    FileNotInDiff,
    /// The diff has the file, and not the line.
    LineNotInDiff {
        /// The lines of the file that are in the diff and next to it: those before it, and those behind it.
        nearest: Vec<RangeInclusive<u64>>,
    },
    /// It was said before, in the report or on the pull request: another reply to the same comment, or the same comment again.
    Repeated,
    /// It is longer than a code host takes it.
    TooLong {
        /// How long it is.
        characters: usize,
    },
    /// There are more of its kind than anybody would read.
    TooMany,
}

/// The most of what was left out that is told one by one.
const MAX_TOLD: usize = 20;

/// Words what was left out for a person, who reads no thousand sentences: the first of them, and how many more there are.
pub(in crate::review) fn told(dropped: &[Dropped]) -> impl Iterator<Item = String> {
    let more = dropped.len().saturating_sub(MAX_TOLD);
    let more = (more > 0).then(|| format!("{more} more were left out"));
    dropped.iter().take(MAX_TOLD).map(ToString::to_string).chain(more)
}

impl From<ThreadReply> for Remark {
    fn from(reply: ThreadReply) -> Self {
        Self::ThreadReply(reply)
    }
}

impl From<InlineComment> for Remark {
    fn from(comment: InlineComment) -> Self {
        Self::InlineComment(comment)
    }
}

impl From<TopLevelComment> for Remark {
    fn from(comment: TopLevelComment) -> Self {
        Self::TopLevelComment(comment)
    }
}

impl fmt::Display for Dropped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} was left out: {}", self.what, self.reason)
    }
}

/// Names it by its place, for a sentence; what it says is not in it.
impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ThreadReply(reply) => write!(f, "the reply to the comment `{}`", shown(&reply.comment_id)),
            Self::InlineComment(comment) => {
                write!(f, "the comment on line {} of `{}`", comment.line, shown(&comment.path))
            }
            Self::TopLevelComment(comment) => write!(f, "the comment that begins `{}`", shown(&comment.body)),
        }
    }
}

impl fmt::Display for DropReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownComment => f.write_str("no thread of the pull request has that comment"),
            Self::ResolvedThread => f.write_str("its thread is resolved"),
            Self::FileNotInDiff => f.write_str("the diff does not have that file"),
            Self::LineNotInDiff { nearest } => write_nearest(nearest, f),
            Self::Repeated => f.write_str("the same was said before"),
            Self::TooLong { characters } => {
                write!(f, "it has {characters} characters, and at most {MAX_BODY} are taken")
            }
            Self::TooMany => write!(f, "there are {MAX_REMARKS} of its kind already"),
        }
    }
}

fn write_nearest(nearest: &[RangeInclusive<u64>], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let shown: Vec<_> = nearest
        .iter()
        .map(|lines| match (lines.start(), lines.end()) {
            (start, end) if start == end => start.to_string(),
            (start, end) => format!("{start}-{end}"),
        })
        .collect();
    match shown.as_slice() {
        [] => f.write_str("the diff has none of the lines of that file"),
        lines => {
            write!(f, "the diff does not have that line; the nearest that it has are {}", lines.join(" and "))
        }
    }
}

/// Shows an agent's words on one line and in few characters.
fn shown(text: &str) -> String {
    const MOST: usize = 100;
    let mut shown: String = text.trim().chars().take(MOST).flat_map(char::escape_debug).collect();
    if text.trim().chars().nth(MOST).is_some() {
        shown.push('…');
    }
    shown
}
