//! Who may be reached: rules, and targets that are held against them.
//!
//! Pure: nothing is resolved here. Rules and targets are read by the same function, so that what is compared is spelled the
//! same way.

use std::net::{IpAddr, SocketAddr};

use super::address::is_public;
use crate::error::{Error, ErrorKind, Result};

/// The ports that a rule without one allows.
const WEB_PORTS: [u16; 2] = [443, 80];
/// The longest name that the domain name system has.
const LONGEST_NAME: usize = 253;

/// What may be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AllowList(Vec<Rule>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Rule {
    who: Who,
    port: Option<u16>,
    reach: Reach,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Who {
    /// This host.
    Host(Host),
    /// Every name that ends so; it begins with a dot.
    Below(String),
}

/// Says which addresses a name may stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reach {
    /// Those that mean the same to everybody.
    Public,
    /// Those of this host and its networks, too.
    Local,
}

/// A host as it is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Host {
    /// Lower case, without a dot at its end.
    Name(String),
    Address(IpAddr),
}

/// A host and a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) host: Host,
    pub(super) port: u16,
}

impl AllowList {
    /// Reads rules as [`Network::Limited`](crate::sandbox::Network::Limited) has them.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidOptions`] names all that cannot be read.
    pub(crate) fn parse<R: AsRef<str>>(rules: impl IntoIterator<Item = R>) -> Result<Self> {
        let (mut read, mut wrong) = (Vec::new(), Vec::new());
        for rule in rules {
            match Rule::parse(rule.as_ref()) {
                Some(rule) => read.push(rule),
                None => wrong.push(format!("`{}`", rule.as_ref().escape_debug())),
            }
        }
        if wrong.is_empty() {
            return Ok(Self(read));
        }
        let message = format!("read the hosts that may be reached: {}", wrong.join(", "));
        Err(Error::new(ErrorKind::InvalidOptions, message).with_hint(
            "write a name, `*.` and a name, or an address, each with `:PORT` or without, and no scheme or path",
        ))
    }

    /// Tells whether a target is allowed, and what its name may stand for.
    pub(super) fn reach(&self, target: &Target) -> Option<Reach> {
        let rules = self.0.iter().filter(|rule| rule.is_about(&target.host) && rule.has_port(target.port));
        rules.map(|rule| rule.reach).max()
    }

    /// Tells whether a name that may reach so far may be this address.
    pub(super) fn may_be(&self, reach: Reach, address: SocketAddr) -> bool {
        let target = Target { host: Host::Address(address.ip().to_canonical()), port: address.port() };
        reach == Reach::Local || is_public(address.ip()) || self.reach(&target).is_some()
    }

    /// Returns the loopback addresses that are named with their ports. A program in a network of its own asks no proxy for
    /// those, so they are to be brought to it.
    pub(crate) fn loopback(&self) -> Vec<SocketAddr> {
        let address = |rule: &Rule| match (&rule.who, rule.port) {
            (Who::Host(Host::Address(ip)), Some(port)) if ip.is_loopback() => {
                Some(SocketAddr::new(*ip, port))
            }
            (Who::Host(Host::Name(name)), Some(port)) if name == "localhost" => {
                Some(SocketAddr::from(([127, 0, 0, 1], port)))
            }
            _ => None,
        };
        let mut found: Vec<_> = self.0.iter().filter_map(address).collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}

impl Rule {
    fn parse(text: &str) -> Option<Self> {
        let (text, mut reach) = match text.strip_prefix("local:") {
            Some(rest) => (rest, Reach::Local),
            None => (text, Reach::Public),
        };
        let (below, text) = text.strip_prefix("*.").map_or((false, text), |rest| (true, rest));
        let (host, port) = split(text)?;
        let host = Host::parse(host)?;
        if matches!(&host, Host::Name(name) if name == "localhost") {
            reach = Reach::Local;
        }
        let who = match (below, host) {
            (true, Host::Name(name)) => Who::Below(format!(".{name}")),
            (true, Host::Address(_)) => return None,
            (false, host) => Who::Host(host),
        };
        Some(Self { who, port, reach })
    }

    fn is_about(&self, host: &Host) -> bool {
        match (&self.who, host) {
            (Who::Host(own), host) => own == host,
            // What stands before the suffix is not empty: a name begins with no dot.
            (Who::Below(suffix), Host::Name(name)) => name.ends_with(suffix.as_str()),
            (Who::Below(_), Host::Address(_)) => false,
        }
    }

    fn has_port(&self, port: u16) -> bool {
        self.port.map_or(WEB_PORTS.contains(&port), |own| own == port)
    }
}

impl Target {
    /// Reads `host:port`; where the port may be absent, it is `default`.
    pub(super) fn parse(authority: &str, default: Option<u16>) -> Option<Self> {
        let (host, port) = split(authority)?;
        Some(Self { host: Host::parse(host)?, port: port.or(default)? })
    }
}

impl Host {
    fn parse(text: &str) -> Option<Self> {
        if let Some(inner) = text.strip_prefix('[') {
            let address: std::net::Ipv6Addr = inner.strip_suffix(']')?.parse().ok()?;
            return Some(Self::Address(IpAddr::V6(address).to_canonical()));
        }
        if let Ok(address) = text.parse::<IpAddr>() {
            return Some(Self::Address(address.to_canonical()));
        }
        let name = text.to_ascii_lowercase();
        let is_name =
            name.len() <= LONGEST_NAME && name.split('.').all(is_label) && !ends_like_an_address(&name);
        is_name.then_some(Self::Name(name))
    }
}

fn is_label(label: &str) -> bool {
    let known = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_');
    (1..64).contains(&label.len())
        && label.bytes().all(known)
        && !label.starts_with('-')
        && !label.ends_with('-')
}

/// `127.1`, `0x7f.1` and `2130706433` are addresses to a resolver.
fn ends_like_an_address(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or(name);
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    digits(last) || last.strip_prefix("0x").is_some_and(hex)
}

/// Splits a port off. A bare IPv6 address has none.
fn split(text: &str) -> Option<(&str, Option<u16>)> {
    if text.parse::<std::net::Ipv6Addr>().is_ok() {
        return Some((text, None));
    }
    let inside = text.rfind(']').map_or(0, |end| end + 1);
    match text[inside..].split_once(':') {
        None => Some((text, None)),
        Some((between, port)) => {
            let digits = (1..6).contains(&port.len()) && port.bytes().all(|byte| byte.is_ascii_digit());
            let port: u16 = digits.then(|| port.parse().ok()).flatten().filter(|&port| port != 0)?;
            Some((&text[..inside + between.len()], Some(port)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(rules: &[&str]) -> AllowList {
        AllowList::parse(rules).unwrap()
    }

    fn allows(rules: &[&str], authority: &str) -> bool {
        Target::parse(authority, None).is_some_and(|target| list(rules).reach(&target).is_some())
    }

    #[test]
    fn names_suffixes_addresses_and_ports() {
        let rules = [
            "api.example.com",
            "*.crates.io",
            "git.example.com:9418",
            "127.0.0.1:8080",
            "[2606:4700::1]:443",
        ];
        for allowed in [
            "api.example.com:443",
            "API.Example.COM:80",
            "static.crates.io:443",
            "a.b.crates.io:443",
            "git.example.com:9418",
            "127.0.0.1:8080",
            "[::ffff:127.0.0.1]:8080",
            "[2606:4700:0::1]:443",
        ] {
            assert!(allows(&rules, allowed), "{allowed}");
        }
        for refused in [
            "api.example.com:22",
            "crates.io:443",
            "xcrates.io:443",
            "evilcrates.io:443",
            ".crates.io:443",
            "git.example.com:443",
            "127.0.0.1:8081",
            "127.1:8080",
            "2130706433:8080",
            "0x7f000001:8080",
            "localhost:8080",
            "api.example.com.:443",
            "api.example.com.evil.test:443",
            "a@api.example.com:443",
            "api.example.com:443@evil.test:443",
            "api.example.com:443:443",
            "api.example.com",
            "api.example.com:",
            "api.example.com:0443443",
            "api.example.com:+443",
            "api.example.com: 443",
            "api.example.com:65979",
            "api.example.com\t:443",
            "api.example.com%00:443",
            "[api.example.com]:443",
            "[127.0.0.1]:8080",
            "[::1%lo]:443",
            "",
            ":443",
            "api..example.com:443",
            "apı.example.com:443",
        ] {
            assert!(!allows(&rules, refused), "{refused}");
        }
    }

    #[test]
    fn a_rule_that_cannot_be_read_is_named() {
        let error =
            AllowList::parse(["fine.test", "https://x.test/", "*", "*.1.2.3.4", "a b", "*.*.test", "x:0"]);
        let error = error.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidOptions);
        let expected = "`https://x.test/`, `*`, `*.1.2.3.4`, `a b`, `*.*.test`, `x:0`";
        assert!(error.to_string().ends_with(expected), "{error}");
    }

    #[test]
    fn a_name_is_no_way_to_a_local_address_unless_it_says_so() {
        let rules = list(&["any.test", "local:corp.test", "10.0.0.5:443", "localhost:3000"]);
        let reach = |authority| rules.reach(&Target::parse(authority, None).unwrap()).unwrap();
        let local = |address: &str, reach| rules.may_be(reach, address.parse().unwrap());
        assert!(!local("10.0.0.6:443", reach("any.test:443")));
        assert!(!local("[::ffff:10.0.0.6]:443", reach("any.test:443")));
        assert!(!local("10.0.0.5:80", reach("any.test:80")));
        assert!(local("10.0.0.5:443", reach("any.test:443")), "the address itself is named");
        assert!(local("10.0.0.6:443", reach("corp.test:443")));
        assert!(local("127.0.0.1:3000", reach("localhost:3000")));
        assert_eq!(rules.loopback(), ["127.0.0.1:3000".parse().unwrap()]);
    }
}
