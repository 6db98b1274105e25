//! Sandboxes without a network: nothing of this host answers.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::UnixListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use sandcastle::sandbox::Network;
use sandcastle::testing::{ScratchRepo, Turn};
use sandcastle::{BranchStrategy, Bubblewrap, NoSandbox};

use super::super::every::{Kind, docker, kind, podman};
use crate::support::engines::{self, Engine};

/// Servers of this host, and who came.
struct Servers {
    came: Arc<AtomicUsize>,
    /// Whoever connects to these has nothing to send.
    doors: Vec<String>,
    _abstract: UnixListener,
}

impl Servers {
    fn new(name: &str) -> Self {
        let came = Arc::new(AtomicUsize::new(0));
        let abstract_name = format!("sandcastle-hostile-{}-{name}", std::process::id());
        let address = std::os::unix::net::SocketAddr::from_abstract_name(&abstract_name).unwrap();
        let socket = UnixListener::bind_addr(&address).unwrap();
        let mut doors = vec![format!("ABSTRACT-CONNECT:{abstract_name}")];
        let tcp = TcpListener::bind("0.0.0.0:0").unwrap();
        let udp = UdpSocket::bind("0.0.0.0:0").unwrap();
        let (tcp_port, udp_port) = (tcp.local_addr().unwrap().port(), udp.local_addr().unwrap().port());
        for address in addresses() {
            doors.push(format!("TCP4:{}", SocketAddr::new(address, tcp_port)));
            doors.push(format!("UDP4:{}", SocketAddr::new(address, udp_port)));
        }
        // They end with the process of the test.
        let count = Arc::clone(&came);
        std::thread::spawn(move || {
            for _ in tcp.incoming() {
                count.fetch_add(1, Ordering::SeqCst);
            }
        });
        let count = Arc::clone(&came);
        std::thread::spawn(move || {
            while udp.recv(&mut [0; 16]).is_ok() {
                count.fetch_add(1, Ordering::SeqCst);
            }
        });
        let (count, accepting) = (Arc::clone(&came), socket.try_clone().unwrap());
        std::thread::spawn(move || {
            for _ in accepting.incoming() {
                count.fetch_add(1, Ordering::SeqCst);
            }
        });
        Self { came, doors, _abstract: socket }
    }

    /// Knocks at every door, and tells how many answered.
    async fn knock(&self, kind: &Kind) -> usize {
        let repository = ScratchRepo::new().await.unwrap();
        let mut script = String::new();
        for door in &self.doors {
            script += &format!("echo x | timeout 2 socat -u - '{door}' 2>>said; ");
        }
        let turn = Turn::new().shell("command -v socat").shell(format!("{script} true")).say("ok");
        sandcastle::run(kind.run(&repository, turn, BranchStrategy::head())).await.unwrap();
        self.came.swap(0, Ordering::SeqCst)
    }
}

/// The addresses of this host, those of the bridges of its engines included.
fn addresses() -> Vec<IpAddr> {
    let table = std::fs::read_to_string("/proc/net/fib_trie").unwrap_or_default();
    let mut found = vec![Ipv4Addr::LOCALHOST];
    let mut last = None;
    for line in table.lines() {
        if let Some(address) = line.trim().strip_prefix("|-- ") {
            last = address.parse().ok();
        } else if line.trim() == "/32 host LOCAL" {
            found.extend(last.filter(|address| !found.contains(address)));
        }
    }
    found.into_iter().map(IpAddr::from).collect()
}

fn without_network() -> Vec<Kind> {
    let mut kinds = Vec::new();
    kinds.extend(engines::bubblewrap().map(|_| kind("bubblewrap", Bubblewrap::new().network(Network::Off))));
    kinds.extend(Engine::docker().map(|engine| kind("docker", docker(&engine).network(Network::Off))));
    kinds.extend(Engine::podman().map(|engine| kind("podman", podman(&engine).network(Network::Off))));
    kinds
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_network_that_is_off_reaches_nothing_of_this_host() {
    let kinds = without_network();
    if kinds.is_empty() {
        return;
    }
    let servers = Servers::new("off");
    let none = servers.knock(&kind("none", NoSandbox::new())).await;
    assert_eq!(none, servers.doors.len(), "the control: {:?}", servers.doors);
    for kind in &kinds {
        assert_eq!(servers.knock(kind).await, 0, "{}", kind.name);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_network_that_is_off_has_one_interface_no_names_and_no_raw_sockets() {
    for kind in without_network() {
        let repository = ScratchRepo::new().await.unwrap();
        let script = "exec >said 2>/dev/null
            tail -n +3 /proc/net/dev | grep -v '^ *lo:' | sed 's/^/interface /'
            tail -n +2 /proc/net/route | sed 's/^/route /'
            tail -n +2 /proc/net/unix | grep '@' | sed 's/^/socket /'
            timeout 5 getent ahosts example.com | sed 's/^/name /'
            echo x | timeout 2 socat -u - IP4-SENDTO:127.0.0.1:253 && echo raw
            echo x | timeout 2 socat -u - INTERFACE:lo && echo packets
            echo done";
        let turn = Turn::new().shell(script).say("ok");
        sandcastle::run(kind.run(&repository, turn, BranchStrategy::head())).await.unwrap();
        let said = std::fs::read_to_string(repository.path().join("said")).unwrap();
        assert_eq!(said, "done\n", "{}", kind.name);
    }
}
