//! What can be typed behind `pr`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::value::{pair, pull_request_number};
use super::{AgentArgs, LimitArgs, SiteArgs, Strategy};

/// The heading of the flags that say what is worked on, and what becomes of it.
const HEADING: &str = "The pull request";

#[derive(Debug, Subcommand)]
pub(crate) enum PrCommand {
    /// Look into a pull request, for whoever is going to review it: `comment.md`.
    Explore(Box<PrArgs>),
    /// Review a pull request, and mend what is plainly wrong: `review_payload.json`, `replies.json`, `summary.md`,
    /// `verdict.txt`.
    Review(Box<CommittingArgs>),
    /// Work in the feedback on a pull request, and answer it: `has_commits.txt`, `implement_thread_replies.json`,
    /// `implement_new_inline_comments.json`, `implement_top_level_comments.json`.
    Implement(Box<CommittingArgs>),
    /// Merge the base branch into that of a pull request, by git alone where that can: `comment.md`, `should_push.txt`.
    UpdateBranch(Box<CommittingArgs>),
}

/// Work that makes commits.
#[derive(Debug, Args)]
pub(crate) struct CommittingArgs {
    #[command(flatten)]
    pub(crate) pr: PrArgs,
    /// Push the commits, if the branch of the pull request still stands where it stood.
    #[arg(long, help_heading = HEADING)]
    pub(crate) push: bool,
    /// The remote that is the fork which the pull request comes from, to push to it.
    #[arg(long, value_name = "NAME", help_heading = HEADING)]
    pub(crate) push_remote: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct PrArgs {
    /// The number of the pull request.
    #[arg(value_parser = pull_request_number)]
    pub(crate) number: u64,
    /// The repository on GitHub [default: that of the remote].
    #[arg(long, value_name = "OWNER/NAME", help_heading = HEADING)]
    pub(crate) repo: Option<String>,
    /// The address of the API, which for a GitHub Enterprise Server ends in /api/v3 [default: https://api.github.com].
    #[arg(long, value_name = "URL", help_heading = HEADING)]
    pub(crate) api_url: Option<String>,
    /// The variable of this environment that has the token, without which GitHub tells too little [default: GITHUB_TOKEN, or else
    /// GH_TOKEN]. Agents do not get it.
    #[arg(long, value_name = "KEY", help_heading = HEADING)]
    pub(crate) token_env: Option<String>,
    /// The remote that has the pull request.
    #[arg(long, value_name = "NAME", default_value = "origin", help_heading = HEADING)]
    pub(crate) remote: String,
    /// The name of the local branch [default: that of the branch of the pull request, or pull/NUMBER if it is in a fork
    /// or has characters that are not taken here].
    #[arg(long, value_name = "NAME", help_heading = HEADING)]
    pub(crate) branch: Option<String>,
    /// The folder that the results are written to, where other files stay [default: a new temporary one].
    #[arg(long, value_name = "DIR", help_heading = HEADING)]
    pub(crate) output_dir: Option<PathBuf>,
    /// Post what is to be said; what is about commits is not posted before they are pushed.
    #[arg(long, help_heading = HEADING)]
    pub(crate) post: bool,
    /// Let the code of a fork run without a sandbox, with your rights, your files and your keys.
    #[arg(long, help_heading = HEADING)]
    pub(crate) allow_untrusted: bool,
    /// The template file of the prompt [default: a built-in one].
    #[arg(long, value_name = "FILE")]
    pub(crate) prompt_file: Option<PathBuf>,
    /// An argument of the template, for its `{{K}}`, beside those that a pull request brings. May be repeated.
    #[arg(long = "arg", value_name = "K=V", requires = "prompt_file", value_parser = pair)]
    pub(crate) args: Vec<(String, String)>,
    #[command(flatten)]
    pub(crate) agent: AgentArgs,
    /// How the schema of the report reaches the model [default: tag].
    #[arg(long, value_enum)]
    pub(crate) strategy: Option<Strategy>,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) site: SiteArgs,
}
