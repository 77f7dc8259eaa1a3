//! The way to one origin in stages, each of which can fail by itself: for people who ask which one does. Connections that are
//! used are made by [`Dialer::dial`] at once.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::timeout;

use super::HttpAddress;
use super::dial::Dialer;
use super::error::OpenError;
use crate::server::tls::Described;
use crate::tls;

/// A TCP connection.
pub struct Reached(TcpStream);

/// What became of a TLS handshake.
pub struct Secured {
    /// The certificate that the server showed, trusted or not.
    pub certificate: Option<Described>,
    /// The version of TLS, such as `TLS 1.3`, or why there is no connection.
    pub version: Result<String, OpenError>,
}

impl Dialer {
    /// Opens a TCP connection to one of the origin's addresses.
    pub async fn reach(&self, to: SocketAddr) -> Result<Reached, OpenError> {
        let stream = timeout(self.limit(), TcpStream::connect(to)).await.map_err(|_| self.timed_out("connection"))?;
        stream.map(Reached).map_err(|error| self.unreached(&error))
    }
}

impl Reached {
    /// Encrypts the connection to the host of `address`, with the same trust as every connection, and ends it.
    pub async fn secure(self, address: &HttpAddress, limit: Duration) -> Secured {
        let noted = tls::Noted::default();
        let (at, host) = (address.url.to_string(), address.url.host_str().unwrap_or_default());
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let connector = tls::noting_connector(address.ca.as_deref(), address.identity.as_ref(), &noted);
        let name = rustls::pki_types::ServerName::try_from(host).map_err(|error| error.to_string());
        let version = match connector.and_then(|connector| Ok((connector, name?))) {
            Err(why) => Err(OpenError::BadAddress { at, why }),
            Ok((connector, name)) => match timeout(limit, connector.connect(name, self.0)).await {
                Err(_) => Err(OpenError::Timeout { at, waited_for: "TLS handshake", after: limit }),
                Ok(Err(error)) => Err(OpenError::Tls { at, why: tls::explain(&error) }),
                Ok(Ok(stream)) => Ok(version(stream.get_ref().1.protocol_version())),
            },
        };
        Secured { certificate: noted.take().and_then(|der| Described::read(&der)), version }
    }
}

fn version(version: Option<rustls::ProtocolVersion>) -> String {
    match version {
        Some(rustls::ProtocolVersion::TLSv1_3) => "TLS 1.3",
        Some(rustls::ProtocolVersion::TLSv1_2) => "TLS 1.2",
        _ => "TLS",
    }
    .to_owned()
}
