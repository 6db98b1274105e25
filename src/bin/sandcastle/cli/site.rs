//! Flags that say where an agent works: folder, branch, what is put there before it begins.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::value::{BranchChoice, branch_choice, limit};

/// The heading of these flags.
const HEADING: &str = "Where the agent works";

#[derive(Debug, Args)]
#[command(next_help_heading = HEADING)]
pub(crate) struct BranchArgs {
    /// Which branch the agent works on: `head` is the one that is checked out, in place; `merge-to-head` is a temporary one
    /// in a worktree, merged when the agent is done; `branch:NAME` is that one, in a worktree.
    #[arg(
        long,
        value_name = "head|merge-to-head|branch:NAME",
        default_value = "head",
        hide_default_value = true,
        value_parser = branch_choice
    )]
    pub(crate) branch_strategy: BranchChoice,
    /// The revision that the branch of `branch:NAME` begins at if it is not there yet [default: HEAD].
    #[arg(long, value_name = "REV", requires = "branch_strategy")]
    pub(crate) base: Option<String>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = HEADING)]
pub(crate) struct SiteArgs {
    /// The folder to work in [default: the current one].
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// A file or folder that git does not know, to be copied into a new worktree. May be repeated.
    #[arg(long, value_name = "PATH")]
    pub(crate) copy: Vec<PathBuf>,
    /// A command that is run on this host when the worktree is ready. May be repeated.
    #[arg(long, value_name = "CMD")]
    pub(crate) host_worktree_ready: Vec<String>,
    /// A command that is run on this host when the sandbox is ready. May be repeated.
    #[arg(long, value_name = "CMD")]
    pub(crate) host_sandbox_ready: Vec<String>,
    /// A command that is run in the sandbox when it is ready. May be repeated.
    #[arg(long, value_name = "CMD")]
    pub(crate) sandbox_ready: Vec<String>,
    /// How long a step around the agent may take: `worktree`, `copy-to-worktree`, `sandbox-start`, `hook`,
    /// `prompt-expression`, `session-transfer`, `commit-collection`, `merge-to-host` or `sandbox-close`. May be repeated.
    #[arg(long, value_name = "STEP=SECS", value_parser = limit::<Step>)]
    pub(crate) timeout: Vec<(Step, Duration)>,
    /// A name for the run, part of its log and of its temporary branch.
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// The run log [default: .sandcastle/logs/<branch>-<name>.log in the repository].
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,
}

/// A step around the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Step {
    Worktree,
    CopyToWorktree,
    SandboxStart,
    Hook,
    PromptExpression,
    SessionTransfer,
    CommitCollection,
    MergeToHost,
    SandboxClose,
}
