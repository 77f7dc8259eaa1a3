//! Encrypts what is kept of consents: AES-256-GCM, by the first of several keys. What a text belongs to is authenticated with
//! it: moved elsewhere, it does not open. Must not know what the text says.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use oauth::Secret;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use sha2::{Digest as _, Sha256};

/// The form of sealed texts, before the name of the key, the nonce and the text.
const VERSION: u8 = 1;
const KEY: usize = 32;
/// How much of a key's digest names it.
const NAME: usize = 4;

struct SealKey {
    name: [u8; NAME],
    key: LessSafeKey,
}

/// Keys: the first one seals, and all of them open.
pub(crate) struct Seals(Vec<SealKey>);

/// A text that was opened.
pub(crate) struct Opened {
    pub(crate) text: Vec<u8>,
    /// The first key sealed it.
    pub(crate) is_current: bool,
}

/// The bytes of a key: 32, in base64.
pub(crate) fn key_bytes(text: &str) -> Option<[u8; KEY]> {
    let text = text.trim();
    let bytes = STANDARD.decode(text).or_else(|_| URL_SAFE_NO_PAD.decode(text.trim_end_matches('='))).ok()?;
    bytes.try_into().ok()
}

impl Seals {
    /// The keys in these texts; `None` where one is not a key, or the list is empty.
    pub(crate) fn new(keys: &[Secret]) -> Option<Self> {
        let seal_key = |secret: &Secret| {
            let bytes = key_bytes(secret.reveal())?;
            let digest = Sha256::digest([b"proof-gateway.seal.1".as_slice(), &bytes].concat());
            let name = digest.first_chunk::<NAME>().copied()?;
            let key = LessSafeKey::new(UnboundKey::new(&AES_256_GCM, &bytes).ok()?);
            Some(SealKey { name, key })
        };
        let keys: Vec<_> = keys.iter().map(seal_key).collect::<Option<_>>()?;
        (!keys.is_empty()).then_some(Self(keys))
    }

    /// Seals a text that belongs to `place`; `None` where the system has no random numbers.
    pub(crate) fn seal(&self, place: &[u8], text: Vec<u8>) -> Option<Vec<u8>> {
        let SealKey { name, key } = self.0.first()?;
        let mut nonce = [0; NONCE_LEN];
        getrandom::fill(&mut nonce).ok()?;
        let mut sealed = text;
        key.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::from(place), &mut sealed).ok()?;
        Some([&[VERSION][..], name, &nonce, &sealed].concat())
    }

    /// Opens what was sealed for the same place by one of the keys.
    pub(crate) fn open(&self, place: &[u8], sealed: &[u8]) -> Option<Opened> {
        let (version, rest) = sealed.split_first()?;
        let (name, rest) = rest.split_first_chunk::<NAME>()?;
        let (nonce, rest) = rest.split_first_chunk::<NONCE_LEN>()?;
        let index = self.0.iter().position(|key| *version == VERSION && key.name == *name)?;
        let mut text = rest.to_vec();
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let length = self.0[index].key.open_in_place(nonce, Aad::from(place), &mut text).ok()?.len();
        text.truncate(length);
        Some(Opened { text, is_current: index == 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(byte: u8) -> Secret {
        Secret::new(STANDARD.encode([byte; KEY]))
    }

    fn seals(bytes: &[u8]) -> Seals {
        Seals::new(&bytes.iter().map(|byte| secret(*byte)).collect::<Vec<_>>()).expect("keys")
    }

    #[test]
    fn a_text_opens_in_its_place_by_its_key_and_unchanged_alone() {
        let sealed = seals(&[1]).seal(b"a", b"text".to_vec()).expect("sealed");
        assert!(!sealed.windows(4).any(|part| part == b"text"));
        assert_eq!(seals(&[1]).open(b"a", &sealed).expect("opened").text, b"text");
        assert!(seals(&[1]).open(b"b", &sealed).is_none(), "another place");
        assert!(seals(&[2]).open(b"a", &sealed).is_none(), "another key");
        for at in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[at] ^= 1;
            assert!(seals(&[1]).open(b"a", &changed).is_none(), "byte {at}");
            assert!(seals(&[1]).open(b"a", &sealed[..at]).is_none(), "cut at {at}");
        }
        assert_ne!(sealed, seals(&[1]).seal(b"a", b"text".to_vec()).expect("sealed"), "a nonce is used once");
    }

    #[test]
    fn an_older_key_opens_and_the_first_one_seals() {
        let sealed = seals(&[1]).seal(b"a", b"text".to_vec()).expect("sealed");
        let rotated = seals(&[2, 1]);
        assert!(!rotated.open(b"a", &sealed).expect("opened").is_current);
        let again = rotated.seal(b"a", b"text".to_vec()).expect("sealed");
        assert!(rotated.open(b"a", &again).expect("opened").is_current);
        assert!(seals(&[1]).open(b"a", &again).is_none() && seals(&[2]).open(b"a", &again).is_some());
    }

    #[test]
    fn a_key_has_32_bytes() {
        for bad in ["", "secret", "AAAA", &STANDARD.encode([0; 31]), &STANDARD.encode([0; 33])] {
            assert!(key_bytes(bad).is_none() && Seals::new(&[Secret::new(bad)]).is_none(), "{bad}");
        }
        assert!(key_bytes(&format!("{}\n", URL_SAFE_NO_PAD.encode([255; KEY]))).is_some());
        assert!(Seals::new(&[]).is_none());
    }
}
