//! One sandbox: its folder on this host, its proxy, its thread, and the programs that are started in it.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::Bubblewrap;
use super::arguments::Call;
use super::environment::{Environment, Sources};
use super::private::PrivateFolder;
use super::probe::Bwrap;
use super::spawner::{Ordered, Spawner};
use super::view::{Blank, Entry, View, without_links};
use super::{descriptors, install};
use crate::error::Result;
use crate::process::{Inherit, Program, Running, Told};
use crate::sandbox::proxy::{Proxy, forward};
use crate::sandbox::{BoxFuture, Mount, SandboxHandle};

/// The home folder of programs inside.
pub(super) const HOME: &str = "/home/agent";

/// A sandbox that was made.
#[derive(Debug)]
pub(super) struct Handle {
    pub(super) provider: Bubblewrap,
    pub(super) bwrap: Bwrap,
    pub(super) inherited: Vec<(OsString, OsString)>,
    /// The user's home folder on this host.
    pub(super) user_home: Option<PathBuf>,
    pub(super) home: PathBuf,
    pub(super) worktree: PathBuf,
    /// What is seen inside by way of the system, and then by way of the provider and the request.
    pub(super) system: View,
    pub(super) mounts: Vec<Mount>,
    pub(super) hidden: Vec<PathBuf>,
    pub(super) forwarding: Option<Forwarding>,
    pub(super) held: Mutex<Option<Held>>,
}

/// What programs need to reach the proxy.
#[derive(Debug)]
pub(super) struct Forwarding {
    pub(super) shell: PathBuf,
    pub(super) socat: PathBuf,
    pub(super) loopback: Vec<SocketAddr>,
}

/// What is held of this host, to be let go of in this order.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) spawner: Spawner,
    pub(super) proxy: Option<Proxy>,
    pub(super) folder: PrivateFolder,
}

impl Handle {
    /// Puts everything into one list. What lies below a mount that can be written is looked at again each time.
    fn view(&self, installed: Vec<Entry>, blank: &Blank) -> io::Result<View> {
        let mut view = self.system.clone();
        view.extend(installed);
        for mount in &self.mounts {
            view.push(checked(mount, &view)?);
        }
        for hidden in &self.hidden {
            view.extend(cover(hidden, &view, blank)?);
        }
        Ok(view)
    }

    /// Finds a program inside; what is installed where nothing is seen is added to the view.
    fn find(
        &self,
        program: &Program,
        path: &std::ffi::OsStr,
        cwd: &Path,
        blank: &Blank,
    ) -> io::Result<(PathBuf, View)> {
        let view = self.view(Vec::new(), blank)?;
        let missing = match view.program(&program.name, path, cwd) {
            Ok(found) => return Ok((found, view)),
            Err(error) => error,
        };
        let search = install::Search { path, cwd, home: self.user_home.as_deref() };
        let Some(installed) = install::entries(&program.name, search, &view) else { return Err(missing) };
        let view = self.view(installed, blank)?;
        Ok((view.program(&program.name, path, cwd)?, view))
    }

    /// Turns a program into a call of `bwrap` that starts it inside.
    fn wrapped(&self, program: Program, blank: &Blank) -> io::Result<Program> {
        let sources = Sources {
            inherited: &self.inherited,
            home: HOME.as_ref(),
            network: &self.provider.network,
            set: &self.provider.env,
        };
        let environment = Environment::of(&program, &sources);
        let cwd = program.cwd.as_ref().map_or_else(|| self.worktree.clone(), |cwd| self.worktree.join(cwd));
        let (found, view) = self.find(&program, environment.path(), &cwd, blank)?;
        // The root is there, though it is no mount.
        if cwd != Path::new("/") && !view.resolve(&cwd).is_some_and(|folder| folder.is_dir()) {
            let message = format!("there is no folder `{}` inside the sandbox", cwd.display());
            return Err(io::Error::new(io::ErrorKind::NotFound, message));
        }
        let call = Call {
            bwrap: &self.bwrap,
            view: &view,
            network: &self.provider.network,
            streams: program.streams,
            steering: &environment.steering,
            cwd: &cwd,
        };
        let mut wrapped = Program::new(&self.bwrap.path).args(call.arguments()).cwd("/");
        wrapped = wrapped.args(descriptors::closing(&descriptors::inherited(), &view)?);
        if let Some(Forwarding { shell, socat, loopback }) = &self.forwarding {
            wrapped = wrapped.args(forward::command(shell, socat, loopback));
        }
        wrapped = wrapped.args([found]).args(program.args).stdin(program.stdin).streams(program.streams);
        wrapped.env = environment.plain;
        wrapped.inherit = Inherit::Nothing;
        wrapped.told = Told::Guest;
        Ok(wrapped)
    }

    fn order(&self, program: Program) -> io::Result<Ordered> {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let held = held.as_ref().ok_or_else(|| io::Error::other("the sandbox is closed"))?;
        held.spawner.order(self.wrapped(program, &held.folder.blank())?)
    }
}

impl SandboxHandle for Handle {
    fn worktree(&self) -> &Path {
        &self.worktree
    }

    fn home(&self) -> Option<PathBuf> {
        Some(self.home.clone())
    }

    fn home_inside(&self) -> Option<PathBuf> {
        Some(HOME.into())
    }

    fn bring_back(&self) -> BoxFuture<'_, Result<Vec<String>>> {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let proxy = held.as_ref().and_then(|held| held.proxy.as_ref());
        let refused = proxy.and_then(Proxy::refused).into_iter().collect();
        Box::pin(async { Ok(refused) })
    }

    fn start(&self, program: Program) -> BoxFuture<'_, io::Result<Running>> {
        Box::pin(async move { self.order(program)?.await.map_err(io::Error::other)? })
    }

    fn close(&self) -> BoxFuture<'_, Result<()>> {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner).take();
        Box::pin(async move {
            // What is held waits for the end of processes and removes folders.
            let _ = tokio::task::spawn_blocking(move || drop(held)).await;
            Ok(())
        })
    }
}

/// Turns a mount into an entry, unless an agent has put a link in its way.
fn checked(mount: &Mount, view: &View) -> io::Result<Entry> {
    if let Some(top) = view.changeable_above(&mount.host) {
        without_links(top, &mount.host)?;
    }
    view.ground(&mount.inside)?;
    Ok(Entry::Shown { host: mount.host.clone(), inside: mount.inside.clone(), access: mount.access })
}

/// Puts something empty over what is hidden, if it is there.
fn cover(hidden: &Path, view: &View, blank: &Blank) -> io::Result<Option<Entry>> {
    let Some((host, _)) = view.ground(hidden)? else { return Ok(None) };
    match fs::symlink_metadata(&host) {
        Ok(found) => Ok(Some(blank.over(hidden.to_path_buf(), &found))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
