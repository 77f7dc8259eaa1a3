//! Replaces credentials in everything that leaves: an API may repeat them in an answer.

use std::sync::{PoisonError, RwLock};

use serde_json::Value;

/// What stands for a credential.
const PLACEHOLDER: &str = "[credential]";
/// Shorter texts are no secrets, and are in every answer.
const SHORTEST: usize = 6;
/// How many credentials are known: configured ones, and the last tokens.
const MOST: usize = 64;

/// Knows credentials.
#[derive(Debug, Default)]
pub(crate) struct Concealer(RwLock<Vec<Known>>);

/// The spellings of one credential. `Debug` shows none of them.
struct Known(Vec<String>);

impl std::fmt::Debug for Known {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Known")
    }
}

/// With the hexadecimal digits of percent-encoding in lower case.
fn lower_case(encoded: &str) -> String {
    let mut parts = encoded.split('%');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (digits, rest) = part.split_at(part.len().min(2));
        out.extend(["%", &digits.to_ascii_lowercase(), rest]);
    }
    out
}

impl Concealer {
    /// Learns a credential, also as it stands in JSON and in a URL.
    pub(crate) fn learn(&self, secret: &str) {
        if secret.len() < SHORTEST {
            return;
        }
        let json = Value::from(secret).to_string();
        let mut spellings = vec![secret.to_owned(), json.trim_matches('"').to_owned()];
        spellings.push(json.trim_matches('"').replace('/', "\\/"));
        spellings.push(lower_case(&crate::auth::encoded(secret)));
        spellings.push(crate::auth::form(secret));
        spellings.push(crate::auth::encoded(secret));
        spellings.sort_unstable_by_key(|spelling| std::cmp::Reverse(spelling.len()));
        spellings.dedup();
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() == MOST {
            // The configured ones come first; the oldest token goes.
            known.remove(MOST / 2);
        }
        known.push(Known(spellings));
    }

    /// The text without credentials.
    pub(crate) fn text(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for spelling in self.0.read().unwrap_or_else(PoisonError::into_inner).iter().flat_map(|known| &known.0) {
            if text.contains(spelling.as_str()) {
                text = text.replace(spelling.as_str(), PLACEHOLDER);
            }
        }
        text
    }

    /// A JSON text without credentials, as bytes: also those whose characters are escaped.
    pub(crate) fn json(&self, bytes: Vec<u8>) -> Vec<u8> {
        let bytes = self.bytes(bytes);
        if memchr::memmem::find(&bytes, b"\\u").is_none() {
            return bytes;
        }
        let Ok(value) = serde_json::from_slice(&bytes) else { return bytes };
        let (value, changed) = concealed(self, value);
        if changed { value.to_string().into_bytes() } else { bytes }
    }

    /// The bytes without credentials.
    pub(crate) fn bytes(&self, bytes: Vec<u8>) -> Vec<u8> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let mut bytes = bytes;
        for spelling in known.iter().flat_map(|known| &known.0) {
            if let Some(replaced) = replaced(&bytes, spelling.as_bytes()) {
                bytes = replaced;
            }
        }
        bytes
    }
}

/// The value without credentials, and whether there were any: escapes of JSON have as many spellings as they like.
fn concealed(concealer: &Concealer, value: Value) -> (Value, bool) {
    let text = |text: String| {
        let shown = concealer.text(&text);
        let is_new = shown != text;
        (shown, is_new)
    };
    let mut changed = false;
    let mut of = |value| {
        let (value, is_new) = concealed(concealer, value);
        changed |= is_new;
        value
    };
    let value = match value {
        Value::String(one) => {
            let (shown, is_new) = text(one);
            return (Value::String(shown), is_new);
        }
        Value::Array(items) => Value::Array(items.into_iter().map(of).collect()),
        Value::Object(members) => {
            let mut keys = false;
            let members = members.into_iter().map(|(key, value)| {
                let (key, is_new) = text(key);
                keys |= is_new;
                (key, of(value))
            });
            let members = Value::Object(members.collect());
            changed |= keys;
            members
        }
        other => other,
    };
    (value, changed)
}

/// The bytes with the placeholder for each `needle`; `None` where there is none.
fn replaced(bytes: &[u8], needle: &[u8]) -> Option<Vec<u8>> {
    let mut found = memchr::memmem::find_iter(bytes, needle).peekable();
    found.peek()?;
    let (mut out, mut from) = (Vec::with_capacity(bytes.len()), 0);
    for at in found {
        out.extend_from_slice(&bytes[from..at]);
        out.extend_from_slice(PLACEHOLDER.as_bytes());
        from = at + needle.len();
    }
    out.extend_from_slice(&bytes[from..]);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::Concealer;

    #[test]
    fn a_credential_is_found_in_every_spelling() {
        let concealer = Concealer::default();
        concealer.learn("s3/cret+\"x\"");
        concealer.learn("abc");
        for text in [
            "s3/cret+\"x\"",
            "{\"k\":\"s3\\/cret+\\\"x\\\"\"}",
            "?k=s3%2Fcret%2B%22x%22&",
            "k=s3%2fcret%2b%22x%22",
            "s3/cret+\\\"x\\\"",
        ] {
            let (shown, bytes) = (concealer.text(text), concealer.bytes(text.as_bytes().to_vec()));
            assert!(shown.contains("[credential]") && !shown.contains("cret+") && !shown.contains("cret%"), "{shown}");
            assert_eq!(bytes, shown.into_bytes());
        }
        assert_eq!(concealer.text("abc"), "abc", "too short to be a secret");
        for text in [r#"{"k":["s3\u002fcret\u002B\u0022x\""]}"#, r#"{"\u0073\u0033/cret+\"x\"":1.50}"#] {
            let shown = String::from_utf8(concealer.json(text.into())).expect("JSON");
            assert!(shown.contains("[credential]") && !shown.contains("cret"), "{shown}");
        }
        assert_eq!(concealer.json(br#"{"k":"\u00fc","n":1.50}"#.to_vec()), br#"{"k":"\u00fc","n":1.50}"#, "as it came");
    }
}
