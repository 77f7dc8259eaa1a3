//! URIs of files and back. A path has one URI and no other: whoever subscribes to it is told by that name.

use std::fmt::Write as _;

const START: &str = "file:///";

/// The URI of a path below the directory.
pub(super) fn of(path: &str) -> String {
    format!("{START}{}", encode(path))
}

/// A path with everything encoded that might mean something else in a URI, but its slashes.
pub(super) fn encode(path: &str) -> String {
    let mut encoded = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

/// The path that `uri` is the URI of. None climbs, is absolute or has a NUL in it, however it is encoded.
pub(crate) fn path(uri: &str) -> Option<String> {
    let path = decode(uri.strip_prefix(START)?)?;
    let plain = |name: &str| !matches!(name, "" | "." | "..") && !name.contains('\0');
    (path.split('/').all(plain) && of(&path) == uri).then_some(path)
}

fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
            let code = digit(rest.next())? * 16 + digit(rest.next())?;
            bytes.push(u8::try_from(code).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}
