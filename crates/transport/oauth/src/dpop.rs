//! Tokens bound to a key (RFC 9449): the key and the proofs for every request. The key is never stored.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::json;
use url::Url;

use super::jose::{self, Signer};
use super::secret::random;

/// Seconds since 1970.
pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// A key, and the nonces that servers demand in proofs.
pub(crate) struct Prover {
    signer: Signer,
    nonces: Mutex<HashMap<String, String>>,
}

impl Prover {
    pub(crate) fn new() -> Self {
        Self { signer: Signer::fresh(), nonces: Mutex::default() }
    }

    /// Keeps the nonce of the server at `url`.
    pub(crate) fn learn(&self, url: &Url, nonce: &str) {
        let mut nonces = self.nonces.lock().unwrap_or_else(PoisonError::into_inner);
        // Only a few servers are visited: the bound is a safeguard.
        if nonces.len() < 64 {
            nonces.insert(url.origin().ascii_serialization(), nonce.to_owned());
        }
    }

    /// A fresh proof for one request; `token` is the access token that goes with it.
    pub(crate) fn proof(&self, method: &str, url: &Url, token: Option<&str>) -> String {
        let mut target = url.clone();
        target.set_query(None);
        target.set_fragment(None);
        let mut claims = json!({ "jti": random(), "htm": method, "htu": target.as_str(), "iat": now() });
        if let Some(token) = token {
            claims["ath"] = jose::sha256(token).into();
        }
        let nonces = self.nonces.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(nonce) = nonces.get(&url.origin().ascii_serialization()) {
            claims["nonce"] = nonce.as_str().into();
        }
        drop(nonces);
        let key = self.signer.public().map(|key| json!({ "kty": key.kty, "crv": key.crv, "x": key.x, "y": key.y }));
        self.signer.sign(json!({ "typ": "dpop+jwt", "jwk": key }), &claims)
    }
}

#[cfg(test)]
mod tests {
    use super::super::jose::{Jwk, Jws};
    use super::*;

    #[test]
    fn a_proof_is_for_one_request_and_carries_its_own_key() {
        let prover = Prover::new();
        let url = Url::parse("https://a.example/mcp?x=1#y").expect("a URL");
        prover.learn(&url, "n");
        let (one, two) = (prover.proof("POST", &url, Some("t")), prover.proof("POST", &url, Some("t")));
        let read = Jws::read(&one).expect("a token");
        let key = Jwk::read(&read.header["jwk"]).expect("a public key");
        let claims = read.verified_by(&key).expect("signed by it");
        assert_eq!((read.header("typ"), &claims["htu"]), (Some("dpop+jwt"), &json!("https://a.example/mcp")));
        assert_eq!((&claims["htm"], &claims["nonce"]), (&json!("POST"), &json!("n")));
        assert_eq!(claims["ath"], jose::sha256("t"));
        assert_ne!(one, two);
    }
}
