//! TCP and TLS connections to one origin. Knows nothing of HTTP.

use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr, TcpStream as Socket};
use std::os::fd::AsFd as _;
use std::path::Path;
use std::time::Duration;

use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::HttpAddress;
use super::error::OpenError;
use crate::egress::Egress;
use crate::tls;

/// A byte stream, encrypted or not.
pub trait Io: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Io for T {}

/// Encrypts a connection on which the peer has agreed to TLS, by a protocol of its own. `host` is what its certificate must name.
pub async fn secure(io: Box<dyn Io>, host: &str, ca: Option<&Path>) -> Result<Box<dyn Io>, String> {
    let name = ServerName::try_from(host.to_owned()).map_err(|error| error.to_string())?;
    let stream = tls::plain_connector(ca)?.connect(name, io).await;
    Ok(Box::new(stream.map_err(|error| tls::explain(&error))?))
}

/// Dials one origin.
pub struct Dialer {
    at: String,
    scheme: String,
    host: String,
    port: u16,
    tls: Option<(TlsConnector, ServerName<'static>)>,
    limit: Duration,
    egress: Option<Egress>,
    permits: Option<Box<dyn Fn(IpAddr) -> bool + Send + Sync>>,
}

impl Dialer {
    /// Prepares to dial the origin of `address`; `limit` bounds the connection and the TLS handshake together.
    pub fn new(address: &HttpAddress, limit: Duration) -> Result<Self, OpenError> {
        let at = address.url.to_string();
        let bad = |why: String| OpenError::BadAddress { at: at.clone(), why };
        let secure = match address.url.scheme() {
            "http" | "ws" => false,
            "https" | "wss" => true,
            other => return Err(bad(format!("scheme `{other}` is not one of http, https, ws, wss"))),
        };
        let host = address.url.host_str().ok_or_else(|| bad("the URL has no host".to_owned()))?;
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let port = address.url.port().unwrap_or(if secure { 443 } else { 80 });
        let tls = if secure {
            let name = ServerName::try_from(host.clone()).map_err(|e| bad(e.to_string()))?;
            Some((tls::connector(address.ca.as_deref(), address.identity.as_ref()).map_err(bad)?, name))
        } else {
            None
        };
        let (scheme, egress) = (address.url.scheme().to_owned(), address.egress.clone());
        Ok(Self { at, scheme, host, port, tls, limit, egress, permits: None })
    }

    /// The same, which connects only to addresses that `permits` accepts, whatever name they go by.
    #[must_use]
    pub fn only(self, permits: impl Fn(IpAddr) -> bool + Send + Sync + 'static) -> Self {
        Self { permits: Some(Box::new(permits)), ..self }
    }

    /// The addresses that the host's name stands for now; at least one.
    pub async fn resolve(&self) -> Result<Vec<SocketAddr>, OpenError> {
        if let Some(egress) = &self.egress {
            let found = egress.addresses(&self.scheme, &self.host, self.port).await;
            let found = found.map_err(|refusal| OpenError::Forbidden { at: self.at.clone(), refusal })?;
            return found.map_err(|_| self.unknown_host());
        }
        let found = tokio::net::lookup_host((self.host.as_str(), self.port)).await;
        let found: Vec<_> = found.map_err(|_| self.unknown_host())?.collect();
        if found.is_empty() { Err(self.unknown_host()) } else { Ok(found) }
    }

    /// Opens one connection, encrypted where the scheme says so.
    pub async fn dial(&self) -> Result<Box<dyn Io>, OpenError> {
        Ok(self.dial_socket().await?.0)
    }

    /// The same, and a second handle of its socket.
    pub(crate) async fn dial_socket(&self) -> Result<(Box<dyn Io>, Option<Socket>), OpenError> {
        match timeout(self.limit, self.connect()).await {
            Ok(result) => result,
            Err(_) => Err(self.timed_out("connection")),
        }
    }

    pub(crate) const fn limit(&self) -> Duration {
        self.limit
    }

    /// Why there is no TCP connection.
    pub(crate) fn unreached(&self, error: &std::io::Error) -> OpenError {
        let at = self.at.clone();
        match error.kind() {
            ErrorKind::ConnectionRefused => OpenError::Refused { at },
            ErrorKind::TimedOut => self.timed_out("connection"),
            _ => OpenError::Reset { at, why: error.to_string() },
        }
    }

    pub(crate) fn timed_out(&self, waited_for: &'static str) -> OpenError {
        OpenError::Timeout { at: self.at.clone(), waited_for, after: self.limit }
    }

    async fn connect(&self) -> Result<(Box<dyn Io>, Option<Socket>), OpenError> {
        let at = || self.at.clone();
        let mut addresses = self.resolve().await?;
        if let Some(permits) = &self.permits {
            addresses.retain(|address| permits(address.ip()));
        }
        if addresses.is_empty() {
            let why = "its name leads only to addresses of this machine or of a private network".to_owned();
            return Err(OpenError::BadAddress { at: at(), why });
        }
        let stream = TcpStream::connect(addresses.as_slice()).await.map_err(|error| self.unreached(&error))?;
        // Small messages must not wait for each other; without this it is only slower.
        let _ = stream.set_nodelay(true);
        let socket = stream.as_fd().try_clone_to_owned().ok().map(Socket::from);
        match &self.tls {
            None => Ok((Box::new(stream), socket)),
            Some((connector, name)) => match connector.connect(name.clone(), stream).await {
                Ok(stream) => Ok((Box::new(stream), socket)),
                Err(error) => Err(OpenError::Tls { at: at(), why: tls::explain(&error) }),
            },
        }
    }

    fn unknown_host(&self) -> OpenError {
        OpenError::Dns { at: self.at.clone(), host: self.host.clone() }
    }
}
