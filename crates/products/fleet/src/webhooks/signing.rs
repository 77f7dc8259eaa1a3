//! Signatures of messages, as Standard Webhooks has them: HMAC-SHA256 over id, time and body. Pure.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac as _};
use sha2::Sha256;

/// What a secret begins with.
const PREFIX: &str = "whsec_";

/// The secret of a webhook. Its `Debug` shows nothing of it.
#[derive(Clone)]
pub struct Key(Hmac<Sha256>);

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key")
    }
}

impl Key {
    /// Reads `whsec_` and base64 of 24 to 64 bytes; `None` for anything else.
    pub fn read(text: &str) -> Option<Self> {
        let bytes = STANDARD.decode(text.trim().strip_prefix(PREFIX)?).ok()?;
        let mac = (24..=64).contains(&bytes.len()).then(|| Hmac::new_from_slice(&bytes).ok())??;
        Some(Self(mac))
    }

    /// The value of `webhook-signature`.
    pub fn sign(&self, id: &str, seconds: i64, body: &str) -> String {
        let mut mac = self.0.clone();
        mac.update(format!("{id}.{seconds}.{body}").as_bytes());
        format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::Key;

    #[test]
    fn a_message_is_signed_as_the_specification_says() {
        // The example of the specification's own libraries.
        let key = Key::read("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").expect("a key");
        let signature = key.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, "{\"test\": 2432232314}");
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
        assert_ne!(key.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_331, "{\"test\": 2432232314}"), signature);
    }

    #[test]
    fn what_is_short_or_of_another_form_is_no_key() {
        for bad in ["", "whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_MfKQ9r8GKYqrTwjU", "whsec_!!!!"] {
            assert!(Key::read(bad).is_none(), "{bad}");
        }
        let long = format!("whsec_{}", "A".repeat(88));
        assert!(Key::read(&long).is_none());
    }
}
