//! The provider that adds no isolation: programs run on this host as the user who started us.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{BoxFuture, Inherit, Program, Running, SandboxHandle, SandboxProvider, SandboxRequest, Sharing};
use crate::error::Result;
use crate::git::DROPPED_VARIABLES;
use crate::secret::Variables;

/// Runs agents on this host, without isolation.
///
/// An agent inherits the environment of this process, less the variables that would point git at another repository.
/// [`NoSandbox::clear_env`] gives it an empty one instead.
///
/// An agent that runs unattended can do whatever the user can do. Use it in places that are isolated already, such as
/// a container or a CI job.
///
/// ```
/// use sandcastle_core::sandbox::NoSandbox;
///
/// let sandbox = NoSandbox::new().clear_env().env("HOME", "/srv/agent").env("PATH", "/usr/bin:/bin");
/// # let _ = sandbox;
/// ```
#[derive(Clone, Default)]
pub struct NoSandbox {
    inherit: Option<Inherit>,
    env: Variables,
}

impl std::fmt::Debug for NoSandbox {
    /// Shows the names of variables and never their values.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NoSandbox").field("inherit", &self.inherit()).field("env", &self.env).finish()
    }
}

impl NoSandbox {
    /// Creates the provider.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a variable for every program inside.
    #[must_use]
    pub fn env(mut self, key: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.set(key, value);
        self
    }

    /// Hides the environment of this process from the programs inside; they see only what is set for them.
    #[must_use]
    pub fn clear_env(mut self) -> Self {
        self.inherit = Some(Inherit::Nothing);
        self
    }

    fn inherit(&self) -> Inherit {
        self.inherit.unwrap_or(Inherit::All)
    }

    /// Returns a variable as the programs inside see it.
    #[expect(
        clippy::disallowed_methods,
        reason = "programs inside inherit this environment, so it is part of the answer"
    )]
    fn variable(&self, key: &str) -> Option<OsString> {
        let own = self.env.get(key).map(Into::into);
        own.or_else(|| (self.inherit() == Inherit::All).then(|| std::env::var_os(key)).flatten())
    }
}

impl SandboxProvider for NoSandbox {
    fn name(&self) -> &str {
        "none"
    }

    fn env(&self) -> Vec<(OsString, OsString)> {
        self.env.to_vec()
    }

    fn inherited_env(&self) -> Vec<(OsString, OsString)> {
        match self.inherit() {
            Inherit::All => std::env::vars_os().collect(),
            Inherit::Nothing => Vec::new(),
        }
    }

    fn home(&self) -> Option<PathBuf> {
        self.variable("HOME").map(PathBuf::from)
    }

    fn sharing(&self) -> Sharing {
        Sharing::Host
    }

    fn create(&self, request: SandboxRequest) -> BoxFuture<'_, Result<Arc<dyn SandboxHandle>>> {
        let handle = Handle { provider: self.clone(), worktree: request.worktree };
        Box::pin(async move { Ok(Arc::new(handle) as Arc<dyn SandboxHandle>) })
    }
}

#[derive(Debug)]
struct Handle {
    provider: NoSandbox,
    worktree: PathBuf,
}

impl SandboxHandle for Handle {
    fn worktree(&self) -> &Path {
        &self.worktree
    }

    fn home(&self) -> Option<PathBuf> {
        SandboxProvider::home(&self.provider)
    }

    fn start(&self, mut program: Program) -> BoxFuture<'_, io::Result<Running>> {
        program.inherit = self.provider.inherit();
        program.removed_env.extend(DROPPED_VARIABLES.iter().map(OsString::from));
        program.env.splice(0..0, self.provider.env.iter().cloned());
        let cwd = program.cwd.take().unwrap_or_else(|| self.worktree.clone());
        program.cwd = Some(cwd);
        Box::pin(async move { Running::start(&program) })
    }

    fn close(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(async { Ok(()) })
    }
}
