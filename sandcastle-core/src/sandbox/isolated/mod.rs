//! Sandboxes that share no files with this host: another machine, a container of another engine, a service.
//!
//! An [`IsolatedProvider`] has a folder somewhere and starts programs there; that is all it has to do. [`Isolated`] makes a
//! [`SandboxProvider`] of it: it brings the work tree in as a git bundle, with what is not committed, and after each agent
//! process brings back what was done. Nothing but the branch that is worked on, and
//! commits that were asked for, leaves this host.

use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::{
    BoxFuture, Owner, Program, Running, SandboxHandle, SandboxProvider, SandboxRequest, Sharing, copy_in,
    ended,
};
use crate::config::{ConfigDir, Kept};
use crate::error::{Error, ErrorKind, Result};
use crate::git::{Exchange, Parcel, Repository};

const RECEIVE: &str = include_str!("receive.sh");
const GIVE: &str = include_str!("give.sh");
/// How long one step of git may take on this host.
const GIT_LIMIT: Duration = Duration::from_secs(600);
/// How long the other side may say nothing while it brings work back.
const SILENCE: Duration = Duration::from_secs(600);
/// The longest list of what there is on the other side.
const MAX_SAID: usize = 64 * 1024 * 1024;
/// The longest bundle that comes back.
const MAX_BUNDLE: u64 = 64 << 30;

/// Makes sandboxes that share no files with this host.
///
/// [`Isolated::new`] makes a [`SandboxProvider`] of it. Nothing here says where a sandbox is or which of several places is
/// chosen: a provider may ask a scheduler.
///
/// See `examples/isolated_provider.rs` for a complete one.
pub trait IsolatedProvider: Send + Sync + fmt::Debug + 'static {
    /// Returns the name that options, messages and logs use.
    fn name(&self) -> &str;

    /// Returns the variables that were set for every program inside by whoever made the provider.
    fn env(&self) -> Vec<(OsString, OsString)> {
        Vec::new()
    }

    /// Makes a sandbox.
    ///
    /// A dropped future leaves nothing behind.
    fn create(&self, owner: Owner) -> BoxFuture<'_, Result<Arc<dyn IsolatedHandle>>>;
}

/// An isolated sandbox that was made. Dropping it ends what runs inside.
pub trait IsolatedHandle: Send + Sync + fmt::Debug {
    /// Returns the absolute path inside at which the work tree is to be. The folder must be empty, or not be there.
    fn workspace(&self) -> &Path;

    /// Returns the home folder that programs inside have.
    fn home(&self) -> Option<PathBuf> {
        None
    }

    /// Returns the name by which what was made is found after its maker was killed.
    fn id(&self) -> Option<String> {
        None
    }

    /// Starts a program inside; `sh`, `git` and `tar` have to be there. Its `cwd` is always set.
    ///
    /// # Errors
    /// As the operating system gives them.
    fn start(&self, program: Program) -> BoxFuture<'_, io::Result<Running>>;

    /// Ends the sandbox and everything inside.
    fn close(&self) -> BoxFuture<'_, Result<()>>;
}

/// Runs agents in isolated sandboxes.
///
/// ```no_run
/// use sandcastle_core::sandbox::{Isolated, IsolatedProvider};
///
/// fn provider(machine: impl IsolatedProvider) -> impl sandcastle_core::SandboxProvider {
///     Isolated::new(machine)
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Isolated<P> {
    provider: Arc<P>,
}

impl<P: IsolatedProvider> Isolated<P> {
    /// Makes a provider of sandboxes for runs.
    pub fn new(provider: P) -> Self {
        Self { provider: Arc::new(provider) }
    }
}

impl<P: IsolatedProvider> SandboxProvider for Isolated<P> {
    fn name(&self) -> &str {
        self.provider.name()
    }

    fn env(&self) -> Vec<(OsString, OsString)> {
        self.provider.env()
    }

    fn sharing(&self) -> Sharing {
        Sharing::Nothing
    }

    fn create(&self, request: SandboxRequest) -> BoxFuture<'_, Result<Arc<dyn SandboxHandle>>> {
        Box::pin(async move {
            let repository = Repository::discover(&request.worktree).await?;
            let config = ConfigDir::of(&repository);
            let name = format!("{}-{:08x}", request.owner.process.pid, fastrand::u32(..));
            let folder = config.make(Kept::Sandboxes)?.join(name);
            let inner = self.provider.create(request.owner).await?;
            let exchange = Exchange::new(repository, folder, GIT_LIMIT).with(request.commits);
            let handle = Handle { inner, exchange, name: self.provider.name().to_owned() };
            let sent = async {
                handle.send().await?;
                handle.copy(&request.worktree, &request.copies).await
            };
            match sent.await {
                Ok(()) => Ok(Arc::new(handle) as Arc<dyn SandboxHandle>),
                Err(error) => {
                    handle.exchange.forget();
                    match handle.inner.close().await {
                        Ok(()) => Err(error),
                        Err(trouble) => {
                            Err(error.with_hint(format!("the sandbox was not closed: {trouble}")))
                        }
                    }
                }
            }
        })
    }
}

/// An isolated sandbox with a copy of the work tree.
#[derive(Debug)]
struct Handle {
    inner: Arc<dyn IsolatedHandle>,
    exchange: Exchange,
    name: String,
}

impl Handle {
    async fn send(&self) -> Result<()> {
        let Some(parcel) = self.exchange.pack().await? else { return Ok(()) };
        let failed = |error| self.failed("send the work tree", error);
        let bundle = File::open(&parcel.bundle).map_err(failed)?;
        let program = self.script(RECEIVE, self.receive_args(&parcel)).stdin_file(bundle);
        let mut running = self.inner.start(program).await.map_err(failed)?;
        let ended = ended(&mut running, |_| Ok(())).await;
        running.sweep().await;
        ended.map_err(failed)?;
        self.exchange.arrived(parcel).await;
        Ok(())
    }

    /// Brings in what git does not carry. What is not there was told of when the work tree was made.
    async fn copy(&self, worktree: &Path, copies: &[PathBuf]) -> Result<()> {
        for path in copies.iter().filter(|path| worktree.join(path).symlink_metadata().is_ok()) {
            copy_in(self, &worktree.join(path), &self.inner.workspace().join(path)).await?;
        }
        Ok(())
    }

    fn receive_args(&self, parcel: &Parcel) -> Vec<OsString> {
        let text = |text: &str| OsString::from(text);
        vec![
            self.inner.workspace().into(),
            text(&parcel.format),
            text(&parcel.head),
            text(parcel.there.as_deref().unwrap_or_default()),
            text(&parcel.files),
            text(parcel.staged.as_deref().unwrap_or_default()),
            text(parcel.commit().unwrap_or_default()),
        ]
    }

    async fn receive(&self) -> Result<Vec<String>> {
        let failed = |error| self.failed("bring back what was done", error);
        let known = self.exchange.known().await.into_iter().map(OsString::from);
        let args = std::iter::once(self.inner.workspace().into()).chain(known);
        let mut letter = Letter::to(&self.exchange.incoming()).map_err(failed)?;
        let mut running = self.inner.start(self.script(GIVE, args)).await.map_err(failed)?;
        let came = spoken(&mut running, &mut letter).await;
        running.sweep().await;
        came.map_err(failed)?;
        self.exchange.take(&letter.said().map_err(failed)?).await
    }

    fn script(&self, script: &str, args: impl IntoIterator<Item = OsString>) -> Program {
        Program::new("sh").args(["-c", script, "sh"]).args(args).cwd("/")
    }

    fn failed(&self, what: &str, error: io::Error) -> Error {
        let name = &self.name;
        Error::new(ErrorKind::Sync, format!("{what}: the sandbox `{name}` did not answer as it should"))
            .with_source(error)
            .with_hint("what had come back by then is in the worktree and on its branch")
    }
}

/// Listens to what comes, which ends if nothing more comes: git over there may be waiting for whatever an agent put in the place
/// of a file.
async fn spoken(running: &mut Running, letter: &mut Letter) -> io::Result<()> {
    let heard = tokio::sync::Notify::new();
    let listening = ended(running, |bytes| {
        heard.notify_one();
        letter.push(bytes)
    });
    tokio::pin!(listening);
    loop {
        tokio::select! {
            came = &mut listening => return came,
            () = heard.notified() => {}
            () = tokio::time::sleep(SILENCE) => return Err(io::ErrorKind::TimedOut.into()),
        }
    }
}

/// What comes from the other side: lines, a blank one, and a bundle.
struct Letter {
    said: Vec<u8>,
    bundle: File,
    length: u64,
    is_read: bool,
}

impl Letter {
    fn to(bundle: &Path) -> io::Result<Self> {
        if let Some(folder) = bundle.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let bundle = File::options().write(true).create(true).truncate(true).mode(0o600).open(bundle)?;
        Ok(Self { said: Vec::new(), bundle, length: 0, is_read: false })
    }

    fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        if !self.is_read {
            let from = self.said.len().saturating_sub(1);
            self.said.extend_from_slice(bytes);
            let Some(end) = memchr::memmem::find(&self.said[from..], b"\n\n").map(|at| from + at) else {
                return if self.said.len() > MAX_SAID { Err(too_long()) } else { Ok(()) };
            };
            let rest = self.said.split_off(end + 2);
            self.is_read = true;
            return self.keep(&rest);
        }
        self.keep(bytes)
    }

    fn keep(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.length += bytes.len() as u64;
        if self.length > MAX_BUNDLE { Err(too_long()) } else { self.bundle.write_all(bytes) }
    }

    fn said(&self) -> io::Result<String> {
        match String::from_utf8(self.said.clone()) {
            Ok(said) if self.is_read => Ok(said),
            _ => Err(io::Error::other("what git says there is cut off, or no text")),
        }
    }
}

fn too_long() -> io::Error {
    io::Error::other("what comes back is longer than it can be")
}

impl SandboxHandle for Handle {
    fn worktree(&self) -> &Path {
        self.inner.workspace()
    }

    fn home(&self) -> Option<PathBuf> {
        None
    }

    fn home_inside(&self) -> Option<PathBuf> {
        self.inner.home()
    }

    fn id(&self) -> Option<String> {
        self.inner.id()
    }

    fn bring_in(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(self.send())
    }

    fn bring_back(&self) -> BoxFuture<'_, Result<Vec<String>>> {
        Box::pin(self.receive())
    }

    fn start(&self, mut program: Program) -> BoxFuture<'_, io::Result<Running>> {
        program.cwd.get_or_insert_with(|| self.inner.workspace().to_path_buf());
        self.inner.start(program)
    }

    fn close(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(async {
            self.inner.close().await?;
            self.exchange.forget();
            Ok(())
        })
    }
}
