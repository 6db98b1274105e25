//! A proxy that lets through what is named, for sandboxes that have no network of their own.
//!
//! It listens on a socket of the file system, which a sandbox shows inside, and speaks HTTP/1.1: `CONNECT`, and plain requests
//! whose target is a whole URL. [`allow`] says who may be reached, [`address`] which addresses are nobody's business,
//! [`head`] reads what a client asks, [`exchange`] answers it and [`relay`] moves the bytes; [`forward`] is the way from
//! inside. What goes through a tunnel is
//! not looked into: a name stands for whatever its servers serve.
//!
//! It has a thread of its own, so that it does not depend on the runtime of whoever made it, and ends when it is dropped.

mod address;
mod allow;
mod body;
mod exchange;
pub(crate) mod forward;
mod head;
mod relay;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use tokio::net::UnixListener;
use tokio::sync::Semaphore;
use tokio::task::{JoinSet, LocalSet};
use tokio_util::sync::CancellationToken;

pub(crate) use self::allow::AllowList;

/// How many connections are served at once; more wait.
const CONNECTIONS: usize = 256;
/// How many targets are named of those that were refused.
const MOST_TARGETS: usize = 8;

/// A proxy that runs. Dropping it closes every connection and takes the socket away.
#[derive(Debug)]
pub(crate) struct Proxy {
    stop: CancellationToken,
    thread: Option<JoinHandle<()>>,
    desk: Arc<Desk>,
}

/// What all connections share.
#[derive(Debug)]
struct Desk {
    allow: AllowList,
    refused: Mutex<Refused>,
}

/// What was refused since it was last asked for.
#[derive(Debug, Default)]
struct Refused {
    count: u64,
    /// Some of the targets, as they were asked for and escaped.
    targets: BTreeSet<String>,
}

impl Desk {
    /// Notes that something was refused. What was asked for comes from inside and is shown escaped.
    fn note_refused(&self, target: &str) {
        tracing::warn!(target: "sandcastle::proxy", asked = ?target, "the proxy refused a connection");
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        refused.count += 1;
        if !target.is_empty() && refused.targets.len() < MOST_TARGETS {
            refused.targets.insert(format!("`{}`", target.escape_debug()));
        }
    }
}

impl Proxy {
    /// Listens at `socket`, which must not be there yet, and lets through what `allow` names.
    ///
    /// # Errors
    /// When the socket cannot be made.
    pub(crate) fn start(allow: AllowList, socket: &Path) -> io::Result<Self> {
        let listener = std::os::unix::net::UnixListener::bind(socket)?;
        listener.set_nonblocking(true)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let stop = CancellationToken::new();
        let desk = Arc::new(Desk { allow, refused: Mutex::default() });
        let serving = (stop.clone(), Arc::clone(&desk), socket.to_path_buf());
        let thread = std::thread::Builder::new().name("sandcastle-proxy".to_owned()).spawn(move || {
            let (stop, desk, socket) = serving;
            let all = LocalSet::new();
            let serving = stop.run_until_cancelled(serve(listener, desk));
            let ended = runtime.block_on(all.run_until(serving));
            drop(all);
            if let Some(Err(error)) = ended {
                tracing::error!(target: "sandcastle::proxy", %error, "the proxy ended");
            }
            let _ = std::fs::remove_file(socket);
            // A name that is still being resolved is not waited for.
            runtime.shutdown_background();
        })?;
        Ok(Self { stop, thread: Some(thread), desk })
    }

    /// Says what was refused since it was last asked, in a sentence for people; `None` if nothing was.
    pub(crate) fn refused(&self) -> Option<String> {
        let refused = std::mem::take(&mut *self.desk.refused.lock().unwrap_or_else(PoisonError::into_inner));
        let Refused { count, targets } = refused;
        let targets: Vec<_> = targets.into_iter().collect();
        let to = if targets.is_empty() { String::new() } else { format!(", to {}", targets.join(", ")) };
        (count > 0)
            .then(|| format!("the network of the sandbox is limited: {count} connections were refused{to}"))
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.stop.cancel();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Serves connections for ever; dropping this future closes them all.
async fn serve(listener: std::os::unix::net::UnixListener, desk: Arc<Desk>) -> io::Result<()> {
    let listener = UnixListener::from_std(listener)?;
    let seats = Arc::new(Semaphore::new(CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        let Ok(seat) = Arc::clone(&seats).acquire_owned().await else { return Ok(()) };
        let client = match listener.accept().await {
            Ok((client, _)) => client,
            // No descriptors are left, or a client has gone again: neither ends the proxy.
            Err(_) => {
                tokio::time::sleep(std::time::Duration::from_millis(10)).await;
                continue;
            }
        };
        while connections.try_join_next().is_some() {}
        let desk = Arc::clone(&desk);
        connections.spawn_local(async move {
            let _seat = seat;
            // A connection that breaks is its two ends' affair.
            let _ = exchange::serve(client, &desk).await;
        });
    }
}
