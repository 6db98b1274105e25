//! The two engines, and where they differ.

use std::fmt;

/// Which program makes the containers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Engine {
    Docker,
    Podman,
}

impl Engine {
    /// Returns the name that the provider and the engine's client have.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Docker => "docker",
            Self::Podman => "podman",
        }
    }

    /// Returns the name that people know.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Docker => "Docker",
            Self::Podman => "Podman",
        }
    }

    /// Finds the engine of a provider of this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        [Self::Docker, Self::Podman].into_iter().find(|engine| engine.name() == name)
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
