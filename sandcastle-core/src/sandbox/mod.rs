//! Where an agent runs: the traits, and the provider that adds no isolation.
//!
//! A [`SandboxProvider`] makes sandboxes; a [`SandboxHandle`] is one that was made. The engine starts an agent only
//! through a handle. What an agent is, is not known here.

mod none;

use std::ffi::OsString;
use std::fmt;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

pub use self::none::NoSandbox;
use crate::error::Result;
pub use crate::process::{Inherit, Output, Program, Running, Streams, Tail};

/// A boxed future, so that the traits can be used as trait objects.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Makes sandboxes of one kind.
pub trait SandboxProvider: Send + Sync + fmt::Debug + 'static {
    /// Returns the name that options, messages and logs use.
    fn name(&self) -> &str;

    /// Returns the variables that were set for every program inside by whoever made the provider.
    ///
    /// They are over those of `.sandcastle/.env`, and under those of the agent and of the run. A variable that the agent sets
    /// too is an error before anything is started.
    fn env(&self) -> Vec<(OsString, OsString)> {
        Vec::new()
    }

    /// Returns what programs inside inherit of the environment of this process. Only what is secret of it matters: it is
    /// masked in logs and messages.
    fn inherited_env(&self) -> Vec<(OsString, OsString)> {
        Vec::new()
    }

    /// Returns the home folder that programs inside will have, as seen from this host, if that is known before a sandbox is
    /// made. A session that is to be resumed is looked for there.
    fn home(&self) -> Option<PathBuf> {
        None
    }

    /// Makes a sandbox for the work tree at `request.worktree`.
    ///
    /// A dropped future leaves nothing behind.
    fn create<'a>(&'a self, request: SandboxRequest<'a>) -> BoxFuture<'a, Result<Arc<dyn SandboxHandle>>>;
}

/// Says what a sandbox is made for.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct SandboxRequest<'a> {
    /// The work tree on this host that the agent works in.
    pub worktree: &'a Path,
}

impl<'a> SandboxRequest<'a> {
    /// Asks for a sandbox around `worktree`.
    #[must_use]
    pub fn new(worktree: &'a Path) -> Self {
        Self { worktree }
    }
}

/// A sandbox that was made. Dropping it ends what runs inside.
pub trait SandboxHandle: Send + Sync + fmt::Debug {
    /// Returns the work tree's path as seen inside.
    fn worktree(&self) -> &Path;

    /// Returns the home folder that programs inside have, as seen from this host, if it can be reached from here.
    fn home(&self) -> Option<PathBuf>;

    /// Starts a program inside. Its `cwd`, if absent, is the work tree.
    ///
    /// # Errors
    /// As the operating system gives them.
    fn start<'a>(&'a self, program: Program) -> BoxFuture<'a, std::io::Result<Running>>;

    /// Ends the sandbox and everything inside.
    fn close(&self) -> BoxFuture<'_, Result<()>>;
}
