//! What stands inside messages and has a syntax of its own: Base64, URIs, media types, JSON values.
//!
//! Each test here is lenient: what it refuses is wrong by every reading. It must not know methods or revisions.

use std::collections::BTreeMap;

use serde_json::Value;

/// Whether `text` could be Base64 in any of its usual forms: either alphabet, padded or not, line breaks within.
pub(crate) fn is_base64(text: &str) -> bool {
    let plain: Vec<u8> = text.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
    let end = plain.iter().position(|&b| b == b'=').unwrap_or(plain.len());
    let (digits, padding) = plain.split_at(end);
    digits.iter().all(|b| b.is_ascii_alphanumeric() || b"+/-_".contains(b))
        && padding.len() <= 2
        && padding.iter().all(|&b| b == b'=')
        && digits.len() % 4 != 1
}

/// The scheme of a URI: what stands before its first colon, be it well formed or not.
pub(crate) fn scheme(uri: &str) -> Option<&str> {
    let (scheme, _) = uri.split_once(':')?;
    (!scheme.contains(['/', '?', '#'])).then_some(scheme)
}

/// What keeps `uri` from being an absolute URI by RFC 3986. Characters outside ASCII are let pass: many peers mean IRIs.
pub(crate) fn uri_fault(uri: &str) -> Option<String> {
    let Some(scheme) = scheme(uri) else { return Some("it has no scheme".to_owned()) };
    let letter = |b: u8| b.is_ascii_alphanumeric() || b"+-.".contains(&b);
    if !scheme.starts_with(|c: char| c.is_ascii_alphabetic()) || !scheme.bytes().all(letter) {
        return Some(format!("`{}` is no scheme name", scheme.escape_debug()));
    }
    let foreign = |c: &char| c.is_ascii_control() || " <>\"{}|\\^`".contains(*c);
    if let Some(found) = uri.chars().find(foreign) {
        return Some(format!("`{}` may not stand in a URI", found.escape_debug()));
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

/// Whether two JSON values are equal as values: `1` and `1.0` are, members may stand in any order.
pub(crate) fn same_json(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(a), Value::Number(b)) => a == b || (a.as_f64().is_some() && a.as_f64() == b.as_f64()),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_json(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| same_json(a, b)))
        }
        _ => one == other,
    }
}

/// A text that two JSON values share exactly where they are equal, whatever the order of their members: to look values up by.
pub(crate) fn canonical(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(canonical).collect::<Vec<_>>().join(",")),
        Value::Object(members) => {
            let sorted: BTreeMap<&String, String> = members.iter().map(|(name, v)| (name, canonical(v))).collect();
            let each = sorted.into_iter().map(|(name, v)| format!("{}:{v}", Value::from(name.as_str())));
            format!("{{{}}}", each.collect::<Vec<_>>().join(","))
        }
        plain => plain.to_string(),
    }
}

/// A name as a step of a JSON pointer.
pub(crate) fn step(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_read_leniently_and_no_further() {
        for good in ["", "aGk=", "aGk", "a_-b", "YWJj\r\nZGVm", "QQ=="] {
            assert!(is_base64(good), "{good}");
        }
        for bad in ["not base64!", "a", "aGk=x", "ä", "a===", "data:image/png;base64,aGk="] {
            assert!(!is_base64(bad), "{bad}");
        }
    }

    #[test]
    fn uris_are_judged_by_what_is_beyond_dispute() {
        for good in ["file:///a%20b", "x-y+z.1:opaque", "note://ü/1", "urn:a:b"] {
            assert_eq!(uri_fault(good), None, "{good}");
        }
        for bad in ["a/b", "my_app://x", "1a://x", "file:///a b", "x://%zz", "x://{id}", "x://%2"] {
            assert!(uri_fault(bad).is_some(), "{bad}");
        }
    }
}
