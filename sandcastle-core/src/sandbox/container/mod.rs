//! Containers of Docker and Podman: one implementation, whose engine is a parameter.
//!
//! `settings` is what a provider is told, `image` and `account` what follows from it, `mounts` and `arguments` how that is said
//! to an engine, `gate` the way to named hosts; `start` makes a container, `probe` asks it whether an agent could work in it, `handle` is one that was made.
//! `client` is the only place that calls an engine, and `refusal` what it says when it does not do as it is told. Which paths
//! git needs is not known here: a request says what is to be mounted.

mod account;
mod apart;
mod arguments;
mod client;
mod engine;
mod gate;
mod handle;
mod image;
mod instance;
mod mounts;
mod orphans;
mod probe;
mod refusal;
mod settings;
mod start;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use self::engine::Engine;
pub(crate) use self::orphans::{Left, left, remove_left};
use self::settings::{EngineSocket, Privileges, Root, Settings, setters};
pub use self::settings::{Init, Selinux};
use crate::error::Result;
use crate::sandbox::{
    BoxFuture, IsolatedHandle, IsolatedProvider, Mount, Network, Owner, SandboxHandle, SandboxProvider,
    SandboxRequest, Sharing,
};

/// Runs agents in containers of Docker.
///
/// A container is made from an image that is there already, with the work tree at its path on this host, and lives until
/// its sandbox is closed. The image needs `sh`, `git` and the usual small programs, and the agent; nothing else of it is used: neither
/// its entrypoint nor its command. `sandcastle docker build-image` makes one.
///
/// Programs inside are the user that the work tree belongs to, have no capabilities and gain no rights, and can write in the
/// work tree, their home and `/tmp`, and nowhere else; what they print is kept by nobody but the run. They have the engine's default
/// network. All that is changed by name, one thing at a time. What a container cannot keep from them, and for whom rootless
/// engines or virtual machines are, is said in `docs/SECURITY.md`.
///
/// Where this process is root's, programs inside are root too, though without any of its powers. The home of an image that
/// was made for an ordinary user is not theirs then: give them another with [`Docker::home`].
///
/// A container whose process was killed is removed by the next start on the same engine.
///
/// An engine on another machine, which is reached by `.context(name)` or `.host(address)`, sees nothing of this host's files:
/// give it to [`Isolated`](super::Isolated), and the work tree travels.
///
/// ```
/// use sandcastle_core::sandbox::{Access, Docker, Mount};
///
/// let sandbox = Docker::new("sandcastle:my-project")
///     .memory(4 << 30)
///     .mount(Mount::new("~/.cargo/registry", Access::ReadOnly));
/// # let _ = sandbox;
/// ```
#[derive(Clone, Debug)]
pub struct Docker {
    settings: Settings,
}

/// Runs agents in containers of Podman.
///
/// It is used as [`Docker`] is. Where this process is an ordinary user's, containers are that user's own: the user of the image
/// (1000 if it does not say which) stands for them inside, so that what is written belongs to them. That needs Podman 4.3 or
/// newer; with an older one, say `.userns("keep-id")`.
///
/// ```
/// use sandcastle_core::sandbox::{Network, Podman};
///
/// let sandbox = Podman::new("sandcastle:my-project").network(Network::limited(["api.anthropic.com"]));
/// # let _ = sandbox;
/// ```
#[derive(Clone, Debug)]
pub struct Podman {
    settings: Settings,
}

impl Docker {
    /// Creates the provider with the image that containers are made from.
    #[must_use]
    pub fn new(image: impl Into<String>) -> Self {
        Self { settings: Settings::new(Engine::Docker, image) }
    }

    setters!();
}

impl Podman {
    /// Creates the provider with the image that containers are made from.
    #[must_use]
    pub fn new(image: impl Into<String>) -> Self {
        Self { settings: Settings::new(Engine::Podman, image) }
    }

    setters!();
}

/// Implements the trait for a type with `settings`.
macro_rules! provider {
    ($provider:ty) => {
        impl SandboxProvider for $provider {
            fn name(&self) -> &str {
                self.settings.client.engine().name()
            }

            fn env(&self) -> Vec<(OsString, OsString)> {
                self.settings.env.to_vec()
            }

            fn sharing(&self) -> Sharing {
                Sharing::Mounts
            }

            fn create(&self, request: SandboxRequest) -> BoxFuture<'_, Result<Arc<dyn SandboxHandle>>> {
                Box::pin(start::start(&self.settings, request))
            }
        }

        impl IsolatedProvider for $provider {
            fn name(&self) -> &str {
                self.settings.client.engine().name()
            }

            fn env(&self) -> Vec<(OsString, OsString)> {
                self.settings.env.to_vec()
            }

            fn create(&self, owner: Owner) -> BoxFuture<'_, Result<Arc<dyn IsolatedHandle>>> {
                Box::pin(apart::start(&self.settings, owner))
            }
        }
    };
}

provider!(Docker);
provider!(Podman);

#[cfg(test)]
mod tests;
