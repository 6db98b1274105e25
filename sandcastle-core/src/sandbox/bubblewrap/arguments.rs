//! The arguments that `bwrap` gets beside the view: the boundary, and how it stands towards terminals and networks.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::probe::{Bwrap, Nesting, Rights};
use super::view::View;
use crate::process::Streams;
use crate::sandbox::Network;

/// Devices, processes and settings of the kernel. To the owner of the latter root inside is root outside, capabilities or not,
/// so they are read-only by a mount.
pub(super) const KERNEL: &[&str] = &[
    "--dev",
    "/dev",
    "--proc",
    "/proc",
    "--ro-bind",
    "/proc/sys",
    "/proc/sys",
    "--dir",
    "/run",
    "--dir",
    "/var",
];

/// Lists what every sandbox has: namespaces of its own, no capabilities, and an end with us.
pub(super) fn boundary(bwrap: &Bwrap) -> Vec<OsString> {
    let mut boundary: Vec<OsString> = Vec::new();
    let mut add = |arguments: &[&str]| boundary.extend(arguments.iter().map(OsString::from));
    add(&["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]);
    add(&["--die-with-parent", "--cap-drop", "ALL"]);
    if bwrap.rights == Rights::Namespace {
        add(&["--unshare-user"]);
        // The same numbers inside as outside: files belong to whom they belonged.
        let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        add(&["--uid", &user.to_string(), "--gid", &group.to_string()]);
        if bwrap.nesting == Nesting::Forbidden {
            add(&["--disable-userns"]);
        }
    }
    boundary
}

/// What differs from program to program.
#[derive(Debug)]
pub(super) struct Call<'c> {
    pub(super) bwrap: &'c Bwrap,
    pub(super) view: &'c View,
    pub(super) network: &'c Network,
    pub(super) streams: Streams,
    /// Variables that must not be seen by `bwrap` itself.
    pub(super) steering: &'c [(OsString, OsString)],
    pub(super) cwd: &'c Path,
}

impl Call<'_> {
    /// Writes the arguments up to the program and its own ones.
    pub(super) fn arguments(&self) -> Vec<OsString> {
        let mut arguments = boundary(self.bwrap);
        if !matches!(self.network, Network::On) {
            arguments.push("--unshare-net".into());
        }
        if self.needs_a_session() {
            arguments.push("--new-session".into());
        }
        arguments.extend(KERNEL.iter().map(OsString::from));
        arguments.extend(self.view.arguments());
        // Last, because until then places for mounts are made in it.
        arguments.extend(["--remount-ro", "/"].map(OsString::from));
        for (key, value) in self.steering {
            arguments.extend([OsStr::new("--setenv"), key, value].map(OsStr::to_owned));
        }
        arguments.extend(["--chdir".into(), self.cwd.as_os_str().to_owned(), "--".into()]);
        arguments
    }

    /// A program that shares our terminal could put words into it, as if the user had typed them, unless the kernel forbids
    /// that or the program is in another session.
    fn needs_a_session(&self) -> bool {
        let forbidden = || {
            std::fs::read_to_string("/proc/sys/dev/tty/legacy_tiocsti").is_ok_and(|text| text.trim() == "0")
        };
        match self.streams {
            Streams::Piped => true,
            Streams::Terminal => !forbidden(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::bubblewrap::view::Entry;

    fn arguments(network: &Network) -> Vec<String> {
        let bwrap =
            Bwrap { path: "/usr/bin/bwrap".into(), nesting: Nesting::Forbidden, rights: Rights::Namespace };
        let mut view = View::default();
        view.push(Entry::read_only("/usr"));
        let steering = [("LD_PRELOAD".into(), "/x.so".into())];
        let call = Call {
            bwrap: &bwrap,
            view: &view,
            network,
            streams: Streams::Piped,
            steering: &steering,
            cwd: Path::new("/tree"),
        };
        call.arguments().into_iter().map(|argument| argument.into_string().unwrap()).collect()
    }

    #[test]
    fn the_boundary_comes_first_and_the_root_is_closed_last() {
        let arguments = arguments(&Network::Off);
        for part in [
            "--unshare-user",
            "--unshare-pid",
            "--unshare-ipc",
            "--unshare-uts",
            "--unshare-net",
            "--new-session",
            "--die-with-parent",
            "--disable-userns",
        ] {
            assert!(arguments.iter().any(|argument| argument == part), "{part}");
        }
        assert!(arguments.windows(2).any(|pair| pair == ["--cap-drop", "ALL"]));
        let end = ["--remount-ro", "/", "--setenv", "LD_PRELOAD", "/x.so", "--chdir", "/tree", "--"];
        assert!(arguments.ends_with(&end.map(str::to_owned)), "{arguments:?}");
    }

    #[test]
    fn only_an_open_network_is_shared() {
        let shares = |network| !arguments(network).iter().any(|argument| argument == "--unshare-net");
        assert!(shares(&Network::On));
        assert!(!shares(&Network::Off));
        assert!(!shares(&Network::limited(["a.test"])));
    }
}
