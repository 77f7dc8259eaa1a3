//! Addresses on the command line.

use std::net::SocketAddr;

use url::Url;

/// An address to listen at.
pub(super) fn socket(text: &str) -> Result<SocketAddr, &'static str> {
    text.parse().map_err(|_| "expected an IP address and a port, such as 127.0.0.1:3000 or [::1]:3000")
}

/// The address of a server.
pub(super) fn url(text: &str) -> Result<Url, &'static str> {
    Url::parse(text).ok().filter(Url::has_host).ok_or("expected a URL, such as http://127.0.0.1:3000/mcp")
}
