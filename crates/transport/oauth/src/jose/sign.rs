//! Signing tokens: with a key that was handed in, or one made for the occasion.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::rand::SystemRandom;
use ring::signature::{self, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _, RsaKeyPair};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::pki_types::pem::PemObject as _;
use serde_json::Value;

use super::encode;
use super::jwk::Jwk;
use crate::Secret;

/// How long a line of PEM is.
const LINE: usize = 64;

/// A private key that signs tokens. Shows nothing of it.
pub struct Signer {
    pair: Pair,
    alg: &'static str,
}

enum Pair {
    Ec(EcdsaKeyPair),
    Ed(Ed25519KeyPair),
    Rsa(Box<RsaKeyPair>),
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Signer({})", self.alg)
    }
}

/// Why a key cannot sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsignable {
    /// The text holds no private key in PKCS #8.
    NoKey,
    /// The key is of another kind than the algorithm wants.
    OtherKind,
    /// We do not sign by that algorithm.
    Algorithm,
}

impl fmt::Display for Unsignable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoKey => "the text holds no private key (PEM, PKCS #8)",
            Self::OtherKind => "the private key does not suit the algorithm",
            Self::Algorithm => "the algorithm is not one of ES256, ES384, RS256, EdDSA",
        })
    }
}

impl Signer {
    /// A key in PEM (`BEGIN PRIVATE KEY`) that signs by `alg`.
    pub fn from_pem(pem: &str, alg: &str) -> Result<Self, Unsignable> {
        let key = PrivatePkcs8KeyDer::from_pem_slice(pem.as_bytes()).map_err(|_| Unsignable::NoKey)?;
        let key = key.secret_pkcs8_der();
        let ec = |algorithm, alg| {
            let pair = EcdsaKeyPair::from_pkcs8(algorithm, key, &SystemRandom::new());
            pair.map(|pair| Self { pair: Pair::Ec(pair), alg }).map_err(|_| Unsignable::OtherKind)
        };
        match alg {
            "ES256" => ec(&signature::ECDSA_P256_SHA256_FIXED_SIGNING, "ES256"),
            "ES384" => ec(&signature::ECDSA_P384_SHA384_FIXED_SIGNING, "ES384"),
            "EdDSA" => {
                let pair = Ed25519KeyPair::from_pkcs8_maybe_unchecked(key).map_err(|_| Unsignable::OtherKind)?;
                Ok(Self { pair: Pair::Ed(pair), alg: "EdDSA" })
            }
            "RS256" => {
                let pair = RsaKeyPair::from_pkcs8(key).map_err(|_| Unsignable::OtherKind)?;
                Ok(Self { pair: Pair::Rsa(Box::new(pair)), alg: "RS256" })
            }
            _ => Err(Unsignable::Algorithm),
        }
    }

    /// A fresh ES256 key of the system's randomness, which nobody keeps.
    ///
    /// # Panics
    /// Where the system gives no random numbers.
    pub fn fresh() -> Self {
        Self::fresh_with_text().0
    }

    /// The same, and its private half as a text (PEM, PKCS #8) for somebody else who is to sign with it.
    ///
    /// # Panics
    /// Where the system gives no random numbers.
    pub fn fresh_with_text() -> (Self, Secret) {
        let (random, algorithm) = (SystemRandom::new(), &signature::ECDSA_P256_SHA256_FIXED_SIGNING);
        let key = EcdsaKeyPair::generate_pkcs8(algorithm, &random).expect("the system gives random numbers");
        let pair = EcdsaKeyPair::from_pkcs8(algorithm, key.as_ref(), &random).expect("a key just made is one");
        (Self { pair: Pair::Ec(pair), alg: "ES256" }, pem(key.as_ref()))
    }

    /// A fresh Ed25519 key, and its private half as a text (PEM, PKCS #8).
    ///
    /// # Panics
    /// Where the system gives no random numbers.
    pub fn fresh_edwards_with_text() -> (Self, Secret) {
        let key = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).expect("the system gives random numbers");
        let pair = Ed25519KeyPair::from_pkcs8(key.as_ref()).expect("a key just made is one");
        (Self { pair: Pair::Ed(pair), alg: "EdDSA" }, pem(key.as_ref()))
    }

    /// The Ed25519 key of a secret seed (RFC 8032, 5.1.5): the same one wherever the seed is known.
    ///
    /// # Panics
    /// Never: every seed is a key.
    pub fn edwards_of_seed(seed: &[u8; 32]) -> Self {
        let pair = Ed25519KeyPair::from_seed_unchecked(seed).expect("a seed has 32 bytes");
        Self { pair: Pair::Ed(pair), alg: "EdDSA" }
    }

    /// The algorithm.
    pub const fn alg(&self) -> &'static str {
        self.alg
    }

    /// The public half; `None` for an RSA key, whose numbers nobody asks for here.
    pub fn public(&self) -> Option<Jwk> {
        let empty = Jwk {
            kty: String::new(),
            crv: None,
            x: None,
            y: None,
            n: None,
            e: None,
            kid: None,
            alg: Some(self.alg.to_owned()),
            use_: Some("sig".to_owned()),
            key_ops: None,
        };
        match &self.pair {
            Pair::Ec(pair) => {
                let point = pair.public_key().as_ref().get(1..)?;
                let (x, y) = point.split_at(point.len() / 2);
                let curve = if self.alg == "ES256" { "P-256" } else { "P-384" };
                let (x, y) = (Some(encode(x)), Some(encode(y)));
                Some(Jwk { kty: "EC".to_owned(), crv: Some(curve.to_owned()), x, y, ..empty })
            }
            Pair::Ed(pair) => {
                let x = Some(encode(pair.public_key().as_ref()));
                Some(Jwk { kty: "OKP".to_owned(), crv: Some("Ed25519".to_owned()), x, ..empty })
            }
            Pair::Rsa(_) => None,
        }
    }

    /// A signed token of `header` (to which the algorithm is added) and `claims`.
    ///
    /// # Panics
    /// Where the system gives no random numbers.
    pub fn sign(&self, mut header: Value, claims: &Value) -> String {
        header["alg"] = self.alg.into();
        let text = format!("{}.{}", encode(header.to_string().as_bytes()), encode(claims.to_string().as_bytes()));
        let signature = encode(&self.signature(text.as_bytes()));
        format!("{text}.{signature}")
    }

    /// The signature of `message`, as JOSE has it: of an EC key the two numbers one after the other.
    ///
    /// # Panics
    /// Where the system gives no random numbers.
    pub fn signature(&self, message: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match &self.pair {
            Pair::Ec(pair) => pair.sign(&random, message).expect("the system gives random numbers").as_ref().to_vec(),
            Pair::Ed(pair) => pair.sign(message).as_ref().to_vec(),
            Pair::Rsa(pair) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(&signature::RSA_PKCS1_SHA256, &random, message, &mut signature)
                    .expect("the signature has room");
                signature
            }
        }
    }
}

/// A private key as PEM, in lines of 64 letters (RFC 7468).
fn pem(key: &[u8]) -> Secret {
    let text = STANDARD.encode(key);
    let mut lines = vec!["-----BEGIN PRIVATE KEY-----"];
    let mut rest = text.as_str();
    while let Some((line, more)) = rest.split_at_checked(LINE) {
        lines.push(line);
        rest = more;
    }
    if !rest.is_empty() {
        lines.push(rest);
    }
    lines.push("-----END PRIVATE KEY-----");
    Secret::new(lines.join("\n") + "\n")
}
