//! Replaces credentials in everything that leaves: an API may repeat them in an answer.

use std::collections::VecDeque;
use std::sync::{PoisonError, RwLock};

use oauth::Secret;
use serde_json::Value;

/// What stands for a credential.
const PLACEHOLDER: &str = "[credential]";
/// Shorter texts are no secrets, and are in every answer.
const SHORTEST: usize = 6;
/// How many tokens of one client are known: an older one has expired, or was refused.
const TOKENS: usize = 8;
/// How many texts within texts of JSON are looked into.
const DEPTH: usize = 4;

/// Knows credentials.
#[derive(Debug, Default)]
pub(crate) struct Concealer(RwLock<Credentials>);

#[derive(Debug, Default)]
struct Credentials {
    /// Those of the configuration, which are never forgotten.
    configured: Vec<Known>,
    /// The last tokens of each client, so that no client makes another's forgotten.
    tokens: Vec<VecDeque<Known>>,
}

impl Credentials {
    fn spellings(&self) -> impl Iterator<Item = &String> {
        self.configured.iter().chain(self.tokens.iter().flatten()).flat_map(|known| &known.0)
    }
}

/// A client whose tokens are learned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TokenClient(usize);

/// The spellings of one credential. `Debug` shows none of them.
struct Known(Vec<String>);

impl std::fmt::Debug for Known {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Known")
    }
}

impl Known {
    /// A credential as it stands in texts, in JSON and in URLs; `None` of one that is too short.
    fn new(secret: &str) -> Option<Self> {
        if secret.len() < SHORTEST {
            return None;
        }
        let json = Value::from(secret).to_string();
        let json = json.get(1..json.len() - 1).unwrap_or(&json);
        let encoded = crate::auth::encoded(secret);
        // Many encoders leave slashes as they are.
        let with_slashes = encoded.replace("%2F", "/");
        let mut spellings = vec![secret.to_owned(), json.to_owned(), json.replace('/', "\\/")];
        spellings.extend([lower_case(&encoded), lower_case(&with_slashes), crate::auth::form(secret)]);
        spellings.extend([encoded, with_slashes]);
        spellings.sort_unstable_by(|one, other| other.len().cmp(&one.len()).then_with(|| one.cmp(other)));
        spellings.dedup();
        Some(Self(spellings))
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
    /// Learns a credential of the configuration.
    pub(crate) fn learn(&self, secret: &str) {
        let known = Known::new(secret);
        self.0.write().unwrap_or_else(PoisonError::into_inner).configured.extend(known);
    }

    /// A client whose tokens will be learned.
    pub(crate) fn client(&self) -> TokenClient {
        let tokens = &mut self.0.write().unwrap_or_else(PoisonError::into_inner).tokens;
        tokens.push(VecDeque::new());
        TokenClient(tokens.len() - 1)
    }

    /// Learns a token that a client fetched.
    pub(crate) fn learn_token(&self, client: TokenClient, token: &str) {
        let Some(known) = Known::new(token) else { return };
        let mut credentials = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let Some(tokens) = credentials.tokens.get_mut(client.0) else { return };
        if tokens.len() == TOKENS {
            tokens.pop_front();
        }
        tokens.push_back(known);
    }

    /// Learns the newest tokens of the one user whose tokens it knows.
    pub(crate) fn learn_newest<'s>(&self, tokens: impl Iterator<Item = &'s Secret>) {
        let is_new = self.0.read().unwrap_or_else(PoisonError::into_inner).tokens.is_empty();
        let user = if is_new { self.client() } else { TokenClient(0) };
        tokens.for_each(|token| self.learn_token(user, token.reveal()));
    }

    /// The text without credentials.
    pub(crate) fn text(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for spelling in self.0.read().unwrap_or_else(PoisonError::into_inner).spellings() {
            if text.contains(spelling.as_str()) {
                text = text.replace(spelling.as_str(), PLACEHOLDER);
            }
        }
        text
    }

    /// The same for a text whose long parts end early, with `…`: what is left of a credential is one, too.
    pub(crate) fn shortened(&self, text: &str) -> String {
        let text = self.text(text);
        let mut parts: Vec<_> = text.split('…').map(str::to_owned).collect();
        let (known, last) = (self.0.read().unwrap_or_else(PoisonError::into_inner), parts.len() - 1);
        for part in &mut parts[..last] {
            if let Some(at) = known.spellings().filter_map(|spelling| cut_at(part, spelling)).min() {
                part.truncate(at);
                part.push_str(PLACEHOLDER);
            }
        }
        parts.join("…")
    }

    /// A JSON text without credentials, as bytes: also in strings with escapes, which have as many spellings as they like, and in
    /// JSON within them. The text is not parsed: its values may be very many.
    pub(crate) fn json(&self, bytes: Vec<u8>) -> Vec<u8> {
        self.json_within(bytes, DEPTH)
    }

    fn json_within(&self, bytes: Vec<u8>, depth: usize) -> Vec<u8> {
        let bytes = self.bytes(bytes);
        if depth == 0 || memchr::memchr(b'\\', &bytes).is_none() {
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
            let shown = self.json_within(text.as_bytes().to_vec(), depth - 1);
            if shown != text.as_bytes() {
                out.extend_from_slice(&bytes[from..begin]);
                out.extend_from_slice(Value::from(String::from_utf8_lossy(&shown)).to_string().as_bytes());
                from = end;
            }
        }
        if from == 0 {
            return bytes;
        }
        out.extend_from_slice(&bytes[from..]);
        out
    }

    /// How many bytes at the end of a text that is cut may be a part of a credential, in whatever spelling.
    pub(crate) fn longest(&self) -> usize {
        /// Two escapes, one within the other, have so many bytes for one.
        const ESCAPED: usize = 12;
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        known.spellings().map(String::len).max().unwrap_or_default() * ESCAPED
    }

    /// The bytes without credentials.
    pub(crate) fn bytes(&self, bytes: Vec<u8>) -> Vec<u8> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let mut bytes = bytes;
        for spelling in known.spellings() {
            if let Some(replaced) = replaced(&bytes, spelling.as_bytes()) {
                bytes = replaced;
            }
        }
        bytes
    }
}

/// Where the beginning of a credential stands at the end of a text.
fn cut_at(text: &str, spelling: &str) -> Option<usize> {
    let first = spelling.get(..SHORTEST)?;
    text.match_indices(first).map(|(at, _)| at).find(|at| spelling.starts_with(&text[*at..]))
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
        assert_eq!(broken, r#"[["x\"","[credential]",{"open"#, "also text that is not JSON as a whole");
    }

    #[test]
    fn a_credential_with_slashes_is_found_where_only_some_are_escaped() {
        let concealer = Concealer::default();
        concealer.learn("ab/cdefg/hij+klmnop");
        for text in [
            r#"{"a":"ab\/cdefg/hij+klmnop"}"#,
            r#"{"a":"{\"b\":\"ab\\\/cdefg/hij+klmnop\"}"}"#,
            "/v1/ab/cdefg/hij%2Bklmnop",
            "/v1/ab/cdefg/hij%2bklmnop",
        ] {
            let shown = String::from_utf8(concealer.json(text.into())).expect("UTF-8");
            assert!(shown.contains("[credential]") && !shown.contains("cdefg"), "{shown}");
        }
    }

    #[test]
    fn tokens_drive_out_no_configured_credential_and_no_other_clients_token() {
        let concealer = Concealer::default();
        let configured: Vec<_> = (0..100).map(|n| format!("configured-{n:03}")).collect();
        for secret in &configured {
            concealer.learn(secret);
        }
        let [quiet, busy] = [concealer.client(), concealer.client()];
        concealer.learn_token(quiet, "quiet-token");
        for n in 0..100 {
            concealer.learn_token(busy, &format!("busy-token-{n:03}"));
        }
        for secret in configured.iter().map(String::as_str).chain(["quiet-token", "busy-token-093", "busy-token-099"]) {
            assert_eq!(concealer.text(secret), "[credential]", "{secret}");
        }
        assert_eq!(concealer.text("busy-token-091"), "busy-token-091", "the oldest are forgotten");
    }
}
