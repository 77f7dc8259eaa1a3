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

    /// A JSON text without credentials, as bytes: also in strings with escapes, which have as many spellings as they like. The
    /// text is not parsed: its values may be very many.
    pub(crate) fn json(&self, bytes: Vec<u8>) -> Vec<u8> {
        let bytes = self.bytes(bytes);
        if memchr::memmem::find(&bytes, b"\\u").is_none() {
            return bytes;
        }
        let (mut out, mut from, mut at) = (Vec::new(), 0, 0);
        while let Some(begin) = memchr::memchr(b'"', &bytes[at..]).map(|found| at + found) {
            let Some(end) = end_of_string(&bytes, begin) else { break };
            at = end;
            let string = &bytes[begin..end];
            if !string.contains(&b'\\') {
                continue;
            }
            let Ok(text) = serde_json::from_slice::<String>(string) else { continue };
            let shown = self.text(&text);
            if shown != text {
                out.extend_from_slice(&bytes[from..begin]);
                out.extend_from_slice(Value::from(shown).to_string().as_bytes());
                from = end;
            }
        }
        if from == 0 {
            return bytes;
        }
        out.extend_from_slice(&bytes[from..]);
        out
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

/// Where the string ends that begins at `begin`.
fn end_of_string(bytes: &[u8], begin: usize) -> Option<usize> {
    let mut at = begin + 1;
    loop {
        let found = at + memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes[found] == b'"' {
            return Some(found + 1);
        }
        at = found + 2;
    }
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
        let broken =
            String::from_utf8(concealer.json(br#"[["x\"","s3\u002fcret+\"x\"",{"open"#.to_vec())).expect("UTF-8");
        assert_eq!(broken, r#"[["x\"","[credential]",{"open"#, "also what is no JSON as a whole");
    }
}
