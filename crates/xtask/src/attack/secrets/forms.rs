//! The forms in which a secret can stand in a text.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};

use crate::attack::socket::find;

pub(super) fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Every byte percent-encoded.
pub(super) fn percent(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

pub(super) fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

/// The form in which `secret` stands in a text, if it does.
pub(super) fn found(text: &[u8], secret: &str) -> Option<&'static str> {
    let stands = |form: &str| find(text, form.as_bytes()).is_some();
    if stands(secret) {
        return Some("plain");
    }
    if stands(&hex(secret)) || stands(&hex(secret).to_uppercase()) {
        return Some("in hexadecimal");
    }
    if stands(&percent(secret)) || stands(&percent(secret).to_lowercase()) {
        return Some("percent-encoded");
    }
    // Within a longer text, Base64 has three ways to begin.
    for shift in 0..3 {
        let padded = [vec![0; shift], secret.as_bytes().to_vec()].concat();
        let (begin, end) = ((shift * 8).div_ceil(6), padded.len() * 8 / 6);
        let standard = STANDARD.encode(&padded);
        let url_safe = URL_SAFE.encode(&padded);
        if stands(&standard[begin..end]) || stands(&url_safe[begin..end]) {
            return Some("in Base64");
        }
    }
    None
}
