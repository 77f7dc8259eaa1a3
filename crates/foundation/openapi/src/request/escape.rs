//! Percent-encoding (RFC 3986). Must not know what is encoded.

use std::fmt::Write as _;

const fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

/// Everything encoded but unreserved characters.
pub(crate) fn all(text: &str) -> String {
    encoded(text, is_unreserved)
}

/// Reserved characters left as they are, also escapes; but not what would end a pair or the query.
pub(super) fn reserved(text: &str) -> String {
    let stays = |byte| is_unreserved(byte) || b":/?@!$'()*,;=".contains(&byte);
    keeping_escapes(text, stays)
}

/// The fixed text of a path: what a path may not contain is encoded, escapes stay.
pub(super) fn literal(text: &str) -> String {
    let stays = |byte| is_unreserved(byte) || b"/:@!$&'()*+,;=?".contains(&byte);
    keeping_escapes(text, stays)
}

fn encoded(text: &str, stays: impl Fn(u8) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for &byte in text.as_bytes() {
        put(&mut out, byte, &stays);
    }
    out
}

fn keeping_escapes(text: &str, stays: impl Fn(u8) -> bool) -> String {
    let (bytes, mut out) = (text.as_bytes(), String::with_capacity(text.len()));
    for (at, &byte) in bytes.iter().enumerate() {
        let is_escape =
            byte == b'%' && bytes.get(at + 1..at + 3).is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit));
        if is_escape {
            out.push('%');
        } else {
            put(&mut out, byte, &stays);
        }
    }
    out
}

fn put(out: &mut String, byte: u8, stays: impl Fn(u8) -> bool) {
    if stays(byte) {
        out.push(char::from(byte));
    } else {
        // Writing to a text cannot fail.
        let _ = write!(out, "%{byte:02X}");
    }
}

/// The bytes that a text with escapes stands for. What is no escape stays.
pub(crate) fn decoded(text: &str) -> Vec<u8> {
    decoded_bytes(text.as_bytes())
}

/// The same of bytes.
pub(super) fn decoded_bytes(bytes: &[u8]) -> Vec<u8> {
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while let Some(&byte) = bytes.get(at) {
        let hex = bytes.get(at + 1..at + 3).and_then(|hex| std::str::from_utf8(hex).ok());
        let escaped = hex.filter(|hex| byte == b'%' && hex.bytes().all(|digit| digit.is_ascii_hexdigit()));
        let value = escaped.and_then(|hex| u8::from_str_radix(hex, 16).ok());
        out.push(value.unwrap_or(byte));
        at += if value.is_some() { 3 } else { 1 };
    }
    out
}
