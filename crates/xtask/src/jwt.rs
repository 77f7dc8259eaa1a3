//! Tokens as a forger writes them: any header, any claims, any signature. Shares no code with what verifies them.

use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::anyhow;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use ring::hmac;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::{Value, json};

/// A key of an issuer, or of somebody who would like to be one.
pub(crate) struct Forge {
    pair: EcdsaKeyPair,
    rng: SystemRandom,
}

impl Forge {
    pub(crate) fn new() -> anyhow::Result<Self> {
        let rng = SystemRandom::new();
        let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let document = EcdsaKeyPair::generate_pkcs8(algorithm, &rng).map_err(|_| anyhow!("no key"))?;
        let pair = EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref(), &rng).map_err(|_| anyhow!("no key"))?;
        Ok(Self { pair, rng })
    }

    /// The public key as a JWK.
    pub(crate) fn public(&self, kid: &str) -> Value {
        let point = self.pair.public_key().as_ref();
        let (x, y) = (BASE64.encode(&point[1..33]), BASE64.encode(&point[33..]));
        json!({ "kty": "EC", "crv": "P-256", "kid": kid, "use": "sig", "alg": "ES256", "x": x, "y": y })
    }

    /// The point of the public key, uncompressed.
    pub(crate) fn point(&self) -> Vec<u8> {
        self.pair.public_key().as_ref().to_vec()
    }

    /// A signature of a text.
    pub(crate) fn signature(&self, text: &str) -> Vec<u8> {
        self.pair.sign(&self.rng, text.as_bytes()).map(|signature| signature.as_ref().to_vec()).unwrap_or_default()
    }

    /// A token with this header and these claims, signed with this key whatever the header says.
    pub(crate) fn token(&self, header: &Value, claims: &Value) -> String {
        self.token_of(&header.to_string(), &claims.to_string())
    }

    /// A token of these texts, which need not be JSON.
    pub(crate) fn token_of(&self, header: &str, claims: &str) -> String {
        let text = unsigned(header, claims);
        let signature = BASE64.encode(self.signature(&text));
        format!("{text}.{signature}")
    }
}

/// The signed part of a token.
pub(crate) fn unsigned(header: &str, claims: &str) -> String {
    format!("{}.{}", BASE64.encode(header), BASE64.encode(claims))
}

/// A token with a symmetric signature.
pub(crate) fn symmetric(header: &Value, claims: &Value, key: &[u8]) -> String {
    let text = unsigned(&header.to_string(), &claims.to_string());
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text.as_bytes());
    format!("{text}.{}", BASE64.encode(tag))
}

/// Bytes as tokens have them.
pub(crate) fn encoded(bytes: &[u8]) -> String {
    BASE64.encode(bytes)
}

/// Seconds since 1970.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// A PKCE verifier's challenge.
pub(crate) fn challenge(verifier: &str) -> String {
    BASE64.encode(ring::digest::digest(&ring::digest::SHA256, verifier.as_bytes()))
}
