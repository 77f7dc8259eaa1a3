//! The few parts of JOSE that OAuth needs: compact signed tokens (RFC 7515, 7519), public keys (RFC 7517) and their
//! thumbprints (RFC 7638). The signatures themselves are `ring`'s. Knows no claim by name.

mod jwk;
mod jws;
mod sign;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};

pub use jwk::{Jwk, JwkSet};
pub use jws::{Flaw, Jws};
pub use sign::{Signer, Unsignable};

/// Base64 as JOSE has it.
pub fn encode(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// The bytes of [`encode`]; `None` for anything else, padding included.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

/// SHA-256 of `text`, encoded: a PKCE challenge (RFC 7636), the `ath` of a proof (RFC 9449).
pub fn sha256(text: &str) -> String {
    encode(digest(&SHA256, text.as_bytes()).as_ref())
}

#[cfg(test)]
mod tests;
