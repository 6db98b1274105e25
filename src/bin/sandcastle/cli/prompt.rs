//! Flags that say what the agent is told.

use std::path::PathBuf;

use clap::Args;

use super::value::pair;

#[derive(Debug, Args)]
pub(crate) struct PromptArgs {
    /// What to say to the agent.
    #[arg(long, value_name = "TEXT")]
    pub(crate) prompt: Option<String>,
    /// The template file that holds what to say to the agent.
    #[arg(long, value_name = "FILE", conflicts_with = "prompt")]
    pub(crate) prompt_file: Option<PathBuf>,
    /// An argument of the template, for its `{{K}}`. May be repeated.
    #[arg(long = "arg", value_name = "K=V", requires = "prompt_file", value_parser = pair)]
    pub(crate) args: Vec<(String, String)>,
}
