//! Which addresses belong to everybody, and which only this host or its networks know.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The service that Azure gives to its machines; it has an address that looks like anybody's.
const AZURE_WIRE_SERVER: Ipv4Addr = Ipv4Addr::new(168, 63, 129, 16);

/// Tells whether an address means the same to everybody.
pub(super) fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let shared = a == 100 && (64..128).contains(&b);
    let protocols = (a, b, c) == (192, 0, 0);
    let benchmarks = a == 198 && (b == 18 || b == 19);
    let relays = (a, b, c) == (192, 88, 99);
    // What begins with 224 is for many, and what is above is for nobody.
    let special = a == 0 || a >= 224 || shared || protocols || benchmarks || relays;
    let local = address.is_private() || address.is_loopback() || address.is_link_local();
    !(special || local || address.is_documentation() || address == AZURE_WIRE_SERVER)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let [a, b, c, d, e, f, g, h] = address.segments();
    // An address of the older kind that is reached by way of a translator.
    if (a, b, c, d, e, f) == (0x64, 0xff9b, 0, 0, 0, 0) {
        let [g, h] = [g.to_be_bytes(), h.to_be_bytes()];
        return is_public_v4(Ipv4Addr::new(g[0], g[1], h[0], h[1]));
    }
    let global = a & 0xe000 == 0x2000;
    // Ways around: Teredo and the other protocols of 2001::/23, 6to4, and documentation.
    let protocols = a == 0x2001 && b < 0x200;
    let documentation = (a, b) == (0x2001, 0xdb8) || a == 0x3fff && b < 0x1000;
    global && !protocols && a != 0x2002 && !documentation
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_only_this_host_or_its_networks_know_are_told_from_those_of_everybody() {
        let own = [
            "127.0.0.1",
            "127.9.9.9",
            "0.0.0.0",
            "0.1.2.3",
            "10.1.2.3",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.169.254",
            "100.100.100.200",
            "100.64.0.1",
            "192.0.0.192",
            "198.18.0.1",
            "192.88.99.1",
            "224.0.0.1",
            "255.255.255.255",
            "240.0.0.1",
            "203.0.113.1",
            "168.63.129.16",
            "::1",
            "::",
            "fe80::1",
            "fc00::1",
            "fd00:ec2::254",
            "ff02::1",
            "fec0::1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b::a9fe:a9fe",
            "64:ff9b:1::1",
            "2002:7f00:1::",
            "2001::1",
            "2001:db8::1",
            "3fff::1",
        ];
        for address in own {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
        let everybody =
            ["1.1.1.1", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "64:ff9b::101:101", "::ffff:1.1.1.1"];
        for address in everybody {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
    }
}
