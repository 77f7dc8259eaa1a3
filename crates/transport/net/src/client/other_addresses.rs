//! Whether a server that was reached at a loopback address also listens at other addresses of the machine. No MCP message and
//! no credential is sent there.

use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use url::{Host, Url};
use wire::trace::Mark;

use super::http::Http;

/// How much of an answer is read: its first line is enough.
const HEAD: u64 = 64;

/// Tries the port at `address` and records the outcome, if there is one.
pub(crate) async fn try_port(http: &Arc<Http>, address: IpAddr, patience: Duration) {
    let Some(host) = local(&http.address.url) else { return };
    let place = SocketAddr::new(address, http.address.url.port_or_known_default().unwrap_or(80));
    if let Ok(Some(open)) = timeout(patience, is_open(place, &host)).await {
        http.channel.mark(Mark::PortTried { address: place.to_string(), open });
    }
}

/// The host and port for a `Host` header, where the server is on loopback and does not use TLS.
fn local(url: &Url) -> Option<String> {
    let loopback = match url.host()? {
        Host::Domain(name) => name == "localhost",
        Host::Ipv4(ip) => ip.is_loopback(),
        Host::Ipv6(ip) => ip.is_loopback(),
    };
    let port = url.port_or_known_default()?;
    (loopback && url.scheme() == "http").then(|| format!("{}:{port}", url.host_str().unwrap_or_default()))
}

/// Whether an HTTP server answers there; `None` where something else does, or a gateway that accepts every connection and
/// reaches no server.
async fn is_open(place: SocketAddr, host: &str) -> Option<bool> {
    let mut stream = match TcpStream::connect(place).await {
        Ok(stream) => stream,
        Err(error) => return (error.kind() == ErrorKind::ConnectionRefused).then_some(false),
    };
    let request = format!("GET /proofhouse-no-such-path HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.ok()?;
    let mut answer = Vec::new();
    // A truncated answer may be long enough.
    let _ = stream.take(HEAD).read_to_end(&mut answer).await;
    let status = String::from_utf8_lossy(&answer).split(' ').nth(1)?.parse::<u16>().ok()?;
    (answer.starts_with(b"HTTP/1.") && status < 500).then_some(true)
}
