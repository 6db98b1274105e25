//! What of this host is seen inside: what a run asks for, and what the caller adds.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Component, Path, PathBuf};

use super::settings::{EngineSocket, Selinux, Settings};
use crate::error::{Error, ErrorKind, Result};
use crate::sandbox::{Access, Mount, SandboxRequest};

/// Folders of the system: what is in them is never given another label.
const SYSTEM: &[&str] =
    &["/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/proc", "/run", "/sbin", "/sys", "/usr"];
/// Folders that hold what belongs to many.
const SHARED: &[&str] =
    &["/", "/home", "/media", "/mnt", "/opt", "/root", "/srv", "/tmp", "/var", "/var/tmp"];
/// The names of sockets that make containers.
const SOCKET_NAMES: &[&str] =
    &["docker.sock", "podman.sock", "containerd.sock", "crio.sock", "buildkitd.sock", "docker.raw.sock"];
/// Where such sockets are.
const SOCKETS: &[&str] = &[
    "/run/docker.sock",
    "/var/run/docker.sock",
    "/run/podman/podman.sock",
    "/run/containerd/containerd.sock",
    "/run/crio/crio.sock",
];

/// A mount, resolved and checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bind {
    pub(super) host: PathBuf,
    pub(super) inside: PathBuf,
    pub(super) access: Access,
    pub(super) label: Selinux,
}

/// Where things are inside.
#[derive(Clone, Copy, Debug)]
pub(super) struct Inside<'a> {
    pub(super) worktree: &'a Path,
    pub(super) home: Option<&'a Path>,
}

/// Lists what is mounted: what the run asks for first, as it is, then what the caller adds.
///
/// # Errors
/// [`ErrorKind::Sandbox`] when something is not there, cannot be placed, or is the engine's control socket.
pub(super) fn binds(settings: &Settings, request: &SandboxRequest, inside: Inside<'_>) -> Result<Vec<Bind>> {
    let asked = request.mounts.iter().map(|mount| absolute(mount).map(|()| mount.clone()));
    let added = settings.mounts.iter().map(|mount| resolve(mount, inside));
    let mut binds = Vec::new();
    for mount in asked.chain(added) {
        let mount = mount?;
        refuse_link(&request.worktree, &mount.host)?;
        if settings.socket == EngineSocket::Refused {
            refuse_socket(settings, &mount.host)?;
        }
        let label = if may_be_labelled(&mount.host) { settings.selinux } else { Selinux::Off };
        binds.push(Bind { host: mount.host, inside: mount.inside, access: mount.access, label });
    }
    Ok(binds)
}

/// Lists the folders inside that hold a file which the caller mounts below the home: the engine makes them as root's if they
/// are not there.
pub(super) fn parents_of_files(binds: &[Bind], home: Option<&Path>) -> Vec<PathBuf> {
    let Some(home) = home else { return Vec::new() };
    let files = binds.iter().filter(|bind| bind.inside.starts_with(home) && !bind.host.is_dir());
    let parents = files.filter_map(|bind| bind.inside.parent()).filter(|parent| *parent != home);
    let mut parents: Vec<PathBuf> = parents.map(Path::to_path_buf).collect();
    parents.dedup();
    parents
}

/// Returns where the work tree is inside.
pub(super) fn worktree_inside(request: &SandboxRequest) -> PathBuf {
    let mount = request.mounts.iter().rev().find(|mount| mount.host == request.worktree);
    mount.map_or_else(|| request.worktree.clone(), |mount| mount.inside.clone())
}

fn absolute(mount: &Mount) -> Result<()> {
    let is_whole =
        |path: &Path| path.is_absolute() && !path.components().any(|part| part == Component::ParentDir);
    match is_whole(&mount.host) && is_whole(&mount.inside) {
        true => present(&mount.host),
        false => Err(unplaced(mount, "its paths have to be absolute, without `..`")),
    }
}

fn present(host: &Path) -> Result<()> {
    fs::metadata(host).map(drop).map_err(|error| {
        Error::new(ErrorKind::Sandbox, format!("mount `{}`: it is not there", host.display()))
            .with_source(error)
    })
}

fn resolve(mount: &Mount, inside: Inside<'_>) -> Result<Mount> {
    let own_home = std::env::home_dir();
    let host = at_home(&mount.host, own_home.as_deref())
        .ok_or_else(|| unplaced(mount, "this process has no home folder for `~`"))?;
    let host = std::path::absolute(&host)
        .map_err(|error| unplaced(mount, "the current folder cannot be found").with_source(error))?;
    let there = at_home(&mount.inside, inside.home).ok_or_else(|| {
        unplaced(mount, "the image does not say what `~` is; name the home with `.home(path)`")
    })?;
    let resolved = Mount { host, inside: inside.worktree.join(there), access: mount.access };
    absolute(&resolved)?;
    Ok(resolved)
}

/// Puts a home folder in the place of `~`.
fn at_home(path: &Path, home: Option<&Path>) -> Option<PathBuf> {
    match path.strip_prefix("~") {
        Ok(rest) if rest.as_os_str().is_empty() => home.map(Path::to_path_buf),
        Ok(rest) => home.map(|home| home.join(rest)),
        Err(_) => Some(path.to_path_buf()),
    }
}

fn unplaced(mount: &Mount, why: &str) -> Error {
    let (host, inside) = (mount.host.display(), mount.inside.display());
    Error::new(ErrorKind::Sandbox, format!("mount `{host}` at `{inside}`: {why}"))
}

/// Refuses what lies in the work tree, where an agent may have put a link that leads elsewhere.
fn refuse_link(worktree: &Path, host: &Path) -> Result<()> {
    let (Ok(real), Ok(tree)) = (host.canonicalize(), worktree.canonicalize()) else { return Ok(()) };
    match host.starts_with(worktree) && !real.starts_with(tree) {
        false => Ok(()),
        true => Err(Error::new(
            ErrorKind::Sandbox,
            format!("mount `{}`: it leads out of the work tree, to `{}`", host.display(), real.display()),
        )
        .with_hint("mount that path itself, if it is meant")),
    }
}

/// Refuses the engine's socket, and a folder that holds one.
fn refuse_socket(settings: &Settings, host: &Path) -> Result<()> {
    let real = host.canonicalize().unwrap_or_else(|_| host.to_path_buf());
    let is_socket = fs::metadata(&real).is_ok_and(|metadata| metadata.file_type().is_socket());
    let is_named = real.file_name().and_then(OsStr::to_str).is_some_and(|name| SOCKET_NAMES.contains(&name));
    let held = sockets(settings).into_iter().find(|socket| socket.starts_with(&real));
    if !(is_socket && is_named) && held.is_none() {
        return Ok(());
    }
    let what = match held.filter(|socket| *socket != real) {
        Some(socket) => format!(
            "mount `{}`: the control socket `{}` of a container engine is in it",
            host.display(),
            socket.display()
        ),
        None => format!("mount `{}`: it is the control socket of a container engine", host.display()),
    };
    Err(Error::new(ErrorKind::Sandbox, what)
        .with_hint("who has it can do whatever root can; `.allow_engine_socket()` mounts it all the same"))
}

/// Lists the sockets of engines that are there.
fn sockets(settings: &Settings) -> Vec<PathBuf> {
    let uid = rustix::process::getuid().as_raw();
    let own =
        ["podman/podman.sock", "docker.sock"].map(|name| PathBuf::from(format!("/run/user/{uid}/{name}")));
    let address = settings.client.address();
    let told = address.as_deref().and_then(OsStr::to_str).and_then(|address| address.strip_prefix("unix://"));
    let all = SOCKETS.iter().map(PathBuf::from).chain(own).chain(told.map(PathBuf::from));
    all.filter_map(|socket| socket.canonicalize().ok()).collect()
}

fn may_be_labelled(host: &Path) -> bool {
    let is_system = SYSTEM.iter().any(|folder| host.starts_with(folder));
    !is_system && !SHARED.iter().any(|folder| host == Path::new(folder))
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;
    use crate::sandbox::container::engine::Engine;

    fn placed(settings: &Settings, mount: Mount) -> Result<Vec<Bind>> {
        let mut settings = settings.clone();
        settings.mounts = vec![mount];
        let mut request = SandboxRequest::new("/");
        request.mounts.clear();
        let inside = Inside { worktree: Path::new("/work"), home: Some(Path::new("/home/agent")) };
        binds(&settings, &request, inside)
    }

    #[test]
    fn paths_are_resolved_on_both_sides() {
        let settings = Settings::new(Engine::Docker, "a");
        let folder = tempfile::tempdir().unwrap();
        let at = |inside: &str| {
            let bind =
                placed(&settings, Mount::new(folder.path(), Access::ReadOnly).at(inside)).unwrap().remove(0);
            assert_eq!(bind.host, folder.path());
            bind.inside.display().to_string()
        };
        assert_eq!(at("~/.cache"), "/home/agent/.cache");
        assert_eq!(at("~"), "/home/agent");
        assert_eq!(at("data"), "/work/data");
        assert_eq!(at("/srv"), "/srv");
        let relative = placed(&settings, Mount::new(".", Access::ReadOnly).at("/x")).unwrap().remove(0);
        assert_eq!(relative.host, std::env::current_dir().unwrap());
        for (mount, why) in [
            (Mount::new("/no/such/folder", Access::ReadOnly), "not there"),
            (Mount::new("/", Access::ReadOnly).at("../x"), "`..`"),
        ] {
            let error = placed(&settings, mount).unwrap_err();
            assert!(error.to_string().contains(why), "{error}");
        }
    }

    #[test]
    fn the_control_socket_is_refused_by_name_and_in_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("docker.sock");
        let _listener = UnixListener::bind(&socket).unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&socket, &link).unwrap();
        let mut settings = Settings::new(Engine::Docker, "a");
        for path in [&socket, &link] {
            let error = placed(&settings, Mount::new(path, Access::ReadOnly)).unwrap_err();
            assert!(error.to_string().contains("control socket"), "{error}");
            assert!(error.hints()[0].contains("allow_engine_socket"));
        }
        settings.client.set_host(format!("unix://{}", socket.display()));
        let error = placed(&settings, Mount::new(folder.path(), Access::ReadWrite)).unwrap_err();
        assert!(error.to_string().contains("docker.sock"), "{error}");
        settings.socket = EngineSocket::Allowed;
        placed(&settings, Mount::new(&socket, Access::ReadWrite)).unwrap();
    }

    #[test]
    fn a_link_that_leads_out_of_the_work_tree_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let tree = folder.path().join("tree");
        fs::create_dir_all(tree.join("data")).unwrap();
        std::os::unix::fs::symlink("data", tree.join("within")).unwrap();
        std::os::unix::fs::symlink("/etc", tree.join("cache")).unwrap();
        let mounted = |path: &str| {
            let mut settings = Settings::new(Engine::Docker, "a");
            settings.mounts = vec![Mount::new(tree.join(path), Access::ReadOnly)];
            binds(&settings, &SandboxRequest::new(&tree), Inside { worktree: &tree, home: None })
        };
        assert_eq!(mounted("within").unwrap().len(), 2);
        for path in ["cache", "cache/passwd"] {
            let error = mounted(path).unwrap_err();
            assert!(error.to_string().contains("leads out of the work tree"), "{error}");
        }
    }

    #[test]
    fn folders_of_the_system_get_no_label() {
        for (path, label) in
            [("/usr/share", false), ("/etc", false), ("/home", false), ("/home/me/x", true), ("/srv/a", true)]
        {
            assert_eq!(may_be_labelled(Path::new(path)), label, "{path}");
        }
    }
}
