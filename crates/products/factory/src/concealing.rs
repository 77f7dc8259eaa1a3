//! Replaces credentials in everything that leaves: an API may repeat them in an answer.

use std::sync::{PoisonError, RwLock};

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

impl Concealer {
    /// Learns a credential, also as it stands in JSON and in a URL.
    pub(crate) fn learn(&self, secret: &str) {
        if secret.len() < SHORTEST {
            return;
        }
        let json = serde_json::Value::from(secret).to_string();
        let mut spellings = vec![secret.to_owned(), json.trim_matches('"').to_owned()];
        spellings.push(json.trim_matches('"').replace('/', "\\/"));
        spellings.push(url::form_urlencoded::byte_serialize(secret.as_bytes()).collect());
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
        for text in ["s3/cret+\"x\"", "{\"k\":\"s3\\/cret+\\\"x\\\"\"}", "?k=s3%2Fcret%2B%22x%22&", "s3/cret+\\\"x\\\""]
        {
            let (shown, bytes) = (concealer.text(text), concealer.bytes(text.as_bytes().to_vec()));
            assert!(shown.contains("[credential]") && !shown.contains("cret+") && !shown.contains("cret%"), "{shown}");
            assert_eq!(bytes, shown.into_bytes());
        }
        assert_eq!(concealer.text("abc"), "abc", "too short to be a secret");
    }
}
