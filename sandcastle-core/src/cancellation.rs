//! What ends a run from outside, and why: a token, and a reason that whoever cancels may give.
//!
//! The token is what everything waits for; the reason is only ever read for the words of an error.

use std::sync::{Arc, OnceLock};

use tokio_util::sync::CancellationToken;

use crate::error::Error;

/// Ends a run from outside and says why.
///
/// Clones are one and the same. A [`CancellationToken`] does in its place wherever one is taken, and gives no reason.
///
/// ```
/// use sandcastle_core::Cancellation;
///
/// let stop = Cancellation::new();
/// // Beside `RunOptions::cancel(stop.clone())`:
/// stop.cancel("the build was superseded");
/// assert!(stop.is_cancelled());
/// assert_eq!(stop.reason(), Some("the build was superseded"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Cancellation {
    token: CancellationToken,
    reason: Arc<OnceLock<String>>,
}

impl Cancellation {
    /// Creates one that nobody has cancelled.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends what it was given to, for this reason. The first reason counts; one that comes after an end without any does not.
    ///
    /// The error of the run, of the kind [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled), says the reason on one line, with
    /// masks over secrets.
    pub fn cancel(&self, reason: impl Into<String>) {
        if !self.token.is_cancelled() {
            // Whoever was first has said it.
            let _ = self.reason.set(reason.into());
        }
        self.token.cancel();
    }

    /// Tells whether it was cancelled, with a reason or without one.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.token.is_cancelled()
    }

    /// Returns the reason, as it was given.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        self.reason.get().map(String::as_str)
    }

    /// Returns the token, for what is to end together with it.
    #[must_use]
    pub fn token(&self) -> &CancellationToken {
        &self.token
    }

    /// Adds the reason to an error which says that something was cancelled.
    pub(crate) fn explain(&self, error: Error) -> Error {
        match self.reason().filter(|_| error.is_cancelled()) {
            Some(reason) => error.because(&on_one_line(reason)),
            None => error,
        }
    }
}

impl From<CancellationToken> for Cancellation {
    fn from(token: CancellationToken) -> Self {
        Self { token, reason: Arc::default() }
    }
}

/// Puts a text on one line. Messages have no more.
fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn the_first_reason_counts_and_reaches_errors_of_that_kind_alone() {
        let stop = Cancellation::new();
        stop.clone().cancel("a tab\nwas closed");
        stop.cancel("too late");
        assert_eq!(stop.reason(), Some("a tab\nwas closed"));
        let error = |kind| stop.explain(Error::new(kind, "finish it")).to_string();
        assert_eq!(error(ErrorKind::Cancelled), "finish it: a tab was closed");
        assert_eq!(error(ErrorKind::IdleTimeout), "finish it");
    }

    #[test]
    fn a_token_gives_no_reason_and_none_comes_after_it() {
        let token = CancellationToken::new();
        let stop = Cancellation::from(token.clone());
        token.cancel();
        stop.cancel("too late");
        assert_eq!((stop.is_cancelled(), stop.reason()), (true, None));
        let error = stop.explain(Error::new(ErrorKind::Cancelled, "finish it"));
        assert_eq!(error.to_string(), "finish it");
    }
}
