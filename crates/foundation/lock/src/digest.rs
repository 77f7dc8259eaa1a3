//! Digests of canonical values: SHA-256, each kind of value in a domain of its own. Must not know where values come from.

use std::fmt;
use std::str::FromStr;

use serde_json::Value;
use sha2::{Digest as _, Sha256};
use wire::json::canonical;

/// What every digested text begins with.
const DOMAIN: &[u8] = b"mcp-lock/1\0";

/// A SHA-256 digest.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of a value of some `kind`: SHA-256 over `mcp-lock/1`, a zero byte, the kind, a zero byte, and the value as
    /// RFC 8785 writes it.
    pub fn of(kind: &str, value: &Value) -> Self {
        Self::of_bytes(kind, &canonical(value))
    }

    /// The same of bytes as they are.
    pub fn of_bytes(kind: &str, bytes: &[u8]) -> Self {
        let mut hash = Sha256::new();
        for part in [DOMAIN, kind.as_bytes(), b"\0", bytes] {
            hash.update(part);
        }
        Self(hash.finalize().into())
    }

    /// The digest as lower-case hexadecimal digits, as in-toto wants it.
    pub fn hex(&self) -> String {
        self.0.iter().fold(String::with_capacity(64), |mut text, byte| {
            for half in [byte >> 4, byte & 15] {
                text.push(char::from(b"0123456789abcdef"[usize::from(half)]));
            }
            text
        })
    }

    /// The digest in so many characters that a person can compare it: `sha256:0123456789ab`.
    pub fn short(&self) -> String {
        format!("sha256:{}", &self.hex()[..12])
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{}", self.hex())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A text that is not `sha256:` and 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadDigest;

impl fmt::Display for BadDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a digest is `sha256:` and 64 lower-case hexadecimal digits")
    }
}

impl std::error::Error for BadDigest {}

impl FromStr for Digest {
    type Err = BadDigest;

    fn from_str(text: &str) -> Result<Self, BadDigest> {
        let digits = text.strip_prefix("sha256:").filter(|digits| digits.len() == 64).ok_or(BadDigest)?.as_bytes();
        let half = |digit: u8| match digit {
            b'0'..=b'9' => Ok(digit - b'0'),
            b'a'..=b'f' => Ok(digit - b'a' + 10),
            _ => Err(BadDigest),
        };
        let mut digest = [0; 32];
        for (byte, pair) in digest.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = half(pair[0])? << 4 | half(pair[1])?;
        }
        Ok(Self(digest))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{BadDigest, Digest};

    /// `printf 'mcp-lock/1\0tool\0{"name":"a"}' | sha256sum`, so that other programs can check a lock.
    #[test]
    fn a_digest_is_what_the_documentation_says() {
        let digest = Digest::of("tool", &json!({ "name": "a" }));
        assert_eq!(digest.to_string(), "sha256:e5a2beda2d0bfaf8f588b99666f12cbaf36b60033af9ceed14a3f1779af92888");
        assert_ne!(digest, Digest::of("prompt", &json!({ "name": "a" })));
        assert_eq!(digest.to_string().parse(), Ok(digest));
        for bad in ["", "sha256:", "sha512:00", &digest.to_string().to_uppercase(), &digest.to_string()[..70]] {
            assert_eq!(bad.parse::<Digest>(), Err(BadDigest), "{bad}");
        }
    }
}
