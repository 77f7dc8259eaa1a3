//! What the user hands in for the peer, and which parts of it are secret: headers, variables, arguments, addresses.
//!
//! A name needs to promise less here than in a peer's text, because the user gave the value on purpose.

use std::collections::BTreeSet;
use std::fmt;

use super::names::{self, Position};
use super::text;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

/// How long a secret must be, in bytes: shorter strings occur in any text by chance.
pub(super) const LEAST: usize = 6;

/// How long each line of a secret must be to be one by itself.
const LEAST_LINE: usize = 12;

/// Words of the protocol and of every configuration. They are no secrets: if they were replaced, no message would be
/// readable.
const WORDS: [&str; 30] = [
    "accept",
    "application",
    "arguments",
    "authorization",
    "bearer",
    "client",
    "command",
    "completion",
    "content",
    "cookie",
    "default",
    "description",
    "header",
    "initialize",
    "jsonrpc",
    "localhost",
    "message",
    "method",
    "number",
    "object",
    "params",
    "password",
    "prompts",
    "resources",
    "result",
    "secret",
    "server",
    "session",
    "string",
    "version",
];

/// At the end of the name of a header or a variable, these make it secret too.
const ENDINGS: [&str; 8] = ["key", "auth", "pass", "pwd", "pin", "signature", "login", "dsn"];

/// Secrets as given on the command line. `Debug` shows none of them.
#[derive(Clone, Default)]
pub struct Secrets(BTreeSet<String>);

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} secrets", self.0.len())
    }
}

impl Secrets {
    /// Takes in what is secret whatever its name.
    pub fn add(&mut self, secret: &str) {
        let secret = secret.trim();
        if secret.len() < LEAST
            || names::is_harmless(secret)
            || WORDS.iter().any(|word| word.eq_ignore_ascii_case(secret))
        {
            return;
        }
        self.0.insert(secret.to_owned());
        if secret.contains('\n') {
            let lines =
                secret.lines().map(str::trim).filter(|line| line.len() >= LEAST_LINE && !line.starts_with("-----"));
            self.0.extend(lines.map(str::to_owned));
        }
    }

    /// Takes in a header's value if its name says that it is secret, or if it looks random.
    pub fn header(&mut self, name: &str, value: &str) {
        let lower = name.to_ascii_lowercase();
        if matches!(lower.as_str(), "cookie" | "set-cookie") {
            self.add(value);
            for pair in value.split(';') {
                self.add(pair.split_once('=').map_or(pair, |(_, value)| value));
            }
        } else if is_secret(name, Position::Header) || (looks_random(value) && !is_usual(&lower)) {
            self.value(value);
        }
    }

    /// Takes in a variable's value if its name says that it is secret.
    pub fn variable(&mut self, name: &str, value: &str) {
        if is_secret(name, Position::Text) {
            self.value(value);
        } else {
            self.address(value);
        }
    }

    /// Takes in what is secret among a command's arguments: `--api-key K`, `--token=T`, `NAME=value`, addresses.
    pub fn arguments<'a>(&mut self, words: impl IntoIterator<Item = &'a str>) {
        let mut name = None;
        for word in words {
            match (name.take(), word.split_once('=')) {
                (Some(name), _) if !word.starts_with('-') => self.variable(name, word),
                (_, Some((name, value))) => self.variable(name.trim_start_matches('-'), value),
                (_, None) if word.starts_with('-') => name = Some(word.trim_start_matches('-')),
                _ => self.address(word),
            }
        }
    }

    /// Takes in the password and the secret parameters of a URL.
    pub fn address(&mut self, url: &str) {
        let Some((_, rest)) = url.split_once("://") else { return };
        let authority = &rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())];
        if let Some((user, _)) = authority.rsplit_once('@') {
            self.encoded(user.split_once(':').map_or(user, |(_, password)| password));
        }
        let Some((_, query)) = rest.split_once('?') else { return };
        for (name, value) in query.split(['&', '#']).filter_map(|pair| pair.split_once('=')) {
            if is_secret(name, Position::Query) {
                self.encoded(value);
            }
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    fn encoded(&mut self, text: &str) {
        self.add(text);
        if let Some(plain) = text::percent_decoded(text) {
            self.add(&plain);
        }
    }

    /// A value without the scheme word before it; with the password that `Basic` encodes.
    fn value(&mut self, value: &str) {
        let value = value.trim();
        self.address(value);
        let Some((scheme, secret)) = value.split_once(' ').filter(|(scheme, _)| names::is_scheme(scheme)) else {
            return self.add(value);
        };
        self.add(secret);
        if scheme.eq_ignore_ascii_case("basic")
            && let Some(plain) = BASE64.decode(secret.trim()).ok().and_then(|bytes| String::from_utf8(bytes).ok())
        {
            self.add(&plain);
            self.add(plain.split_once(':').map_or("", |(_, password)| password));
        }
    }
}

fn is_secret(name: &str, place: Position) -> bool {
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    names::is_secret(name, place) || ENDINGS.iter().any(|ending| plain.ends_with(ending))
}

/// One word, of letters and digits mixed.
fn looks_random(value: &str) -> bool {
    value.len() >= 12 && names::looks_random(value) && !value.contains([' ', ',', ';'])
}

/// Headers that describe a message or its sender.
fn is_usual(lower: &str) -> bool {
    let begins = ["accept", "access-control-", "content-", "if-", "mcp-", "sec-"];
    let all = ["host", "last-event-id", "origin", "referer", "traceparent", "tracestate", "user-agent", "via"];
    begins.iter().any(|beginning| lower.starts_with(beginning)) || all.contains(&lower)
}
