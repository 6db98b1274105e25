//! What a provider is told: one list of options for both engines.

use std::ffi::OsString;
use std::path::PathBuf;

use super::client::Client;
use super::engine::Engine;
use crate::sandbox::{Mount, Network};
use crate::secret::Variables;

/// How many processes and threads a container may have unless it is told otherwise.
const USUAL_PIDS: u32 = 8192;

/// Says who is process 1 in a container.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Init {
    /// The engine's own small init program, which collects processes that nobody waits for.
    #[default]
    Engine,
    /// The shell that starts the agent: dead processes stay in the list until the container is closed.
    None,
}

/// Says which SELinux label what is mounted gets, where there is SELinux.
///
/// A label is written to the files themselves. Folders of the system are never labelled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Selinux {
    /// All containers may use it (`z`).
    #[default]
    Shared,
    /// This container alone may use it (`Z`).
    Private,
    /// It stays as it is.
    Off,
}

/// Says whether programs inside can change files outside of what is mounted and made writable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Root {
    ReadOnly,
    Writable,
}

/// Says whether a program inside can gain rights, as by `sudo`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Privileges {
    Fixed,
    Gained,
}

/// Says whether a mount may hold the socket by which the engine is told what to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EngineSocket {
    Refused,
    Allowed,
}

/// All that a provider is told.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub(super) client: Client,
    pub(super) image: String,
    pub(super) env: Variables,
    pub(super) user: Option<(u32, u32)>,
    pub(super) userns: Option<String>,
    pub(super) home: Option<PathBuf>,
    pub(super) mounts: Vec<Mount>,
    pub(super) network: Option<Network>,
    pub(super) networks: Vec<String>,
    pub(super) groups: Vec<String>,
    pub(super) devices: Vec<String>,
    pub(super) hosts: Vec<(String, String)>,
    pub(super) labels: Vec<(String, String)>,
    pub(super) cpus: Option<f64>,
    pub(super) memory: Option<u64>,
    pub(super) pids: u32,
    pub(super) init: Init,
    pub(super) selinux: Selinux,
    pub(super) root: Root,
    pub(super) privileges: Privileges,
    pub(super) capabilities: Vec<String>,
    pub(super) socket: EngineSocket,
}

impl Settings {
    pub(super) fn new(engine: Engine, image: impl Into<String>) -> Self {
        Self {
            client: Client::new(engine),
            image: image.into(),
            env: Variables::default(),
            user: None,
            userns: None,
            home: None,
            mounts: Vec::new(),
            network: None,
            networks: Vec::new(),
            groups: Vec::new(),
            devices: Vec::new(),
            hosts: Vec::new(),
            labels: Vec::new(),
            cpus: None,
            memory: None,
            pids: USUAL_PIDS,
            init: Init::default(),
            selinux: Selinux::default(),
            root: Root::ReadOnly,
            privileges: Privileges::Fixed,
            capabilities: Vec::new(),
            socket: EngineSocket::Refused,
        }
    }

    pub(super) fn set_client_env(&mut self, key: OsString, value: OsString) {
        self.client.set_env(key, value);
    }
}

/// The setters of a provider whose field `settings` holds [`Settings`].
macro_rules! setters {
    () => {
        /// Sets a variable for every program inside. It stands in no argument and in nothing that the engine shows.
        #[must_use]
        pub fn env(mut self, key: impl Into<OsString>, value: impl Into<OsString>) -> Self {
            self.settings.env.set(key, value);
            self
        }

        /// Sets the numbers of the user and of the group that programs inside have, instead of those that the work tree belongs
        /// to. That user has to be able to write the work tree, which is checked before an agent is started.
        #[must_use]
        pub fn user(mut self, uid: u32, gid: u32) -> Self {
            self.settings.user = Some((uid, gid));
            self
        }

        /// Says how the users of this host are those inside, in the words of the engine, such as `host` or `keep-id`.
        #[must_use]
        pub fn userns(mut self, mode: impl Into<String>) -> Self {
            self.settings.userns = Some(mode.into());
            self
        }

        /// Gives programs inside an empty home folder at this path, in memory, instead of that of the image's user.
        ///
        /// It is needed where they are another user than the image was made for, as when this process is root's. A
        /// [mount](Self::mount) at the same path is that home then.
        #[must_use]
        pub fn home(mut self, path: impl Into<PathBuf>) -> Self {
            self.settings.home = Some(path.into());
            self
        }

        /// Shows a file or folder of this host inside.
        ///
        /// On this host `~` is the home folder of this process's user, and a relative path is below the current folder; inside
        /// `~` is the home of the programs there, and a relative path is below the work tree. What is mounted has to be there.
        /// The engine's own control socket is refused, see `allow_engine_socket`.
        #[must_use]
        pub fn mount(mut self, mount: Mount) -> Self {
            self.settings.mounts.push(mount);
            self
        }

        /// Says what of the network programs inside can reach. By default they have the engine's own network, which is [`Network::On`].
        ///
        /// [`Network::Limited`] goes by a proxy on this host: the engine has to run on it, and the image needs `socat`.
        #[must_use]
        pub fn network(mut self, network: Network) -> Self {
            self.settings.network = Some(network);
            self
        }

        /// Joins a network of the engine by its name instead of the default one: `none` for no network, `host` for that of the
        /// engine's host, or one that was made. May be repeated.
        #[must_use]
        pub fn join_network(mut self, name: impl Into<String>) -> Self {
            self.settings.networks.push(name.into());
            self
        }

        /// Makes programs inside members of a group, by its name in the image or its number. May be repeated.
        #[must_use]
        pub fn group(mut self, group: impl Into<String>) -> Self {
            self.settings.groups.push(group.into());
            self
        }

        /// Shows a device of the engine's host inside, such as `/dev/kvm`. May be repeated.
        #[must_use]
        pub fn device(mut self, device: impl Into<String>) -> Self {
            self.settings.devices.push(device.into());
            self
        }

        /// Gives a host name an address inside. `host-gateway` stands for the engine's host where the engine knows that word.
        #[must_use]
        pub fn add_host(mut self, name: impl Into<String>, address: impl Into<String>) -> Self {
            self.settings.hosts.push((name.into(), address.into()));
            self
        }

        /// Puts a label on the container, beside those that say whom it belongs to.
        #[must_use]
        pub fn label(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
            self.settings.labels.push((name.into(), value.into()));
            self
        }

        /// Limits how many processors are used at once, such as `1.5`. There is no limit by default.
        #[must_use]
        pub fn cpus(mut self, cpus: f64) -> Self {
            self.settings.cpus = Some(cpus);
            self
        }

        /// Limits the memory, in bytes. There is no limit by default.
        #[must_use]
        pub fn memory(mut self, bytes: u64) -> Self {
            self.settings.memory = Some(bytes);
            self
        }

        /// Limits how many processes and threads there are at once: 8192 by default, and 0 is no limit.
        #[must_use]
        pub fn pids(mut self, count: u32) -> Self {
            self.settings.pids = count;
            self
        }

        /// Says who is process 1.
        #[must_use]
        pub fn init(mut self, init: Init) -> Self {
            self.settings.init = init;
            self
        }

        /// Says which SELinux label what is mounted gets.
        #[must_use]
        pub fn selinux(mut self, label: Selinux) -> Self {
            self.settings.selinux = label;
            self
        }

        /// Lets programs inside change the files of the image, as far as their user may; they go with the container. By default
        /// they can write in the work tree, in their home, in `/tmp` and `/var/tmp`, and nowhere else.
        #[must_use]
        pub fn writable_root(mut self) -> Self {
            self.settings.root = Root::Writable;
            self
        }

        /// Gives programs inside a capability of root's, such as `NET_ADMIN`. They have none by default.
        #[must_use]
        pub fn capability(mut self, name: impl Into<String>) -> Self {
            self.settings.capabilities.push(name.into());
            self
        }

        /// Lets programs inside gain rights, as `sudo` and other programs of root's do.
        #[must_use]
        pub fn new_privileges(mut self) -> Self {
            self.settings.privileges = Privileges::Gained;
            self
        }

        /// Lets a mount hold the socket by which an engine is told what to do. Whoever has it can do on the engine's host whatever
        /// root can do: such a container is no sandbox.
        #[must_use]
        pub fn allow_engine_socket(mut self) -> Self {
            self.settings.socket = EngineSocket::Allowed;
            self
        }

        /// Sets the client's program, which is looked up on `PATH` by default.
        #[must_use]
        pub fn program(mut self, path: impl Into<PathBuf>) -> Self {
            self.settings.client.set_program(path.into());
            self
        }

        /// Aims the client at an engine by its address, such as `unix:///run/user/1000/docker.sock`. It has to see the files of
        /// this host.
        #[must_use]
        pub fn host(mut self, address: impl Into<String>) -> Self {
            self.settings.client.set_host(address.into());
            self
        }

        /// Aims the client at an engine by a name that it knows: a context of Docker, a connection of Podman.
        #[must_use]
        pub fn context(mut self, name: impl Into<String>) -> Self {
            self.settings.client.set_context(name.into());
            self
        }

        /// Sets a variable of the client itself, on top of the environment of this process, such as `DOCKER_HOST` or
        /// `CONTAINERS_CONF`. No program inside sees it.
        #[must_use]
        pub fn client_env(mut self, key: impl Into<OsString>, value: impl Into<OsString>) -> Self {
            self.settings.set_client_env(key.into(), value.into());
            self
        }
    };
}
pub(super) use setters;
