//! What can be typed behind `run`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgGroup, Args, ValueEnum};
use sandcastle::{Liveness, OutputStrategy};

use super::value::seconds;
use super::{AgentArgs, BranchArgs, PromptArgs, SessionArgs, SiteArgs};

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("task").required(true).args(["prompt", "prompt_file"]))]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) agent: AgentArgs,
    #[command(flatten)]
    pub(crate) prompt: PromptArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// How often to ask again after an invalid answer, 0 to 10 [default: 0].
    #[arg(long, value_name = "N", requires = "tag")]
    pub(crate) max_retries: Option<u32>,
    /// How the schema reaches the model [default: tag].
    #[arg(long, value_enum, requires = "tag")]
    pub(crate) strategy: Option<Strategy>,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) session: SessionArgs,
    #[command(flatten)]
    pub(crate) branch: BranchArgs,
    #[command(flatten)]
    pub(crate) site: SiteArgs,
}

/// How far an agent that works alone may go.
#[derive(Debug, Args)]
pub(crate) struct LimitArgs {
    /// How many agent processes may run one after the other.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) max_iterations: u32,
    /// The text that ends the run when the agent says it. May be repeated [default: <promise>COMPLETE</promise>].
    #[arg(long, value_name = "TEXT")]
    pub(crate) completion_signal: Vec<String>,
    /// How long the agent may print nothing [default: 600].
    #[arg(long, value_name = "SECS", value_parser = seconds)]
    pub(crate) idle_timeout: Option<Duration>,
    /// What counts as a sign of life before the idle timeout ends the agent [default: output].
    #[arg(long, value_enum)]
    pub(crate) liveness: Option<SignOfLife>,
    /// How long an agent that has finished may take to exit [default: 60].
    #[arg(long, value_name = "SECS", value_parser = seconds)]
    pub(crate) completion_timeout: Option<Duration>,
    /// How long the whole run may take [default: no limit].
    #[arg(long, value_name = "SECS", value_parser = seconds)]
    pub(crate) total_timeout: Option<Duration>,
    /// What the whole run may cost, in US dollars, as the agent counts it [default: no limit].
    #[arg(long, value_name = "USD", allow_negative_numbers = true)]
    pub(crate) max_cost: Option<f64>,
    /// How many tokens the whole run may use, cached ones included [default: no limit].
    #[arg(long, value_name = "N")]
    pub(crate) max_tokens: Option<u64>,
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SignOfLife {
    /// What it prints, its use of tools included.
    Output,
    /// That, and work of the processor, as of a build that prints nothing; not seen in containers.
    Processor,
}

impl From<SignOfLife> for Liveness {
    fn from(sign: SignOfLife) -> Self {
        match sign {
            SignOfLife::Output => Self::Output,
            SignOfLife::Processor => Self::Processor,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Strategy {
    /// By words: the prompt asks for the tag.
    Tag,
    /// By the agent's own structured output; an error where it has none, is too old, or cannot take the schema.
    Native,
    /// By the agent's own structured output where that is known to work; otherwise by words.
    Auto,
}

impl From<Strategy> for OutputStrategy {
    fn from(strategy: Strategy) -> Self {
        match strategy {
            Strategy::Tag => Self::Tag,
            Strategy::Native => Self::Native,
            Strategy::Auto => Self::Auto,
        }
    }
}
