//! What can be typed behind `runs`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

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
