//! A sandbox that several runs share.
//!
//! A run makes a sandbox for itself and closes it. Here one is made once, and lent to as many runs as the caller likes.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::interactive::{InteractiveResult, interactive};
use super::options::RunOptions;
use super::output_mode::{InteractiveOutput, RunFuture, RunOutput, run, run_with};
use crate::agent::Agent;
use crate::error::{Error, ErrorKind, Result};
use crate::git::Repository;
use crate::output::AgentOutput;
use crate::sandbox::{BoxFuture, Output, Program, Running, SandboxHandle, SandboxProvider, SandboxRequest};
use crate::secret::Variables;
use crate::work::Exit;

/// What a command in a sandbox may print on its standard output.
const OUTPUT_LIMIT: usize = 64 * 1024 * 1024;

/// Makes a sandbox around a work tree that several runs can use, one after the other or at once.
///
/// # Errors
/// When `cwd` is not in the work tree of a git repository, or the provider cannot make a sandbox.
///
/// # Cancel safety
/// Dropping the future leaves nothing behind. Dropping the sandbox ends it.
///
/// # Examples
/// ```
/// # use sandcastle_core as sandcastle;
/// # use sandcastle::{Agent, SandboxProvider};
/// # async fn example(planner: impl Agent, builder: impl Agent, provider: impl SandboxProvider) -> sandcastle::Result<()> {
/// let sandbox = sandcastle::create_sandbox(provider, ".").await?;
/// let plan = sandbox.options(planner).prompt("Plan the change.").await?;
/// let done = sandbox.options(builder).prompt(format!("Make this change:\n\n{}", plan.text)).await?;
/// println!("{} commits", done.commits.len());
/// sandbox.close().await?;
/// # Ok(()) }
/// ```
pub async fn create_sandbox(provider: impl SandboxProvider, cwd: impl AsRef<Path>) -> Result<Sandbox> {
    let cwd = cwd.as_ref();
    let absolute = cwd.canonicalize().map_err(|error| {
        Error::new(ErrorKind::InvalidOptions, format!("make a sandbox for `{}`", cwd.display()))
            .with_source(error)
            .with_hint("name an existing folder")
    })?;
    let worktree = Repository::discover(&absolute).await?.top()?.to_path_buf();
    let handle = provider.create(SandboxRequest::new(&worktree)).await?;
    let (env, inherited_env) = (provider.env().into_iter(), provider.inherited_env().into_iter());
    Ok(Sandbox {
        name: provider.name().to_owned(),
        env: env.collect(),
        inherited_env: inherited_env.collect(),
        worktree,
        cwd: absolute,
        handle,
    })
}

/// A sandbox that runs share; see [`create_sandbox`].
///
/// It is a provider too, which lends itself: clone it into [`RunOptions::new`], or start from [`Sandbox::options`].
#[derive(Clone, Debug)]
pub struct Sandbox {
    name: String,
    env: Variables,
    inherited_env: Variables,
    worktree: PathBuf,
    cwd: PathBuf,
    handle: Arc<dyn SandboxHandle>,
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
    /// Returns the root of the work tree on this host.
    #[must_use]
    pub fn worktree(&self) -> &Path {
        &self.worktree
    }

    /// Returns the folder that runs work in unless they name another one.
    pub(super) fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// Starts options for a run of `agent` in this sandbox and its folder.
    pub fn options(&self, agent: impl Agent) -> RunOptions {
        RunOptions::new(agent, self.clone()).cwd(&self.cwd)
    }

    /// Runs in this sandbox, whichever the options name; otherwise as [`run`].
    ///
    /// The sandbox can be used again afterwards, also after a run that failed or was cancelled.
    ///
    /// # Errors
    /// As [`run`]; also when the options name a folder outside of the sandbox's work tree.
    pub fn run<O: RunOutput>(&self, options: RunOptions<O>) -> RunFuture<O::Value> {
        run(options.inside(self))
    }

    /// Runs in this sandbox and returns a `T`; otherwise as [`run_with`].
    ///
    /// # Errors
    /// As [`run_with`]; also when the options name a folder outside of the sandbox's work tree.
    pub fn run_with<T: AgentOutput>(&self, options: RunOptions) -> RunFuture<T> {
        run_with(options.inside(self))
    }

    /// Opens the agent's own terminal program in this sandbox; otherwise as [`interactive`].
    ///
    /// # Errors
    /// As [`interactive`]; also when the options name a folder outside of the sandbox's work tree.
    pub fn interactive<O: InteractiveOutput>(
        &self,
        options: RunOptions<O>,
    ) -> BoxFuture<'static, Result<InteractiveResult>> {
        interactive(options.inside(self))
    }

    /// Runs a command in this sandbox to its end. Its folder, if it names none, is that of the sandbox.
    ///
    /// A bad exit is no error. What the command leaves running is ended.
    ///
    /// # Errors
    /// [`ErrorKind::Sandbox`] when the command cannot be started, or prints more than 64 MiB.
    ///
    /// # Cancel safety
    /// Dropping the future kills the command and everything it started.
    pub async fn exec(&self, program: Program) -> Result<Executed> {
        let name = program.name.to_string_lossy().into_owned();
        let failed = |what: &str| {
            Error::new(ErrorKind::Sandbox, format!("{what} `{name}` in the sandbox `{}`", self.name))
        };
        let program = if program.cwd.is_none() { program.cwd(&self.cwd) } else { program };
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
        Ok(Executed { exit: Exit::from(status), stdout, stderr: running.stderr().text() })
    }

    /// Ends the sandbox and everything inside.
    ///
    /// # Errors
    /// [`ErrorKind::Sandbox`] when the provider cannot end it.
    pub async fn close(self) -> Result<()> {
        self.handle.close().await
    }
}

impl SandboxProvider for Sandbox {
    fn name(&self) -> &str {
        &self.name
    }

    fn env(&self) -> Vec<(OsString, OsString)> {
        self.env.to_vec()
    }

    fn inherited_env(&self) -> Vec<(OsString, OsString)> {
        self.inherited_env.to_vec()
    }

    fn create<'a>(&'a self, request: SandboxRequest<'a>) -> BoxFuture<'a, Result<Arc<dyn SandboxHandle>>> {
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

    fn start<'a>(&'a self, program: Program) -> BoxFuture<'a, std::io::Result<Running>> {
        self.0.start(program)
    }

    fn close(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(async { Ok(()) })
    }
}
