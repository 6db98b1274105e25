//! What of the network is reached from inside a sandbox.

use super::proxy::AllowList;
use crate::error::Result;

/// Says what of the network programs inside a sandbox can reach.
///
/// ```
/// use sandcastle_core::sandbox::Network;
///
/// let network = Network::limited(["api.anthropic.com", "*.crates.io", "127.0.0.1:8080"]);
/// # let _ = network;
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Network {
    /// Nothing but a loopback of their own.
    Off,
    /// Whatever this host reaches, its own loopback and its local network included. This is the default, because agents
    /// need their model; [`Network::Limited`] is what to use where that one is known.
    #[default]
    On,
    /// The hosts that are named, through a proxy on this host, and a loopback of their own.
    ///
    /// Each is one of:
    ///
    /// | written | allows |
    /// |---|---|
    /// | `api.example.com` | that name, at the ports 443 and 80 |
    /// | `api.example.com:8443` | that name, at that port |
    /// | `*.example.com` | every name below that one, not the name itself |
    /// | `203.0.113.7:443`, `[2001:db8::1]:443` | that address |
    /// | `127.0.0.1:8080` | a server on this host; it is at the same address inside |
    /// | `local:git.corp.example` | that name, also where it is an address of a private network |
    ///
    /// A name that is not marked with `local:` never leads to an address that only this host or its networks know, whatever it
    /// resolves to: loopback, private and link-local addresses (the metadata services of clouds are there), and the like.
    Limited(Vec<String>),
}

impl Network {
    /// Limits programs to the hosts that are named, see [`Network::Limited`].
    #[must_use]
    pub fn limited<H: Into<String>>(hosts: impl IntoIterator<Item = H>) -> Self {
        Self::Limited(hosts.into_iter().map(Into::into).collect())
    }

    /// Returns what the proxy lets through, if there is to be one.
    pub(crate) fn allow_list(&self) -> Result<Option<AllowList>> {
        match self {
            Self::Off | Self::On => Ok(None),
            Self::Limited(hosts) => AllowList::parse(hosts).map(Some),
        }
    }
}
