//! Time limits of the steps around the agent: worktree, copies, sandbox, hooks, prompt, commits.
//!
//! The limits of the agent itself are options of the run; see `deadline`.

use std::time::Duration;

use crate::error::{Error, ErrorKind, Result};

/// The longest limit: what is longer is as good as none, and no clock could tell its end.
const LONGEST: Duration = Duration::from_secs(10 * 365 * 24 * 60 * 60);

/// Limits the steps that a run takes around its agent.
///
/// A step that takes longer is ended, with every process it started, and fails with
/// [`ErrorKind::StepTimeout`](crate::ErrorKind::StepTimeout). A `total_timeout` of the run counts beside them. None is zero,
/// and none is longer than ten years.
///
/// | limit | default | of |
/// |---|---|---|
/// | [`worktree`](Self::worktree) | 600 s | making one worktree |
/// | [`copy_to_worktree`](Self::copy_to_worktree) | 60 s | copying all the paths of one worktree |
/// | [`sandbox_start`](Self::sandbox_start) | 120 s | making one sandbox, and bringing it up to date each time |
/// | [`hook`](Self::hook) | 60 s | each hook that sets none itself |
/// | [`prompt_expression`](Self::prompt_expression) | 30 s | each shell expression of a prompt |
/// | [`session_transfer`](Self::session_transfer) | 60 s | bringing one session into a sandbox, or out of it |
/// | [`commit_collection`](Self::commit_collection) | 30 s | collecting the commits of one iteration |
/// | [`merge_to_host`](Self::merge_to_host) | 30 s | merging what one iteration brought |
/// | [`sandbox_close`](Self::sandbox_close) | 30 s | ending one sandbox |
///
/// ```
/// use std::time::Duration;
/// use sandcastle_core::Timeouts;
///
/// let timeouts = Timeouts::default().hook(Duration::from_secs(300)).merge_to_host(Duration::from_secs(120));
/// # let _ = timeouts;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "limits do nothing until they are part of the options of a run"]
pub struct Timeouts {
    pub(super) worktree: Duration,
    pub(super) copy_to_worktree: Duration,
    pub(super) sandbox_start: Duration,
    pub(super) hook: Duration,
    pub(super) prompt_expression: Duration,
    pub(super) session_transfer: Duration,
    pub(super) commit_collection: Duration,
    pub(super) merge_to_host: Duration,
    pub(super) sandbox_close: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self {
            // The checkout of a huge repository takes minutes, and more on a slow disk.
            worktree: seconds(600),
            copy_to_worktree: seconds(60),
            sandbox_start: seconds(120),
            hook: seconds(60),
            prompt_expression: seconds(30),
            session_transfer: seconds(60),
            commit_collection: seconds(30),
            merge_to_host: seconds(30),
            sandbox_close: seconds(30),
        }
    }
}

impl Timeouts {
    /// Starts with the defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how long it may take to make a worktree.
    pub fn worktree(mut self, limit: Duration) -> Self {
        self.worktree = limit.min(LONGEST);
        self
    }

    /// Sets how long it may take to copy all the paths that a worktree gets.
    pub fn copy_to_worktree(mut self, limit: Duration) -> Self {
        self.copy_to_worktree = limit.min(LONGEST);
        self
    }

    /// Sets how long it may take to make a sandbox.
    pub fn sandbox_start(mut self, limit: Duration) -> Self {
        self.sandbox_start = limit.min(LONGEST);
        self
    }

    /// Sets how long each hook may take that sets no limit itself.
    pub fn hook(mut self, limit: Duration) -> Self {
        self.hook = limit.min(LONGEST);
        self
    }

    /// Sets how long each shell expression of a prompt may take.
    pub fn prompt_expression(mut self, limit: Duration) -> Self {
        self.prompt_expression = limit.min(LONGEST);
        self
    }

    /// Sets how long it may take to bring a session into a sandbox, or out of it.
    pub fn session_transfer(mut self, limit: Duration) -> Self {
        self.session_transfer = limit.min(LONGEST);
        self
    }

    /// Sets how long it may take to collect the commits of an iteration.
    pub fn commit_collection(mut self, limit: Duration) -> Self {
        self.commit_collection = limit.min(LONGEST);
        self
    }

    /// Sets how long it may take to merge what an iteration brought.
    pub fn merge_to_host(mut self, limit: Duration) -> Self {
        self.merge_to_host = limit.min(LONGEST);
        self
    }

    /// Sets how long it may take to end a sandbox.
    pub fn sandbox_close(mut self, limit: Duration) -> Self {
        self.sandbox_close = limit.min(LONGEST);
        self
    }

    /// Checks that every limit is longer than nothing.
    pub(super) fn check(&self) -> Result<()> {
        match self.named().into_iter().find(|(_, limit)| limit.is_zero()) {
            None => Ok(()),
            Some((name, _)) => Err(Error::new(
                ErrorKind::InvalidOptions,
                format!("use a limit `{name}` of zero in the timeouts"),
            )
            .with_hint("a limit is longer than nothing")),
        }
    }

    fn named(&self) -> [(&'static str, Duration); 9] {
        let Self {
            worktree,
            copy_to_worktree,
            sandbox_start,
            hook,
            prompt_expression,
            session_transfer,
            commit_collection,
            merge_to_host,
            sandbox_close,
        } = *self;
        [
            ("worktree", worktree),
            ("copy_to_worktree", copy_to_worktree),
            ("sandbox_start", sandbox_start),
            ("hook", hook),
            ("prompt_expression", prompt_expression),
            ("session_transfer", session_transfer),
            ("commit_collection", commit_collection),
            ("merge_to_host", merge_to_host),
            ("sandbox_close", sandbox_close),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn w_48_every_limit_can_be_set_and_none_to_zero() {
        type Set = fn(Timeouts, Duration) -> Timeouts;
        let setters: [(&str, Set); 9] = [
            ("worktree", Timeouts::worktree),
            ("copy_to_worktree", Timeouts::copy_to_worktree),
            ("sandbox_start", Timeouts::sandbox_start),
            ("hook", Timeouts::hook),
            ("prompt_expression", Timeouts::prompt_expression),
            ("session_transfer", Timeouts::session_transfer),
            ("commit_collection", Timeouts::commit_collection),
            ("merge_to_host", Timeouts::merge_to_host),
            ("sandbox_close", Timeouts::sandbox_close),
        ];
        Timeouts::default().check().unwrap();
        for (name, set) in setters {
            let limit = Duration::from_millis(1);
            let set_to = |limit| set(Timeouts::default(), limit);
            assert!(set_to(limit).named().contains(&(name, limit)), "{name}");
            set_to(limit).check().unwrap();
            assert!(set_to(Duration::MAX).named().contains(&(name, LONGEST)), "{name}");
            let error = set_to(Duration::ZERO).check().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidOptions);
            assert!(error.to_string().contains(&format!("`{name}`")), "{error}");
        }
    }
}
