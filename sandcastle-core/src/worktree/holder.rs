//! Who holds a lock, and whether that process is still alive.
//!
//! A process id alone says little: ids are used again, and a reboot begins anew. So the moment at which the process began
//! and the boot it belongs to are written down too, where the system tells (Linux does, in `/proc`).

use std::fs;

use rustix::process::{Pid, test_kill_process};
use serde::{Deserialize, Serialize};

/// What a lock file says about its holder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Holder {
    /// The process.
    pub(crate) pid: u32,
    /// When it began, in clock ticks since the boot.
    #[serde(default)]
    pub(crate) started: Option<u64>,
    /// The boot it belongs to.
    #[serde(default)]
    pub(crate) boot: Option<String>,
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
        let pid = std::process::id();
        Self {
            pid,
            started: state_of(pid).map(|state| state.started),
            boot: boot(),
            run: run.to_owned(),
            branch: branch.map(str::to_owned),
            since: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        }
    }

    /// Tells whether the process that took the lock is still there.
    pub(crate) fn is_alive(&self) -> bool {
        if self.boot.is_some() && boot().is_some_and(|boot| Some(boot) != self.boot) {
            return false;
        }
        let Some(pid) = i32::try_from(self.pid).ok().and_then(Pid::from_raw) else { return false };
        // Not being allowed to signal a process means that it is there.
        if test_kill_process(pid).is_err_and(|error| error == rustix::io::Errno::SRCH) {
            return false;
        }
        match (state_of(self.pid), self.started) {
            (Some(now), _) if now.is_dead => false,
            (Some(now), Some(then)) => now.started == then,
            _ => true,
        }
    }
}

struct State {
    started: u64,
    is_dead: bool,
}

fn state_of(pid: u32) -> Option<State> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is the name of the program, in parentheses, and may hold anything.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace();
    let is_dead = matches!(fields.next()?, "Z" | "X");
    let started = fields.nth(18)?.parse().ok()?;
    Some(State { started, is_dead })
}

fn boot() -> Option<String> {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_alive() {
        assert!(Holder::this_process("r", None).is_alive());
    }

    #[test]
    fn case_178_a_dead_a_reused_and_a_rebooted_process_are_not() {
        let this = Holder::this_process("r", None);
        assert!(!Holder { pid: u32::MAX, ..this.clone() }.is_alive());
        assert!(!Holder { pid: 0, ..this.clone() }.is_alive());
        assert!(!Holder { pid: i32::MAX as u32, ..this.clone() }.is_alive());
        if this.started.is_some() {
            assert!(!Holder { started: Some(1), ..this.clone() }.is_alive());
            assert!(!Holder { boot: Some("another".to_owned()), ..this }.is_alive());
        }
    }
}
