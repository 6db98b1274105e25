//! The steps around the agent, with real processes on this host.

mod expansion;
mod hooks;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use super::deadline::Limits;
use super::shell::{Bounds, Shell};
use super::timeouts::Timeouts;
use crate::sandbox::{NoSandbox, SandboxHandle, SandboxProvider, SandboxRequest};

/// A folder, a sandbox around it, and limits.
struct Bench {
    folder: tempfile::TempDir,
    sandbox: Arc<dyn SandboxHandle>,
    env: Vec<(OsString, OsString)>,
    timeouts: Timeouts,
    limits: Limits,
    cancel: CancellationToken,
}

impl Bench {
    async fn new() -> Self {
        Self::with(NoSandbox::new()).await
    }

    async fn with(provider: NoSandbox) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let sandbox = provider.create(SandboxRequest::new(folder.path())).await.unwrap();
        let limit = Duration::from_secs(60);
        Self {
            sandbox,
            env: Vec::new(),
            timeouts: Timeouts::default(),
            limits: Limits::new(limit, limit, None),
            cancel: CancellationToken::new(),
            folder,
        }
    }

    fn inside(&self) -> Shell<'_> {
        Shell { sandbox: Some(self.sandbox.as_ref()), cwd: self.folder.path(), env: &self.env }
    }

    fn host(&self) -> Shell<'_> {
        Shell { sandbox: None, ..self.inside() }
    }

    fn bounds(&self) -> Bounds<'_> {
        Bounds { timeouts: &self.timeouts, limits: &self.limits, cancel: &self.cancel }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// Waits until the processes whose ids are in these files run.
    async fn wait_for(&self, files: &[&str]) {
        let begun = Instant::now();
        while !files.iter().all(|file| pid_in(&self.path(file)).is_some_and(is_alive)) {
            assert!(begun.elapsed() < Duration::from_secs(20), "{files:?} did not come");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    #[track_caller]
    fn assert_gone(&self, files: &[&str]) {
        for file in files {
            let pid = pid_in(&self.path(file)).unwrap_or_else(|| panic!("`{file}` names no process"));
            assert!(!is_alive(pid), "process {pid} of `{file}` lives");
        }
    }
}

/// A command that starts a child, notes the ids of both in files, and hangs.
fn hanging(name: &str) -> String {
    format!("echo $$ > {name}.own; sleep 1000 & echo $! > {name}.child; wait")
}

fn pid_in(file: &Path) -> Option<u32> {
    std::fs::read_to_string(file).ok()?.trim().parse().ok()
}

fn is_alive(pid: u32) -> bool {
    // A process that is dead and not yet waited for by process 1 is gone too.
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| stat.rsplit_once(')').is_some_and(|(_, fields)| !fields.starts_with(" Z")))
}
