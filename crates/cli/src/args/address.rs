//! Addresses as typed.

use std::net::SocketAddr;

use url::Url;

/// Where to listen.
pub(super) fn socket(text: &str) -> Result<SocketAddr, &'static str> {
    text.parse().map_err(|_| "not an IP address and a port, such as 127.0.0.1:3000 or [::1]:3000")
}

/// Where a server is.
pub(super) fn url(text: &str) -> Result<Url, &'static str> {
    Url::parse(text).ok().filter(Url::has_host).ok_or("not an address, such as http://127.0.0.1:3000/mcp")
}
