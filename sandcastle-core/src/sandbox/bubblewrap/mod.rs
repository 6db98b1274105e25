//! The provider that makes a sandbox with bubblewrap: no daemon, no image, a few milliseconds.
//!
//! [`view`] is what is seen of the file system, made from what the system has ([`system`]), where a program is installed
//! ([`install`]) and what the request says. [`arguments`], [`descriptors`] and [`environment`] become a call of `bwrap`, which a thread of the
//! sandbox's own starts ([`spawner`]). [`probe`] finds out whether that works here. [`handle`] puts it together; what is held
//! of this host is in [`private`].

mod arguments;
mod descriptors;
mod environment;
mod handle;
mod install;
mod private;
mod probe;
mod spawner;
mod system;
mod view;

use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use self::handle::{Forwarding, HOME, Handle, Held};
use self::private::PrivateFolder;
use self::probe::{Bwrap, Nesting};
use self::spawner::Spawner;
use self::view::{Entry, View};
use super::proxy::{AllowList, Proxy, forward};
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

    /// Makes the sandbox, on a thread for blocking work.
    fn make(self, request: SandboxRequest, bwrap: Bwrap, allow: Option<AllowList>) -> Result<Handle> {
        let failed = |what: &str| {
            let message = what.to_owned();
            move |error: io::Error| Error::new(ErrorKind::Sandbox, message).with_source(error)
        };
        belongs_to_us(&request.worktree)?;
        let mut folder = PrivateFolder::new().map_err(failed("make the private folder of the sandbox"))?;
        let home = self.make_home(&folder).map_err(failed("make the home folder of the sandbox"))?;
        let mut system = self.system(&folder, &home);
        let forwarding = allow.as_ref().map(|allow| forwarding(&system, allow)).transpose()?;
        let proxy = allow
            .map(|allow| Proxy::start(allow, &folder.socket()))
            .transpose()
            .map_err(failed("start the proxy of the sandbox"))?;
        if proxy.is_some() {
            system.push(Entry::Shown {
                host: folder.socket(),
                inside: forward::SOCKET.into(),
                access: Access::ReadOnly,
            });
        }
        let own = self.mounts.iter().map(|mount| Mount::new(absolute(&mount.host), mount.access));
        let mounts: Vec<_> = own.chain(request.mounts).collect();
        make_places(&mounts, &system, &mut folder)?;
        let hidden =
            request.hidden.into_iter().chain(self.hidden.iter().map(|path| absolute(path))).collect();
        let spawner = Spawner::start(bwrap.rights).map_err(failed("start the thread of the sandbox"))?;
        Ok(Handle {
            inherited: self.inherited_env(),
            user_home: own_variable("HOME").map(PathBuf::from),
            provider: self,
            bwrap,
            home,
            worktree: inside(&request.worktree, &mounts),
            system,
            mounts,
            hidden,
            forwarding,
            held: Mutex::new(Some(Held { spawner, proxy, folder })),
        })
    }

    fn make_home(&self, folder: &PrivateFolder) -> io::Result<PathBuf> {
        let Some(home) = &self.home else { return Ok(folder.home()) };
        DirBuilder::new().recursive(true).mode(0o700).create(home)?;
        fs::canonicalize(home)
    }

    /// Lists what every program sees: the system, and what belongs to the sandbox.
    fn system(&self, folder: &PrivateFolder, home: &Path) -> View {
        let mut view = View::default();
        view.extend(system::entries(&folder.blank()));
        let own = |host: PathBuf, inside: &str| Entry::Shown {
            host,
            inside: inside.into(),
            access: Access::ReadWrite,
        };
        view.push(own(folder.temporary(), "/tmp"));
        view.push(Entry::Link { inside: "/var/tmp".into(), target: "/tmp".into() });
        view.push(own(home.to_path_buf(), HOME));
        view
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
            let making = tokio::task::spawn_blocking(move || provider.make(request, bwrap, allow));
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

/// Says where a path of this host is inside.
fn inside(path: &Path, mounts: &[Mount]) -> PathBuf {
    let place = |mount: &Mount| Some(view::below(&mount.inside, path.strip_prefix(&mount.host).ok()?));
    mounts.iter().rev().find_map(place).unwrap_or_else(|| path.to_path_buf())
}

/// Completes a path that begins at the folder of this process.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}

/// Root has no power inside over the files of others.
fn belongs_to_us(worktree: &Path) -> Result<()> {
    let owner = fs::metadata(worktree).map(|metadata| metadata.uid());
    match owner {
        Ok(owner) if rustix::process::geteuid().is_root() && owner != 0 => {
            let message = format!(
                "use `{}` in a sandbox: it belongs to user {owner}, and this is root",
                worktree.display()
            );
            Err(Error::new(ErrorKind::Sandbox, message)
                .with_hint("run as the user to whom the repository belongs"))
        }
        Ok(_) => Ok(()),
        Err(error) => {
            let message = format!("use `{}` in a sandbox", worktree.display());
            Err(Error::new(ErrorKind::Sandbox, message).with_source(error))
        }
    }
}

/// Finds what brings programs inside to the proxy.
fn forwarding(system: &View, allow: &AllowList) -> Result<Forwarding> {
    let search = OsStr::new("/usr/local/bin:/usr/bin:/bin:/run/current-system/sw/bin");
    let find = |name: &str| system.program(OsStr::new(name), search, Path::new("/"));
    let missing = |name: &'static str| {
        move |error| {
            Error::new(ErrorKind::Sandbox, format!("find `{name}`, which limits the network"))
                .with_source(error)
        }
    };
    let socat = find("socat").map_err(missing("socat")).map_err(|error| {
        error
            .with_hint("install it: its package is called `socat` on every distribution")
            .with_hint("or choose `Network::Off` or `Network::On`, which need nothing")
    })?;
    Ok(Forwarding { shell: find("sh").map_err(missing("sh"))?, socat, loopback: allow.loopback() })
}

/// Makes the places of mounts that lie in what programs can write, so that `bwrap` leaves none behind there.
fn make_places(mounts: &[Mount], system: &View, folder: &mut PrivateFolder) -> Result<()> {
    let mut view = system.clone();
    for mount in mounts {
        let failed = |why: &str, error: io::Error| {
            let (host, inside) = (mount.host.display(), mount.inside.display());
            Error::new(ErrorKind::Sandbox, format!("show `{host}` at `{inside}` in the sandbox: {why}"))
                .with_source(error)
        };
        fs::metadata(&mount.host).map_err(|error| failed("it is not there", error))?;
        match view.ground(&mount.inside).map_err(|error| failed("there is no place for it", error))? {
            Some((place, Access::ReadWrite)) => folder
                .make_place(&place, &mount.host)
                .map_err(|error| failed("there is no place for it", error))?,
            Some((place, Access::ReadOnly)) => {
                fs::metadata(&place)
                    .map_err(|error| failed("there is no place for it in what is read-only", error))?;
            }
            None => {}
        }
        view.push(Entry::Shown {
            host: mount.host.clone(),
            inside: mount.inside.clone(),
            access: mount.access,
        });
    }
    Ok(())
}
