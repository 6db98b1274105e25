//! A worktree that several runs use, one after the other, each in a sandbox of its own or in one that it is given.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::ground::Lot;
use super::interactive::{InteractiveResult, interactive};
use super::making::Making;
use super::options::RunOptions;
use super::output_mode::{InteractiveOutput, RunFuture, RunOutput, run, run_with};
use super::shared::{Sandbox, SandboxOptions};
use super::site::{Site, site_setters};
use crate::error::{Error, ErrorKind, Result};
use crate::id::BranchName;
use crate::output::AgentOutput;
use crate::sandbox::BoxFuture;
use crate::worktree::{BranchStrategy, Closed};

/// Says which worktree to make.
///
/// The setters are those of [`RunOptions`] that are about the place and not about the agent. The branch strategy is
/// [`BranchStrategy::merge_to_head`] unless another one is set; `head`, which has no worktree, is refused. Variables and
/// secrets are those of all runs and sandboxes that use the worktree. Hooks of the sandbox are set on those.
#[derive(Clone, Debug, Default)]
#[must_use = "options do nothing until a worktree is made from them"]
pub struct WorktreeOptions {
    site: Site,
}

impl WorktreeOptions {
    /// Starts with the defaults.
    pub fn new() -> Self {
        Self::default()
    }

    site_setters!(site, "[`BranchStrategy::merge_to_head`](crate::BranchStrategy::merge_to_head).");
}

/// Makes a worktree that several runs can use, one after the other.
///
/// Hooks of the worktree run once, now.
///
/// # Errors
/// When the options do not pass the checks, the branch is busy, files cannot be copied, or a hook fails. Nothing is left
/// behind then.
///
/// # Cancel safety
/// Dropping the future, or the worktree, lets the branch go and keeps what was made.
///
/// # Examples
/// ```
/// # use sandcastle_core as sandcastle;
/// # use sandcastle::{Agent, SandboxProvider};
/// # async fn example(coder: impl Agent, provider: impl SandboxProvider) -> sandcastle::Result<()> {
/// use sandcastle::{BranchStrategy, RunOptions, WorktreeOptions};
///
/// let options = WorktreeOptions::new().branch_strategy(BranchStrategy::branch("agent/fix-42"));
/// let worktree = sandcastle::create_worktree(options).await?;
/// let done = worktree.run(RunOptions::new(coder, provider).prompt("Fix the failing test.")).await?;
/// println!("{} commits on {}", done.commits.len(), worktree.branch());
/// if let Some(kept) = worktree.close().await?.preserved_worktree {
///     println!("look at {}", kept.display());
/// }
/// # Ok(()) }
/// ```
pub async fn create_worktree(options: WorktreeOptions) -> Result<Worktree> {
    let mut site = options.site;
    let strategy = site.strategy.get_or_insert_with(BranchStrategy::merge_to_head);
    if *strategy == BranchStrategy::head() {
        return Err(Error::new(
            ErrorKind::InvalidOptions,
            "make a worktree for the branch strategy `head`, which works in the caller's own",
        )
        .with_hint("choose the strategy `merge_to_head` or `branch`"));
    }
    if site.hooks.has_sandbox_ready() {
        return Err(Error::new(ErrorKind::InvalidOptions, "use `sandbox_ready` hooks for a worktree")
            .with_hint("set them on the runs, or on the sandbox, that use it"));
    }
    let mut making = Making::new(site, None).await?;
    let (place, warnings) = making.worktree().await?;
    let (path, branch) = (place.top().to_path_buf(), place.branch().clone());
    let lot = Arc::new(Lot::new(making, Arc::new(place), "worktree"));
    Ok(Worktree { lot, path, branch, warnings })
}

/// A worktree that runs share; see [`create_worktree`].
pub struct Worktree {
    lot: Arc<Lot>,
    path: PathBuf,
    branch: BranchName,
    warnings: Vec<String>,
}

impl fmt::Debug for Worktree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Worktree");
        shown.field("path", &self.path).field("branch", &self.branch).finish_non_exhaustive()
    }
}

/// What became of a worktree when it was put away.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CloseResult {
    /// The worktree, if it was kept because it holds something of value.
    pub preserved_worktree: Option<PathBuf>,
    /// Why, and what to do about it.
    pub warnings: Vec<String>,
}

impl From<Closed> for CloseResult {
    fn from(closed: Closed) -> Self {
        Self { preserved_worktree: closed.preserved, warnings: closed.notes }
    }
}

impl Worktree {
    /// Returns its root on this host.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns its branch.
    #[must_use]
    pub fn branch(&self) -> &BranchName {
        &self.branch
    }

    /// Returns what went wrong while it was made without failing that.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Runs in this worktree, in a sandbox of the options' provider; otherwise as [`run`].
    ///
    /// With the branch strategy `merge-to-head` what was committed is merged after each iteration; the worktree stays on its
    /// own branch. It can be used again afterwards, also after a run that failed or was cancelled. One run at a time is in it.
    ///
    /// # Errors
    /// As [`run`]; also when the options ask for what was settled when the worktree was made: a branch strategy, files to copy,
    /// hooks of the worktree, or a folder outside of it. [`ErrorKind::BranchBusy`] while another run is at work in it.
    pub fn run<O: RunOutput>(&self, options: RunOptions<O>) -> RunFuture<O::Value> {
        run(options.on(&self.lot))
    }

    /// Runs in this worktree and returns a `T`; otherwise as [`run_with`].
    ///
    /// # Errors
    /// As [`run_with`] and [`Worktree::run`].
    pub fn run_with<T: AgentOutput>(&self, options: RunOptions) -> RunFuture<T> {
        run_with(options.on(&self.lot))
    }

    /// Opens the agent's own terminal program in this worktree; otherwise as [`interactive`].
    ///
    /// # Errors
    /// As [`interactive`] and [`Worktree::run`].
    pub fn interactive<O: InteractiveOutput>(
        &self,
        options: RunOptions<O>,
    ) -> BoxFuture<'static, Result<InteractiveResult>> {
        interactive(options.on(&self.lot))
    }

    /// Makes a sandbox around this worktree, for several runs. Closing the sandbox leaves the worktree to this handle.
    ///
    /// # Errors
    /// As [`create_sandbox`](super::create_sandbox), and as [`Worktree::run`] for what was settled already.
    ///
    /// # Cancel safety
    /// Dropping the future ends what it has started, and leaves the worktree as it is.
    pub async fn create_sandbox(&self, options: SandboxOptions) -> Result<Sandbox> {
        Sandbox::in_worktree(options, &self.lot).await
    }

    /// Puts the worktree away: one with anything of value in it is kept and named. Closing again does nothing.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidOptions`] while a run or a sandbox is in it.
    ///
    /// # Cancel safety
    /// Dropping the future lets the branch go; a worktree that was not removed by then stays.
    pub async fn close(&self) -> Result<CloseResult> {
        match self.lot.take()? {
            Some(place) => Ok(self.lot.put_away(place).await),
            None => Ok(CloseResult::default()),
        }
    }
}
