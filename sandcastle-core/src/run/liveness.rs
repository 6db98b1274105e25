//! How long an agent may be silent and work, and what counts as a sign of life: the options, and the limits they make.

use std::time::Duration;

use super::deadline::Limits;
use super::options::{RunOptions, Settings};

/// How long an agent that is at work may be silent unless it is said otherwise.
const DEFAULT_IDLE_TIMEOUT: Duration = Duration::from_secs(600);

/// The same, of an agent that has finished.
const DEFAULT_COMPLETION_TIMEOUT: Duration = Duration::from_secs(60);

/// Says what counts as a sign of life of an agent that is at work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Liveness {
    /// What it prints on its standard output, its use of tools included.
    #[default]
    Output,
    /// That, and work of the processor: when the idle timeout is reached, the processes of the agent are watched for a second, and
    /// if they use a tenth of a processor or more, it may be silent for as long again.
    ///
    /// For builds and tests that print nothing for long. It is seen on Linux, without a sandbox and in bubblewrap; in a
    /// container or elsewhere only output counts. An agent that turns in circles lives, so set a
    /// [`total_timeout`](RunOptions::total_timeout) as well.
    Processor,
}

impl Settings {
    /// Returns the limits, which begin to count now.
    pub(super) fn limits(&self) -> Limits {
        let idle = self.idle_timeout.unwrap_or(DEFAULT_IDLE_TIMEOUT);
        let completion = self.completion_timeout.unwrap_or(DEFAULT_COMPLETION_TIMEOUT);
        Limits { liveness: self.liveness, ..Limits::new(idle, completion, self.total_timeout) }
    }
}

impl<O> RunOptions<O> {
    /// Sets how long the agent may print nothing before it is ended. Waiting for the model does not count as printing; what else
    /// counts is said by [`liveness`](Self::liveness).
    pub fn idle_timeout(mut self, limit: Duration) -> Self {
        self.settings.idle_timeout = Some(limit);
        self
    }

    /// Sets what counts as a sign of life before the idle timeout ends the agent: [`Liveness::Output`] unless it is set.
    pub fn liveness(mut self, liveness: Liveness) -> Self {
        self.settings.liveness = liveness;
        self
    }

    /// Sets how long an agent that has finished may go on without printing before it is ended; the run is a success.
    ///
    /// It has finished when its turn is over, and when it has said a completion signal and neither thought nor used a tool since.
    pub fn completion_timeout(mut self, limit: Duration) -> Self {
        self.settings.completion_timeout = Some(limit);
        self
    }

    /// Sets how long the whole run may take, retries included.
    pub fn total_timeout(mut self, limit: Duration) -> Self {
        self.settings.total_timeout = Some(limit);
        self
    }
}
