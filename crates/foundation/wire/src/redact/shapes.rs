//! What is secret by its shape, under whatever name: tokens with a known beginning, JWTs, the lines of private keys.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

/// How the tokens of well-known issuers begin, and how much must follow.
const BEGINNINGS: [(&str, usize); 19] = [
    ("AIza", 30),
    ("AKIA", 16),
    ("ASIA", 16),
    ("SG.", 20),
    ("github_pat_", 16),
    ("gho_", 16),
    ("ghp_", 16),
    ("ghr_", 16),
    ("ghs_", 16),
    ("ghu_", 16),
    ("glpat-", 16),
    ("hf_", 24),
    ("npm_", 24),
    ("rk_live_", 16),
    ("sk-", 16),
    ("sk_live_", 16),
    ("sk_test_", 16),
    ("xox", 12),
    ("ya29.", 16),
];

/// How a JWT begins.
pub(super) const JWT: &str = "eyJ";
/// No token that is known by its shape is shorter, in bytes.
pub(super) const SHORTEST: usize = 15;

/// The beginning of `secret` that a pseudonym keeps, so that it still has its shape.
pub(super) fn prefix(secret: &str) -> &str {
    let known = BEGINNINGS.iter().map(|(beginning, _)| *beginning).chain([JWT]);
    let found =
        known.into_iter().find(|beginning| secret.len() >= beginning.len() + 8 && secret.starts_with(beginning));
    &secret[..found.map_or(0, str::len)]
}

/// Whether `word`, a run of letters, digits, `_`, `-` and `.`, is a secret.
pub(super) fn is_token(word: &str) -> bool {
    is_jwt(word) || has_beginning(word)
}

/// Whether `word` begins as the tokens of a well-known issuer do.
pub(super) fn has_beginning(word: &str) -> bool {
    BEGINNINGS.iter().any(|(beginning, least)| {
        word.strip_prefix(beginning)
            .is_some_and(|rest| rest.len() >= *least && rest.bytes().any(|b| b.is_ascii_digit()))
    })
}

/// Whether `word` is a JSON Web Token.
fn is_jwt(word: &str) -> bool {
    is_jwt_to(word, word.find('.').unwrap_or(word.len()))
}

/// Whether `word`, whose first dot is at `dot`, is a JSON Web Token.
pub(super) fn is_jwt_to(word: &str, dot: usize) -> bool {
    let second = word.as_bytes().get(dot + 1..dot + 9);
    word.starts_with(JWT) && dot >= 8 && second.is_some_and(|second| !second.contains(&b'.'))
}

/// Whether `word` after `Basic` is a user and a password.
pub(super) fn is_basic(word: &str) -> bool {
    word.len() >= 4 && BASE64.decode(word).is_ok_and(|bytes| bytes.contains(&b':') && !bytes.contains(&0))
}

/// Whether a whole line may be one of a private key's: Base64 and nothing else.
pub(super) fn is_armour(line: &str) -> bool {
    let line = line.trim();
    let body = line.trim_end_matches('=');
    let long = line.len() >= 40 || (line.len() >= 16 && body.len() < line.len());
    long && body.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/'))
}

/// How long the body of a private key is that `text` begins with, after its first line: to the end of its last line, or of
/// the text.
pub(super) fn private_key(text: &str) -> Option<std::ops::Range<usize>> {
    let head = text.strip_prefix("-----BEGIN ")?;
    let end = head.find("-----")?;
    if !head[..end].ends_with("PRIVATE KEY") || end > 40 {
        return None;
    }
    let start = text.len() - head.len() + end + "-----".len();
    let length = text[start..].find("-----END ").unwrap_or(text.len() - start);
    Some(start..start + length)
}

#[cfg(test)]
mod tests {
    use super::{BEGINNINGS, SHORTEST, is_jwt_to};

    #[test]
    fn no_token_is_shorter_than_the_shortest() {
        assert!(BEGINNINGS.iter().all(|(beginning, least)| beginning.len() + least >= SHORTEST));
        let jwt = "eyJhbGci.eyJzdWIi";
        assert!(is_jwt_to(jwt, 8) && (0..SHORTEST).all(|length| !is_jwt_to(&jwt[..length], 8)));
    }
}
