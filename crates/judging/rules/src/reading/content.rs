//! What stands inside messages and has a syntax of its own: Base64, URIs, media types, JSON values.
//!
//! Each test here is lenient: what it refuses is wrong by every reading. It must not know methods or revisions.

use serde_json::Value;

/// Whether `text` could be Base64: padded or not, line breaks within. Not in the alphabet for URLs: RFC 4648 calls that
/// another encoding, and decoders of this one refuse its characters or, worse, pass over them.
pub(crate) fn is_base64(text: &str) -> bool {
    let plain: Vec<u8> = text.bytes().filter(|b| !matches!(b, b'\r' | b'\n')).collect();
    let end = plain.iter().position(|&b| b == b'=').unwrap_or(plain.len());
    let (digits, padding) = plain.split_at(end);
    digits.iter().all(|b| b.is_ascii_alphanumeric() || b"+/".contains(b))
        && padding.len() <= 2
        && padding.iter().all(|&b| b == b'=')
        && digits.len() % 4 != 1
}

/// The scheme of a URI: what stands before its first colon, be it well formed or not.
pub(crate) fn scheme(uri: &str) -> Option<&str> {
    let (scheme, _) = uri.split_once(':')?;
    (!scheme.contains(['/', '?', '#'])).then_some(scheme)
}

/// What keeps `uri` from being an absolute URI by RFC 3986. Characters outside ASCII are accepted: many peers mean IRIs.
pub(crate) fn uri_fault(uri: &str) -> Option<String> {
    let Some(scheme) = scheme(uri) else { return Some("it has no scheme".to_owned()) };
    let letter = |b: u8| b.is_ascii_alphanumeric() || b"+-.".contains(&b);
    if !scheme.starts_with(|c: char| c.is_ascii_alphabetic()) || !scheme.bytes().all(letter) {
        return Some(format!("`{}` is not a scheme name", scheme.escape_debug()));
    }
    let foreign = |c: &char| c.is_ascii_control() || " <>\"{}|\\^`".contains(*c);
    if let Some(found) = uri.chars().find(foreign) {
        return Some(format!("`{}` is not allowed in a URI", found.escape_debug()));
    }
    let broken = uri.split('%').skip(1).any(|rest| {
        let digits = rest.as_bytes();
        !(digits.len() >= 2 && digits[0].is_ascii_hexdigit() && digits[1].is_ascii_hexdigit())
    });
    broken.then(|| "a percent sign is not followed by two hexadecimal digits".to_owned())
}

/// Whether `text` has the form of a media type: `type/subtype`, perhaps with parameters.
pub(crate) fn is_media_type(text: &str) -> bool {
    let essence = text.split(';').next().unwrap_or_default().trim();
    essence.split_once('/').is_some_and(|(kind, sub)| wire::http::is_token(kind) && wire::http::is_token(sub))
}

/// A text that two JSON values share exactly where they are equal, whatever the order of their members: to look values up by.
pub(crate) fn canonical(value: &Value) -> String {
    String::from_utf8_lossy(&wire::json::canonical(value)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_read_leniently_and_no_further() {
        for good in ["", "aGk=", "aGk", "a/+b", "YWJj\r\nZGVm", "QQ=="] {
            assert!(is_base64(good), "{good}");
        }
        for bad in ["not base64!", "52 49 46 46", "a", "a_-b", "aGk=x", "ä", "a===", "data:image/png;base64,aGk="] {
            assert!(!is_base64(bad), "{bad}");
        }
    }

    #[test]
    fn only_clear_faults_of_uris_are_reported() {
        for good in ["file:///a%20b", "x-y+z.1:opaque", "note://ü/1", "urn:a:b"] {
            assert_eq!(uri_fault(good), None, "{good}");
        }
        for bad in ["a/b", "my_app://x", "1a://x", "file:///a b", "x://%zz", "x://{id}", "x://%2"] {
            assert!(uri_fault(bad).is_some(), "{bad}");
        }
    }
}
