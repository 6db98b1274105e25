//! What can be typed behind `init`.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{ArgAction, Args, ValueEnum};

use super::runs::PlaceArgs;
use crate::scaffold::agents;

/// The heading of the flags that say where the library comes from.
const SOURCE: &str = "Where the scaffold takes the library from";

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// The agent that works.
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(agents::names()))]
    pub(crate) agent: Option<String>,
    /// The model of every role [default: a strong one for planning, reviewing and merging, a cheap one for
    /// implementing, where the agent has two].
    #[arg(long)]
    pub(crate) model: Option<String>,
    /// Where agents work.
    #[arg(long, value_enum)]
    pub(crate) sandbox: Option<SandboxChoice>,
    /// Where tasks come from; `--template github` needs none.
    #[arg(long, value_enum)]
    pub(crate) issue_tracker: Option<Tracker>,
    /// How agents work together.
    #[arg(long, value_enum)]
    pub(crate) template: Option<Template>,
    /// The name of the image, for a sandbox that has one [default: sandcastle:<folder>].
    #[arg(long, value_name = "NAME")]
    pub(crate) image_name: Option<String>,
    /// Whether to make the label `Sandcastle` on GitHub, and to work only on issues that have it; with `--template github`, the
    /// labels that start agents [without a terminal: false].
    #[arg(long, value_name = "true|false", action = ArgAction::Set)]
    pub(crate) create_label: Option<bool>,
    /// Whether to build the image at once [without a terminal: false].
    #[arg(long, value_name = "true|false", action = ArgAction::Set)]
    pub(crate) build_image: Option<bool>,
    /// Whether to write a workflow for GitHub Actions, if there is none of that name [default: true with GitHub issues].
    #[arg(long, value_name = "true|false", action = ArgAction::Set)]
    pub(crate) workflow: Option<bool>,
    /// A folder with the sources of `sandcastle`.
    #[arg(long, value_name = "DIR", conflicts_with = "sandcastle_git", help_heading = SOURCE)]
    pub(crate) sandcastle_path: Option<PathBuf>,
    /// The git address of `sandcastle` [default: that of this project].
    #[arg(long, value_name = "URL", help_heading = SOURCE)]
    pub(crate) sandcastle_git: Option<String>,
    /// The commit, tag or branch at the git address [default: its main branch].
    #[arg(long, value_name = "REV", conflicts_with = "sandcastle_path", help_heading = SOURCE)]
    pub(crate) rev: Option<String>,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}

/// Where agents work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SandboxChoice {
    /// On this host, without isolation.
    None,
    /// In a Docker container.
    Docker,
    /// In a Podman container.
    Podman,
    /// In a sandbox of bubblewrap, without an image (Linux).
    Bubblewrap,
}

/// Where tasks come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Tracker {
    /// Issues on GitHub, with `gh`.
    GithubIssues,
    /// Beads, with `bd`.
    Beads,
    /// Another one; the scaffold says how to set it up.
    Custom,
}

/// How agents work together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Template {
    /// One agent, one prompt.
    Blank,
    /// One agent takes one task after the other.
    SimpleLoop,
    /// An implementer and a reviewer, task after task.
    SequentialReviewer,
    /// A planner, implementers at the same time, a merger.
    ParallelPlanner,
    /// As `parallel-planner`, with a review of each branch.
    ParallelPlannerWithReview,
    /// Labels on pull requests start agents: workflows of GitHub Actions, and no program.
    Github,
}

/// Returns the word that is typed for a choice.
pub(crate) fn word(choice: &impl ValueEnum) -> String {
    choice.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}
