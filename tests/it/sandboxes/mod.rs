//! Runs in sandboxes: those that are built in, and providers of a user's own.

mod bubblewrap;
mod containers;
mod docker;
mod every;
mod hostile;
pub(crate) mod isolated;
mod loopback;
mod podman;
mod speaking;
mod ssh;
