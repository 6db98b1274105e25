//! The provider that makes a sandbox with bubblewrap: no daemon, no image, a few milliseconds.
//!
//! [`view`] is what is seen of the file system, made from what the system has ([`system`]), where a program is installed
//! ([`install`]) and what the request says. [`arguments`], [`descriptors`] and [`environment`] become a call of `bwrap`, which a thread of the
//! sandbox's own starts ([`spawner`]). [`probe`] finds out whether that works here. [`making`] and [`handle`] put it together;
//! what is held of this host is in [`private`].

mod arguments;
mod descriptors;
mod environment;
mod handle;
mod install;
mod making;
mod private;
mod probe;
mod spawner;
mod system;
mod view;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use self::probe::{Bwrap, Nesting};
use super::{Access, BoxFuture, Mount, Network, SandboxHandle, SandboxProvider, SandboxRequest, Sharing};
use crate::error::{Error, ErrorKind, Result};
use crate::secret::Variables;

/// Runs agents in a sandbox of [bubblewrap](https://github.com/containers/bubblewrap), on Linux.
///
/// It needs the program `bwrap` and user namespaces, and no daemon, no image and no rights. Programs inside
///
/// - see the work tree and what git needs, which they can change; the system's folders (`/usr`, `/etc`, `/opt` and the like)
///   without what is not for everybody's eyes in `/etc`, which they cannot; and nothing else of this host: no home folders,
///   no other work trees, no sockets of services;
/// - have a home folder `/home/agent` and a `/tmp` of their own, which are gone when the sandbox is closed, see
///   [`Bubblewrap::home`];
/// - see and signal only one another, have no capabilities and gain none, also where this process is root;
/// - inherit `PATH`, the locale, `TZ`, the type of the terminal and the name of the user, and no other variable, see
///   [`Bubblewrap::keep_env`];
/// - reach the network as [`Bubblewrap::network`] says.
///
/// A program that is installed in a home folder is seen without further ado when it is started: the links that lead to it, its
/// `node_modules`, its package where it lies in a folder of packages (`share`, `lib`, `versions`), or else its file alone;
/// and the same of the interpreter that its first line names. What it needs beyond that is shown with [`Bubblewrap::read`].
///
/// ```
/// use sandcastle_core::sandbox::{Bubblewrap, Network};
///
/// let sandbox = Bubblewrap::new()
///     .network(Network::limited(["api.anthropic.com"]))
///     .keep_env("ANTHROPIC_API_KEY")
///     .read("/srv/models");
/// # let _ = sandbox;
/// ```
#[derive(Clone, Debug, Default)]
pub struct Bubblewrap {
    program: Option<PathBuf>,
    network: Network,
    home: Option<PathBuf>,
    mounts: Vec<Mount>,
    hidden: Vec<PathBuf>,
    env: Variables,
    kept: Vec<OsString>,
    nesting: Nesting,
}

impl Bubblewrap {
    /// Creates the provider.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets what of the network programs can reach; everything by default.
    ///
    /// [`Network::Limited`] needs the program `socat`.
    #[must_use]
    pub fn network(mut self, network: Network) -> Self {
        self.network = network;
        self
    }

    /// Sets a folder of this host as the home folder of programs, which lasts. It is made if it is not there, and it must not be
    /// one that sandboxes share which do not trust each other.
    ///
    /// By default each sandbox has a fresh one, and sessions are copied from there before it is removed.
    #[must_use]
    pub fn home(mut self, folder: impl Into<PathBuf>) -> Self {
        self.home = Some(folder.into());
        self
    }

    /// Shows a file or folder of this host at its own path, to be read.
    #[must_use]
    pub fn read(mut self, path: impl Into<PathBuf>) -> Self {
        self.mounts.push(Mount::new(path, Access::ReadOnly));
        self
    }

    /// Shows a file or folder of this host at its own path, to be changed.
    #[must_use]
    pub fn write(mut self, path: impl Into<PathBuf>) -> Self {
        self.mounts.push(Mount::new(path, Access::ReadWrite));
        self
    }

    /// Puts something empty over a file or folder that would be seen, one below `/opt`, for example.
    #[must_use]
    pub fn hide(mut self, path: impl Into<PathBuf>) -> Self {
        self.hidden.push(path.into());
        self
    }

    /// Sets a variable for every program inside.
    #[must_use]
    pub fn env(mut self, key: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.set(key, value);
        self
    }

    /// Lets programs inside inherit a variable of this process.
    #[must_use]
    pub fn keep_env(mut self, key: impl Into<OsString>) -> Self {
        self.kept.push(key.into());
        self
    }

    /// Sets which `bwrap` is used; by default it is looked for on the search path of this process, and where systems have it.
    #[must_use]
    pub fn program(mut self, bwrap: impl Into<PathBuf>) -> Self {
        self.program = Some(bwrap.into());
        self
    }

    /// Lets programs inside make user namespaces of their own, in which they have capabilities: for the sandboxes of browsers and
    /// the like. By default they cannot, since what the kernel offers there is where its holes have been.
    #[must_use]
    pub fn allow_user_namespaces(mut self) -> Self {
        self.nesting = Nesting::Possible;
        self
    }
}

impl SandboxProvider for Bubblewrap {
    fn name(&self) -> &str {
        "bubblewrap"
    }

    fn env(&self) -> Vec<(OsString, OsString)> {
        self.env.to_vec()
    }

    fn inherited_env(&self) -> Vec<(OsString, OsString)> {
        environment::inherited(std::env::vars_os(), &self.kept)
    }

    fn home(&self) -> Option<PathBuf> {
        self.home.clone()
    }

    fn sharing(&self) -> Sharing {
        Sharing::Mounts
    }

    fn create(&self, request: SandboxRequest) -> BoxFuture<'_, Result<Arc<dyn SandboxHandle>>> {
        Box::pin(async move {
            if !cfg!(target_os = "linux") {
                let error = Error::new(ErrorKind::Sandbox, "use bubblewrap, which needs the kernel of Linux");
                return Err(error.with_hint("take a container engine here, such as Docker or Podman"));
            }
            let allow = self.network.allow_list()?;
            let search = own_variable("PATH").unwrap_or_default();
            let mut bwrap = Bwrap::find(self.program.as_deref(), &search).await?;
            if self.nesting == Nesting::Possible {
                bwrap.nesting = Nesting::Possible;
            }
            let provider = self.clone();
            let making = tokio::task::spawn_blocking(move || making::make(provider, request, bwrap, allow));
            let made = making
                .await
                .map_err(|error| Error::new(ErrorKind::Sandbox, "make the sandbox").with_source(error))?;
            Ok(Arc::new(made?) as Arc<dyn SandboxHandle>)
        })
    }
}

/// Reads a variable of this process that decides what programs inside see, or how `bwrap` is found.
#[expect(
    clippy::disallowed_methods,
    reason = "programs inside inherit the search path, so it is looked through for them"
)]
fn own_variable(key: &str) -> Option<OsString> {
    std::env::var_os(key)
}
