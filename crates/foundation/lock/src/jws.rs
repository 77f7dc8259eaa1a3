//! Signatures of JSON documents in the shape that A2A's agent cards have: JWS (RFC 7515) over the document without its
//! `signatures`, as RFC 8785 writes it. Must not know keys: who signs and who checks comes in as an argument.

use std::fmt;

use serde_json::{Value, json};
use wire::json::canonical;

use crate::bytes::{decode, encode};
use crate::strict::{Integers, read};

/// The algorithms that are taken: ECDSA on P-256, and Ed25519 under both of its names.
pub const ALGORITHMS: [&str; 3] = ["ES256", "EdDSA", "Ed25519"];

/// The type of every signature.
pub const TYPE: &str = "JOSE";

/// How many signatures of a document are looked at.
pub const MOST: usize = 16;

/// Whether a signature of `message` is that of a public key: the key as a JWK, the algorithm, the message, the signature.
pub type Verifies<'v> = &'v dyn Fn(&Value, &str, &[u8], &[u8]) -> bool;

/// A key that signs.
pub struct Signing<'s> {
    /// The algorithm: ES256 or EdDSA.
    pub alg: &'s str,
    /// The name of the key.
    pub kid: &'s str,
    /// Makes the signature of a message, as JOSE has it.
    pub sign: &'s dyn Fn(&[u8]) -> Vec<u8>,
}

/// What is wrong with one signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// It has another form.
    Form(&'static str),
    /// An algorithm that proves nothing to others: `none`, or a shared secret.
    Worthless(String),
    /// An algorithm that is not taken.
    Algorithm(String),
    /// A header member that must be understood and is not.
    Extension,
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Form(expected) => write!(f, "a signature is malformed: expected {expected}"),
            Self::Worthless(alg) => write!(f, "the algorithm `{alg}` proves nothing"),
            Self::Algorithm(alg) => write!(f, "the algorithm `{alg}` is not supported"),
            Self::Extension => f.write_str("a signature demands an extension (`crit`, `b64`)"),
        }
    }
}

/// One signature, read and not yet checked.
#[derive(Clone, Debug)]
pub struct Signature {
    /// The algorithm.
    pub alg: String,
    /// The name of the key.
    pub kid: String,
    protected: String,
    bytes: Vec<u8>,
}

impl Signature {
    /// Reads `{"protected": …, "signature": …}`. The unprotected `header` is not signed and decides nothing.
    pub fn read(value: &Value) -> Result<Self, Flaw> {
        let text = |name: &str| value[name].as_str().filter(|text| text.len() <= 8192);
        let (protected, signature) = text("protected").zip(text("signature")).ok_or(Flaw::Form("two texts"))?;
        let header = decode(protected).and_then(|bytes| String::from_utf8(bytes).ok());
        let header = header.ok_or(Flaw::Form("a header in base64url"))?;
        let header = read(&header, Integers::Doubles).map_err(|_| Flaw::Form("a header in JSON"))?;
        let alg = header["alg"].as_str().ok_or(Flaw::Form("`alg` in the header"))?.to_owned();
        if alg.eq_ignore_ascii_case("none") || alg.to_ascii_uppercase().starts_with("HS") {
            return Err(Flaw::Worthless(alg));
        }
        if ["crit", "b64", "enc"].iter().any(|name| header.get(*name).is_some()) {
            return Err(Flaw::Extension);
        }
        if header["typ"].as_str() != Some(TYPE) {
            return Err(Flaw::Form("`typ` JOSE in the header"));
        }
        let kid = header["kid"].as_str().filter(|kid| !kid.is_empty()).ok_or(Flaw::Form("`kid` in the header"))?;
        if !ALGORITHMS.contains(&alg.as_str()) {
            return Err(Flaw::Algorithm(alg));
        }
        let bytes = decode(signature).ok_or(Flaw::Form("a signature in base64url"))?;
        Ok(Self { alg, kid: kid.to_owned(), protected: protected.to_owned(), bytes })
    }

    /// Whether it is the signature of `payload` by `key`.
    pub fn is_of(&self, payload: &[u8], key: &Value, verifies: Verifies<'_>) -> bool {
        let message = signing_input(&self.protected, payload);
        // Ed25519 is what EdDSA means here; a key may have been published under either name.
        let names = if self.alg == "ES256" { &ALGORITHMS[..1] } else { &ALGORITHMS[1..] };
        names.iter().any(|alg| verifies(key, alg, &message, &self.bytes))
    }
}

/// What is signed (RFC 7515, 5.1): the header and the payload, both in base64url.
pub fn signing_input(protected: &str, payload: &[u8]) -> Vec<u8> {
    format!("{protected}.{}", encode(payload)).into_bytes()
}

/// The payload of a document: all of it but `signatures`, canonical.
pub fn payload(document: &Value) -> Vec<u8> {
    let mut document = document.clone();
    if let Value::Object(members) = &mut document {
        members.shift_remove("signatures");
    }
    canonical(&document)
}

/// Adds a signature to the document.
pub fn sign(document: &mut Value, key: &Signing<'_>) {
    let header = json!({ "alg": key.alg, "kid": key.kid, "typ": TYPE });
    let protected = encode(&canonical(&header));
    let signature = encode(&(key.sign)(&signing_input(&protected, &payload(document))));
    let signature = json!({ "protected": protected, "signature": signature });
    match document.get_mut("signatures").and_then(Value::as_array_mut) {
        Some(signatures) => signatures.push(signature),
        None => document["signatures"] = json!([signature]),
    }
}
