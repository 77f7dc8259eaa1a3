//! Under which names clients know this server: those of the address where it listens. Must not know any request: what a
//! client writes into `Host` says nothing about which server this is.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Every `host:port` of a server that listens at `address`, the preferred one first; `scheme` is http or https. One that listens
/// on all interfaces knows itself by its loopback names only; for others its audience must be configured.
pub fn authorities(address: SocketAddr, scheme: &str) -> Vec<String> {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    let host = match ip {
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => format!("[{ip}]"),
    };
    let hosts = std::iter::once(host).chain(ip.is_loopback().then(|| "localhost".to_owned()));
    hosts.flat_map(|host| with_port(&host, address.port(), scheme)).collect()
}

/// A client leaves out the port that its scheme implies.
fn with_port(host: &str, port: u16, scheme: &str) -> Vec<String> {
    let whole = format!("{host}:{port}");
    let implied = if scheme == "https" { 443 } else { 80 };
    if port == implied { vec![host.to_owned(), whole] } else { vec![whole] }
}

#[cfg(test)]
mod tests {
    use super::authorities;

    #[test]
    fn a_server_has_the_names_of_its_own_address_only() {
        for (address, expected) in [
            ("127.0.0.1:3000", &["127.0.0.1:3000", "localhost:3000"][..]),
            ("[::1]:3000", &["[::1]:3000", "localhost:3000"]),
            ("0.0.0.0:3000", &["127.0.0.1:3000", "localhost:3000"]),
            ("[::]:3000", &["[::1]:3000", "localhost:3000"]),
            ("192.0.2.7:3000", &["192.0.2.7:3000"]),
            ("127.0.0.1:80", &["127.0.0.1", "127.0.0.1:80", "localhost", "localhost:80"]),
        ] {
            assert_eq!(authorities(address.parse().expect("an address"), "http"), expected, "{address}");
        }
        for (address, expected) in
            [("192.0.2.7:443", &["192.0.2.7", "192.0.2.7:443"][..]), ("192.0.2.7:80", &["192.0.2.7:80"])]
        {
            assert_eq!(authorities(address.parse().expect("an address"), "https"), expected, "{address}");
        }
    }
}
