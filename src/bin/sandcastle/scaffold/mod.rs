//! The folder `.sandcastle/` that `init` makes: what can be chosen, what is rendered of it, and how it is put into place.
//!
//! The texts are in `files/`, each a template of `minijinja`. Nobody is asked anything here, and no program is started.

pub(crate) mod agents;
mod automation;
mod file_list;
mod place;
mod project;
mod render;
mod roles;
mod sandboxes;
mod source;
mod trackers;

use std::path::PathBuf;

pub(crate) use self::agents::ScaffoldAgent;
pub(crate) use self::automation::{labels, workflows};
pub(crate) use self::place::{Place, add_missing, write_workflow, write_workflows};
pub(crate) use self::project::install_command;
pub(crate) use self::render::{LABEL, files, workflow};
pub(crate) use self::roles::models;
pub(crate) use self::sandboxes::image_file;
pub(crate) use self::source::Source;
use crate::cli::{SandboxChoice, Template, Tracker};

/// Everything that was chosen.
#[derive(Clone, Debug)]
pub(crate) struct Choices {
    pub(crate) agent: &'static ScaffoldAgent,
    /// The model of every role, if it is not left to the roles.
    pub(crate) model: Option<String>,
    pub(crate) sandbox: SandboxChoice,
    pub(crate) image: String,
    pub(crate) tracker: Tracker,
    /// Whether only issues with the label count.
    pub(crate) label: Label,
    pub(crate) template: Template,
    pub(crate) source: Source,
    /// The command that makes a new worktree ready for work, if it needs one.
    pub(crate) install: Option<&'static str>,
}

/// Says which issues on GitHub agents work on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Label {
    /// Those with the label.
    Needed,
    /// All that are open.
    Ignored,
}

/// A file of the scaffold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct File {
    /// Where it lies below `.sandcastle/`; a workflow, below the root of the repository.
    pub(crate) path: PathBuf,
    pub(crate) content: String,
}
