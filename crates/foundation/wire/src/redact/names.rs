//! Which names have secrets under them. A name counts letter by letter, case and separators aside: `apiKey`, `api_key` and
//! `X-API-Key` are one. MCP's own names that merely sound secret (`progressToken`, `maxTokens`, `authorization_servers`) are not.

/// Where a name is; the same word may be harmless in one place and not in another.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    /// A header.
    Header,
    /// A member of a JSON object.
    Member,
    /// A parameter of a query or a form.
    Query,
    /// Running text: `NAME=value`, `name: value`.
    Text,
}

/// Anywhere within a name, these make it secret.
const WITHIN: [&str; 26] = [
    "accesskey",
    "accesstoken",
    "accountkey",
    "apikey",
    "apitoken",
    "authtoken",
    "bearertoken",
    "clientassertion",
    "codeverifier",
    "credential",
    "csrf",
    "encryptionkey",
    "idtoken",
    "masterkey",
    "passcode",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "refreshtoken",
    "secret",
    "sessionid",
    "sessionkey",
    "sessiontoken",
    "signingkey",
    "xsrf",
];

/// At the end of a name, these make it secret.
const ENDINGS: [&str; 4] = ["authorization", "cookie", "jwt", "token"];

/// Names with one of the above that are not secret.
const HARMLESS: [&str; 11] = [
    "clientassertiontype",
    "continuationtoken",
    "maxtoken",
    "mintoken",
    "nextpagetoken",
    "nexttoken",
    "numtoken",
    "pagetoken",
    "progresstoken",
    "stoptoken",
    "synctoken",
];

/// In a query or a form, these too.
const QUERY: [&str; 9] = ["assertion", "auth", "code", "key", "pass", "sig", "signature", "state", "xamzsignature"];

/// Whether the value under `name` is secret.
pub(super) fn is_secret(name: &str, place: Position) -> bool {
    let plain: String =
        name.chars().filter(|c| !matches!(c, '-' | '_' | '.' | ' ')).map(|c| c.to_ascii_lowercase()).collect();
    if HARMLESS.contains(&plain.as_str()) {
        return false;
    }
    WITHIN.iter().any(|word| plain.contains(word))
        || ENDINGS.iter().any(|word| plain.ends_with(word))
        || matches!(plain.as_str(), "pass" | "otp")
        || (place == Position::Query && QUERY.contains(&plain.as_str()))
}

/// Whether even a number under `name` is secret.
pub(super) fn is_secret_number(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    ["password", "passwd", "passcode"].iter().any(|word| lower.contains(word))
}

/// Whether `value`, a string under the member `code`, is an authorization code rather than the name of an error.
pub(super) fn is_code(value: &str) -> bool {
    value.len() >= 10 && has_digit_and_letter(value) && !value.contains(char::is_whitespace)
}

/// Whether a value is random enough to be a secret where nothing but its place before a colon tells.
pub(super) fn looks_random(value: &str) -> bool {
    (value.len() >= 8 && has_digit_and_letter(value)) || value.len() >= 24
}

fn has_digit_and_letter(value: &str) -> bool {
    value.bytes().any(|b| b.is_ascii_digit()) && value.bytes().any(|b| b.is_ascii_alphabetic())
}

/// Whether `value` is harmless under any name.
pub(super) fn is_harmless(value: &str) -> bool {
    let short_number = value.len() <= 5 && value.bytes().all(|b| b.is_ascii_digit());
    short_number || is_scheme(value) || matches!(value, "true" | "false" | "null" | "none" | "undefined")
}

/// Whether `word` names an authentication scheme.
pub(super) fn is_scheme(word: &str) -> bool {
    ["basic", "bearer", "digest", "dpop", "token"].iter().any(|scheme| word.eq_ignore_ascii_case(scheme))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_and_harmless_names_are_distinguished() {
        for name in [
            "access_token",
            "refreshToken",
            "ID_TOKEN",
            "client-secret",
            "code_verifier",
            "password",
            "apiKey",
            "token",
        ]
        .into_iter()
        .chain(["GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "Mcp-Session-Id", "X-Api-Key", "Authorization"])
        {
            assert!(is_secret(name, Position::Member), "{name}");
        }
        for name in ["progressToken", "nextCursor", "maxTokens", "max_tokens", "inputTokens", "tokens", "tokenType"]
            .into_iter()
            .chain(["token_endpoint", "authorization_servers", "authorization_endpoint", "code", "state", "key"])
            .chain(["code_challenge", "requestState", "taskId", "elicitationId", "_meta", "name", "uri", ""])
        {
            assert!(!is_secret(name, Position::Member), "{name}");
        }
        for name in ["code", "state", "key", "sig"] {
            assert!(is_secret(name, Position::Query), "{name}");
        }
    }
}
