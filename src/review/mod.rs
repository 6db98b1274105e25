//! Pull requests: an agent reads one, works on it, and says what is to be said there.
//!
//! `outputs` are the types that agents answer with, derived like a user's own, `extraction` words the prompt that asks for
//! them, `trust` keeps of them what is true of the pull request, and `files` writes it down. `flow` is the whole way, from the
//! number of a pull request to what is posted there; `prompts` has the templates of the work.
//!
//! # Examples
//! ```
//! use sandcastle::AgentOutput;
//! use sandcastle::review::ReviewOutput;
//!
//! let text = r#"I looked at it. <output>{
//!     "summary": "One thing to fix.",
//!     "inlineComments": [{ "file": "./src/main.rs", "lineRange": "120-135", "comment": "This is never closed." }]
//! }</output>"#;
//! let review = ReviewOutput::extract(text)?;
//! let comment = &review.inline_comments[0];
//! assert_eq!((comment.path.as_str(), comment.line), ("src/main.rs", 120));
//! assert!(review.replies.is_empty());
//! # Ok::<(), sandcastle::ExtractError>(())
//! ```

mod extraction;
mod files;
mod flow;
mod outputs;
mod trust;

pub use sandcastle_core::forge::{Forge, PullRequest};
pub use sandcastle_core::review::{
    Checkout, CheckoutOptions, CommentableLines, Diff, DiffFile, MergeOutlook, RemoteRepository,
};

pub use self::extraction::extraction_prompt;
pub use self::files::{ResultFiles, ResultFolder};
pub use self::flow::{Posting, PostingState, PullRequestOutput, PullRequestResult, PullRequestRun};
pub use self::outputs::{
    ExploreOutput, ImplementOutput, InlineComment, ReviewOutput, ThreadReply, TopLevelComment,
    UpdateBranchOutput,
};
pub use self::trust::{
    Counts, DropReason, Dropped, MAX_REMARKS, Remark, keep_inline, keep_replies, keep_top_level,
};
