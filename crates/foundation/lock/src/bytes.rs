//! Base64 as JOSE has it, and as DSSE has it.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};

/// Base64url without padding.
pub fn encode(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// The bytes of [`encode`]; `None` for anything else, padding and unused bits included.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

/// Base64 with padding.
pub fn encode_standard(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// The bytes of base64 with padding. The envelope's specification allows both alphabets.
pub fn decode_standard(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).or_else(|_| base64::engine::general_purpose::URL_SAFE.decode(text)).ok()
}
