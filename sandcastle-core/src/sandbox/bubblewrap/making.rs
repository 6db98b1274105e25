//! How a sandbox is made: its folder, what is seen in it, its proxy and its thread.
//!
//! Blocks, and makes nothing that is not gone again when the making fails or its result is dropped.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::handle::{Forwarding, HOME, Handle, Held};
use super::private::PrivateFolder;
use super::probe::Bwrap;
use super::spawner::Spawner;
use super::view::{self, Entry, View};
use super::{Bubblewrap, own_variable, system};
use crate::error::{Error, ErrorKind, Result};
use crate::sandbox::proxy::{AllowList, Proxy, forward};
use crate::sandbox::{Access, Mount, SandboxProvider, SandboxRequest};

/// Makes the sandbox that `provider` describes.
pub(super) fn make(
    provider: Bubblewrap,
    request: SandboxRequest,
    bwrap: Bwrap,
    allow: Option<AllowList>,
) -> Result<Handle> {
    belongs_to_us(&request.worktree)?;
    let mut folder = PrivateFolder::new().map_err(failed("make the private folder of the sandbox"))?;
    let home = home(&provider, &folder).map_err(failed("make the home folder of the sandbox"))?;
    let mut system = seen_always(&folder, &home);
    let (proxy, forwarding) = allow.map(|allow| limit(allow, &folder, &mut system)).transpose()?.unzip();
    let own = provider.mounts.iter().map(|mount| Mount::new(absolute(&mount.host), mount.access));
    let mounts: Vec<_> = own.chain(request.mounts).collect();
    make_places(&mounts, &system, &mut folder)?;
    let hidden = provider.hidden.iter().map(|path| absolute(path));
    let spawner = Spawner::start(bwrap.rights).map_err(failed("start the thread of the sandbox"))?;
    Ok(Handle {
        inherited: provider.inherited_env(),
        user_home: own_variable("HOME").map(PathBuf::from),
        hidden: request.hidden.into_iter().chain(hidden).collect(),
        worktree: inside(&request.worktree, &mounts),
        provider,
        bwrap,
        home,
        system,
        mounts,
        forwarding,
        held: Mutex::new(Some(Held { spawner, proxy, folder })),
    })
}

fn failed(what: &str) -> impl FnOnce(io::Error) -> Error {
    move |error| Error::new(ErrorKind::Sandbox, what).with_source(error)
}

fn home(provider: &Bubblewrap, folder: &PrivateFolder) -> io::Result<PathBuf> {
    let Some(home) = &provider.home else { return Ok(folder.home()) };
    DirBuilder::new().recursive(true).mode(0o700).create(home)?;
    fs::canonicalize(home)
}

/// Lists what every program sees: the system, and what belongs to the sandbox.
fn seen_always(folder: &PrivateFolder, home: &Path) -> View {
    let mut view = View::default();
    view.extend(system::entries(&folder.blank()));
    let own =
        |host: PathBuf, inside: &str| Entry::Shown { host, inside: inside.into(), access: Access::ReadWrite };
    view.push(own(folder.temporary(), "/tmp"));
    view.push(Entry::Link { inside: "/var/tmp".into(), target: "/tmp".into() });
    view.push(own(home.to_path_buf(), HOME));
    view
}

/// Starts a proxy, and shows its socket.
fn limit(allow: AllowList, folder: &PrivateFolder, system: &mut View) -> Result<(Proxy, Forwarding)> {
    let forwarding = forwarding(system, &allow)?;
    let proxy = Proxy::start(allow, &folder.socket()).map_err(failed("start the proxy of the sandbox"))?;
    system.push(Entry::Shown {
        host: folder.socket(),
        inside: forward::SOCKET.into(),
        access: Access::ReadOnly,
    });
    Ok((proxy, forwarding))
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
