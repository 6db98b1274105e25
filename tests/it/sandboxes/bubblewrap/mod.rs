//! Sandboxes of bubblewrap. A test is skipped by name where `bwrap` is missing or forbidden.

mod agents;
mod files;
mod network;
mod processes;
mod runs;
mod terminal;

use std::path::Path;
use std::process::ExitStatus;
use std::sync::Arc;

use sandcastle::sandbox::{
    Bubblewrap, Output, Program, Running, SandboxHandle, SandboxProvider, SandboxRequest,
};
use tempfile::TempDir;

use crate::support::repository::Repository;
use crate::support::requirement::absent;

/// A sandbox around a repository.
struct Room {
    handle: Arc<dyn SandboxHandle>,
    repository: Repository,
}

/// What a program printed, and how it ended.
#[derive(Debug)]
struct Said {
    stdout: String,
    stderr: String,
    status: ExitStatus,
}

impl Said {
    /// Tells whether it ended with 0.
    fn went_well(&self) -> bool {
        self.status.success()
    }
}

impl Room {
    async fn new(provider: Bubblewrap) -> Option<Self> {
        Self::with(provider, Repository::new(), |request| request).await
    }

    /// Makes a sandbox; `None` where that is not possible.
    async fn with(
        provider: Bubblewrap,
        repository: Repository,
        ask: impl FnOnce(SandboxRequest) -> SandboxRequest,
    ) -> Option<Self> {
        let worktree = repository.path().canonicalize().unwrap();
        match provider.create(ask(SandboxRequest::new(worktree))).await {
            Ok(handle) => Some(Self { handle, repository }),
            Err(error) if error.to_string().contains("bwrap") => {
                absent("bubblewrap", &format!("{error:#}"));
                None
            }
            Err(error) if error.to_string().contains("socat") => {
                absent("bubblewrap", &format!("{error:#}"));
                None
            }
            Err(error) => panic!("{error:?}"),
        }
    }

    async fn start(&self, program: Program) -> std::io::Result<Running> {
        self.handle.start(program).await
    }

    async fn run(&self, program: Program) -> Said {
        said(self.start(program).await.unwrap()).await
    }

    /// Runs a shell script inside.
    async fn sh(&self, script: &str) -> Said {
        self.run(shell(script)).await
    }

    /// Runs a script that has to go well, and gives what it printed.
    async fn told(&self, script: &str) -> String {
        let said = self.sh(script).await;
        assert!(said.went_well(), "{script}: {said:?}");
        said.stdout.trim_end().to_owned()
    }
}

fn shell(script: &str) -> Program {
    Program::new("sh").args(["-c", script])
}

async fn said(mut running: Running) -> Said {
    let mut stdout = Vec::new();
    loop {
        match running.next().await.unwrap() {
            Output::Stdout(bytes) => stdout.extend_from_slice(bytes),
            Output::Exited(status) => {
                running.sweep().await;
                let (stdout, stderr) = (String::from_utf8(stdout).unwrap(), running.stderr().text());
                return Said { stdout, stderr, status };
            }
            _ => {}
        }
    }
}

/// Lists what is below a folder, by relative paths.
fn listing(folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        names.push(entry.file_name().into_string().unwrap());
    }
    names.sort();
    names
}

/// A folder on this host that has nothing to do with a sandbox.
fn elsewhere() -> TempDir {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("secret"), "hidden\n").unwrap();
    folder
}
