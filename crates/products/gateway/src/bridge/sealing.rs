//! Texts that the bridge hands out and gets back: encrypted and authenticated, each for one purpose and one place. Every text
//! has a key derived for it alone: however many are asked for, no key encrypts two texts. Must not know what the texts say.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use oauth::Secret;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::hmac;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::consents::seal::key_bytes;

/// The form of sealed texts, before the name of the key, the salt and the text.
const VERSION: u8 = 1;
const NAME: usize = 4;
const SALT: usize = 16;
/// The longest text that is opened.
const LONGEST: usize = 8 << 10;

/// What a text is for: one that is for something else does not open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The id of a client that registered.
    Client,
    /// What a consent page asks, in its form.
    Question,
    /// What a browser was sent to the provider for, in its cookie.
    Login,
    /// A code for a client.
    Code,
    /// A refresh token.
    Refresh,
}

impl Purpose {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Question => "question",
            Self::Login => "login",
            Self::Code => "code",
            Self::Refresh => "refresh",
        }
    }
}

struct Master {
    name: [u8; NAME],
    key: hmac::Key,
    seed: [u8; 32],
}

/// Master keys: the first one seals, and all of them open.
pub(super) struct Sealing(Vec<Master>);

impl Sealing {
    /// The keys in these texts; `None` where one is not 32 bytes in base64, or the list is empty.
    pub(super) fn new(keys: &[Secret]) -> Option<Self> {
        let master = |secret: &Secret| {
            let bytes = key_bytes(secret.reveal())?;
            let derived = |label: &[u8]| hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &bytes), label);
            let key = hmac::Key::new(hmac::HMAC_SHA256, derived(b"proof-gateway.bridge.seal.1").as_ref());
            let name = *derived(b"proof-gateway.bridge.name.1").as_ref().first_chunk::<NAME>()?;
            let seed = derived(b"proof-gateway.bridge.sign.1").as_ref().try_into().ok()?;
            Some(Master { name, key, seed })
        };
        let keys: Vec<_> = keys.iter().map(master).collect::<Option<_>>()?;
        (!keys.is_empty()).then_some(Self(keys))
    }

    /// The seeds of the keys that sign tokens, in the same order.
    pub(super) fn seeds(&self) -> impl Iterator<Item = &[u8; 32]> {
        self.0.iter().map(|master| &master.seed)
    }

    /// Seals a value that belongs to `place`; `None` where the system has no random numbers.
    pub(super) fn seal(&self, purpose: Purpose, place: &str, value: &impl Serialize) -> Option<String> {
        let master = self.0.first()?;
        let (mut salt, mut text) = ([0; SALT], serde_json::to_vec(value).ok()?);
        getrandom::fill(&mut salt).ok()?;
        let aad = aad(purpose, place);
        own_key(master, purpose, &salt)?.seal_in_place_append_tag(nonce(), Aad::from(aad), &mut text).ok()?;
        Some(URL_SAFE_NO_PAD.encode([&[VERSION][..], &master.name, &salt, &text].concat()))
    }

    /// Opens what was sealed for the same purpose and place by one of the keys.
    pub(super) fn open<T: DeserializeOwned>(&self, purpose: Purpose, place: &str, sealed: &str) -> Option<T> {
        if sealed.len() > LONGEST {
            return None;
        }
        let sealed = URL_SAFE_NO_PAD.decode(sealed).ok()?;
        let (version, rest) = sealed.split_first()?;
        let (name, rest) = rest.split_first_chunk::<NAME>()?;
        let (salt, rest) = rest.split_first_chunk::<SALT>()?;
        let master = self.0.iter().find(|master| *version == VERSION && master.name == *name)?;
        let mut text = rest.to_vec();
        let key = own_key(master, purpose, salt)?;
        let text = key.open_in_place(nonce(), Aad::from(aad(purpose, place)), &mut text).ok()?;
        serde_json::from_slice(text).ok()
    }
}

fn aad(purpose: Purpose, place: &str) -> Vec<u8> {
    json!(["proof-gateway.bridge.1", purpose.as_str(), place]).to_string().into_bytes()
}

/// The key of one text. It is used once: the salt is as random as a nonce would be, and longer.
fn own_key(master: &Master, purpose: Purpose, salt: &[u8; SALT]) -> Option<LessSafeKey> {
    let derived = hmac::sign(&master.key, &[purpose.as_str().as_bytes(), b".", salt].concat());
    Some(LessSafeKey::new(UnboundKey::new(&AES_256_GCM, derived.as_ref()).ok()?))
}

fn nonce() -> Nonce {
    Nonce::assume_unique_for_key([0; 12])
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::STANDARD;

    use super::*;

    fn sealing(bytes: &[u8]) -> Sealing {
        let keys: Vec<_> = bytes.iter().map(|byte| Secret::new(STANDARD.encode([*byte; 32]))).collect();
        Sealing::new(&keys).expect("keys")
    }

    #[test]
    fn a_text_opens_for_its_purpose_in_its_place_by_its_key_alone() {
        let sealed = sealing(&[1]).seal(Purpose::Code, "a", &"text").expect("sealed");
        let opens = |keys: &[u8], purpose, place: &str, text: &str| {
            sealing(keys).open::<String>(purpose, place, text).is_some_and(|text| text == "text")
        };
        assert!(opens(&[1], Purpose::Code, "a", &sealed) && opens(&[2, 1], Purpose::Code, "a", &sealed));
        assert!(!opens(&[2], Purpose::Code, "a", &sealed), "another key");
        assert!(!opens(&[1], Purpose::Code, "b", &sealed), "another place");
        for purpose in [Purpose::Client, Purpose::Question, Purpose::Login, Purpose::Refresh] {
            assert!(!opens(&[1], purpose, "a", &sealed), "{purpose:?}");
        }
        let bytes = URL_SAFE_NO_PAD.decode(&sealed).expect("base64");
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            assert!(!opens(&[1], Purpose::Code, "a", &URL_SAFE_NO_PAD.encode(&changed)), "byte {at}");
            assert!(!opens(&[1], Purpose::Code, "a", &URL_SAFE_NO_PAD.encode(&bytes[..at])), "cut at {at}");
        }
        assert_ne!(sealed, sealing(&[1]).seal(Purpose::Code, "a", &"text").expect("sealed"), "a salt is used once");
        assert!(!opens(&[1], Purpose::Code, "a", &"A".repeat(LONGEST + 1)));
    }

    #[test]
    fn keys_are_32_bytes() {
        for text in ["", "abc", &STANDARD.encode([1; 31]), &STANDARD.encode([1; 33])] {
            assert!(Sealing::new(&[Secret::new(text)]).is_none(), "{text}");
        }
        assert!(Sealing::new(&[]).is_none());
        let sealing = sealing(&[1, 2]);
        let seeds: Vec<_> = sealing.seeds().collect();
        assert!(seeds.len() == 2 && seeds[0] != seeds[1] && seeds[0] != &[1; 32]);
    }
}
