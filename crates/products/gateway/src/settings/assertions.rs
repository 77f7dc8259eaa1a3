//! The signed assertions that a server behind the gateway gets with each request. Values only.

use std::sync::Arc;
use std::time::Duration;

use oauth::Secret;

/// In whose name the gateway signs, and with which keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssertionKeys {
    /// `iss` of every assertion.
    pub issuer: String,
    /// The first one signs; all of them are published.
    pub keys: Vec<AssertionKey>,
    /// The public keys as a JSON text (JWKS).
    pub published: Arc<str>,
}

/// A private key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssertionKey {
    /// The key: PEM, PKCS #8.
    pub pem: Secret,
    /// The only algorithm that a key of this kind signs by: `ES256`, `ES384` or `EdDSA`.
    pub algorithm: &'static str,
    /// Its fingerprint (RFC 7638), which is its `kid`.
    pub id: String,
}

/// What the assertions for one server say, and where they stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssertionSettings {
    /// `iss`.
    pub issuer: String,
    /// The key that signs.
    pub key: AssertionKey,
    /// The header that carries them, in lower case. `authorization` carries them as bearer tokens.
    pub header: String,
    /// `aud`.
    pub audience: String,
    /// How long one is good, in whole seconds.
    pub lifetime: Duration,
    /// Names of claims of the client's token. An assertion has all of them, or is not made.
    pub claims: Vec<String>,
}
