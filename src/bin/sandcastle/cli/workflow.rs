//! What can be typed behind `workflow`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::value::pair;

#[derive(Debug, Subcommand)]
pub(crate) enum WorkflowCommand {
    /// Say everything that is wrong with a document, or doubtful, with lines and columns. Nothing is run.
    ///
    /// Exit code 2 if the workflow cannot be run; warnings alone are 0.
    Check {
        /// The document.
        file: PathBuf,
    },
    /// Run a workflow.
    ///
    /// A step that asks for somebody's consent is answered by `--approve` or `--reject`, or asked on the terminal; without
    /// one the workflow stops there with exit code 1, and the command to go on with is printed. A workflow that failed or was
    /// killed goes on with `--resume`, too: finished steps are not done again.
    Run(Box<WorkflowRunArgs>),
    /// Draw a workflow.
    Graph {
        /// The document.
        file: PathBuf,
        /// What is printed.
        #[arg(long = "as", value_enum, default_value_t = Picture::Mermaid)]
        picture: Picture,
    },
    /// Print the JSON Schema of documents, by which editors complete and check them.
    ///
    /// Write it to `workflow.schema.json` beside a document, whose first line is
    /// `# yaml-language-server: $schema=./workflow.schema.json`. Editors with the YAML language server read that line.
    Schema,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Picture {
    /// A Mermaid flowchart.
    Mermaid,
    /// An SVG image.
    Svg,
}

#[derive(Debug, Args)]
pub(crate) struct WorkflowRunArgs {
    /// The document.
    pub(crate) file: PathBuf,
    /// What expressions know as `input`: a text, `-` for the standard input, or `@FILE` for what is in a file [default:
    /// nothing].
    #[arg(long, value_name = "TEXT|-|@FILE", conflicts_with = "resume")]
    pub(crate) input: Option<String>,
    /// The value of a variable that the document declares: a text where a text is declared, otherwise JSON. May be
    /// repeated.
    #[arg(long, value_name = "K=V", value_parser = pair, conflicts_with = "resume")]
    pub(crate) var: Vec<(String, String)>,
    /// The JSON that expressions know as `trigger`, such as the event of a webhook; `-` is the standard input.
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    pub(crate) trigger: Option<PathBuf>,
    /// Consent to what a step asks, or with `all` to whatever is asked. What stands behind `=` can be read by later steps.
    /// May be repeated.
    #[arg(long, value_name = "STEP[=NOTE]|all")]
    pub(crate) approve: Vec<String>,
    /// Refuse what a step asks; the workflow ends there. May be repeated.
    #[arg(long, value_name = "STEP[=NOTE]")]
    pub(crate) reject: Vec<String>,
    /// Go on with this run, with the input, the variables and the trigger that it began with.
    #[arg(long, value_name = "RUN")]
    pub(crate) resume: Option<String>,
    /// How many steps run at the same time at the most, whatever the document says.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) max_parallel: Option<u16>,
    /// The folder to work in [default: the current one].
    #[arg(long, value_name = "DIR", default_value = ".", hide_default_value = true)]
    pub(crate) cwd: PathBuf,
}
