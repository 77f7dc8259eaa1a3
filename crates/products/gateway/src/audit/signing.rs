//! The key that signs an audit log, and the one that verifies it: Ed25519 in PEM files (RFC 8410). Knows no line.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::rand::SystemRandom;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use sha2::{Digest as _, Sha256};

use crate::ids::hex;

/// What is signed begins with this: a signature of a log means nothing elsewhere.
const PURPOSE: &str = "proof-gateway audit log, version 1: ";
/// `SubjectPublicKeyInfo` of an Ed25519 key up to the key itself (RFC 8410, section 4).
const PUBLIC_PREFIX: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];
/// The longest file of a key.
const LONGEST: u64 = 16 << 10;

/// Signs a log.
pub(crate) struct SigningKey(Ed25519KeyPair);

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("SigningKey").field(&self.name()).finish()
    }
}

impl SigningKey {
    /// Reads a private key from the text of a PEM file.
    pub(crate) fn read(pem: &str) -> Result<Self, String> {
        let der = pem_body(pem, "PRIVATE KEY").ok_or("it holds no private key in PEM")?;
        // OpenSSL writes keys without their public half.
        let pair = Ed25519KeyPair::from_pkcs8_maybe_unchecked(&der).map_err(|_| "it holds no Ed25519 key")?;
        Ok(Self(pair))
    }

    /// The key that verifies its signatures.
    pub(super) fn public(&self) -> VerifyingKey {
        let mut key = [0; 32];
        key.copy_from_slice(self.0.public_key().as_ref());
        VerifyingKey(key)
    }

    /// How signatures name the key.
    pub(crate) fn name(&self) -> String {
        name(self.0.public_key().as_ref())
    }

    /// Signs a hash of a log, in Base64.
    pub(crate) fn sign(&self, hash: &str) -> String {
        STANDARD.encode(self.0.sign(format!("{PURPOSE}{hash}").as_bytes()))
    }
}

/// Verifies a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyingKey([u8; 32]);

impl VerifyingKey {
    /// Reads a public key from the text of a PEM file.
    pub fn read(pem: &str) -> Result<Self, String> {
        let der = pem_body(pem, "PUBLIC KEY").ok_or("it holds no public key in PEM")?;
        let key = der.strip_prefix(&PUBLIC_PREFIX[..]).and_then(|key| key.try_into().ok());
        key.map(Self).ok_or_else(|| "it holds no Ed25519 key".to_owned())
    }

    /// Whether `signature` is one of `hash` by this key.
    pub(crate) fn verifies(&self, hash: &str, signature: &str) -> bool {
        let Ok(signature) = STANDARD.decode(signature) else { return false };
        let key = UnparsedPublicKey::new(&ED25519, &self.0);
        key.verify(format!("{PURPOSE}{hash}").as_bytes(), &signature).is_ok()
    }
}

/// Makes a new key: the private one in `file`, which only its owner may read, and the public one in a file beside it with `.pub`
/// after its name. Existing files stay as they are, which is an error.
pub fn generate(file: &Path) -> io::Result<std::path::PathBuf> {
    let failed = || io::Error::other("no key could be made");
    let private = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).map_err(|_| failed())?;
    let pair = Ed25519KeyPair::from_pkcs8(private.as_ref()).map_err(|_| failed())?;
    let public = [&PUBLIC_PREFIX[..], pair.public_key().as_ref()].concat();
    let mut beside = file.as_os_str().to_owned();
    beside.push(".pub");
    let beside = std::path::PathBuf::from(beside);
    if beside.try_exists()? {
        return Err(io::Error::from(io::ErrorKind::AlreadyExists));
    }
    for (file, mode, text) in
        [(file, 0o600, pem("PRIVATE KEY", private.as_ref())), (&beside, 0o644, pem("PUBLIC KEY", &public))]
    {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(file)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
    }
    Ok(beside)
}

/// The text of a key's file.
pub fn text_of(file: &Path) -> io::Result<String> {
    use io::Read as _;
    let mut text = String::new();
    net::open_regular(file)?.take(LONGEST).read_to_string(&mut text)?;
    Ok(text)
}

fn name(public: &[u8]) -> String {
    let digest = Sha256::digest(public);
    hex(digest.get(..8).unwrap_or_default())
}

fn pem(label: &str, der: &[u8]) -> String {
    let body = STANDARD.encode(der);
    let lines: Vec<_> = body.as_bytes().chunks(64).map(String::from_utf8_lossy).collect();
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n"))
}

/// What the first block with this label holds.
fn pem_body(pem: &str, label: &str) -> Option<Vec<u8>> {
    let (_, rest) = pem.split_once(&format!("-----BEGIN {label}-----"))?;
    let (body, _) = rest.split_once(&format!("-----END {label}-----"))?;
    let body: String = body.split_ascii_whitespace().collect();
    STANDARD.decode(body).ok()
}

#[cfg(test)]
mod tests {
    use super::{SigningKey, VerifyingKey, generate, text_of};

    /// The example of RFC 8410, section 10: a key as OpenSSL writes it, without its public half, and that half.
    const EXAMPLE: (&str, &str) = (
        "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n-----END PRIVATE KEY-----\n",
        "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----\n",
    );

    #[test]
    fn a_signature_is_of_one_key_and_one_hash() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("audit.key");
        let public = generate(&file).expect("a key");
        let key = SigningKey::read(&text_of(&file).expect("a text")).expect("a key");
        let verifying = VerifyingKey::read(&text_of(&public).expect("a text")).expect("a key");
        let signature = key.sign("ab");
        assert!(verifying.verifies("ab", &signature));
        assert!(!verifying.verifies("ac", &signature) && !verifying.verifies("ab", "AAAA"));
        let other = VerifyingKey::read(EXAMPLE.1).expect("a key");
        assert!(!other.verifies("ab", &signature));
        assert!(generate(&file).is_err(), "a key is never written over");
    }

    #[test]
    fn keys_of_the_standard_are_read() {
        let key = SigningKey::read(EXAMPLE.0).expect("a key");
        assert!(VerifyingKey::read(EXAMPLE.1).expect("a key").verifies("ab", &key.sign("ab")));
        assert!(SigningKey::read(EXAMPLE.1).is_err() && VerifyingKey::read(EXAMPLE.0).is_err());
    }
}
