//! A sandbox provider of one's own, that shares this host's files: each sandbox has a home of its own, and a small
//! environment. It is held against what every sandbox has to do, and an agent is run in it.
//!
//! `cargo run --example sandbox_provider`
#![expect(clippy::print_stdout, reason = "an example shows its result")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sandcastle::sandbox::{
    BoxFuture, Inherit, Program, Running, SandboxHandle, SandboxProvider, SandboxRequest, Sharing,
};
use sandcastle::testing::{ScratchRepo, Script, Scripted, Turn, sandbox_conformance};
use sandcastle::{Error, ErrorKind, Logging, Result, RunOptions};
use tempfile::TempDir;

/// Makes sandboxes with a home of their own.
#[derive(Debug)]
struct OwnHome;

impl SandboxProvider for OwnHome {
    fn name(&self) -> &str {
        "own-home"
    }

    // Programs work in the work tree itself, and git in the repository itself.
    fn sharing(&self) -> Sharing {
        Sharing::Host
    }

    fn create(&self, request: SandboxRequest) -> BoxFuture<'_, Result<Arc<dyn SandboxHandle>>> {
        Box::pin(async move {
            let home = TempDir::new()
                .map_err(|error| Error::new(ErrorKind::Sandbox, "make a home").with_source(error))?;
            Ok(Arc::new(Room { home, worktree: request.worktree }) as Arc<dyn SandboxHandle>)
        })
    }
}

/// One sandbox. Its home goes with it.
#[derive(Debug)]
struct Room {
    home: TempDir,
    worktree: PathBuf,
}

impl SandboxHandle for Room {
    fn worktree(&self) -> &Path {
        &self.worktree
    }

    // Sessions of an agent are found here.
    fn home(&self) -> Option<PathBuf> {
        Some(self.home.path().to_path_buf())
    }

    fn start(&self, mut program: Program) -> BoxFuture<'_, std::io::Result<Running>> {
        program.inherit = Inherit::Nothing;
        // What is set for the program counts more than what is set here.
        let own = [("PATH", "/usr/bin:/bin".into()), ("HOME", self.home.path().as_os_str().to_owned())];
        program.env.splice(0..0, own.map(|(key, value)| (key.into(), value)));
        program.cwd.get_or_insert_with(|| self.worktree.clone());
        Box::pin(async move { Running::start(&program) })
    }

    fn close(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(async { Ok(()) })
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    sandbox_conformance(OwnHome).await?;
    println!("it does what every sandbox does");

    let repository = ScratchRepo::new().await?;
    let turn = Turn::new().shell("echo \"home: $HOME\" >where.txt").commit("Say where").say("done");
    let options = RunOptions::new(Scripted::new(Script::new().turn(turn)), OwnHome)
        .cwd(repository.path())
        .prompt("Where are you?")
        .logging(Logging::off());
    let result = sandcastle::run(options).await?;
    println!("{}: {}", result.commits[0].subject, repository.git(["show", "HEAD:where.txt"]).await?);
    Ok(())
}
