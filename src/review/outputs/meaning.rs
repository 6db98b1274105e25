//! What the schemas of the outputs cannot say, and would be no use to anybody: texts that are blank, and paths that lead out of
//! the repository.

use super::{ExploreOutput, ImplementOutput, InlineComment, ReviewOutput, ThreadReply, UpdateBranchOutput};
use crate::Problem;

type Verdict = Result<(), Vec<Problem>>;

pub(super) fn review(output: &ReviewOutput) -> Verdict {
    let mut faults = Faults::default();
    faults.blank("/summary", &output.summary);
    faults.in_comments("/inlineComments", &output.inline_comments);
    faults.in_replies("/replies", &output.replies);
    faults.verdict()
}

pub(super) fn implement(output: &ImplementOutput) -> Verdict {
    let mut faults = Faults::default();
    faults.in_replies("/threadReplies", &output.thread_replies);
    faults.in_comments("/newInlineComments", &output.new_inline_comments);
    for (index, comment) in output.top_level_comments.iter().enumerate() {
        faults.blank(&format!("/topLevelComments/{index}/body"), &comment.body);
    }
    faults.verdict()
}

pub(super) fn explore(output: &ExploreOutput) -> Verdict {
    comment(&output.comment)
}

pub(super) fn update_branch(output: &UpdateBranchOutput) -> Verdict {
    comment(&output.comment)
}

fn comment(comment: &str) -> Verdict {
    let mut faults = Faults::default();
    faults.blank("/comment", comment);
    faults.verdict()
}

/// Everything that is wrong with one output.
#[derive(Default)]
struct Faults(Vec<Problem>);

impl Faults {
    fn in_comments(&mut self, list: &str, comments: &[InlineComment]) {
        for (index, comment) in comments.iter().enumerate() {
            self.outside(&format!("{list}/{index}/path"), &comment.path);
            self.blank(&format!("{list}/{index}/body"), &comment.body);
        }
    }

    fn in_replies(&mut self, list: &str, replies: &[ThreadReply]) {
        for (index, reply) in replies.iter().enumerate() {
            self.blank(&format!("{list}/{index}/commentId"), &reply.comment_id);
            self.blank(&format!("{list}/{index}/body"), &reply.body);
        }
    }

    fn blank(&mut self, place: &str, text: &str) {
        if text.trim().is_empty() {
            self.0.push(Problem::new(place, "must not be blank"));
        }
    }

    fn outside(&mut self, place: &str, path: &str) {
        self.blank(place, path);
        if path.starts_with('/') {
            self.0.push(Problem::new(place, "must be relative to the root of the repository"));
        }
        if path.split('/').any(|part| part == "..") {
            self.0.push(Problem::new(
                place,
                "must not have `..` in it: it begins at the root of the repository",
            ));
        }
    }

    fn verdict(self) -> Verdict {
        if self.0.is_empty() { Ok(()) } else { Err(self.0) }
    }
}
