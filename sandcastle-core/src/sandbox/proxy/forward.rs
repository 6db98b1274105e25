//! How programs in a sandbox reach the proxy: `socat` takes connections on their loopback and brings them to its socket,
//! which the sandbox shows at [`SOCKET`].
//!
//! Each program has a network of its own, so the ports are always free. Only ports and addresses that were read as such
//! become part of the script.

use std::ffi::OsString;
use std::fmt::Write;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;

/// Where the proxy's socket is inside.
pub(crate) const SOCKET: &str = "/run/sandcastle/proxy";
/// The port of the proxy inside.
const PORT: u16 = 3128;
/// How every forwarder listens: with a process for each connection.
const LISTENING: &str = "fork,reuseaddr,backlog=128";

/// Returns the variables by which programs know of the proxy.
pub(crate) fn variables() -> Vec<(OsString, OsString)> {
    let proxy = format!("http://127.0.0.1:{PORT}");
    let mut variables = Vec::new();
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
        variables.push((name.into(), proxy.clone().into()));
        variables.push((name.to_lowercase().into(), proxy.clone().into()));
    }
    for name in ["NO_PROXY", "no_proxy"] {
        variables.push((name.into(), "localhost,127.0.0.1,::1".into()));
    }
    // Node.js looks at these variables only when it is told to.
    variables.push(("NODE_USE_ENV_PROXY".into(), "1".into()));
    variables
}

/// Writes the command that starts the forwarders, waits until they listen, and becomes the program that follows.
pub(crate) fn command(shell: &Path, socat: &Path, loopback: &[SocketAddr]) -> Vec<OsString> {
    vec![shell.into(), "-c".into(), script(loopback).into(), "sandcastle".into(), socat.into()]
}

/// Starts forwarders, which are in sessions of their own where there is `setsid`: a signal for the program is not for them.
const FUNCTIONS: &str = r#"
socat=$1; shift
alone=$(command -v setsid || :)
forward() { ($alone "$socat" "$1" "$2" </dev/null >/dev/null 2>&1 &); }
listens() {
  while read -r _ at _ state _; do case "$at $state" in *:"$2 0A") return 0 ;; esac; done <"$1"
  return 1
}
wait_for() {
  left=4000
  until listens "$1" "$2"; do
    left=$((left - 1))
    [ $left -gt 0 ] || { echo "sandcastle: socat does not listen" >&2; exit 125; }
    # To sleep takes a process, and socat is there in no more time than that takes.
    [ $left -gt 3980 ] || sleep 0.001
  done
}
"#;

fn script(loopback: &[SocketAddr]) -> String {
    let own = SocketAddr::from(([127, 0, 0, 1], PORT));
    let named = loopback.iter().filter(|&&address| address != own);
    let forwarded = named.map(|&at| (at, format!("PROXY:127.0.0.1:{at},proxyport={PORT}")));
    let all: Vec<_> = std::iter::once((own, format!("UNIX-CONNECT:{SOCKET}"))).chain(forwarded).collect();
    let mut script = FUNCTIONS.to_owned();
    for (at, to) in &all {
        let kind = if at.is_ipv4() { "TCP4" } else { "TCP6" };
        let _ = writeln!(
            script,
            "forward '{kind}-LISTEN:{},bind={},{LISTENING}' '{to}'",
            at.port(),
            host(at.ip())
        );
    }
    for (at, _) in &all {
        let table = if at.is_ipv4() { "/proc/net/tcp" } else { "/proc/net/tcp6" };
        let _ = writeln!(script, "wait_for {table} {:04X}", at.port());
    }
    script.push_str("exec \"$@\"\n");
    script
}

fn host(ip: IpAddr) -> String {
    match ip {
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => format!("[{ip}]"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loopback_address_is_at_the_same_place_inside() {
        let script = script(&["127.0.0.1:8080".parse().unwrap(), "[::1]:9".parse().unwrap()]);
        for line in [
            "forward 'TCP4-LISTEN:3128,bind=127.0.0.1,fork,reuseaddr,backlog=128' 'UNIX-CONNECT:/run/sandcastle/proxy'",
            "forward 'TCP4-LISTEN:8080,bind=127.0.0.1,fork,reuseaddr,backlog=128' \
             'PROXY:127.0.0.1:127.0.0.1:8080,proxyport=3128'",
            "forward 'TCP6-LISTEN:9,bind=[::1],fork,reuseaddr,backlog=128' 'PROXY:127.0.0.1:[::1]:9,proxyport=3128'",
            "wait_for /proc/net/tcp 0C38",
            "wait_for /proc/net/tcp6 0009",
        ] {
            assert!(script.contains(&format!("{line}\n")), "{line} in {script}");
        }
        assert!(script.ends_with("exec \"$@\"\n"));
    }

    #[test]
    fn programs_know_of_the_proxy_in_both_spellings() {
        let variables = variables();
        for name in ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"] {
            assert!(variables.contains(&(name.into(), "http://127.0.0.1:3128".into())), "{name}");
        }
        assert!(variables.contains(&("no_proxy".into(), "localhost,127.0.0.1,::1".into())));
    }
}
