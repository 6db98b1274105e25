//! Why the reading of a process ended.

use std::process::ExitStatus;

use super::deadline::{CutOff, Silent};
use crate::budget::Spent;

/// Why the reading of a process ended.
pub(super) enum End {
    Exited(ExitStatus),
    Finished,
    Idle,
    OutOfTime,
    OverBudget(Spent),
    Cancelled,
    Lost(std::io::Error),
    /// The program has dropped the schema that its answer was to be held to.
    InVain,
}

impl From<CutOff> for End {
    fn from(cut_off: CutOff) -> Self {
        match cut_off {
            CutOff::Cancelled => Self::Cancelled,
            CutOff::OutOfTime => Self::OutOfTime,
        }
    }
}

impl From<Silent> for End {
    fn from(silent: Silent) -> Self {
        match silent {
            Silent::AtWork => Self::Idle,
            Silent::AfterTheEnd => Self::Finished,
        }
    }
}
