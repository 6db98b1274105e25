//! Where the run log goes, and how much is in it.

use std::path::PathBuf;

/// Says where the run log goes.
///
/// ```
/// use sandcastle_core::Logging;
///
/// let logging = Logging::file("logs/nightly.log").verbose();
/// # let _ = logging;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logging {
    pub(super) destination: Destination,
    pub(super) detail: Detail,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Destination {
    /// Into this file; an existing one grows.
    File(PathBuf),
    /// To the standard error of this process.
    Terminal,
    /// Nowhere.
    Off,
}

/// How much is told of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Detail {
    /// What happens.
    Events,
    /// Also every line that an agent prints, as it is.
    RawLines,
}

impl Logging {
    /// Writes the run log to the end of a file; missing folders are made.
    ///
    /// A new file and new folders are the user's own: nobody else may read them.
    #[must_use]
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self::to(Destination::File(path.into()))
    }

    /// Writes the run log to the standard error of this process.
    ///
    /// On a terminal a line below it shows how long the run goes on, which agent process it is at, what was used and which tool
    /// was called last. Elsewhere, and where `TERM` is `dumb` or not set, there are plain lines only; `NO_COLOR` is heeded.
    #[must_use]
    pub fn terminal() -> Self {
        Self::to(Destination::Terminal)
    }

    /// Writes no run log.
    #[must_use]
    pub fn off() -> Self {
        Self::to(Destination::Off)
    }

    /// Writes every line that the agent prints too, as it is but for secrets, and tells it as
    /// [`RunEvent::RawLine`](crate::RunEvent::RawLine).
    #[must_use]
    pub fn verbose(mut self) -> Self {
        self.detail = Detail::RawLines;
        self
    }

    fn to(destination: Destination) -> Self {
        Self { destination, detail: Detail::Events }
    }
}
