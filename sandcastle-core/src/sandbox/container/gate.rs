//! The way of a container without a network to the hosts that are named: a proxy on this host, whose socket is shown inside.

use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::mounts::Bind;
use super::settings::{Selinux, Settings};
use crate::error::{Error, ErrorKind, Result};
use crate::sandbox::proxy::{Proxy, forward};
use crate::sandbox::{Access, Network};

/// A proxy, for as long as its container.
#[derive(Debug)]
pub(super) struct Gate {
    // The proxy goes before the folder that its socket is in.
    proxy: Proxy,
    socket: PathBuf,
    _folder: tempfile::TempDir,
    loopback: Vec<SocketAddr>,
}

impl Gate {
    /// Starts a proxy if the network is to be limited.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidOptions`] when a host is not named as it should be, or networks of the engine are joined beside that;
    /// [`ErrorKind::Sandbox`] when the proxy cannot be started.
    pub(super) fn open(settings: &Settings) -> Result<Option<Self>> {
        let Some(network) = &settings.network else { return Ok(None) };
        if let (Network::Off | Network::Limited(_), Some(joined)) = (network, settings.networks.first()) {
            let what = format!("join the network `{joined}` with a container whose network is limited");
            return Err(Error::new(ErrorKind::InvalidOptions, what)
                .with_hint("choose one of `.network(..)` and `.join_network(..)`"));
        }
        let Some(allow) = network.allow_list()? else { return Ok(None) };
        let loopback = allow.loopback();
        let failed = |error: io::Error| {
            Error::new(ErrorKind::Sandbox, "start the proxy of the container").with_source(error)
        };
        let folder = tempfile::Builder::new().prefix("sandcastle-proxy-").tempdir().map_err(failed)?;
        let socket = folder.path().join("proxy");
        let proxy = Proxy::start(allow, &socket).map_err(failed)?;
        // Nobody else gets into the folder; inside, whoever the agent is has to be able to connect.
        fs::set_permissions(&socket, Permissions::from_mode(0o666)).map_err(failed)?;
        Ok(Some(Self { proxy, socket, _folder: folder, loopback }))
    }

    /// Returns how its socket is shown inside.
    pub(super) fn bind(&self, label: Selinux) -> Bind {
        Bind { host: self.socket.clone(), inside: forward::SOCKET.into(), access: Access::ReadOnly, label }
    }

    /// Returns what a shell is told to do before it becomes another one: to bring connections inside to the socket.
    pub(super) fn before_the_shell(&self) -> impl Iterator<Item = OsString> {
        let command = forward::command(Path::new("sh"), Path::new("socat"), &self.loopback);
        command.into_iter().skip(1).chain([OsString::from("sh")])
    }

    /// Says what was refused since it was last asked.
    pub(super) fn refused(&self) -> Option<String> {
        self.proxy.refused()
    }
}
