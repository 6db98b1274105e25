//! Which process it is, in words that are still true when its number belongs to another.

use serde::{Deserialize, Serialize};

/// Identifies a process over the restarts of the system: its number, when it was started, and in which boot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProcessIdentity {
    pub(crate) pid: u32,
    /// In ticks since the system was started; absent where there is no `/proc`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) start: Option<u64>,
    /// The id that the kernel gave to this boot; absent where there is no `/proc`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) boot: Option<String>,
}

impl ProcessIdentity {
    /// Identifies this process.
    pub(crate) fn own() -> Self {
        Self::of(std::process::id())
    }

    /// Identifies the process that has this number now.
    pub(crate) fn of(pid: u32) -> Self {
        Self { pid, start: start_of(pid), boot: boot() }
    }

    /// Tells whether this very process lives. Where that cannot be known, any process of its number counts.
    pub(crate) fn is_alive(&self) -> bool {
        if self.boot.is_some() && boot().is_some_and(|now| Some(now) != self.boot) {
            return false;
        }
        match self.start {
            Some(start) if boot().is_some() => start_of(self.pid) == Some(start),
            _ => is_there(self.pid),
        }
    }
}

fn is_there(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    // Not being allowed to signal a process means that it is there.
    pid.is_some_and(|pid| rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
}

/// Returns when a process was started that has not ended; one that nobody has waited for has.
#[cfg(target_os = "linux")]
fn start_of(pid: u32) -> Option<u64> {
    let pid = i32::try_from(pid).ok()?;
    super::proc_fs::stat(pid).filter(super::proc_fs::Stat::is_alive).map(|stat| stat.start)
}

#[cfg(not(target_os = "linux"))]
fn start_of(_: u32) -> Option<u64> {
    None
}

fn boot() -> Option<String> {
    static BOOT: std::sync::OnceLock<Option<String>> = std::sync::OnceLock::new();
    let read = || {
        let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        Some(id.trim().to_owned())
    };
    BOOT.get_or_init(read).clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_178_a_number_that_was_used_again_is_another_process() {
        let own = ProcessIdentity::own();
        assert!(own.is_alive());
        if own.start.is_some() {
            assert!(!ProcessIdentity { start: own.start.map(|start| start + 1), ..own.clone() }.is_alive());
            assert!(!ProcessIdentity { boot: Some("another".to_owned()), ..own.clone() }.is_alive());
        }
        assert!(ProcessIdentity { start: None, boot: None, ..own }.is_alive());
        for pid in [u32::MAX, i32::MAX as u32, 0] {
            assert!(!ProcessIdentity { pid, start: None, boot: None }.is_alive(), "{pid}");
            assert!(!ProcessIdentity { pid, start: Some(1), boot: None }.is_alive(), "{pid}");
        }
    }
}
