//! What of an agent's report is true of the pull request, and what of it a code host would take.
//!
//! The functions here are pure: what was said goes in, together with the pull request as it was read, or the diff as it is after
//! the agent's commits; what may be posted comes out, in the order in which it was said, and beside it what was left out and
//! why. Nothing is repaired: a comment on a line that is not in the diff is not moved to one that is.

mod counts;
mod dropped;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::Hash;
use std::ops::RangeInclusive;

pub use self::counts::Counts;
pub(super) use self::dropped::told;
pub use self::dropped::{DropReason, Dropped, Remark};
use super::outputs::MAX_BODY;
use super::{CommentableLines, InlineComment, PullRequest, ThreadReply, TopLevelComment};
use crate::forge::{ReviewThread, ThreadState};

/// The most remarks of one kind that are kept; whoever says more says nothing.
pub const MAX_REMARKS: usize = 100;

/// Keeps the replies to comments that are in a thread which nobody has resolved: one for each comment, the first. What the
/// thread says already is not said again: work that was killed while it posted may be done anew.
///
/// # Examples
/// ```
/// use sandcastle::forge::{BranchTip, Head, HeadOrigin};
/// use sandcastle::review::{DropReason, PullRequest, ThreadReply, keep_replies};
/// use sandcastle::{BranchName, CommitId};
///
/// let (branch, commit) = (BranchName::new("main")?, CommitId::new("0".repeat(40))?);
/// let head = Head::new(BranchName::new("topic")?, commit.clone(), HeadOrigin::Same);
/// let pull_request = PullRequest::new(12, BranchTip { branch, commit }, head);
///
/// let made_up = ThreadReply { comment_id: "PRRC_1".into(), body: "Done.".into() };
/// let (kept, dropped) = keep_replies(vec![made_up], &pull_request);
/// assert!(kept.is_empty());
/// assert_eq!(dropped[0].reason, DropReason::UnknownComment);
/// # Ok::<(), sandcastle::Error>(())
/// ```
#[must_use]
pub fn keep_replies(
    replies: Vec<ThreadReply>,
    pull_request: &PullRequest,
) -> (Vec<ThreadReply>, Vec<Dropped>) {
    let comments = pull_request
        .threads
        .iter()
        .flat_map(|thread| thread.comments.iter().map(move |comment| (comment.id.as_str(), thread)));
    let threads: HashMap<&str, &ReviewThread> = comments.collect();
    let id_of = |reply: &ThreadReply| reply.comment_id.clone();
    sift(replies, id_of, |reply| match threads.get(reply.comment_id.as_str()) {
        None => Some(DropReason::UnknownComment),
        Some(thread) if thread.state == ThreadState::Resolved => Some(DropReason::ResolvedThread),
        Some(thread) => {
            let is_said = thread.comments.iter().any(|said| said.body.trim() == reply.body.trim());
            is_said.then_some(DropReason::Repeated)
        }
    })
}

/// Keeps the comments on lines that can be commented on, each once; those that the pull request has there already are left out.
///
/// The lines are those of the diff as it is after the agent's commits: before them, the same line is another one.
#[must_use]
pub fn keep_inline(
    comments: Vec<InlineComment>,
    pull_request: &PullRequest,
    lines: &CommentableLines,
) -> (Vec<InlineComment>, Vec<Dropped>) {
    let place = |thread: &ReviewThread| thread.line.map(|line| (thread.path.clone(), line));
    let threads = pull_request.threads.iter().filter_map(|thread| Some((place(thread)?, thread)));
    let said: HashSet<_> = threads
        .flat_map(|(place, thread)| thread.comments.iter().map(move |said| (place.clone(), said.body.trim())))
        .collect();
    let is_said =
        |comment: &InlineComment| said.contains(&((comment.path.clone(), comment.line), comment.body.trim()));
    sift(comments, InlineComment::clone, |comment| match lines.of(&comment.path) {
        Some(lines) if lines.contains(&comment.line) => is_said(comment).then_some(DropReason::Repeated),
        Some(lines) => Some(DropReason::LineNotInDiff { nearest: nearest(lines, comment.line) }),
        None => Some(DropReason::FileNotInDiff),
    })
}

/// Keeps the comments on the pull request as a whole, each once; those that it has already are left out.
#[must_use]
pub fn keep_top_level(
    comments: Vec<TopLevelComment>,
    pull_request: &PullRequest,
) -> (Vec<TopLevelComment>, Vec<Dropped>) {
    let said: HashSet<&str> = pull_request.comments.iter().map(|said| said.body.trim()).collect();
    sift(comments, TopLevelComment::clone, |comment| {
        said.contains(comment.body.trim()).then_some(DropReason::Repeated)
    })
}

/// Separates the remarks that may be made from the others: those that are untrue, said before, too long, or too many.
fn sift<T, K>(
    remarks: Vec<T>,
    key: impl Fn(&T) -> K,
    untrue: impl Fn(&T) -> Option<DropReason>,
) -> (Vec<T>, Vec<Dropped>)
where
    T: Said + Into<Remark>,
    K: Eq + Hash,
{
    let (mut kept, mut dropped, mut said) = (Vec::new(), Vec::new(), HashSet::new());
    for remark in remarks {
        let reason = untrue(&remark)
            .or_else(|| too_long(remark.body()))
            .or_else(|| (!said.insert(key(&remark))).then_some(DropReason::Repeated))
            .or_else(|| (kept.len() >= MAX_REMARKS).then_some(DropReason::TooMany));
        match reason {
            None => kept.push(remark),
            Some(reason) => dropped.push(Dropped { what: remark.into(), reason }),
        }
    }
    (kept, dropped)
}

fn too_long(body: &str) -> Option<DropReason> {
    let characters = body.chars().count();
    (characters > MAX_BODY).then_some(DropReason::TooLong { characters })
}

/// Something that is said in Markdown.
trait Said {
    fn body(&self) -> &str;
}

impl Said for ThreadReply {
    fn body(&self) -> &str {
        &self.body
    }
}

impl Said for InlineComment {
    fn body(&self) -> &str {
        &self.body
    }
}

impl Said for TopLevelComment {
    fn body(&self) -> &str {
        &self.body
    }
}

/// Returns the lines that follow each other without a gap and are next to a line that is not among them: those before it, and
/// those behind it.
fn nearest(lines: &BTreeSet<u64>, line: u64) -> Vec<RangeInclusive<u64>> {
    let before = lines.range(..line).next_back().map(|&end| {
        let start =
            lines.range(..=end).rev().zip((0..=end).rev()).take_while(|(had, wanted)| **had == *wanted);
        start.last().map_or(end, |(start, _)| *start)..=end
    });
    let behind = lines.range(line..).next().map(|&start| {
        let end = lines.range(start..).zip(start..=u64::MAX).take_while(|(had, wanted)| **had == *wanted);
        start..=end.last().map_or(start, |(end, _)| *end)
    });
    before.into_iter().chain(behind).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::forge::{BranchTip, Head, HeadOrigin};
    use crate::{BranchName, CommitId};

    fn pull_request() -> PullRequest {
        let (branch, commit) = (BranchName::new("main").unwrap(), CommitId::new("0".repeat(40)).unwrap());
        let head = Head::new(BranchName::new("topic").unwrap(), commit.clone(), HeadOrigin::Same);
        PullRequest::new(12, BranchTip { branch, commit }, head)
    }

    fn set(lines: &[u64]) -> BTreeSet<u64> {
        lines.iter().copied().collect()
    }

    #[test]
    fn the_nearest_lines_are_those_before_and_behind() {
        assert_eq!(nearest(&set(&[]), 5), []);
        assert_eq!(nearest(&set(&[1, 2, 3]), 9), [1..=3]);
        assert_eq!(nearest(&set(&[1, 3, 4, 8, 9, 12]), 6), [3..=4, 8..=9]);
        assert_eq!(nearest(&set(&[7]), 1), [7..=7]);
        assert_eq!(nearest(&set(&[u64::MAX]), u64::MAX - 1), [u64::MAX..=u64::MAX]);
        assert_eq!(nearest(&set(&[0]), u64::MAX), [0..=0]);
    }

    proptest! {
        #[test]
        fn the_nearest_lines_are_in_the_diff_and_nothing_lies_between(
            lines in proptest::collection::btree_set(1..60_u64, 0..30),
            line in 1..60_u64,
        ) {
            prop_assume!(!lines.contains(&line));
            let found = nearest(&lines, line);
            for range in &found {
                prop_assert!(range.clone().all(|line| lines.contains(&line)));
                prop_assert!(!lines.contains(&(range.start() - 1)) && !lines.contains(&(range.end() + 1)));
            }
            let before = found.iter().rfind(|range| *range.end() < line).map(|range| *range.end());
            let behind = found.iter().find(|range| *range.start() > line).map(|range| *range.start());
            prop_assert_eq!(before, lines.iter().copied().rfind(|had| *had < line));
            prop_assert_eq!(behind, lines.iter().copied().find(|had| *had > line));
        }

        #[test]
        fn nothing_is_lost_or_made_up(bodies in proptest::collection::vec("[ab]{1,2}", 0..30)) {
            let said: Vec<_> = bodies.iter().map(|body| TopLevelComment { body: body.clone() }).collect();
            let (kept, dropped) = keep_top_level(said.clone(), &pull_request());
            prop_assert_eq!(kept.len() + dropped.len(), said.len());
            let distinct: HashSet<_> = said.iter().collect();
            prop_assert_eq!(kept.len(), distinct.len());
            prop_assert!(kept.iter().is_sorted_by_key(|kept| said.iter().position(|said| said == kept)));
        }
    }
}
