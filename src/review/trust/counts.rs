//! How much came of work on a pull request, in four numbers.

use std::fmt;

use serde::Serialize;

/// Counts what came of work on a pull request, after what was not true was left out.
///
/// # Examples
/// ```
/// use sandcastle::review::Counts;
///
/// let counts = Counts { commits: 1, inline_comments: 2, ..Counts::default() };
/// assert_eq!(counts.to_string(), "1 commit, 0 thread replies, 2 inline comments, 0 top-level comments");
/// assert!(!counts.is_nothing());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// The commits that were made.
    pub commits: usize,
    /// The replies in threads.
    pub thread_replies: usize,
    /// The comments on lines.
    pub inline_comments: usize,
    /// The comments on the pull request as a whole.
    pub top_level_comments: usize,
}

impl Counts {
    /// Tells whether nothing came of it.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = |count: usize, one: &str, more: &str| match count {
            1 => format!("1 {one}"),
            _ => format!("{count} {more}"),
        };
        write!(
            f,
            "{}, {}, {}, {}",
            counted(self.commits, "commit", "commits"),
            counted(self.thread_replies, "thread reply", "thread replies"),
            counted(self.inline_comments, "inline comment", "inline comments"),
            counted(self.top_level_comments, "top-level comment", "top-level comments"),
        )
    }
}
