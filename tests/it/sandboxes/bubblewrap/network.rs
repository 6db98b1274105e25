//! What of the network is reached from inside.

use std::net::SocketAddr;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::UnixListener;
use std::thread;

use sandcastle::sandbox::{Bubblewrap, Network};

use super::Room;
use crate::sandboxes::loopback::server;

/// Asks a server over a plain connection, as a program would that knows no proxy.
fn ask(at: SocketAddr) -> String {
    format!(
        "printf 'GET / HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n' | timeout 5 socat -t5 - TCP4:{at},connect-timeout=2 | tail -n1"
    )
}

/// Asks the proxy for something.
fn ask_proxy(request: &str) -> String {
    format!("printf '{request}' | timeout 10 socat -t10 - TCP4:127.0.0.1:3128")
}

/// Connects to an abstract socket, which knows no folders.
fn abstract_socket() -> (UnixListener, String) {
    let name = format!("sandcastle-test-{}-{:?}", std::process::id(), thread::current().id());
    let address = std::os::unix::net::SocketAddr::from_abstract_name(&name).unwrap();
    (
        UnixListener::bind_addr(&address).unwrap(),
        format!("timeout 2 socat -u /dev/null 'ABSTRACT-CONNECT:{name}'"),
    )
}

#[tokio::test]
async fn a_network_that_is_on_is_this_hosts() {
    let at = server();
    let Some(room) = Room::new(Bubblewrap::new()).await else { return };
    assert_eq!(room.told(&ask(at)).await, "host");
}

#[tokio::test]
async fn abstract_sockets_are_not_reached_not_even_by_a_network_that_is_on() {
    let (listener, connect) = abstract_socket();
    let address = listener.local_addr().unwrap();
    std::os::unix::net::UnixStream::connect_addr(&address).expect("it is reached without a sandbox");
    let Some(room) = Room::new(Bubblewrap::new().network(Network::Off)).await else { return };
    assert!(!room.sh(&connect).await.went_well(), "off");
    let Some(room) = Room::new(Bubblewrap::new()).await else { return };
    let reached = room.sh(&connect).await.went_well();
    // Only Landlock stands in the way here, since version 6 of its interface.
    if reached {
        let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
        let mut numbers =
            release.split(|c: char| !c.is_ascii_digit()).map(|number| number.parse::<u32>().unwrap_or(0));
        let version = (numbers.next().unwrap(), numbers.next().unwrap());
        let listed = std::fs::read_to_string("/sys/kernel/security/lsm");
        let has_landlock = !listed.is_ok_and(|modules| !modules.contains("landlock"));
        assert!(
            version < (6, 12) || !has_landlock,
            "Landlock of {release} does not keep abstract sockets apart"
        );
        crate::support::requirement::absent(
            "landlock",
            "the kernel has none that keeps abstract sockets apart",
        );
    }
}

#[tokio::test]
async fn a_network_that_is_off_is_a_loopback_of_its_own() {
    let at = server();
    let Some(room) = Room::new(Bubblewrap::new().network(Network::Off)).await else { return };
    let said = room.sh(&ask(at)).await;
    assert_eq!(said.stdout, "", "{said:?}");
    assert_eq!(room.told("tail -n+3 /proc/net/dev | cut -d: -f1").await.trim(), "lo");
    let own = "socat TCP4-LISTEN:4000,bind=127.0.0.1 EXEC:'echo own' & sleep 0.2; socat - TCP4:127.0.0.1:4000 </dev/null";
    assert_eq!(room.told(own).await, "own");
    for around in ["ls /run/sandcastle", "timeout 2 socat - UDP4:1.1.1.1:53,connect-timeout=1 </dev/null"] {
        assert!(!room.sh(around).await.went_well(), "{around}");
    }
}

#[tokio::test]
async fn a_network_that_is_limited_leads_to_what_is_named_and_nowhere_else() {
    let (named, other) = (server(), server());
    let provider =
        Bubblewrap::new().network(Network::limited([named.to_string(), "allowed.test".to_owned()]));
    let Some(room) = Room::new(provider).await else { return };
    assert_eq!(room.told(&ask(named)).await, "host", "at its own address, without a proxy");
    let tunnel =
        ask_proxy(&format!("CONNECT {named} HTTP/1.1\\r\\n\\r\\nGET / HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n"));
    assert!(room.told(&tunnel).await.ends_with("host"), "by a tunnel");
    assert_eq!(room.sh(&ask(other)).await.stdout, "", "another is not reached");
    let port = other.port();
    for request in [
        format!("CONNECT {other} HTTP/1.1\\r\\n\\r\\n"),
        format!("GET http://{other}/ HTTP/1.1\\r\\n\\r\\n"),
        format!("CONNECT localhost:{port} HTTP/1.1\\r\\n\\r\\n"),
        format!("CONNECT 2130706433:{port} HTTP/1.1\\r\\n\\r\\n"),
        format!("CONNECT [::ffff:127.0.0.1]:{port} HTTP/1.1\\r\\n\\r\\n"),
        format!("CONNECT {other} HTTP/1.1\\r\\nHost: {named}\\r\\n\\r\\n"),
        "CONNECT 169.254.169.254:80 HTTP/1.1\\r\\n\\r\\n".to_owned(),
    ] {
        let answer = room.told(&ask_proxy(&request)).await;
        assert!(
            answer.starts_with("HTTP/1.1 403 ") || answer.starts_with("HTTP/1.1 400 "),
            "{request}: {answer}"
        );
    }
    let warnings = room.handle.bring_back().await.unwrap();
    assert!(warnings[0].contains(&format!("`{other}`")), "{warnings:?}");
    let around =
        "timeout 2 socat - UDP4:1.1.1.1:53 </dev/null; rm -f /run/sandcastle/proxy; ls /run/sandcastle/proxy";
    assert_eq!(room.told(around).await, "/run/sandcastle/proxy", "the socket stays");
    assert_eq!(
        room.told("echo $HTTPS_PROXY $no_proxy").await,
        "http://127.0.0.1:3128 localhost,127.0.0.1,::1"
    );
}

#[tokio::test]
async fn forwarders_change_nothing_about_the_program() {
    let provider = Bubblewrap::new().network(Network::limited(["allowed.test"]));
    let Some(room) = Room::new(provider).await else { return };
    let said = room.sh("cat; echo out; echo err >&2; exit 5").await;
    assert_eq!((said.stdout.as_str(), said.status.code()), ("out\n", Some(5)), "{said:?}");
    assert_eq!(said.stderr, "err\n");
}

#[tokio::test]
async fn hosts_that_cannot_be_read_are_refused_before_anything_is_made() {
    use sandcastle::sandbox::{SandboxProvider, SandboxRequest};
    let provider = Bubblewrap::new().network(Network::limited(["https://api.test/", "fine.test"]));
    let error = provider.create(SandboxRequest::new("/tmp")).await.unwrap_err();
    assert_eq!(error.kind(), sandcastle::ErrorKind::InvalidOptions);
    assert!(error.to_string().contains("`https://api.test/`"), "{error}");
}
