//! Who holds a lock, as a lock file says it.

use serde::{Deserialize, Serialize};

use crate::process::ProcessIdentity;

/// What a lock file says about its holder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Holder {
    /// The process.
    #[serde(flatten)]
    pub(crate) process: ProcessIdentity,
    /// The run, or another word for what is done under the lock.
    pub(crate) run: String,
    /// The branch, if the lock is one of a branch.
    #[serde(default)]
    pub(crate) branch: Option<String>,
    /// When the lock was taken.
    pub(crate) since: String,
}

impl Holder {
    /// Describes this process.
    pub(crate) fn this_process(run: &str, branch: Option<&str>) -> Self {
        Self {
            process: ProcessIdentity::own(),
            run: run.to_owned(),
            branch: branch.map(str::to_owned),
            since: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        }
    }

    /// Says what it does, for somebody who has to wait.
    pub(crate) fn says(&self) -> String {
        format!("run `{}` (process {}) has worked on it since {}", self.run, self.process.pid, self.since)
    }

    /// Tells whether the process that took the lock is still there.
    pub(crate) fn is_alive(&self) -> bool {
        self.process.is_alive()
    }
}
