//! What can be typed. Help texts are the comments of the fields.

use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};

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
    Run(Box<RunArgs>),
    /// Read a structured output from saved agent output.
    Extract(ExtractArgs),
    /// Check a JSON Schema, or turn it into text for a prompt.
    #[command(subcommand)]
    Schema(SchemaCommand),
    /// Open the agent's own terminal program in a sandbox.
    Interactive(InteractiveArgs),
    /// See what ran, and what runs left that were killed.
    #[command(subcommand)]
    Runs(RunsCommand),
}

#[derive(Debug, Args)]
pub(crate) struct AgentArgs {
    /// The agent: `claude-code`, `codex`, `pi`, `opencode`, `gemini`, `copilot`, `cursor` or `scripted`.
    #[arg(long)]
    pub(crate) agent: String,
    /// The model the agent is told to use [default: the agent's own choice]; for `scripted`, the file of the script,
    /// such as {"turns": [{"steps": [{"commit": "work"}, {"say": "<result>1</result>"}]}]}.
    #[arg(long)]
    pub(crate) model: Option<String>,
    /// Where the agent runs.
    #[arg(long, value_enum, default_value_t = Sandbox::None)]
    pub(crate) sandbox: Sandbox,
    /// The folder to work in [default: the current one].
    #[arg(long)]
    pub(crate) cwd: Option<PathBuf>,
    /// A variable for the agent, as KEY=VALUE, or KEY to take it from this environment. May be repeated.
    #[arg(long, value_name = "K=V")]
    pub(crate) env: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Sandbox {
    /// On this host, without isolation.
    None,
}

#[derive(Debug, Args)]
pub(crate) struct OutputArgs {
    /// The tag that the answer stands in.
    #[arg(long)]
    pub(crate) tag: Option<String>,
    /// The JSON Schema of the answer [default: any JSON value].
    #[arg(long, value_name = "FILE", requires = "tag")]
    pub(crate) schema: Option<PathBuf>,
    /// The answer is text, not JSON.
    #[arg(long, requires = "tag", conflicts_with = "schema")]
    pub(crate) text: bool,
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("task").required(true).args(["prompt", "prompt_file"]))]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) agent: AgentArgs,
    /// What to say to the agent.
    #[arg(long, value_name = "TEXT")]
    pub(crate) prompt: Option<String>,
    /// The template file that holds what to say to the agent.
    #[arg(long, value_name = "FILE")]
    pub(crate) prompt_file: Option<PathBuf>,
    /// An argument of the template, for its `{{K}}`. May be repeated.
    #[arg(long = "arg", value_name = "K=V", requires = "prompt_file", value_parser = pair)]
    pub(crate) args: Vec<(String, String)>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// How often to ask again after an invalid answer, 0 to 10 [default: 0].
    #[arg(long, value_name = "N", requires = "tag")]
    pub(crate) max_retries: Option<u32>,
    /// How the schema reaches the model.
    #[arg(long, value_enum, default_value_t = Strategy::Tag)]
    pub(crate) strategy: Strategy,
    /// Which branch the agent works on.
    #[arg(long, value_enum, default_value_t = Branch::Head)]
    pub(crate) branch_strategy: Branch,
    /// How many agent processes may run one after the other.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) max_iterations: u32,
    /// The text that ends the run when the agent says it. May be repeated [default: <promise>COMPLETE</promise>].
    #[arg(long, value_name = "TEXT")]
    pub(crate) completion_signal: Vec<String>,
    /// How long the agent may print nothing [default: 600].
    #[arg(long, value_name = "SECS", value_parser = seconds)]
    pub(crate) idle_timeout: Option<Duration>,
    /// How long an agent that has finished may take to exit [default: 60].
    #[arg(long, value_name = "SECS", value_parser = seconds)]
    pub(crate) completion_timeout: Option<Duration>,
    /// How long the whole run may take [default: no limit].
    #[arg(long, value_name = "SECS", value_parser = seconds)]
    pub(crate) total_timeout: Option<Duration>,
    /// The session to continue.
    #[arg(long, value_name = "ID")]
    pub(crate) resume: Option<String>,
    /// The session whose history a new session begins with.
    #[arg(long, value_name = "ID", conflicts_with = "resume")]
    pub(crate) fork: Option<String>,
    /// A name for the run, part of its log.
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// The run log [default: .sandcastle/logs/<branch>-<name>.log in the repository].
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Strategy {
    /// The prompt asks for a tag.
    Tag,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Branch {
    /// The branch that is checked out, in place.
    Head,
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
    /// The input is the JSON lines that this agent printed, not plain text; the names are those of `run --agent`.
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
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Style {
    Typescript,
    JsonSchema,
    Example,
}

#[derive(Debug, Args)]
pub(crate) struct InteractiveArgs {
    #[command(flatten)]
    pub(crate) agent: AgentArgs,
    /// What to begin the session with.
    #[arg(long, value_name = "TEXT")]
    pub(crate) prompt: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RunsCommand {
    /// List the runs of the repository and what is left of them.
    List {
        #[command(flatten)]
        place: PlaceArgs,
    },
    /// Show one run and everything that is left of it.
    Show {
        /// The run, as `runs list` names it.
        id: String,
        #[command(flatten)]
        place: PlaceArgs,
    },
    /// End what a killed run left running, and make branches of work that is on none. Nothing is merged or removed.
    Recover {
        /// The run [default: every run that died and was not recovered].
        id: Option<String>,
        #[command(flatten)]
        place: PlaceArgs,
    },
    /// Remove what is provably worthless: clean worktrees, merged temporary branches, journals of runs that left nothing.
    Clean {
        /// The run [default: every run that is over].
        id: Option<String>,
        /// Remove what the named run left even if it is of value; branches that a person named stay.
        #[arg(long, requires = "id")]
        force: bool,
        /// Only say what would be removed.
        #[arg(long)]
        dry_run: bool,
        #[command(flatten)]
        place: PlaceArgs,
    },
}

#[derive(Debug, Args)]
pub(crate) struct PlaceArgs {
    /// A folder in the repository [default: the current one].
    #[arg(long, value_name = "DIR", default_value = ".", hide_default_value = true)]
    pub(crate) cwd: PathBuf,
}

fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err(format!("`{text}` is not of the form KEY=VALUE")),
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let number: f64 = text.parse().map_err(|_| format!("`{text}` is not a number of seconds"))?;
    match Duration::try_from_secs_f64(number) {
        Ok(duration) if !duration.is_zero() => Ok(duration),
        _ => Err(format!("`{text}` is not a positive number of seconds")),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_consistent() {
        super::Cli::command().debug_assert();
    }
}
