//! `server/utilities/logging#security` and `#implementation-considerations`: what is in log messages.

use std::collections::BTreeMap;

use serde_json::Value;
use wire::Party;
use wire::revision::R2024_11_05;
use wire::trace::{Content, header};

use super::logging::messages;
use crate::rule::{Anchor, Rule, at, server};
use crate::verdict::{Kept, Verdict};
use crate::view::{MessageAt, View};

const CONSIDERATIONS: Anchor = at("server/utilities/logging", "implementation-considerations");
const SECURITY: Anchor = at("server/utilities/logging", "security");

/// The rules, in the page's order.
pub(crate) const RULES: &[Rule] = &[
    server("logging.logger-names-consistent")
        .says(R2024_11_05, CONSIDERATIONS, "A logger SHOULD have the same name in all of its messages.")
        .about(&["logging"])
        .how("Compares the `logger` of all log messages: two that differ in letter case, spaces, dashes or underscores alone \
              are one logger under two names, and so are names that hold a number which grows with every message.")
        .fix("Name each logger in one place.")
        .judge(consistent),
    server("logging.no-credentials")
        .says(R2024_11_05, SECURITY, "Log messages MUST NOT hold credentials or secrets.")
        .about(&["logging"])
        .how("Looks in log messages for the very credential that the client sent in `Authorization` before, for private \
              keys, and for members of `data` that are called as passwords and keys are and whose value looks like one, \
              for what stands after `Bearer` and looks like a token, \
              and for addresses with a password before the host (`scheme://user:password@host`). Other secrets cannot be recognized in the text.")
        .fix("Leave request headers out of what is logged, or blacken them first.")
        .judge(no_credentials),
    server("logging.nothing-secret")
        .says(R2024_11_05, SECURITY, "Log messages MUST NOT hold personal data or what helps an attack.")
        .unobservable("the text alone does not show whether data is personal or helps an attack"),
];

/// A logger's name without what two spellings of it may differ in.
fn plain(name: &str) -> String {
    name.chars().filter(|c| !c.is_whitespace() && !"-_".contains(*c)).flat_map(char::to_lowercase).collect()
}

fn consistent(view: &View<'_>) -> Verdict {
    let mut spelt: BTreeMap<String, &str> = BTreeMap::new();
    let mut judged: Vec<(usize, Kept)> = Vec::new();
    for sent in messages(view) {
        let Some(name) = sent.message.params().and_then(|p| p.get("logger")?.as_str()) else { continue };
        match spelt.insert(plain(name), name) {
            None => {}
            Some(before) if before == name => judged.push((sent.event, Ok(()))),
            Some(before) => {
                let why = format!("`{}` was called `{}` before", name.escape_debug(), before.escape_debug());
                judged.push((sent.event, Err(sent.breach("/params/logger", why))));
            }
        }
    }
    if let Some((sent, stem)) = numbered(view).filter(|_| !view.is_cut()) {
        let why = format!("every message of `{}` has another number in its logger's name", stem.escape_debug());
        judged.push((sent.event, Err(sent.breach("/params/logger", why))));
    }
    Verdict::of(judged, "no logger sent two messages")
}

/// How many messages in a row tell a counter from numbered workers.
const COUNTED: usize = 4;

/// The last message of loggers whose names differ in a number that grows with every message, and what the names have in
/// common. Workers have numbers, too, but each logs more than once, or out of turn.
fn numbered<'v>(view: &View<'v>) -> Option<(MessageAt<'v>, String)> {
    let mut rows: BTreeMap<(u32, String), Vec<(u64, MessageAt<'v>)>> = BTreeMap::new();
    for sent in messages(view) {
        let name = sent.message.params().and_then(|p| p.get("logger")?.as_str()).unwrap_or_default();
        let digits: String = name.chars().filter(char::is_ascii_digit).collect();
        let stem: String = name.chars().filter(|c| !c.is_ascii_digit()).collect();
        if let Ok(number) = digits.parse() {
            rows.entry((sent.connection, stem)).or_default().push((number, sent));
        }
    }
    rows.into_iter().find_map(|((_, stem), row)| {
        let grows = row.len() >= COUNTED && row.windows(2).all(|pair| pair[0].0 < pair[1].0);
        row.last().filter(|_| grows).map(|(_, sent)| (*sent, stem.clone()))
    })
}

/// How long a credential must be so that no text contains it by chance.
const LEAST: usize = 12;

/// The credentials that the client sent in `Authorization`, each with the event that had it first.
fn credentials<'v>(view: &View<'v>) -> BTreeMap<&'v str, usize> {
    let sent = |(event, frame): (usize, &'v wire::trace::Frame)| match &frame.content {
        Content::Request { headers, .. } if frame.from == Party::Client && frame.to == Party::Server => {
            let value = header(headers, "authorization")?.trim();
            let credential = value.split_once(' ').map_or(value, |(_, credential)| credential.trim());
            (credential.len() >= LEAST).then_some((credential, event))
        }
        _ => None,
    };
    // The last to come in stays: the first of the trace.
    view.frames().rev().filter_map(sent).collect()
}

fn no_credentials(view: &View<'_>) -> Verdict {
    let credentials = credentials(view);
    let judged = messages(view).into_iter().filter_map(|sent| {
        let texts = texts(&sent);
        let has = |needle: &str| texts.iter().any(|text| text.contains(needle));
        let mut known = credentials.iter().filter(|(_, event)| **event < sent.event).peekable();
        if texts.iter().any(|text| is_private_key(text)) {
            return Some((sent.event, Err(sent.breach("/params/data", "a private key is in a log message"))));
        }
        if let Some(name) =
            named_secret(&sent).filter(|(_, value)| !said_before(view, &sent, value)).map(|(name, _)| name)
        {
            let why = format!("`{}` of the data has a secret", name.escape_debug());
            return Some((sent.event, Err(sent.breach("/params/data", why))));
        }
        let bearer = texts.iter().find_map(|text| bearer_token(text));
        if bearer.is_some_and(|token| !said_before(view, &sent, token)) {
            return Some((sent.event, Err(sent.breach("/params/data", "a bearer token is in a log message"))));
        }
        let addressed = texts.iter().find_map(|text| password_in_address(text));
        if addressed.is_some_and(|password| !said_before(view, &sent, password)) {
            let why = "an address with a password is in a log message";
            return Some((sent.event, Err(sent.breach("/params/data", why))));
        }
        known.peek()?;
        let why = "the credential that the client sent is in a log message";
        let leaked = known.any(|(credential, _)| has(credential));
        Some((sent.event, if leaked { Err(sent.breach("/params/data", why)) } else { Ok(()) }))
    });
    Verdict::of(judged, "no log message came after the client had sent a credential")
}

/// What members are called whose value is a secret, without the signs between words.
const SECRETS: [&str; 14] = [
    "authorization",
    "proxyauthorization",
    "bearertoken",
    "authtoken",
    "secretaccesskey",
    "password",
    "passwd",
    "passphrase",
    "apikey",
    "clientsecret",
    "secretkey",
    "accesstoken",
    "refreshtoken",
    "privatekey",
];

/// A member of a message's `data` that is called as a secret is, and whose value looks like one: a word with letters and
/// digits, none of which is masked.
fn named_secret<'v>(sent: &MessageAt<'v>) -> Option<(&'v str, &'v str)> {
    let mut left: Vec<&Value> = sent.message.params()?.get("data").into_iter().collect();
    while let Some(value) = left.pop() {
        match value {
            Value::Array(items) => left.extend(items),
            Value::Object(members) => {
                let secret = members.iter().find_map(|(name, value)| {
                    let value = value.as_str().map(without_scheme).filter(|value| looks_secret(value))?;
                    SECRETS.contains(&plain(name).as_str()).then_some((name.as_str(), value))
                });
                if secret.is_some() {
                    return secret;
                }
                left.extend(members.values());
            }
            _ => {}
        }
    }
    None
}

/// The credential of a header's value, without the scheme before it.
fn without_scheme(value: &str) -> &str {
    let of = |scheme: &str| {
        let (before, after) = value.split_at_checked(scheme.len())?;
        before.eq_ignore_ascii_case(scheme).then(|| after.strip_prefix(' '))?
    };
    ["bearer", "basic", "token"].into_iter().find_map(of).map_or(value, str::trim_start)
}

/// How long a token must be that a text shows after `Bearer`.
const BEARER: usize = 20;

/// The token that a text has after `Bearer`, where it looks like one.
fn bearer_token(text: &str) -> Option<&str> {
    text.match_indices("earer ").find_map(|(at, mark)| {
        let begins = text[..at].chars().next_back().is_some_and(|c| "bB".contains(c));
        let rest = &text[at + mark.len()..];
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "-._~+/=".contains(c))).unwrap_or(rest.len());
        let token = &rest[..end];
        (begins && token.len() >= BEARER && looks_secret(token)).then_some(token)
    })
}

fn looks_secret(value: &str) -> bool {
    let has = |kind: fn(char) -> bool| value.chars().any(kind);
    let filled = |with: &str, times: usize| value.contains(&with.repeat(times));
    let masked = filled("*", 2) || filled("x", 3) || filled("X", 3) || filled(".", 3);
    (6..=512).contains(&value.len())
        && value.is_ascii()
        && has(|c| c.is_ascii_digit())
        && has(|c| c.is_ascii_alphabetic())
        && !has(char::is_whitespace)
        && !value.contains(['<', '[', '{', '\u{2026}'])
        && !value.contains("://")
        && !masked
}

/// Words that stand for a password, and what logs write in its place.
const PLACEHOLDERS: [&str; 8] =
    ["password", "passwd", "secret", "redacted", "hidden", "masked", "filtered", "changeme"];
const MASKS: [&str; 9] = ["*", "xxx", "...", "\u{2026}", "<", "[", "{", "$", "%2a"];

/// The password of an address within a text: `scheme://user:password@host`. Not one that is masked or is the user's name.
fn password_in_address(text: &str) -> Option<&str> {
    text.match_indices("://").find_map(|(at, mark)| {
        let rest = &text[at + mark.len()..];
        let end = rest.find(|c: char| c.is_whitespace() || "/?#\"'`,;)|".contains(c)).unwrap_or(rest.len());
        let (who, host) = rest[..end].rsplit_once('@')?;
        let (user, password) = who.split_once(':')?;
        let lower = password.to_ascii_lowercase();
        let is_masked = MASKS.iter().any(|mask| lower.contains(mask)) || PLACEHOLDERS.contains(&lower.as_str());
        let is_one = password.len() >= SHORTEST && password != user && !host.is_empty();
        (is_one && !is_masked).then_some(password)
    })
}

/// How long a password in an address must be: what is shorter may be a part of a path or of a pattern.
const SHORTEST: usize = 5;

/// Whether the client itself had said it.
fn said_before(view: &View<'_>, sent: &MessageAt<'_>, value: &str) -> bool {
    let mut earlier = view.by(Party::Client).take_while(|other| other.event < sent.event);
    earlier.any(|other| other.message.text().contains(value))
}

/// Every string in a message's `data` and `logger`.
fn texts<'v>(sent: &MessageAt<'v>) -> Vec<&'v str> {
    let mut found = Vec::new();
    let mut left: Vec<&Value> = sent.message.params().into_iter().collect();
    while let Some(value) = left.pop() {
        match value {
            Value::String(text) => found.push(text.as_str()),
            Value::Array(items) => left.extend(items),
            Value::Object(members) => left.extend(members.values()),
            _ => {}
        }
    }
    found
}

fn is_private_key(text: &str) -> bool {
    let head = text.split_once("-----BEGIN ").and_then(|(_, rest)| rest.split_once("-----"));
    head.is_some_and(|(kind, body)| kind.ends_with("PRIVATE KEY") && body.trim().len() >= LEAST)
}

#[cfg(test)]
mod tests {
    use super::{bearer_token, looks_secret, password_in_address, without_scheme};

    #[test]
    fn tokens_are_found_after_their_scheme() {
        let token = "sk-live-0a1b2c3d4e5f6a7b8c9d";
        for text in [format!("Authorization: Bearer {token}"), format!("sends bearer {token}, then waits")] {
            assert_eq!(bearer_token(&text), Some(token), "{text}");
        }
        for text in
            ["Bearer tokens of 20 characters", "Bearer ********************", "Bearer abcdefghijklmnopqrstuvwxyz"]
        {
            assert_eq!(bearer_token(text), None, "{text}");
        }
        assert!(looks_secret(without_scheme("Basic dXNlcjpwYXNzMXdvcmQ5")) && !looks_secret(without_scheme("Bearer")));
        assert_eq!(without_scheme("tokens"), "tokens");
    }

    #[test]
    fn passwords_are_found_where_addresses_have_them() {
        for (text, password) in [
            ("postgres://harbour:correct-horse@db.internal/harbour", "correct-horse"),
            ("Connected to redis://:s3cr3t-word@cache:6379, 3 ms", "s3cr3t-word"),
            ("GET https://ann:pass@word@example.com/x", "pass@word"),
        ] {
            assert_eq!(password_in_address(text), Some(password), "{text}");
        }
        for text in [
            "postgres://harbour:*****@db.internal/harbour",
            "postgres://harbour:REDACTED@db.internal/harbour",
            "postgres://user:${PASSWORD}@host",
            "postgres://user:password@host",
            "postgres://postgres:postgres@localhost",
            "https://example.com:8080/path@version",
            "mailto:ann@example.com, see https://example.com/a:b@c",
            "ssh://git@example.com/repository",
            "http://[::1]:8080/",
        ] {
            assert_eq!(password_in_address(text), None, "{text}");
        }
    }
}
