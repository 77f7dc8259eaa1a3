//! The gateway as an authorization server of its clients, in front of a provider of OpenID Connect: `auth.bridge`.

use std::time::Duration;

use net::egress::Egress;
use oauth::{LoginSource, Secret};

/// An authorization server for clients that the provider does not know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BridgeSettings {
    /// Where users sign in, by one client that the provider knows.
    pub provider: LoginSource,
    /// The claims of the provider's identity token that tokens for clients have, too.
    pub claims: Vec<String>,
    /// Keys of 32 bytes in base64: the first one seals and signs, and all of them open and verify.
    pub keys: Vec<Secret>,
    /// The scopes that clients may ask for, in addition to those that every token must have.
    pub scopes: Vec<String>,
    /// Whether clients may register (RFC 7591).
    pub registration: bool,
    /// Whether the id of a client may be the URL of its metadata document.
    pub documents: bool,
    /// Schemes of redirect addresses that belong to programs, in addition to https and loopback.
    pub redirect_schemes: Vec<String>,
    /// How long an access token lives.
    pub access_token: Duration,
    /// How long a client may get new tokens before the user must sign in again.
    pub session: Duration,
    /// Where connections for clients' documents may lead.
    pub egress: Option<Egress>,
}
