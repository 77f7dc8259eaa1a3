//! A compact signed token, read and verified against keys. Claims are not checked here.

use std::fmt;

use serde_json::Value;
use wire::json::duplicate_name;

use super::decode;
use super::jwk::{Jwk, JwkSet};

/// The longest token that is read.
const LONGEST: usize = 16 << 10;

/// A parsed token. Nothing in it may be trusted before [`Jws::verified`].
#[derive(Clone, Debug)]
pub struct Jws<'t> {
    /// The protected header.
    pub header: Value,
    claims: Value,
    signed: &'t [u8],
    signature: Vec<u8>,
}

/// What is wrong with a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// It is no compact signed token.
    Form,
    /// It demands what is not supported (`crit`, `b64`, encryption), or a member has the wrong type.
    Header,
    /// No key of the set may have signed it.
    Key,
    /// The signature is wrong.
    Signature,
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Form => "it is no signed JSON Web Token",
            Self::Header => "its header demands what is not supported",
            Self::Key => "no known key may have signed it",
            Self::Signature => "its signature is wrong",
        })
    }
}

impl<'t> Jws<'t> {
    /// Parses a token.
    pub fn read(token: &'t str) -> Result<Self, Flaw> {
        if token.len() > LONGEST {
            return Err(Flaw::Form);
        }
        let (signed, signature) = token.rsplit_once('.').ok_or(Flaw::Form)?;
        let (header, claims) = signed.split_once('.').ok_or(Flaw::Form)?;
        let header = object(header).ok_or(Flaw::Form)?;
        let claims = object(claims).ok_or(Flaw::Form)?;
        let signature = decode(signature).ok_or(Flaw::Form)?;
        Ok(Self { header, claims, signed: signed.as_bytes(), signature })
    }

    /// A member of the header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.header.get(name)?.as_str()
    }

    /// The claims, where a key of the set signed them.
    pub fn verified(&self, keys: &JwkSet) -> Result<&Value, Flaw> {
        let alg = self.algorithm()?;
        let named = self.header("kid");
        let fits = |key: &&Jwk| {
            let right = named.is_none_or(|kid| key.kid.as_deref().is_none_or(|own| own == kid));
            right && key.suits(alg)
        };
        let mut fitting = keys.keys.iter().filter(fits).peekable();
        if fitting.peek().is_none() {
            return Err(Flaw::Key);
        }
        let signed = fitting.any(|key| key.verifies(alg, self.signed, &self.signature));
        if signed { Ok(&self.claims) } else { Err(Flaw::Signature) }
    }

    /// The claims, where `key` signed them.
    pub fn verified_by(&self, key: &Jwk) -> Result<&Value, Flaw> {
        let alg = self.algorithm()?;
        if key.verifies(alg, self.signed, &self.signature) { Ok(&self.claims) } else { Err(Flaw::Signature) }
    }

    fn algorithm(&self) -> Result<&str, Flaw> {
        let is_text = |name: &&str| self.header.get(*name).is_none_or(Value::is_string);
        // A member of the wrong type must not count as missing: without `typ`, any token is an access token.
        let is_typed = ["alg", "kid", "typ", "cty"].iter().all(is_text);
        let is_unencoded = self.header.get("b64").is_some_and(|b64| *b64 != Value::Bool(true));
        // No critical extension is supported, and `enc` means that the token is encrypted (RFC 7516, 9).
        let is_extended = ["crit", "enc"].iter().any(|name| self.header.get(*name).is_some());
        let alg = self.header("alg").filter(|_| is_typed && !is_unencoded && !is_extended);
        alg.ok_or(Flaw::Header)
    }
}

/// A part that is an object. Readers differ in which of two members of one name they take, so no object may have such.
fn object(part: &str) -> Option<Value> {
    let text = String::from_utf8(decode(part)?).ok()?;
    let value: Value = serde_json::from_str(&text).ok()?;
    (value.is_object() && duplicate_name(&text).is_none()).then_some(value)
}
