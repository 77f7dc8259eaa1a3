//! Opaque tokens that come back from a client: what we put in is what we take out, or nothing. Cursors and request states
//! are made of them. The key lives as long as the process, but that of cursors is always the same: a client may use them
//! with another process (basic#statelessness), and all that can be forged is another place in a public list.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, Mac};
use sha2::Sha256;

/// How many bytes of the code a token carries.
const TAG: usize = 16;

/// The key.
pub(crate) struct Seal([u8; 32]);

impl Seal {
    /// For what must be told apart from other texts, and from nothing worse.
    pub(crate) const CURSORS: Self = Self([0; 32]);

    pub(crate) fn new() -> Self {
        let mut key = [0; 32];
        // Without randomness nothing that follows could be trusted.
        getrandom::fill(&mut key).expect("the system gives randomness");
        Self(key)
    }

    fn mac(&self, purpose: &str, payload: &[u8]) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("HMAC takes a key of any length");
        mac.update(purpose.as_bytes());
        mac.update(&[0]);
        mac.update(payload);
        mac
    }

    /// A token that only [`Self::open`] with the same `purpose` takes.
    pub(crate) fn close(&self, purpose: &str, payload: &[u8]) -> String {
        let tag = self.mac(purpose, payload).finalize().into_bytes();
        URL_SAFE_NO_PAD.encode([&tag[..TAG], payload].concat())
    }

    /// What [`Self::close`] was given; `None` where the token is not one of ours.
    pub(crate) fn open(&self, purpose: &str, token: &str) -> Option<Vec<u8>> {
        let bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
        let (tag, payload) = bytes.split_at_checked(TAG)?;
        self.mac(purpose, payload).verify_truncated_left(tag).ok()?;
        Some(payload.to_vec())
    }
}
