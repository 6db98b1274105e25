//! Where an agent runs: the traits, and the providers.
//!
//! A [`SandboxProvider`] makes sandboxes; a [`SandboxHandle`] is one that was made. The engine starts an agent only
//! through a handle. What an agent is, is not known here.

mod bubblewrap;
mod container;
mod copy;
mod isolated;
mod mounted;
mod network;
mod none;
mod proxy;
mod request;
mod ssh;

use std::ffi::OsString;
use std::fmt;
use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

pub use self::bubblewrap::Bubblewrap;
pub use self::container::{Docker, Init, Podman, Selinux};
pub(crate) use self::container::{Left, left, remove_left};
pub use self::copy::{Copied, CopyLimits, copy_in, copy_out};
pub use self::isolated::{Isolated, IsolatedHandle, IsolatedProvider};
pub(crate) use self::mounted::Mounted;
pub use self::network::Network;
pub use self::none::NoSandbox;
pub use self::request::{Access, Mount, Owner, SandboxRequest, Sharing};
pub use self::ssh::Ssh;
use crate::error::Result;
pub use crate::process::{Afterwards, Inherit, Line, Output, Program, RemoteShell, Running, Streams, Tail};

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

    /// Says what programs inside see of this host's files.
    fn sharing(&self) -> Sharing;

    /// Makes a sandbox for the work tree at `request.worktree`.
    ///
    /// A dropped future leaves nothing behind.
    fn create(&self, request: SandboxRequest) -> BoxFuture<'_, Result<Arc<dyn SandboxHandle>>>;
}

/// A provider that several owners share is one, too.
impl<P: SandboxProvider + ?Sized> SandboxProvider for Arc<P> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn env(&self) -> Vec<(OsString, OsString)> {
        (**self).env()
    }

    fn inherited_env(&self) -> Vec<(OsString, OsString)> {
        (**self).inherited_env()
    }

    fn home(&self) -> Option<PathBuf> {
        (**self).home()
    }

    fn sharing(&self) -> Sharing {
        (**self).sharing()
    }

    fn create(&self, request: SandboxRequest) -> BoxFuture<'_, Result<Arc<dyn SandboxHandle>>> {
        (**self).create(request)
    }
}

/// A sandbox that was made. Dropping it ends what runs inside.
pub trait SandboxHandle: Send + Sync + fmt::Debug {
    /// Returns the work tree's path as seen inside.
    fn worktree(&self) -> &Path;

    /// Returns the home folder that programs inside have, as seen from this host, if it can be reached from here.
    fn home(&self) -> Option<PathBuf>;

    /// Returns the home folder that programs inside have, as they see it. Sessions of an agent are copied from there where
    /// [`SandboxHandle::home`] cannot be reached.
    fn home_inside(&self) -> Option<PathBuf> {
        self.home()
    }

    /// Returns the name by which what was made is found after its maker was killed, if it can outlive its maker.
    fn id(&self) -> Option<String> {
        None
    }

    /// Has programs inside see the work tree and its repository as they are on this host now, where the two share no files. It
    /// is called before each run, when all that was done inside was brought back.
    ///
    /// # Errors
    /// When it does not get there.
    fn bring_in(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(async { Ok(()) })
    }

    /// Brings what was done inside to the work tree on this host, where the two share no files, and returns what is to be
    /// warned of. It is called after each agent process, as often as there is one.
    ///
    /// # Errors
    /// When it does not come: what was done is kept, and the error says where.
    fn bring_back(&self) -> BoxFuture<'_, Result<Vec<String>>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    /// Starts a program inside. Its `cwd`, if absent, is the work tree.
    ///
    /// # Errors
    /// As the operating system gives them.
    fn start(&self, program: Program) -> BoxFuture<'_, io::Result<Running>>;

    /// Ends the sandbox and everything inside.
    fn close(&self) -> BoxFuture<'_, Result<()>>;
}

/// Listens to a program to its end; a bad one is an error with what it said.
async fn ended(running: &mut Running, mut take: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    let status = loop {
        match running.next().await? {
            Output::Stdout(bytes) => take(bytes)?,
            Output::Exited(status) => break status,
        }
    };
    if status.success() {
        return Ok(());
    }
    let said = running.stderr().text();
    Err(io::Error::other(format!("it ended with {status}: {}", said.trim())))
}
