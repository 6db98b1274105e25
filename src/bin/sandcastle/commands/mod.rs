//! One file per command: its arguments become options, the library does the work.

mod ask;
mod container;
mod doctor;
mod extract;
mod images;
mod init;
mod interactive;
mod options;
mod output;
mod pr;
mod run;
mod runs;
mod schema;
mod signals;
mod terminal;
mod workflow;

use crate::cli::Command;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::reporter::Reporter;

/// Does what was asked for.
pub(crate) async fn run(command: Command, reporter: &Reporter) -> Result<Exit, Failure> {
    match command {
        Command::Run(args) => run::run(*args, reporter).await,
        Command::Extract(args) => extract::extract(&args, reporter),
        Command::Schema(command) => schema::schema(&command, reporter),
        Command::Workflow(command) => workflow::workflow(command, reporter).await,
        Command::Pr(command) => pr::pr(command, reporter).await,
        Command::Runs(command) => runs::runs(command, reporter).await,
        Command::Init(args) => init::init(*args, reporter).await,
        Command::Docker(command) => images::docker(command, reporter).await,
        Command::Podman(command) => images::podman(command, reporter).await,
        Command::Doctor => doctor::doctor(reporter).await,
        Command::Interactive(args) => interactive::interactive(*args, reporter).await,
    }
}
