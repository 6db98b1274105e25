//! What each kind of work has of its own: what of a report is kept, how much it is, what of it is written and what posted.

use super::posting::Saying;
use crate::forge::{CommentId, LineComment, NewReview};
use crate::review::{
    CommentableLines, Counts, Dropped, ExploreOutput, ImplementOutput, InlineComment, PullRequest,
    ResultFiles, ReviewOutput, ThreadReply, UpdateBranchOutput, keep_inline, keep_replies, keep_top_level,
};
use crate::{AgentOutput, CommitId, Result};

/// The reports that work on a pull request ends in: those of this module, and no others.
pub trait PullRequestOutput: AgentOutput + Clone + sealed::Report {}

impl PullRequestOutput for ExploreOutput {}
impl PullRequestOutput for ReviewOutput {}
impl PullRequestOutput for ImplementOutput {}
impl PullRequestOutput for UpdateBranchOutput {}

/// Says whether what is posted is about the commits of the agent, so that they have to be there first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// It is about the pull request as it was read.
    WhatWasThere,
    /// It is about the branch as it is now.
    WhatWasMade,
}

/// The commits of a branch that files tell of.
#[derive(Clone, Copy, Debug)]
pub struct Commits {
    /// How many this work has made.
    pub made: usize,
    /// Whether the branch is ahead of the pull request: earlier work may have left commits on it, too.
    pub is_ahead: bool,
}

pub(super) mod sealed {
    use super::*;

    pub trait Report: Sized {
        const ABOUT: About;

        /// Returns everything that is said, for whatever everybody may read to be looked through.
        fn texts(&mut self) -> Vec<&mut String>;

        /// Keeps what is true of the pull request.
        fn kept(self, pull_request: &PullRequest, lines: &CommentableLines) -> (Self, Vec<Dropped>);

        fn counts(&self, commits: usize) -> Counts;

        /// Words it as files. Lines are counted in `tip`.
        fn files(&self, tip: &CommitId, commits: Commits) -> Result<ResultFiles>;

        /// Words it for the host, in the order in which it is posted.
        fn sayings(&self, tip: &CommitId) -> Vec<Saying>;
    }
}

impl sealed::Report for ExploreOutput {
    const ABOUT: About = About::WhatWasThere;

    fn texts(&mut self) -> Vec<&mut String> {
        vec![&mut self.comment]
    }

    fn kept(self, _: &PullRequest, _: &CommentableLines) -> (Self, Vec<Dropped>) {
        (self, Vec::new())
    }

    fn counts(&self, commits: usize) -> Counts {
        Counts { commits, top_level_comments: 1, ..Counts::default() }
    }

    fn files(&self, _: &CommitId, _: Commits) -> Result<ResultFiles> {
        Ok(ResultFiles::of_explore(self))
    }

    fn sayings(&self, _: &CommitId) -> Vec<Saying> {
        vec![Saying::Comment(self.comment.clone())]
    }
}

impl sealed::Report for ReviewOutput {
    const ABOUT: About = About::WhatWasMade;

    fn texts(&mut self) -> Vec<&mut String> {
        let inline = self.inline_comments.iter_mut().map(|comment| &mut comment.body);
        let replies = self.replies.iter_mut().map(|reply| &mut reply.body);
        std::iter::once(&mut self.summary).chain(inline).chain(replies).collect()
    }

    fn kept(self, pull_request: &PullRequest, lines: &CommentableLines) -> (Self, Vec<Dropped>) {
        let (inline_comments, mut dropped) = keep_inline(self.inline_comments, pull_request, lines);
        let (replies, more) = keep_replies(self.replies, pull_request);
        dropped.extend(more);
        (Self { summary: self.summary, inline_comments, replies }, dropped)
    }

    fn counts(&self, commits: usize) -> Counts {
        Counts {
            commits,
            thread_replies: self.replies.len(),
            inline_comments: self.inline_comments.len(),
            top_level_comments: 1,
        }
    }

    fn files(&self, tip: &CommitId, commits: Commits) -> Result<ResultFiles> {
        ResultFiles::of_review(self, tip, commits.made)
    }

    fn sayings(&self, tip: &CommitId) -> Vec<Saying> {
        let review = NewReview {
            commit: tip.clone(),
            body: self.summary.clone(),
            comments: self.inline_comments.iter().map(line_comment).collect(),
        };
        self.replies.iter().map(reply).chain([Saying::Review(review)]).collect()
    }
}

impl sealed::Report for ImplementOutput {
    const ABOUT: About = About::WhatWasMade;

    fn texts(&mut self) -> Vec<&mut String> {
        let replies = self.thread_replies.iter_mut().map(|reply| &mut reply.body);
        let inline = self.new_inline_comments.iter_mut().map(|comment| &mut comment.body);
        let of_all = self.top_level_comments.iter_mut().map(|comment| &mut comment.body);
        replies.chain(inline).chain(of_all).collect()
    }

    fn kept(self, pull_request: &PullRequest, lines: &CommentableLines) -> (Self, Vec<Dropped>) {
        let (thread_replies, mut dropped) = keep_replies(self.thread_replies, pull_request);
        let (new_inline_comments, of_lines) = keep_inline(self.new_inline_comments, pull_request, lines);
        let (top_level_comments, of_all) = keep_top_level(self.top_level_comments, pull_request);
        dropped.extend(of_lines.into_iter().chain(of_all));
        (Self { thread_replies, new_inline_comments, top_level_comments }, dropped)
    }

    fn counts(&self, commits: usize) -> Counts {
        Counts {
            commits,
            thread_replies: self.thread_replies.len(),
            inline_comments: self.new_inline_comments.len(),
            top_level_comments: self.top_level_comments.len(),
        }
    }

    fn files(&self, _: &CommitId, commits: Commits) -> Result<ResultFiles> {
        ResultFiles::of_implement(self, commits.made)
    }

    fn sayings(&self, tip: &CommitId) -> Vec<Saying> {
        let comments: Vec<LineComment> = self.new_inline_comments.iter().map(line_comment).collect();
        let review = (!comments.is_empty())
            .then(|| Saying::Review(NewReview { commit: tip.clone(), body: String::new(), comments }));
        let of_all = self.top_level_comments.iter().map(|comment| Saying::Comment(comment.body.clone()));
        self.thread_replies.iter().map(reply).chain(review).chain(of_all).collect()
    }
}

impl sealed::Report for UpdateBranchOutput {
    const ABOUT: About = About::WhatWasMade;

    fn texts(&mut self) -> Vec<&mut String> {
        vec![&mut self.comment]
    }

    fn kept(self, _: &PullRequest, _: &CommentableLines) -> (Self, Vec<Dropped>) {
        (self, Vec::new())
    }

    fn counts(&self, commits: usize) -> Counts {
        Counts { commits, top_level_comments: 1, ..Counts::default() }
    }

    fn files(&self, _: &CommitId, commits: Commits) -> Result<ResultFiles> {
        Ok(ResultFiles::of_update_branch(self, usize::from(commits.is_ahead)))
    }

    fn sayings(&self, _: &CommitId) -> Vec<Saying> {
        vec![Saying::Comment(self.comment.clone())]
    }
}

fn reply(reply: &ThreadReply) -> Saying {
    Saying::Reply { comment: CommentId::new(&reply.comment_id), body: reply.body.clone() }
}

fn line_comment(comment: &InlineComment) -> LineComment {
    LineComment { path: comment.path.clone(), line: comment.line, body: comment.body.clone() }
}
