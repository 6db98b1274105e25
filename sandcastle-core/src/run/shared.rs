//! A sandbox that several runs share.
//!
//! A run makes a sandbox for itself and closes it. Here one is made once, and lent to as many runs as the caller likes.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::ground::Lot;
use super::interactive::{InteractiveResult, interactive};
use super::making::{Made, Making};
use super::options::RunOptions;
use super::output_mode::{InteractiveOutput, RunFuture, RunOutput, run, run_with};
use super::site::{Site, site_setters};
use super::worktree::CloseResult;
use crate::agent::Agent;
use crate::error::{Error, ErrorKind, Result};
use crate::id::BranchName;
use crate::journal::Note;
use crate::output::AgentOutput;
use crate::sandbox::{
    self, BoxFuture, Copied, CopyLimits, Output, Program, SandboxHandle, SandboxProvider, SandboxRequest,
    Sharing,
};
use crate::work::{Exit, Work};

/// What a command in a sandbox may print on its standard output.
const OUTPUT_LIMIT: usize = 64 * 1024 * 1024;

/// Says what kind of sandbox to make, and around which work tree.
///
/// The setters are those of [`RunOptions`] that are about the place and not about the agent, with the same defaults.
#[derive(Clone, Debug)]
#[must_use = "options do nothing until a sandbox is made from them"]
pub struct SandboxOptions {
    pub(super) provider: Arc<dyn SandboxProvider>,
    pub(super) site: Site,
}

impl SandboxOptions {
    /// Starts with a provider.
    pub fn new(provider: impl SandboxProvider) -> Self {
        Self::shared(Arc::new(provider))
    }

    /// Starts with a provider that others use too.
    pub fn shared(provider: Arc<dyn SandboxProvider>) -> Self {
        Self { provider, site: Site::default() }
    }

    site_setters!(site, "[`BranchStrategy::head`](crate::BranchStrategy::head).");
}

/// Makes a sandbox that several runs can use, one after the other: one at a time, or commits could not be told apart.
///
/// With the branch strategy `head` it is around the caller's own work tree, with the others around a worktree of its own,
/// which belongs to the sandbox: [`Sandbox::close`] puts it away. Hooks run once, now.
///
/// # Errors
/// When the options do not pass the checks, the branch is busy, a hook fails, or the provider cannot make a sandbox.
/// Nothing is left behind then.
///
/// # Cancel safety
/// Dropping the future ends what it has started; a worktree that was made by then stays. Dropping the sandbox ends it and
/// keeps the worktree.
///
/// # Examples
/// ```
/// # use sandcastle_core as sandcastle;
/// # use sandcastle::{Agent, SandboxProvider};
/// # async fn example(planner: impl Agent, builder: impl Agent, provider: impl SandboxProvider) -> sandcastle::Result<()> {
/// use sandcastle::{BranchStrategy, SandboxOptions};
///
/// let options = SandboxOptions::new(provider).branch_strategy(BranchStrategy::branch("agent/fix-42"));
/// let sandbox = sandcastle::create_sandbox(options).await?;
/// let plan = sandbox.options(planner).prompt("Plan the change.").await?;
/// let done = sandbox.options(builder).prompt(format!("Make this change:\n\n{}", plan.text)).await?;
/// println!("{} commits on {}", done.commits.len(), done.branch);
/// sandbox.close().await?;
/// # Ok(()) }
/// ```
pub async fn create_sandbox(options: SandboxOptions) -> Result<Sandbox> {
    let SandboxOptions { provider, site } = options;
    let mut making = Making::new(site, Some(&*provider)).await?;
    let made = making.worktree_and_sandbox(&*provider).await?;
    Ok(Sandbox::of(provider, making, made))
}

/// A sandbox that runs share; see [`create_sandbox`].
///
/// It is a provider too, which lends itself: clone it into [`RunOptions::new`], or start from [`Sandbox::options`].
#[derive(Clone)]
pub struct Sandbox {
    provider: Arc<dyn SandboxProvider>,
    lot: Arc<Lot>,
    handle: Arc<dyn SandboxHandle>,
    worktree: PathBuf,
    /// Where commands run, as seen inside.
    cwd: PathBuf,
    env: Arc<[(OsString, OsString)]>,
    branch: BranchName,
    warnings: Arc<[String]>,
    /// Whether the work tree is put away with the sandbox.
    tenure: Tenure,
}

impl fmt::Debug for Sandbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sandbox")
            .field("provider", &self.provider)
            .field("worktree", &self.worktree)
            .field("branch", &self.branch)
            .finish_non_exhaustive()
    }
}

/// Who puts the work tree away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tenure {
    Own,
    Lent,
}

/// What came of a command in a sandbox.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Executed {
    /// How it ended.
    pub exit: Exit,
    /// What it printed on its standard output.
    pub stdout: Vec<u8>,
    /// The end of what it printed on its standard error, at most 16 KiB.
    pub stderr: String,
}

impl Sandbox {
    fn of(provider: Arc<dyn SandboxProvider>, making: Making, made: Made) -> Self {
        Self::around(provider, making, made, Tenure::Own)
    }

    /// Makes a sandbox around a worktree that somebody else puts away.
    pub(super) async fn in_worktree(options: SandboxOptions, worktree: &Lot) -> Result<Self> {
        let SandboxOptions { provider, site } = options;
        let making = Making::in_lot(site, Some(&*provider), worktree).await?;
        let made = making.sandbox_in(worktree.place()?, &*provider).await?;
        Ok(Self::around(provider, making, made, Tenure::Lent))
    }

    fn around(provider: Arc<dyn SandboxProvider>, making: Making, made: Made, tenure: Tenure) -> Self {
        let Made { place, sandbox, warnings } = made;
        let (worktree, branch) = (place.top().to_path_buf(), place.branch().clone());
        let (cwd, env) = (making.cwd_in(sandbox.worktree()), making.environment.variables().into());
        let lot = Lot::new(making, place, "sandbox").with_sandbox(Arc::clone(&sandbox));
        if let Some(id) = sandbox.id() {
            lot.note(&Note::Sandbox { provider: provider.name().to_owned(), id });
        }
        Self {
            provider,
            lot: Arc::new(lot),
            handle: sandbox,
            worktree,
            cwd,
            env,
            branch,
            warnings: warnings.into(),
            tenure,
        }
    }

    /// Returns the root of the work tree on this host.
    #[must_use]
    pub fn worktree(&self) -> &Path {
        &self.worktree
    }

    pub(crate) fn handle(&self) -> &dyn SandboxHandle {
        &*self.handle
    }

    /// Returns the branch of the work tree.
    #[must_use]
    pub fn branch(&self) -> &BranchName {
        &self.branch
    }

    /// Returns what went wrong while it was made without failing that.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Starts options for a run of `agent` in this sandbox and its folder.
    pub fn options(&self, agent: impl Agent) -> RunOptions {
        RunOptions::shared(Arc::new(agent), Arc::clone(&self.provider)).on(&self.lot)
    }

    /// Runs in this sandbox and with its variables, whichever the options name; otherwise as [`run`].
    ///
    /// With the branch strategy `merge-to-head` what was committed is merged after each iteration. The sandbox can be used
    /// again afterwards, also after a run that failed or was cancelled.
    ///
    /// # Errors
    /// As [`run`]; also when the options ask for what was settled when the sandbox was made: a branch strategy, files to copy,
    /// hooks, or a folder outside of its work tree.
    pub fn run<O: RunOutput>(&self, options: RunOptions<O>) -> RunFuture<O::Value> {
        run(options.inside(&self.provider, &self.lot))
    }

    /// Runs in this sandbox and returns a `T`; otherwise as [`run_with`].
    ///
    /// # Errors
    /// As [`run_with`] and [`Sandbox::run`].
    pub fn run_with<T: AgentOutput>(&self, options: RunOptions) -> RunFuture<T> {
        run_with(options.inside(&self.provider, &self.lot))
    }

    /// Opens the agent's own terminal program in this sandbox; otherwise as [`interactive`].
    ///
    /// # Errors
    /// As [`interactive`] and [`Sandbox::run`].
    pub fn interactive<O: InteractiveOutput>(
        &self,
        options: RunOptions<O>,
    ) -> BoxFuture<'static, Result<InteractiveResult>> {
        interactive(options.inside(&self.provider, &self.lot))
    }

    /// Runs a command in this sandbox to its end. Its folder, if it names none, is that of the sandbox.
    ///
    /// It sees the variables of the sandbox, of `.sandcastle/.env` and of the options. A bad exit is no error. What the
    /// command leaves running is ended.
    ///
    /// # Errors
    /// [`ErrorKind::Sandbox`] when the command cannot be started, or prints more than 64 MiB.
    ///
    /// # Cancel safety
    /// Dropping the future kills the command and everything it started.
    pub async fn exec(&self, program: Program) -> Result<Executed> {
        self.lot.place()?;
        let name = program.name.to_string_lossy().into_owned();
        let failed = |what: &str| {
            let sandbox = self.provider.name();
            Error::new(ErrorKind::Sandbox, format!("{what} `{name}` in the sandbox `{sandbox}`"))
        };
        let mut program = if program.cwd.is_none() { program.cwd(&self.cwd) } else { program };
        program.env.splice(0..0, self.env.iter().cloned());
        let mut running =
            self.handle.start(program).await.map_err(|error| failed("start").with_source(error))?;
        let mut stdout = Vec::new();
        let status = loop {
            match running.next().await.map_err(|error| failed("wait for").with_source(error))? {
                Output::Exited(status) => break status,
                Output::Stdout(bytes) if stdout.len() + bytes.len() <= OUTPUT_LIMIT => {
                    stdout.extend_from_slice(bytes);
                }
                Output::Stdout(_) => return Err(failed("keep what was printed by")),
            }
        };
        running.sweep().await;
        self.handle.bring_back().await?;
        Ok(Executed { exit: Exit::from(status), stdout, stderr: running.stderr().text() })
    }

    /// Copies a file or folder of this host into this sandbox; see [`sandbox::copy_in`].
    ///
    /// # Errors
    /// As there, and [`ErrorKind::InvalidOptions`] when the sandbox was closed.
    pub async fn copy_in(&self, host: impl AsRef<Path>, inside: impl AsRef<Path>) -> Result<()> {
        self.lot.place()?;
        sandbox::copy_in(&*self.handle, host.as_ref(), inside.as_ref()).await
    }

    /// Copies a file or folder out of this sandbox to a new path on this host; see [`sandbox::copy_out`].
    ///
    /// # Errors
    /// As there, and [`ErrorKind::InvalidOptions`] when the sandbox was closed.
    pub async fn copy_out(
        &self,
        inside: impl AsRef<Path>,
        host: impl AsRef<Path>,
        limits: CopyLimits,
    ) -> Result<Copied> {
        self.lot.place()?;
        sandbox::copy_out(&*self.handle, inside.as_ref(), host.as_ref(), limits).await
    }

    /// Ends the sandbox and everything inside, and puts its worktree away if it has one of its own: one with anything of value
    /// is kept and named. Closing again does nothing.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidOptions`] while a run goes on in it, [`ErrorKind::Sandbox`] when the provider cannot end it,
    /// [`ErrorKind::StepTimeout`] when that takes longer than the `sandbox_close` of its timeouts. A worktree of its own is
    /// kept then, and named in the error's [`Work`].
    ///
    /// # Cancel safety
    /// Dropping the future lets the branch go; a worktree that was not removed by then stays.
    pub async fn close(&self) -> Result<CloseResult> {
        let taken = match self.tenure {
            Tenure::Own => self.lot.take()?.map(Some),
            Tenure::Lent => self.lot.give_back()?.map(|()| None),
        };
        let Some(place) = taken else { return Ok(CloseResult::default()) };
        // Whoever still works inside is ended before the work tree is looked at.
        match (self.end().await, place) {
            (Ok(()), Some(place)) => Ok(self.lot.put_away(place).await),
            (Ok(()), None) => Ok(CloseResult::default()),
            (Err(error), Some(place)) => {
                let kept = CloseResult::from(place.keep("its sandbox was not closed"));
                let (preserved_worktree, warnings) = (kept.preserved_worktree, kept.warnings);
                let branch = Some(self.branch.clone());
                Err(error.with_work(Work { branch, preserved_worktree, warnings, ..Work::default() }))
            }
            (Err(error), None) => Err(error),
        }
    }

    async fn end(&self) -> Result<()> {
        let limit = self.lot.site.timeouts.sandbox_close;
        let closed = tokio::time::timeout(limit, self.handle.close()).await.unwrap_or_else(|_| {
            let name = self.provider.name();
            Err(Error::new(ErrorKind::StepTimeout, format!("close the sandbox `{name}` within {limit:?}"))
                .with_hint("raise `sandbox_close` in the timeouts of the sandbox"))
        });
        if let (Ok(()), Some(id)) = (&closed, self.handle.id()) {
            self.lot.note(&Note::SandboxClosed { id });
        }
        closed
    }
}

impl SandboxProvider for Sandbox {
    fn name(&self) -> &str {
        self.provider.name()
    }

    fn env(&self) -> Vec<(OsString, OsString)> {
        self.provider.env()
    }

    fn inherited_env(&self) -> Vec<(OsString, OsString)> {
        self.provider.inherited_env()
    }

    fn home(&self) -> Option<PathBuf> {
        self.handle.home()
    }

    fn sharing(&self) -> Sharing {
        self.provider.sharing()
    }

    fn create(&self, request: SandboxRequest) -> BoxFuture<'_, Result<Arc<dyn SandboxHandle>>> {
        Box::pin(async move {
            if request.worktree != self.worktree {
                let (own, asked) = (self.worktree.display(), request.worktree.display());
                return Err(Error::new(
                    ErrorKind::Sandbox,
                    format!("work in `{asked}`: the sandbox was made for `{own}`"),
                )
                .with_hint("make a sandbox for that work tree"));
            }
            Ok(Arc::new(Lent(Arc::clone(&self.handle))) as Arc<dyn SandboxHandle>)
        })
    }
}

/// A sandbox that a run may use and not close.
#[derive(Debug)]
struct Lent(Arc<dyn SandboxHandle>);

impl SandboxHandle for Lent {
    fn worktree(&self) -> &Path {
        self.0.worktree()
    }

    fn home(&self) -> Option<PathBuf> {
        self.0.home()
    }

    fn home_inside(&self) -> Option<PathBuf> {
        self.0.home_inside()
    }

    fn bring_in(&self) -> BoxFuture<'_, Result<()>> {
        self.0.bring_in()
    }

    fn bring_back(&self) -> BoxFuture<'_, Result<Vec<String>>> {
        self.0.bring_back()
    }

    fn start(&self, program: Program) -> BoxFuture<'_, std::io::Result<sandbox::Running>> {
        self.0.start(program)
    }

    fn close(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(async { Ok(()) })
    }
}
