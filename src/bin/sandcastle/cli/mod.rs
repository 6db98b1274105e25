//! What can be typed. Help texts are the comments of the fields.
//!
//! Here are the command itself and its small verbs; `run` and `interactive` share what `agent`, `site` and `prompt` have,
//! `value` reads the values that are more than a word. Nothing is looked up here.

mod agent;
mod container;
mod images;
mod init;
mod interactive;
mod pr;
mod prompt;
mod run;
mod runs;
mod site;
mod value;
mod workflow;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use sandcastle::output::lower::Dialect;

pub(crate) use self::agent::{AgentArgs, NetworkChoice, Sandbox, SessionArgs};
pub(crate) use self::container::ContainerArgs;
pub(crate) use self::images::{DockerCommand, ImageArgs, PodmanCommand};
pub(crate) use self::init::{InitArgs, SandboxChoice, Template, Tracker, word};
pub(crate) use self::interactive::InteractiveArgs;
pub(crate) use self::pr::{CommittingArgs, PrArgs, PrCommand};
pub(crate) use self::prompt::PromptArgs;
pub(crate) use self::run::{LimitArgs, RunArgs, Strategy};
pub(crate) use self::runs::RunsCommand;
pub(crate) use self::site::{BranchArgs, SiteArgs, Step};
pub(crate) use self::value::BranchChoice;
pub(crate) use self::workflow::{Picture, WorkflowCommand, WorkflowRunArgs};
use crate::reporter::Verbosity;

/// The heading of the options that every command has.
const EVERYWHERE: &str = "Options of every command";

/// Run AI coding agents in sandboxes on git branches, and get a typed value back.
///
/// Results go to the standard output, everything else to the standard error. Exit codes: 0 done, 1 failed, 2 bad usage
/// or a failed entry check, 3 a structured output was not obtained, 130 interrupted.
#[derive(Debug, Parser)]
#[command(name = "sandcastle", version, max_term_width = 100)]
pub(crate) struct Cli {
    /// Show what the agent says and does.
    #[arg(short, long, global = true, conflicts_with = "quiet", help_heading = EVERYWHERE)]
    verbose: bool,
    /// Show nothing but the result and errors.
    #[arg(short, long, global = true, help_heading = EVERYWHERE)]
    quiet: bool,
    /// How the result is printed; `json` prints exactly one JSON object.
    #[arg(long, global = true, value_enum, default_value_t = Format::Human, help_heading = EVERYWHERE)]
    pub(crate) format: Format,
    /// When to use colours on the standard error.
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, help_heading = EVERYWHERE)]
    pub(crate) color: Color,
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Cli {
    pub(crate) fn verbosity(&self) -> Verbosity {
        match (self.quiet, self.verbose) {
            (true, _) => Verbosity::Quiet,
            (false, true) => Verbosity::Verbose,
            (false, false) => Verbosity::Normal,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Text for a person.
    Human,
    /// One JSON object.
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run an agent, and print its structured output if one is asked for.
    ///
    /// On a terminal a line at the bottom says how long it goes on, which agent process it is at, what was used and which
    /// tool was called last, until the result is printed. Elsewhere, with `--quiet` or `--format json`, and where `TERM` is
    /// `dumb` or not set, there is none.
    Run(Box<RunArgs>),
    /// Read a structured output from saved agent output.
    Extract(ExtractArgs),
    /// Check a JSON Schema, or turn it into text for a prompt or into what a service accepts.
    #[command(subcommand)]
    Schema(SchemaCommand),
    /// Open the agent's own terminal program in a sandbox.
    ///
    /// Arguments that the template of the prompt needs are asked for on the terminal. When the program has ended, commits
    /// land as they do in `run`, and a worktree with work in no commit is kept.
    Interactive(Box<InteractiveArgs>),
    /// Check, run and draw workflows: models, agents, commands and people in an order.
    ///
    /// The document is YAML. It names commands that are run on this machine, so run only documents that you would run as a
    /// script.
    #[command(subcommand)]
    Workflow(WorkflowCommand),
    /// Have an agent work on a pull request on GitHub: look into it, review it, work in feedback, update its branch.
    ///
    /// Nothing leaves this machine without `--push` and `--post`. What the agent says is held against the pull request: what is
    /// not true of it is left out, and told.
    #[command(subcommand)]
    Pr(PrCommand),
    /// See what ran, and what runs left that were killed.
    #[command(subcommand)]
    Runs(RunsCommand),
    /// Make the folder `.sandcastle/`: a small Rust program that runs agents on this repository, with its prompts.
    ///
    /// What no flag says is asked for on the terminal; without one, `--agent`, `--sandbox`, `--issue-tracker` and
    /// `--template` are needed. With `--template github` there is no program: it writes workflows of GitHub Actions by which
    /// labels on pull requests start agents. Nothing that is there already is overwritten, and nothing is written before everything
    /// was checked. Then `cargo run --manifest-path .sandcastle/Cargo.toml` runs the program.
    Init(Box<InitArgs>),
    /// Build and remove the Docker image that agents work in.
    #[command(subcommand)]
    Docker(DockerCommand),
    /// Build and remove the Podman image that agents work in.
    #[command(subcommand)]
    Podman(PodmanCommand),
    /// See which agents, sandboxes and tools work on this machine, and how to get the others.
    ///
    /// No key and no session of yours is used: agents are only asked for their version, in an empty environment and with
    /// a home folder of their own. Fails only if git cannot be used.
    Doctor,
}

#[derive(Debug, Args)]
pub(crate) struct ExtractArgs {
    /// The tag that the answer stands in.
    #[arg(long)]
    pub(crate) tag: String,
    /// The JSON Schema of the answer [default: any JSON value].
    #[arg(long, value_name = "FILE")]
    pub(crate) schema: Option<PathBuf>,
    /// The answer is text, not JSON.
    #[arg(long, conflicts_with = "schema")]
    pub(crate) text: bool,
    /// The input is the JSON lines that this agent printed, not plain text; the names are those of `run --agent`. An answer
    /// that was refused or cut off, as the agent says, fails by that name.
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// The saved output; `-` is the standard input.
    #[arg(default_value = "-")]
    pub(crate) file: PathBuf,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SchemaCommand {
    /// Check that a JSON Schema can be the schema of an output.
    Check {
        /// The schema; `-` is the standard input.
        file: PathBuf,
    },
    /// Print the text that tells a model how to answer.
    Snippet {
        /// The tag that the answer is to stand in.
        #[arg(long, default_value = "result")]
        tag: String,
        /// How the shape is written down.
        #[arg(long, value_enum, default_value_t = Style::Typescript)]
        style: Style,
        /// The schema; `-` is the standard input.
        file: PathBuf,
    },
    /// Print the copy of a JSON Schema that fits the wire of a program or a service.
    ///
    /// The copy goes to the standard output. What the wire cannot carry, descriptions say instead: that and what the wire
    /// limits goes to the standard error. A schema that the wire cannot carry ends with exit code 2 and every reason.
    Lower {
        /// Whose wire.
        #[arg(long, value_parser = value::dialects())]
        dialect: Dialect,
        /// The schema; `-` is the standard input.
        #[arg(default_value = "-")]
        file: PathBuf,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Style {
    Typescript,
    JsonSchema,
    Example,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_consistent() {
        super::Cli::command().debug_assert();
    }
}
