//! What can be typed behind `interactive`.

use clap::Args;

use super::{AgentArgs, BranchArgs, PromptArgs, SessionArgs, SiteArgs};

#[derive(Debug, Args)]
pub(crate) struct InteractiveArgs {
    #[command(flatten)]
    pub(crate) agent: AgentArgs,
    #[command(flatten)]
    pub(crate) prompt: PromptArgs,
    #[command(flatten)]
    pub(crate) session: SessionArgs,
    #[command(flatten)]
    pub(crate) branch: BranchArgs,
    #[command(flatten)]
    pub(crate) site: SiteArgs,
}
