//! How far requests may go: to public addresses only, also into private networks, or also to this machine. Decided about
//! numbers, never about names: which numbers a name stands for is known only when it is connected to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// How far requests may go. What is allowed more is greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// To public addresses.
    Public,
    /// Also to addresses of private networks, and to those with a special purpose.
    Private,
    /// Also to this machine.
    Machine,
}

impl Reach {
    /// The least reach that leads to `ip`.
    pub fn of(ip: IpAddr) -> Self {
        match ip {
            IpAddr::V4(ip) => Self::of_v4(ip),
            IpAddr::V6(ip) => embedded(ip).map_or_else(|| Self::of_v6(ip), Self::of_v4),
        }
    }

    /// Whether requests may go to `ip`. The unspecified address is where servers listen, and no place to go to.
    pub fn permits(self, ip: IpAddr) -> bool {
        !ip.to_canonical().is_unspecified() && Self::of(ip) <= self
    }

    const fn of_v4(ip: Ipv4Addr) -> Self {
        let [first, second, third, _] = ip.octets();
        let special = match first {
            100 => second & 0xc0 == 64,
            192 => second == 0 && third == 0,
            198 => second & 0xfe == 18,
            first => first >= 224,
        };
        // Where a connection to 0.0.0.0 can be made, it leads to this machine.
        if first == 0 || ip.is_loopback() {
            Self::Machine
        } else if special || ip.is_private() || ip.is_link_local() || ip.is_documentation() {
            Self::Private
        } else {
            Self::Public
        }
    }

    const fn of_v6(ip: Ipv6Addr) -> Self {
        // All public addresses begin with the bits 001; the rest is local, reserved or multicast.
        if ip.is_loopback() || ip.is_unspecified() {
            Self::Machine
        } else if ip.segments()[0] & 0xe000 == 0x2000 {
            Self::Public
        } else {
            Self::Private
        }
    }
}

/// Where clouds tell a machine its credentials, in addition to 169.254.169.254.
const METADATA: [IpAddr; 3] = [
    IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)),
    IpAddr::V4(Ipv4Addr::new(192, 0, 0, 192)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254)),
];

/// Whether `ip` is link-local, or an address by which a cloud gives credentials: no name of a server leads there.
pub(super) fn is_metadata(ip: IpAddr) -> bool {
    let plain = match ip {
        IpAddr::V6(v6) => embedded(v6).map_or(ip, IpAddr::V4),
        IpAddr::V4(_) => ip,
    };
    let is_link_local = match plain {
        IpAddr::V4(ip) => ip.is_link_local(),
        IpAddr::V6(ip) => ip.is_unicast_link_local(),
    };
    is_link_local || METADATA.contains(&plain)
}

/// The IPv4 address that an IPv6 address stands for: mapped, compatible, translated (RFC 6052) or tunnelled (RFC 3056).
fn embedded(ip: Ipv6Addr) -> Option<Ipv4Addr> {
    let segments = ip.segments();
    let at = |first: usize| {
        let [[a, b], [c, d]] = [segments[first].to_be_bytes(), segments[first + 1].to_be_bytes()];
        Ipv4Addr::new(a, b, c, d)
    };
    match segments {
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => None,
        [0, 0, 0, 0, 0, 0 | 0xffff, ..] | [0, 0, 0, 0, 0xffff, 0, ..] | [0x64, 0xff9b, 0, 0, 0, 0, ..] => Some(at(6)),
        [0x2002, ..] => Some(at(1)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::Reach;

    #[test]
    fn every_spelling_of_a_near_address_is_recognized() {
        for (reach, addresses) in [
            (
                Reach::Machine,
                &[
                    "127.0.0.1",
                    "127.9.9.9",
                    "0.0.0.0",
                    "0.1.2.3",
                    "::1",
                    "::",
                    "::ffff:127.0.0.1",
                    "::ffff:0:127.0.0.1",
                ][..],
            ),
            (Reach::Machine, &["::127.0.0.1", "::ffff:0.0.0.0", "64:ff9b::7f00:1", "2002:7f00:1::1"]),
            (
                Reach::Private,
                &[
                    "10.0.0.1",
                    "172.16.0.1",
                    "172.31.255.255",
                    "192.168.1.1",
                    "169.254.169.254",
                    "100.64.0.1",
                    "192.0.0.8",
                ],
            ),
            (Reach::Private, &["198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "192.0.2.1"]),
            (
                Reach::Private,
                &["fe80::1", "fc00::1", "fd12::1", "fec0::1", "ff02::1", "::ffff:10.0.0.1", "64:ff9b:1::1"],
            ),
            (Reach::Private, &["2002:a00:1::1", "::ffff:169.254.169.254"]),
            (Reach::Public, &["1.1.1.1", "172.15.0.1", "172.32.0.1", "100.128.0.1", "198.20.0.1", "192.0.1.1"]),
            (Reach::Public, &["2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101", "2002:101:101::1"]),
        ] {
            for address in addresses {
                let ip = address.parse().expect("an address");
                assert_eq!(Reach::of(ip), reach, "{address}");
            }
        }
        let machine = "127.0.0.1".parse().expect("an address");
        assert!(Reach::Machine.permits(machine) && !Reach::Private.permits(machine) && !Reach::Public.permits(machine));
    }
}
