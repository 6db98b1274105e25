//! A provider of sandboxes that share no files with this host. Here the other machine is a folder of this one; a real one
//! would be reached by a client, see `Running::remote`. The work tree travels there and back as git bundles.
//!
//! `cargo run --example isolated_provider`
#![expect(clippy::print_stdout, reason = "an example shows its result")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sandcastle::sandbox::{
    BoxFuture, Inherit, Isolated, IsolatedHandle, IsolatedProvider, Owner, Program, Running,
};
use sandcastle::testing::{ScratchRepo, Script, Scripted, Turn, sandbox_conformance};
use sandcastle::{BranchStrategy, Error, ErrorKind, Logging, Result, RunOptions};
use tempfile::TempDir;

/// Makes sandboxes on a machine far away.
#[derive(Debug)]
struct Elsewhere;

impl IsolatedProvider for Elsewhere {
    fn name(&self) -> &str {
        "elsewhere"
    }

    // Whoever keeps a list of machines chooses one here; the owner says for whom.
    fn create(&self, _owner: Owner) -> BoxFuture<'_, Result<Arc<dyn IsolatedHandle>>> {
        Box::pin(async {
            let folder = TempDir::new()
                .map_err(|error| Error::new(ErrorKind::Sandbox, "rent a machine").with_source(error))?;
            let workspace = folder.path().join("work");
            Ok(Arc::new(Machine { folder, workspace }) as Arc<dyn IsolatedHandle>)
        })
    }
}

/// A machine that was rented. Dropping it gives it back.
#[derive(Debug)]
struct Machine {
    folder: TempDir,
    workspace: PathBuf,
}

impl IsolatedHandle for Machine {
    // Not there yet: it is made when the work tree comes.
    fn workspace(&self) -> &Path {
        &self.workspace
    }

    fn home(&self) -> Option<PathBuf> {
        Some(self.folder.path().to_path_buf())
    }

    fn start(&self, mut program: Program) -> BoxFuture<'_, std::io::Result<Running>> {
        program.inherit = Inherit::Nothing;
        let own = [("PATH", "/usr/bin:/bin".into()), ("HOME", self.folder.path().as_os_str().to_owned())];
        program.env.splice(0..0, own.map(|(key, value)| (key.into(), value)));
        Box::pin(async move { Running::start(&program) })
    }

    fn close(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(async { Ok(()) })
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    sandbox_conformance(Isolated::new(Elsewhere)).await?;
    println!("it does what every sandbox does");

    let repository = ScratchRepo::new().await?;
    let turn = Turn::new().shell("pwd >where.txt").commit("Say where").say("done");
    let options = RunOptions::new(Scripted::new(Script::new().turn(turn)), Isolated::new(Elsewhere))
        .cwd(repository.path())
        .branch_strategy(BranchStrategy::merge_to_head())
        .prompt("Where are you?")
        .logging(Logging::off());
    let result = sandcastle::run(options).await?;
    let place = repository.git(["show", "main:where.txt"]).await?;
    println!(
        "{} on main, made in a folder of its own: {}",
        result.commits[0].subject,
        place.ends_with("/work")
    );
    Ok(())
}
