//! The `sandcastle` command.
//!
//! `cli` says what can be typed, `commands` does it, `reporter` shows what happens, `exit` says how it ended. `scaffold`,
//! `images` and `doctor` are what the command can do beside running agents. This is the only place that writes to the
//! terminal, reads the environment or ends the process.

mod cli;
mod commands;
mod doctor;
mod exit;
mod failure;
mod images;
mod programs;
mod reporter;
mod scaffold;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

use crate::cli::{Cli, Format};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::reporter::Reporter;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let cli = match Cli::try_parse_from(&arguments) {
        Ok(cli) => cli,
        Err(error) => return refuse(&error, &arguments),
    };
    let reporter = Reporter::new(cli.format, cli.verbosity(), cli.color);
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return reporter.failed(&Failure::io("start the runtime", error)).into(),
    };
    let exit = match runtime.block_on(commands::run(cli.command, &reporter)) {
        Ok(exit) => exit,
        Err(failure) => reporter.failed(&failure),
    };
    exit.into()
}

/// Answers a command line that cannot be understood, or one that asks for help.
fn refuse(error: &clap::Error, arguments: &[OsString]) -> ExitCode {
    if !error.use_stderr() {
        let _ = error.print();
        return Exit::Done.into();
    }
    let json = arguments.windows(2).any(|pair| pair[0] == "--format" && pair[1] == "json")
        || arguments.iter().any(|argument| argument == "--format=json");
    if json {
        let message = error.render().to_string();
        let failure = Failure::usage(message.trim_start_matches("error: ").trim_end());
        return Reporter::new(Format::Json, reporter::Verbosity::Normal, cli::Color::Never)
            .failed(&failure)
            .into();
    }
    let _ = error.print();
    Exit::Usage.into()
}
