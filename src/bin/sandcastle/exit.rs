//! How the command ends.

use std::process::ExitCode;

/// The exit codes, which scripts may rely on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It is done.
    Done = 0,
    /// It failed.
    Failed = 1,
    /// It was not begun: bad usage, or an entry check that failed.
    Usage = 2,
    /// It ran, and no valid structured output was obtained.
    NoOutput = 3,
    /// It was interrupted.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
