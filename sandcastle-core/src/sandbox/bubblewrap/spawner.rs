//! The thread from which the programs of one sandbox are started.
//!
//! `bwrap --die-with-parent` dies with the *thread* that started it, so that thread has to live as long as the sandbox,
//! whatever becomes of the caller's: when it ends, everything inside does. It is also what Landlock restricts, and with it
//! all that it starts.

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::probe::Rights;
use crate::process::{Program, Running};

/// A thread that starts programs. Dropping it ends them.
#[derive(Debug)]
pub(super) struct Spawner {
    orders: Option<Sender<Order>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Order {
    program: Program,
    /// The runtime that will wait for the program.
    runtime: Handle,
    answer: oneshot::Sender<io::Result<Running>>,
}

/// A program that was ordered.
pub(super) type Ordered = oneshot::Receiver<io::Result<Running>>;

impl Spawner {
    /// Starts the thread.
    ///
    /// # Errors
    /// When the system has no more threads, or Landlock is there and refuses.
    pub(super) fn start(rights: Rights) -> io::Result<Self> {
        let (orders, taken) = channel();
        let (ready, is_ready) = channel();
        let thread = std::thread::Builder::new().name("sandcastle-bwrap".to_owned()).spawn(move || {
            let restricted = match rights {
                Rights::Namespace => restrict(),
                // What Landlock asks for first would take the file's rights from it.
                Rights::Setuid => Ok(Layer::Absent),
            };
            let go_on = restricted.is_ok();
            let _ = ready.send(restricted);
            if go_on {
                serve(&taken);
            }
        })?;
        let spawner = Self { orders: Some(orders), thread: Some(thread) };
        let layer = is_ready.recv().map_err(io::Error::other)??;
        tracing::debug!(landlock = ?layer, "a sandbox is ready to start programs");
        Ok(spawner)
    }

    /// Has a program started. What is no longer waited for when it has begun is ended.
    ///
    /// # Errors
    /// When there is no runtime of tokio here, or the thread is gone.
    pub(super) fn order(&self, program: Program) -> io::Result<Ordered> {
        let runtime = Handle::try_current().map_err(io::Error::other)?;
        let (answer, answered) = oneshot::channel();
        let order = Order { program, runtime, answer };
        let orders = self.orders.as_ref().ok_or(io::ErrorKind::BrokenPipe)?;
        orders.send(order).map_err(|_| io::ErrorKind::BrokenPipe)?;
        Ok(answered)
    }
}

impl Drop for Spawner {
    fn drop(&mut self) {
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve(orders: &Receiver<Order>) {
    while let Ok(Order { program, runtime, answer }) = orders.recv() {
        let _entered = runtime.enter();
        let _ = answer.send(Running::start(&program));
    }
}

/// Says whether the kernel's Landlock stands behind the rest of the boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layer {
    Enforced,
    Absent,
}

/// Restricts this thread, and what it starts, as far as the kernel can: no signals to processes outside, and no connections to
/// abstract sockets outside, which a shared network would reach.
///
/// Files are left out, because a domain that handles files may not mount, and mounts are what `bwrap` does. Ports are left out,
/// because a rule for a port is for every address: it would keep programs from servers of their own on a loopback that has
/// nothing else on it.
#[cfg(target_os = "linux")]
fn restrict() -> io::Result<Layer> {
    use landlock::{ABI, Access, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetStatus, Scope};
    let restricted = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .scope(Scope::from_all(ABI::V6))
        .and_then(Ruleset::create)
        .and_then(landlock::RulesetCreated::restrict_self)
        .map_err(io::Error::other)?;
    Ok(if restricted.ruleset == RulesetStatus::NotEnforced { Layer::Absent } else { Layer::Enforced })
}

#[cfg(not(target_os = "linux"))]
fn restrict() -> io::Result<Layer> {
    Ok(Layer::Absent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn landlock_is_enforced_where_it_is_there_and_its_absence_is_no_error() {
        use std::os::linux::net::SocketAddrExt;
        use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};

        let name = format!("sandcastle-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(name).unwrap();
        let _listener = UnixListener::bind_addr(&address).unwrap();
        let (layer, connected) =
            std::thread::spawn(move || (restrict().unwrap(), UnixStream::connect_addr(&address)))
                .join()
                .unwrap();
        match layer {
            Layer::Enforced => assert_eq!(connected.unwrap_err().kind(), io::ErrorKind::PermissionDenied),
            Layer::Absent => assert!(connected.is_ok(), "nothing restricts where there is no Landlock"),
        }
    }

    #[tokio::test]
    async fn a_program_ends_with_its_spawner_only_if_it_asks_for_that() {
        let spawner = Spawner::start(Rights::Setuid).unwrap();
        let mut running = spawner.order(Program::new("true")).unwrap().await.unwrap().unwrap();
        drop(spawner);
        assert!(
            matches!(running.next().await.unwrap(), crate::process::Output::Exited(status) if status.success())
        );
    }
}
