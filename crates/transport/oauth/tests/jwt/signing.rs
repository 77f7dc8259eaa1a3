//! Keys, and tokens of any bytes signed with them.

use oauth::jose::{Jwk, JwkSet, decode, encode};
use oauth::now;
use ring::rand::SystemRandom;
use ring::rsa::{KeyPairComponents, PublicKeyComponents};
use ring::signature::{self, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _, RsaKeyPair};
use serde_json::{Value, json};

pub(crate) const ISSUER: &str = "https://as.example";
pub(crate) const SERVER: &str = "https://mcp.example/mcp";

pub(crate) enum Pair {
    Ec(EcdsaKeyPair),
    Ed(Ed25519KeyPair),
    Rsa(Box<RsaKeyPair>),
}

/// A private key with its public half.
pub(crate) struct Key {
    pair: Pair,
    pub(crate) alg: &'static str,
    pub(crate) jwk: Value,
}

/// The vectors of the standards.
pub(crate) fn vectors() -> Value {
    serde_json::from_str(include_str!("rfc.json")).expect("JSON")
}

/// A set of public keys.
pub(crate) fn set(keys: &[&Value]) -> JwkSet {
    JwkSet { keys: keys.iter().map(|key| Jwk::read(key).expect("a public key")).collect() }
}

impl Key {
    pub(crate) fn es256() -> Self {
        Self::ec("ES256", "P-256", &signature::ECDSA_P256_SHA256_FIXED_SIGNING)
    }

    pub(crate) fn es384() -> Self {
        Self::ec("ES384", "P-384", &signature::ECDSA_P384_SHA384_FIXED_SIGNING)
    }

    fn ec(alg: &'static str, curve: &str, algorithm: &'static signature::EcdsaSigningAlgorithm) -> Self {
        let random = SystemRandom::new();
        let text = EcdsaKeyPair::generate_pkcs8(algorithm, &random).expect("a key");
        let pair = EcdsaKeyPair::from_pkcs8(algorithm, text.as_ref(), &random).expect("a key");
        let (x, y) = pair.public_key().as_ref()[1..].split_at(pair.public_key().as_ref().len() / 2);
        let jwk = json!({ "kty": "EC", "crv": curve, "x": encode(x), "y": encode(y) });
        Self { pair: Pair::Ec(pair), alg, jwk }
    }

    pub(crate) fn ed25519() -> Self {
        let text = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).expect("a key");
        let pair = Ed25519KeyPair::from_pkcs8(text.as_ref()).expect("a key");
        let jwk = json!({ "kty": "OKP", "crv": "Ed25519", "x": encode(pair.public_key().as_ref()) });
        Self { pair: Pair::Ed(pair), alg: "EdDSA", jwk }
    }

    /// The key of RFC 7515, A.2.
    pub(crate) fn rsa(alg: &'static str) -> Self {
        let key = &vectors()["rsa"];
        let part = |name: &str| decode(key[name].as_str().expect("a text")).expect("base64");
        let components = KeyPairComponents {
            public_key: PublicKeyComponents { n: part("n"), e: part("e") },
            d: part("d"),
            p: part("p"),
            q: part("q"),
            dP: part("dp"),
            dQ: part("dq"),
            qInv: part("qi"),
        };
        let pair = RsaKeyPair::from_components(&components).expect("a key");
        let jwk = json!({ "kty": "RSA", "n": key["n"], "e": key["e"] });
        Self { pair: Pair::Rsa(Box::new(pair)), alg, jwk }
    }

    pub(crate) fn set(&self) -> JwkSet {
        set(&[&self.jwk])
    }

    /// The signature over a text.
    pub(crate) fn signature(&self, text: &str) -> Vec<u8> {
        let random = SystemRandom::new();
        match &self.pair {
            Pair::Ec(pair) => pair.sign(&random, text.as_bytes()).expect("a signature").as_ref().to_vec(),
            Pair::Ed(pair) => pair.sign(text.as_bytes()).as_ref().to_vec(),
            Pair::Rsa(pair) => {
                let algorithm: &dyn signature::RsaEncoding = match self.alg {
                    "RS256" => &signature::RSA_PKCS1_SHA256,
                    "RS384" => &signature::RSA_PKCS1_SHA384,
                    "RS512" => &signature::RSA_PKCS1_SHA512,
                    "PS256" => &signature::RSA_PSS_SHA256,
                    "PS384" => &signature::RSA_PSS_SHA384,
                    _ => &signature::RSA_PSS_SHA512,
                };
                let mut bytes = vec![0; pair.public().modulus_len()];
                pair.sign(algorithm, &random, text.as_bytes(), &mut bytes).expect("a signature");
                bytes
            }
        }
    }

    /// A token whose two parts are given as they go on the wire.
    pub(crate) fn sign_parts(&self, header: &str, claims: &str) -> String {
        let text = format!("{header}.{claims}");
        format!("{text}.{}", encode(&self.signature(&text)))
    }

    /// A token of these bytes.
    pub(crate) fn sign_bytes(&self, header: &[u8], claims: &[u8]) -> String {
        self.sign_parts(&encode(header), &encode(claims))
    }

    /// A token of a header to which the algorithm is added, and of the usual claims with `more`, in JSON.
    pub(crate) fn token(&self, header: &str, more: &str) -> String {
        self.sign_bytes(self.header(header).as_bytes(), claims(more).as_bytes())
    }

    /// A header with more members, in JSON.
    pub(crate) fn header(&self, more: &str) -> String {
        format!(r#"{{"alg":"{}"{}{more}}}"#, self.alg, comma(more))
    }

    /// The token that all others are near to.
    pub(crate) fn good(&self) -> String {
        self.token(r#""typ":"at+jwt""#, "")
    }
}

/// The usual claims, with more members.
pub(crate) fn claims(more: &str) -> String {
    let exp = now() + 600;
    format!(r#"{{"iss":"{ISSUER}","aud":"{SERVER}","exp":{exp},"sub":"me"{}{more}}}"#, comma(more))
}

fn comma(more: &str) -> &'static str {
    if more.is_empty() { "" } else { "," }
}
