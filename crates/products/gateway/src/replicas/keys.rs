//! The keys that all gateways share, and what is made of them: no two purposes have the same. Must not know what is sealed.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use oauth::Secret;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hmac;

use crate::consents::seal::key_bytes;

/// Keys: the first one signs and seals, and all of them verify and open.
pub(crate) struct Keys(Vec<hmac::Key>);

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keys")
    }
}

/// The key of one gateway process, which numbers what it seals: no number is used twice.
pub(crate) struct SealKey(LessSafeKey);

/// The parts of a text, each with its length: no two lists of parts give the same bytes.
fn joined(parts: &[&[u8]]) -> Vec<u8> {
    parts.iter().flat_map(|part| (part.len() as u64).to_be_bytes().into_iter().chain(part.iter().copied())).collect()
}

impl Keys {
    /// The keys in these texts; `None` where one is not a key, or the list is empty.
    pub(crate) fn new(keys: &[Secret]) -> Option<Self> {
        let read = |secret: &Secret| Some(hmac::Key::new(hmac::HMAC_SHA256, &key_bytes(secret.reveal())?));
        let keys: Vec<_> = keys.iter().map(read).collect::<Option<_>>()?;
        (!keys.is_empty()).then_some(Self(keys))
    }

    /// How many there are.
    pub(crate) const fn count(&self) -> usize {
        self.0.len()
    }

    /// A code that only holders of the first key can make.
    pub(crate) fn code(&self, parts: &[&[u8]]) -> String {
        let code = self.0.first().map(|key| hmac::sign(key, &joined(parts)));
        code.map(|code| URL_SAFE_NO_PAD.encode(code)).unwrap_or_default()
    }

    /// Whether one of the keys made a code.
    pub(crate) fn verify(&self, parts: &[&[u8]], code: &str) -> bool {
        let Ok(code) = URL_SAFE_NO_PAD.decode(code) else { return false };
        let text = joined(parts);
        self.0.iter().any(|key| hmac::verify(key, &text, &code).is_ok())
    }

    /// The key by which the gateway process `sender` seals; `index` is one of the shared keys.
    pub(crate) fn of_sender(&self, index: usize, sender: &str) -> Option<SealKey> {
        let made = hmac::sign(self.0.get(index)?, &joined(&[b"proof-gateway.forward.1", sender.as_bytes()]));
        Some(SealKey(LessSafeKey::new(UnboundKey::new(&AES_256_GCM, made.as_ref()).ok()?)))
    }
}

impl SealKey {
    fn nonce(number: u64) -> Nonce {
        let mut nonce = [0; NONCE_LEN];
        nonce[NONCE_LEN - 8..].copy_from_slice(&number.to_be_bytes());
        Nonce::assume_unique_for_key(nonce)
    }

    /// Seals a text. No number may come twice.
    pub(crate) fn seal(&self, number: u64, mut text: Vec<u8>) -> Option<Vec<u8>> {
        self.0.seal_in_place_append_tag(Self::nonce(number), Aad::empty(), &mut text).ok()?;
        Some(text)
    }

    /// Opens what was sealed under this number.
    pub(crate) fn open(&self, number: u64, mut sealed: Vec<u8>) -> Option<Vec<u8>> {
        let length = self.0.open_in_place(Self::nonce(number), Aad::empty(), &mut sealed).ok()?.len();
        sealed.truncate(length);
        Some(sealed)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use base64::engine::general_purpose::STANDARD;

    use super::*;

    pub(crate) fn keys(bytes: &[u8]) -> Keys {
        let secrets: Vec<_> = bytes.iter().map(|byte| Secret::new(STANDARD.encode([*byte; 32]))).collect();
        Keys::new(&secrets).expect("keys")
    }

    #[test]
    fn a_code_is_of_its_key_and_its_parts() {
        let (one, other) = (keys(&[1]), keys(&[2]));
        let code = one.code(&[b"a", b"bc"]);
        assert!(one.verify(&[b"a", b"bc"], &code) && keys(&[2, 1]).verify(&[b"a", b"bc"], &code));
        assert!(!other.verify(&[b"a", b"bc"], &code) && !one.verify(&[b"ab", b"c"], &code));
        assert!(!one.verify(&[b"a", b"bc"], "") && !one.verify(&[b"a", b"bc"], &code[1..]));
        assert!(Keys::new(&[]).is_none() && Keys::new(&[Secret::new("short")]).is_none());
    }

    #[test]
    fn a_sealed_text_opens_by_key_sender_and_number() {
        let open = |keys: &Keys, sender: &str, number, sealed: &[u8]| {
            keys.of_sender(0, sender).expect("a key").open(number, sealed.to_vec())
        };
        let sealed = keys(&[1]).of_sender(0, "a").expect("a key").seal(7, b"text".to_vec()).expect("sealed");
        assert_eq!(open(&keys(&[1]), "a", 7, &sealed).as_deref(), Some(&b"text"[..]));
        for (key, sender, number) in [(2, "a", 7), (1, "b", 7), (1, "a", 8)] {
            assert!(open(&keys(&[key]), sender, number, &sealed).is_none(), "{key} {sender} {number}");
        }
        for at in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[at] ^= 1;
            assert!(open(&keys(&[1]), "a", 7, &changed).is_none(), "byte {at}");
        }
    }
}
