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
    /// Running text: `name=value`, `name: value`.
    Text,
    /// Running text in capitals: `NAME=value`.
    Variable,
    /// What the user hands in.
    Given,
}

/// Which part of a name a word must be.
#[derive(Clone, Copy)]
enum Part {
    /// Any, separators aside.
    Any,
    /// The end, separators aside.
    End,
    /// The last of the words that separators or capitals divide: `dbPass`, `db_pass`, not `bypass`.
    LastWord,
    /// All of it.
    Whole,
}

use Part::{Any, End, LastWord, Whole};

const EVERYWHERE: &[Position] =
    &[Position::Header, Position::Member, Position::Query, Position::Text, Position::Variable, Position::Given];
/// Where a name promises more than in JSON, whose `sortKey` and `primaryKey` are none.
const LOOSELY: &[Position] = &[Position::Header, Position::Variable, Position::Given];
const VARIABLES: &[Position] = &[Position::Variable, Position::Given];
const QUERY: &[Position] = &[Position::Query];

/// The one table of secret names.
const SECRET: &[(Part, &[Position], &[&str])] = &[
    (
        Any,
        EVERYWHERE,
        &[
            "accesskey",
            "accesstoken",
            "accountkey",
            "apikey",
            "apitoken",
            "authkey",
            "authtoken",
            "bearertoken",
            "clientassertion",
            "codeverifier",
            "credential",
            "csrf",
            "encryptionkey",
            "functionkey",
            "idtoken",
            "licensekey",
            "masterkey",
            "passcode",
            "passphrase",
            "passwd",
            "password",
            "privatekey",
            "refreshtoken",
            "secret",
            "servicekey",
            "sessionid",
            "sessionkey",
            "sessiontoken",
            "sharedkey",
            "signingkey",
            "subscriptionkey",
            "xsrf",
        ],
    ),
    (End, EVERYWHERE, &["authorization", "cookie", "jwt", "token"]),
    (LastWord, EVERYWHERE, &["auth", "otp", "pass", "pwd"]),
    (End, LOOSELY, &["auth", "key", "pass", "pwd", "signature"]),
    (End, VARIABLES, &["dsn", "login", "pin"]),
    (Whole, QUERY, &["assertion", "auth", "code", "key", "pass", "sig", "signature", "state", "xamzsignature"]),
];

/// Names with one of the above that are not secret.
const HARMLESS: [&str; 17] = [
    "cachekey",
    "clientassertiontype",
    "continuationtoken",
    "foreignkey",
    "idempotencykey",
    "maxtoken",
    "mintoken",
    "nextpagetoken",
    "nexttoken",
    "numtoken",
    "pagetoken",
    "primarykey",
    "progresstoken",
    "secwebsocketkey",
    "sortkey",
    "stoptoken",
    "synctoken",
];

/// Every shell's variables for directories: not `pwd` as JSON has it.
const DIRECTORIES: [&str; 2] = ["OLDPWD", "PWD"];

const SEPARATORS: [char; 4] = ['-', '_', '.', ' '];

/// How many letters of a word the search for its beginning compares; no word of the table is shorter.
const FEWEST: usize = 3;
/// The beginnings of all words of the table, a bit for each: most words of a text have none of them.
static BEGINNINGS: [u64; 512] = beginnings();

const fn beginnings() -> [u64; 512] {
    let (mut found, mut row) = ([0; 512], 0);
    while row < SECRET.len() {
        let (words, mut index) = (SECRET[row].2, 0);
        while index < words.len() {
            let word = words[index].as_bytes();
            let code = following(following(following(0, word[0]), word[1]), word[FEWEST - 1]);
            found[code / 64] |= 1 << (code % 64);
            index += 1;
        }
        row += 1;
    }
    found
}

/// The code of the last three letters where `byte` follows; the same for both cases of a letter.
const fn following(code: usize, byte: u8) -> usize {
    ((code << 5) | (byte & 0x1f) as usize) & 0x7fff
}

/// Whether a word of the table may be in `name`, separators aside.
fn may_have_word(name: &str) -> bool {
    let is_letter = |byte: &u8| !matches!(byte, b'-' | b'_' | b'.' | b' ');
    let (mut code, mut has_beginning) = (0, false);
    for (index, byte) in name.bytes().filter(is_letter).enumerate() {
        code = following(code, byte);
        has_beginning |= index + 1 >= FEWEST && BEGINNINGS[code / 64] & (1 << (code % 64)) != 0;
    }
    has_beginning
}

/// Whether the value under `name` is secret.
pub(super) fn is_secret(name: &str, place: Position) -> bool {
    may_have_word(name) && has_secret_word(name, place)
}

fn has_secret_word(name: &str, place: Position) -> bool {
    let plain: String = name.chars().filter(|c| !SEPARATORS.contains(c)).map(|c| c.to_ascii_lowercase()).collect();
    if HARMLESS.contains(&plain.as_str()) || is_directory(name) {
        return false;
    }
    let last = last_word(name);
    let fits = |part: Part, word: &str| match part {
        Any => plain.contains(word),
        End => plain.ends_with(word),
        LastWord => last.eq_ignore_ascii_case(word),
        Whole => plain == word,
    };
    SECRET.iter().any(|(part, places, words)| places.contains(&place) && words.iter().any(|word| fits(*part, word)))
}

/// Whether `name` is a shell's variable for a directory.
pub(super) fn is_directory(name: &str) -> bool {
    DIRECTORIES.contains(&name)
}

/// The last word of `user_name`, `userName` and `USER_NAME`.
fn last_word(name: &str) -> &str {
    let last = name.rsplit(SEPARATORS).next().unwrap_or(name);
    let all = last.as_bytes();
    let begins = |at: &usize| all[*at].is_ascii_uppercase() && all[at - 1].is_ascii_lowercase();
    (1..all.len()).rev().find(begins).map_or(last, |at| &last[at..])
}

/// Whether a name in running text is one of a variable.
pub(super) fn is_variable(name: &str) -> bool {
    name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
        && name.bytes().any(|b| b.is_ascii_uppercase())
}

/// Whether even a number under `name` is secret.
pub(super) fn is_secret_number(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    ["password", "passwd", "passcode"].iter().any(|word| lower.contains(word))
        || ["otp", "pass", "pwd"].iter().any(|word| last_word(name).eq_ignore_ascii_case(word))
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

    #[test]
    fn no_word_of_the_table_is_overlooked() {
        for word in SECRET.iter().flat_map(|(_, _, words)| *words) {
            let (first, rest) = word.split_at(1);
            let spaced = format!("x.{first}-{}_{}", &rest[..1], rest[1..].to_ascii_uppercase());
            for name in [(*word).to_owned(), word.to_ascii_uppercase(), format!("é{word}é"), spaced] {
                assert!(may_have_word(&name), "{name}");
            }
        }
        for name in ["", "ke", "Call", "order", "x-y", "4711", "日本語"] {
            assert!(!may_have_word(name), "{name}");
        }
    }

    #[test]
    fn a_short_word_counts_where_it_ends_a_name() {
        for name in ["pwd", "auth", "db_pass", "dbPass", "DB-PASS", "basic.auth", "otp", "userPwd", "subscription-key"]
        {
            assert!(is_secret(name, Position::Member) && is_secret(name, Position::Text), "{name}");
        }
        for name in ["bypass", "compass", "oauth", "author", "sortKey", "primary_key", "keys", "passed"] {
            assert!(!is_secret(name, Position::Member), "{name}");
        }
        for name in ["X-Auth-Key", "Ocp-Apim-Subscription-Key", "X-Vendor-Key", "X-Hub-Signature"] {
            assert!(is_secret(name, Position::Header), "{name}");
        }
        for name in ["Sec-WebSocket-Key", "Idempotency-Key", "Content-Type", "WWW-Authenticate"] {
            assert!(!is_secret(name, Position::Header), "{name}");
        }
        for name in ["PWD", "OLDPWD", "HOME", "KEYBOARD"] {
            assert!(!is_secret(name, Position::Variable) && !is_secret(name, Position::Given), "{name}");
        }
        assert!(is_variable("VENDOR_KEY") && is_secret("VENDOR_KEY", Position::Variable) && !is_variable("Vendor_Key"));
    }
}
