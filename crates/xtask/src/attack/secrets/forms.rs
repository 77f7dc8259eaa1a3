//! The forms in which a secret can stand in a text.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};

pub(super) fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Every byte percent-encoded.
pub(super) fn percent(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect::<Vec<_>>().concat()
}

pub(super) fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat()
}

/// The form in which `secret` stands in a text, if it does.
pub(in crate::attack) fn found(text: &str, secret: &str) -> Option<&'static str> {
    let stands = |form: &str| text.contains(form);
    if stands(secret) {
        return Some("plain");
    }
    if stands(&hex(secret)) || stands(&hex(secret).to_uppercase()) {
        return Some("in hexadecimal");
    }
    if stands(&percent(secret)) || stands(&percent(secret).to_lowercase()) {
        return Some("percent-encoded");
    }
    in_base64(text, secret.as_bytes()).then_some("in Base64")
}

/// Whether bytes stand in a text in Base64. Within longer bytes, that has three ways to begin.
pub(in crate::attack) fn in_base64(text: &str, bytes: &[u8]) -> bool {
    (0..3).any(|shift| {
        let padded = [vec![0; shift], bytes.to_vec()].concat();
        let (begin, end) = ((shift * 8_usize).div_ceil(6), padded.len() * 8 / 6);
        let (standard, url_safe) = (STANDARD.encode(&padded), URL_SAFE.encode(&padded));
        text.contains(&standard[begin..end]) || text.contains(&url_safe[begin..end])
    })
}
