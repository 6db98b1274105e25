//! Pull requests: an agent reads one, works on it, and says what is to be said there.
//!
//! `outputs` are the types that agents answer with, derived like a user's own.

mod outputs;

pub use sandcastle_core::forge::{Forge, PullRequest};
pub use sandcastle_core::review::{
    Checkout, CheckoutOptions, CommentableLines, Diff, DiffFile, MergeOutlook,
};

pub use self::outputs::{
    ExploreOutput, ImplementOutput, InlineComment, ReviewOutput, ThreadReply, TopLevelComment,
    UpdateBranchOutput,
};
