//! Public keys as JSON (RFC 7517, 7518). Read strictly: a key with an unknown part is rejected.

use ring::signature::{self, RsaPublicKeyComponents, UnparsedPublicKey};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{decode, sha256};

/// How many keys of a set are looked at.
const MOST_KEYS: usize = 64;

/// A public key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Jwk {
    /// `EC`, `RSA` or `OKP`.
    pub kty: String,
    /// The curve of an `EC` or `OKP` key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crv: Option<String>,
    /// A coordinate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub x: Option<String>,
    /// The other coordinate of an `EC` key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub y: Option<String>,
    /// The modulus of an `RSA` key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n: Option<String>,
    /// The exponent of an `RSA` key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub e: Option<String>,
    /// Its name within a set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kid: Option<String>,
    /// The only algorithm that it serves, where it says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alg: Option<String>,
    /// `sig`, where it says so; `enc` serves nothing here.
    #[serde(rename = "use", skip_serializing_if = "Option::is_none")]
    pub use_: Option<String>,
    /// What it may be used for, where it says so; `verify` must be among it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_ops: Option<Vec<String>>,
}

/// Members of private and symmetric keys.
const PRIVATE: [&str; 8] = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];

impl Jwk {
    /// One key. `None` for what is no public key, or has a private part with it.
    pub fn read(value: &Value) -> Option<Self> {
        let private = PRIVATE.iter().any(|member| value.get(member).is_some());
        if private { None } else { serde_json::from_value(value.clone()).ok() }
    }

    /// Whether it may verify signatures of `alg`.
    pub fn suits(&self, alg: &str) -> bool {
        let kind = match alg {
            "ES256" => self.is_on("EC", "P-256"),
            "ES384" => self.is_on("EC", "P-384"),
            "EdDSA" | "Ed25519" => self.is_on("OKP", "Ed25519"),
            "RS256" | "RS384" | "RS512" | "PS256" | "PS384" | "PS512" => self.kty == "RSA",
            _ => false,
        };
        let may_verify = self.key_ops.as_ref().is_none_or(|all| all.iter().any(|one| one == "verify"));
        let is_for_signatures = self.use_.as_deref().is_none_or(|u| u == "sig") && may_verify;
        kind && is_for_signatures && self.alg.as_deref().is_none_or(|only| only == alg)
    }

    fn is_on(&self, kty: &str, curve: &str) -> bool {
        self.kty == kty && self.crv.as_deref() == Some(curve)
    }

    /// Whether `signature` over `message` is this key's, by `alg`.
    pub fn verifies(&self, alg: &str, message: &[u8], signature: &[u8]) -> bool {
        self.suits(alg) && self.check(alg, message, signature).is_some()
    }

    fn check(&self, alg: &str, message: &[u8], signature: &[u8]) -> Option<()> {
        let point = |size: usize| {
            let (x, y) = (decode(self.x.as_deref()?)?, decode(self.y.as_deref()?)?);
            // Divided elsewhere, the same bytes would be the same key with another thumbprint (RFC 7518, 6.2.1.2).
            (x.len() == size && y.len() == size).then(|| [&[4], &x[..], &y[..]].concat())
        };
        let edwards = || decode(self.x.as_deref()?).filter(|x| !is_small_order(x));
        let verify = |algorithm: &'static dyn signature::VerificationAlgorithm, key: Vec<u8>| {
            UnparsedPublicKey::new(algorithm, key).verify(message, signature).ok()
        };
        let rsa = match alg {
            "ES256" => return verify(&signature::ECDSA_P256_SHA256_FIXED, point(32)?),
            "ES384" => return verify(&signature::ECDSA_P384_SHA384_FIXED, point(48)?),
            "EdDSA" | "Ed25519" => return verify(&signature::ED25519, edwards()?),
            "RS256" => &signature::RSA_PKCS1_2048_8192_SHA256,
            "RS384" => &signature::RSA_PKCS1_2048_8192_SHA384,
            "RS512" => &signature::RSA_PKCS1_2048_8192_SHA512,
            "PS256" => &signature::RSA_PSS_2048_8192_SHA256,
            "PS384" => &signature::RSA_PSS_2048_8192_SHA384,
            "PS512" => &signature::RSA_PSS_2048_8192_SHA512,
            _ => return None,
        };
        let key = RsaPublicKeyComponents { n: decode(self.n.as_deref()?)?, e: decode(self.e.as_deref()?)? };
        key.verify(rsa, message, signature).ok()
    }

    /// The key's fingerprint (RFC 7638); `None` for a kind that we do not know.
    pub fn thumbprint(&self) -> Option<String> {
        // The members in the order of their names, as the thumbprint wants them. None of them holds a quotation mark.
        let plain = |member: &Option<String>| member.clone().filter(|text| !text.contains(['"', '\\']));
        let text = match self.kty.as_str() {
            "EC" => format!(
                r#"{{"crv":"{}","kty":"EC","x":"{}","y":"{}"}}"#,
                plain(&self.crv)?,
                plain(&self.x)?,
                plain(&self.y)?
            ),
            "OKP" => format!(r#"{{"crv":"{}","kty":"OKP","x":"{}"}}"#, plain(&self.crv)?, plain(&self.x)?),
            "RSA" => format!(r#"{{"e":"{}","kty":"RSA","n":"{}"}}"#, plain(&self.e)?, plain(&self.n)?),
            _ => return None,
        };
        Some(sha256(&text))
    }
}

/// Whether a point of Ed25519 has an order of at most 8: under such a key, everybody can sign. By its second coordinate, which the
/// sign of the first does not change; also in spellings that are not reduced.
fn is_small_order(x: &[u8]) -> bool {
    const EIGHT: [[u8; 32]; 2] = [
        [
            0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10, 0x67, 0x0f, 0x2a, 0x20,
            0x53, 0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac, 0x03, 0x7a,
        ],
        [
            0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98, 0xf0, 0xd5, 0xdf,
            0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05,
        ],
    ];
    let Ok(mut y) = <[u8; 32]>::try_from(x) else { return false };
    y[31] &= 0x7f;
    let [first, between @ .., last] = &y;
    // 0 and 1; then -1, and 0 and 1 once more with the modulus, 2^255 - 19, added.
    let is_low = *first <= 1 && *last == 0 && between.iter().all(|byte| *byte == 0);
    let is_high = (0xec..=0xee).contains(first) && *last == 0x7f && between.iter().all(|byte| *byte == 0xff);
    is_low || is_high || EIGHT.contains(&y)
}

/// The keys of an issuer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JwkSet {
    /// Those that we understand.
    pub keys: Vec<Jwk>,
}

impl JwkSet {
    /// Reads a set. Keys that we do not understand are left out; `None` for what is no set.
    pub fn read(value: &Value) -> Option<Self> {
        let keys = value.get("keys")?.as_array()?;
        Some(Self { keys: keys.iter().take(MOST_KEYS).filter_map(Jwk::read).collect() })
    }
}
