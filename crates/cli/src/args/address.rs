//! Addresses on the command line.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

use net::client::without_scheme;
use url::Url;

/// An address to listen at: a port, `localhost` and a port, or an IP address and a port. Without a host, only this machine
/// can connect.
pub(super) fn socket(text: &str) -> Result<SocketAddr, &'static str> {
    let port = text.strip_prefix("localhost:").unwrap_or(text);
    // `parse` also takes a sign.
    let port = Some(port).filter(|port| port.bytes().all(|byte| byte.is_ascii_digit()));
    let local = port.and_then(|port| port.parse().ok()).map(|port: u16| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    let expected = "expected a port such as 3000, or an IP address and a port such as 0.0.0.0:3000 or [::1]:3000";
    local.or_else(|| text.parse().ok()).ok_or(expected)
}

/// The target of a verb: a host and a port become the URL that they stand for, unless a file has that name.
#[expect(clippy::unnecessary_wraps, reason = "a parser of values")]
pub(super) fn target(text: &str) -> Result<String, Infallible> {
    Ok(server(text).unwrap_or_else(|| text.to_owned()))
}

/// The URL that a host and a port stand for, unless a file has that name.
pub(crate) fn server(text: &str) -> Option<String> {
    without_scheme(text).filter(|_| !Path::new(text).exists()).map(String::from)
}

/// The address of a server.
pub(super) fn url(text: &str) -> Result<Url, &'static str> {
    let text = server(text).unwrap_or_else(|| text.to_owned());
    Url::parse(&text).ok().filter(Url::has_host).ok_or("expected a URL, such as http://127.0.0.1:3000/mcp")
}

#[cfg(test)]
mod tests {
    use super::socket;

    #[test]
    fn a_port_alone_is_a_port_of_this_machine() {
        for (text, address) in [
            ("3000", "127.0.0.1:3000"),
            ("0", "127.0.0.1:0"),
            ("localhost:3000", "127.0.0.1:3000"),
            ("0.0.0.0:3000", "0.0.0.0:3000"),
            ("[::1]:3000", "[::1]:3000"),
        ] {
            assert_eq!(socket(text).map(|address| address.to_string()).as_deref(), Ok(address), "{text}");
        }
        for text in ["", "70000", "localhost", "localhost:", ":3000", "example.com:3000", "+3000", "3000/mcp"] {
            assert!(socket(text).is_err(), "{text}");
        }
    }
}
