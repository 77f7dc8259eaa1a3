//! How gateways that serve as one reach each other: `replicas`.

use std::net::SocketAddr;

use oauth::Secret;
use url::Url;

/// This gateway, as the others reach it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicaSettings {
    /// Its address for the others.
    pub own: Url,
    /// Where it listens for them.
    pub listen: SocketAddr,
    /// Keys of 32 bytes in base64: the first one signs and encrypts, and all of them verify and decrypt.
    pub keys: Vec<Secret>,
}
