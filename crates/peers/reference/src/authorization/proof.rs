//! Proofs that who shows a token has the key that it is bound to (RFC 9449): made for one request, by that key, just now, and
//! shown once.

use std::sync::{Mutex, PoisonError};

use net::server::http::{HeaderMap, Method};
use oauth::jose::{Jwk, Jws, sha256};
use oauth::{now, random};
use serde_json::Value;
use url::Url;

use super::Binding;
use super::expiring_store::ExpiringStore;

/// The scheme of tokens that are bound to a key.
pub(super) const DPOP: &str = "dpop";
/// What proofs may be signed by.
pub(super) const ALGORITHMS: [&str; 9] =
    ["ES256", "ES384", "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "EdDSA"];
/// How far the time of a proof may be from ours, in seconds.
const APART: u64 = 300;

/// What is wanted of proofs, and those that were shown.
#[derive(Debug)]
pub(super) struct Proofs {
    nonce: String,
    wants_nonce: bool,
    shown: Mutex<ExpiringStore<()>>,
}

/// A request that ought to carry a proof.
pub(super) struct Shown<'r> {
    pub(super) method: &'r Method,
    /// Where it goes, without a query.
    pub(super) at: &'r str,
    pub(super) headers: &'r HeaderMap,
    /// The token that it carries.
    pub(super) token: Option<&'r str>,
}

/// Why a proof will not do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flaw {
    Missing,
    Form,
    Signature,
    Request,
    Token,
    Time,
    Again,
    Nonce,
}

impl Flaw {
    /// The error's name.
    pub(super) const fn error(self) -> &'static str {
        if matches!(self, Self::Nonce) { "use_dpop_nonce" } else { "invalid_dpop_proof" }
    }

    /// In words.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Missing => "one proof is wanted",
            Self::Form => "this is no proof, or lacks a part of one",
            Self::Signature => "the key in the proof did not sign it",
            Self::Request => "the proof is for another request",
            Self::Token => "the proof is for another token",
            Self::Time => "the proof is not of now",
            Self::Again => "the proof was shown before",
            Self::Nonce => "the nonce is wanted in the proof",
        }
    }
}

impl Proofs {
    /// What is wanted where tokens are bound like this.
    pub(super) fn of(binding: Binding) -> Option<Self> {
        let wants_nonce = binding == Binding::WithNonce;
        let shown = Mutex::new(ExpiringStore::new(4096, 2 * APART));
        (binding != Binding::Free).then(|| Self { nonce: random(), wants_nonce, shown })
    }

    /// What is to stand in proofs.
    pub(super) fn nonce(&self) -> &str {
        &self.nonce
    }

    /// The fingerprint of the key that a request proves to have.
    pub(super) fn key(&self, request: &Shown<'_>) -> Result<String, Flaw> {
        let mut values = request.headers.get_all(DPOP).iter();
        let (Some(proof), None) = (values.next(), values.next()) else { return Err(Flaw::Missing) };
        let read = proof.to_str().ok().and_then(|text| Jws::read(text).ok()).ok_or(Flaw::Form)?;
        if read.header("typ") != Some("dpop+jwt") {
            return Err(Flaw::Form);
        }
        let key = read.header.get("jwk").and_then(Jwk::read).ok_or(Flaw::Form)?;
        let claims = read.verified_by(&key).map_err(|_| Flaw::Signature)?;
        self.judge(claims, request)?;
        key.thumbprint().ok_or(Flaw::Form)
    }

    fn judge(&self, claims: &Value, request: &Shown<'_>) -> Result<(), Flaw> {
        let text = |name: &str| claims.get(name).and_then(Value::as_str);
        let id = text("jti").ok_or(Flaw::Form)?;
        if text("htm") != Some(request.method.as_str()) || !text("htu").is_some_and(|at| is_same(at, request.at)) {
            return Err(Flaw::Request);
        }
        if request.token.is_some_and(|token| text("ath") != Some(&sha256(token))) {
            return Err(Flaw::Token);
        }
        let of_now =
            claims.get("iat").and_then(Value::as_f64).is_some_and(|at| (at - now() as f64).abs() <= APART as f64);
        if !of_now {
            return Err(Flaw::Time);
        }
        if self.wants_nonce && text("nonce") != Some(self.nonce.as_str()) {
            return Err(Flaw::Nonce);
        }
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        let name = format!("{id} {}", request.at);
        if shown.find(&name).is_some() {
            return Err(Flaw::Again);
        }
        shown.put(name, ());
        Ok(())
    }
}

/// Whether a proof names this address: the same however it is written, and without query and fragment.
fn is_same(named: &str, own: &str) -> bool {
    let plain = |text: &str| Url::parse(text).ok().map(|url| url.as_str().trim_end_matches('/').to_owned());
    !named.contains(['?', '#']) && plain(named).is_some_and(|named| Some(named) == plain(own))
}

#[cfg(test)]
mod tests {
    use net::server::http::HeaderValue;
    use oauth::jose::Signer;
    use serde_json::json;

    use super::*;

    const AT: &str = "http://127.0.0.1:1/mcp";

    fn header(signer: &Signer) -> Value {
        json!({ "typ": "dpop+jwt", "jwk": signer.public() })
    }

    fn claims() -> Value {
        json!({ "jti": random(), "htm": "POST", "htu": AT, "iat": now(), "ath": sha256("token") })
    }

    fn judged(proofs: &Proofs, shown: &[String]) -> Result<String, Flaw> {
        let mut headers = HeaderMap::new();
        for proof in shown {
            headers.append(DPOP, HeaderValue::from_str(proof).expect("a header"));
        }
        proofs.key(&Shown { method: &Method::POST, at: AT, headers: &headers, token: Some("token") })
    }

    #[test]
    fn a_proof_is_for_one_request_and_shown_once() {
        let (signer, proofs) = (Signer::fresh(), Proofs::of(Binding::Bound).expect("bound"));
        let good = [signer.sign(header(&signer), &claims())];
        assert_eq!(judged(&proofs, &good), Ok(signer.public().and_then(|key| key.thumbprint()).expect("a key")));
        assert_eq!(judged(&proofs, &good), Err(Flaw::Again));
        let with = |name: &str, value: Value| {
            let mut claims = claims();
            claims[name] = value;
            judged(&proofs, &[signer.sign(header(&signer), &claims)])
        };
        for written in ["HTTP://127.0.0.1:1/mcp", "http://127.0.0.1:1/mcp/"] {
            assert!(with("htu", json!(written)).is_ok(), "{written}");
        }
        for (name, value, flaw) in [
            ("jti", Value::Null, Flaw::Form),
            ("htm", json!("GET"), Flaw::Request),
            ("htu", json!("http://127.0.0.1:1/other"), Flaw::Request),
            ("htu", json!("http://127.0.0.1:1/mcp?x=1"), Flaw::Request),
            ("htu", Value::Null, Flaw::Request),
            ("ath", json!(sha256("another")), Flaw::Token),
            ("ath", Value::Null, Flaw::Token),
            ("iat", json!(now() - 2 * APART), Flaw::Time),
            ("iat", Value::Null, Flaw::Time),
        ] {
            assert_eq!(with(name, value.clone()), Err(flaw), "{name}: {value}");
        }
    }

    #[test]
    fn a_proof_carries_the_key_that_signed_it() {
        let (signer, other) = (Signer::fresh(), Signer::fresh());
        let proofs = Proofs::of(Binding::Bound).expect("bound");
        let private =
            json!({ "typ": "dpop+jwt", "jwk": { "kty": "EC", "crv": "P-256", "x": "a", "y": "b", "d": "c" } });
        for (header, flaw) in [
            (header(&other), Flaw::Signature),
            (json!({ "typ": "JWT", "jwk": signer.public() }), Flaw::Form),
            (json!({ "typ": "dpop+jwt" }), Flaw::Form),
            (private, Flaw::Form),
        ] {
            assert_eq!(judged(&proofs, &[signer.sign(header, &claims())]), Err(flaw));
        }
        let two = [signer.sign(header(&signer), &claims()), signer.sign(header(&signer), &claims())];
        assert_eq!((judged(&proofs, &two), judged(&proofs, &[])), (Err(Flaw::Missing), Err(Flaw::Missing)));
        assert!(Proofs::of(Binding::Free).is_none());
    }

    #[test]
    fn a_nonce_is_wanted_where_it_was_said() {
        let (signer, proofs) = (Signer::fresh(), Proofs::of(Binding::WithNonce).expect("bound"));
        let with = |nonce: Value| {
            let mut claims = claims();
            claims["nonce"] = nonce;
            judged(&proofs, &[signer.sign(header(&signer), &claims)])
        };
        assert_eq!((with(Value::Null), with(json!("another"))), (Err(Flaw::Nonce), Err(Flaw::Nonce)));
        assert!(with(json!(proofs.nonce())).is_ok());
    }
}
