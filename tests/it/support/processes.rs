//! Looks for processes by an argument that no other process has.

use std::fs;
use std::time::{Duration, Instant};

/// A number of seconds that only one test sleeps.
#[derive(Debug)]
pub(crate) struct UniqueSleep(String);

impl UniqueSleep {
    /// Makes one up.
    pub(crate) fn new() -> Self {
        use std::sync::atomic::{AtomicU32, Ordering};
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self(format!("1{:06}{:03}.25", std::process::id() % 1_000_000, number))
    }

    /// Returns the argument of `sleep`.
    pub(crate) fn seconds(&self) -> &str {
        &self.0
    }

    /// Counts the processes that sleep it.
    pub(crate) fn alive(&self) -> usize {
        let Ok(folder) = fs::read_dir("/proc") else { return 0 };
        folder
            .flatten()
            .filter_map(|entry| fs::read(entry.path().join("cmdline")).ok())
            .filter(|line| line.starts_with(b"sleep\0"))
            .filter(|line| line.split(|&byte| byte == 0).any(|word| word == self.0.as_bytes()))
            .count()
    }

    /// Waits until so many processes sleep it, 30 seconds at most.
    pub(crate) async fn wait_for(&self, count: usize) {
        let begun = Instant::now();
        while self.alive() != count {
            assert!(begun.elapsed() < Duration::from_secs(30), "{} sleepers, not {count}", self.alive());
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}
