//! What the user hands in for the peer, and which parts of it are secret: headers, variables, arguments, addresses.
//!
//! A name needs to promise less here than in a peer's text, because the user gave the value on purpose.

use std::collections::BTreeSet;
use std::fmt;

use super::names::{self, Position};
use super::{shapes, text};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

/// How long a secret must be, in bytes: shorter strings occur in any text by chance.
pub(super) const LEAST: usize = 6;

/// How long each line of a secret must be to be one by itself.
const LEAST_LINE: usize = 12;

/// Words of the protocol, of our reports and of every configuration. They are no secrets: if they were replaced, no message would be
/// readable.
const WORDS: [&str; 42] = [
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
    "evidence",
    "findings",
    "header",
    "initialize",
    "jsonrpc",
    "localhost",
    "message",
    "method",
    "number",
    "object",
    "outcome",
    "params",
    "password",
    "prompts",
    "resources",
    "result",
    "results",
    "revision",
    "schema",
    "secret",
    "server",
    "session",
    "status",
    "string",
    "subject",
    "summary",
    "target",
    "transport",
    "verdict",
    "version",
];

/// Secrets as given on the command line. `Debug` shows none of them.
#[derive(Clone, Default)]
pub struct Secrets {
    texts: BTreeSet<String>,
    /// The names, in small letters, of headers whose values are secret however short they are.
    headers: BTreeSet<String>,
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} secrets", self.texts.len())
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
        self.texts.insert(secret.to_owned());
        if secret.contains('\n') {
            let lines =
                secret.lines().map(str::trim).filter(|line| line.len() >= LEAST_LINE && !line.starts_with("-----"));
            self.texts.extend(lines.map(str::to_owned));
        }
    }

    /// Takes in the value of a header, whatever it looks like, unless the header only describes a message or its sender.
    pub fn header(&mut self, name: &str, value: &str) {
        let lower = name.trim().to_ascii_lowercase();
        if matches!(lower.as_str(), "cookie" | "set-cookie") {
            self.add(value);
            for pair in value.split(';') {
                self.add(pair.split_once('=').map_or(pair, |(_, value)| value));
            }
        } else if names::is_secret(&lower, Position::Given) || !is_usual(&lower) {
            self.value(value);
            // A scheme that is none of ours: what follows it may stand alone.
            let rest = value.trim().split_once(' ').map_or("", |(_, rest)| rest);
            if lower.ends_with("authorization") || looks_random(rest.trim()) {
                self.add(rest);
            }
            self.headers.insert(lower);
        }
    }

    /// Takes in what is secret in a variable that happens to be there: all of it if its name says so.
    pub fn variable(&mut self, name: &str, value: &str) {
        if names::is_secret(name, Position::Given) || shapes::is_token(value.trim()) {
            return self.value(value);
        }
        self.address(value);
        if value.contains('=') {
            self.script(value);
        }
    }

    /// Takes in what is secret in a variable that the user hands in for the peer, also what only looks random.
    pub fn handed_variable(&mut self, name: &str, value: &str) {
        let is_path = value.contains('/');
        if looks_random(value.trim()) && !is_path && !names::is_directory(name) {
            self.value(value);
        }
        self.variable(name, value);
    }

    /// Takes in what is secret among a command's arguments: `--api-key K`, `--token=T`, `NAME=value`, `-H 'Name: value'`,
    /// addresses, and all of these within a script.
    pub fn arguments<'a>(&mut self, words: impl IntoIterator<Item = &'a str>) {
        let mut option = None;
        for word in words {
            let Some(name) = word.strip_prefix('-').map(|rest| rest.trim_start_matches('-')) else {
                if let Some(name) = option.take() {
                    self.option(name, word);
                }
                self.word(word);
                continue;
            };
            option = match name.split_once('=') {
                Some((name, value)) => {
                    self.option(name, value);
                    None
                }
                None => Some(name),
            };
        }
    }

    /// Takes in the user, the password and the secret parameters of a URL, and what in its path looks drawn by lot.
    pub fn address(&mut self, url: &str) {
        let Some((_, rest)) = url.split_once("://") else { return };
        let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        if let Some((user, _)) = authority.rsplit_once('@') {
            self.encoded(user);
            user.splitn(2, ':').for_each(|part| self.encoded(part));
        }
        let path = &path[..path.find(['?', '#']).unwrap_or(path.len())];
        path.split('/').filter(|segment| is_random_segment(segment)).for_each(|segment| self.encoded(segment));
        let Some(at) = rest.find(['?', '#']) else { return };
        for (name, value) in rest[at + 1..].split(['?', '&', '#']).filter_map(|pair| pair.split_once('=')) {
            if names::is_secret(name, Position::Given) || names::is_secret(name, Position::Query) {
                self.encoded(value);
            }
        }
    }

    /// The value of an option of a command.
    fn option(&mut self, name: &str, value: &str) {
        let is_header = ["h", "header", "headers"].iter().any(|header| name.eq_ignore_ascii_case(header));
        match value.split_once(':') {
            Some((name, value)) if is_header && is_name(name) && !value.starts_with("//") => self.header(name, value),
            _ => self.variable(name, value),
        }
    }

    /// A word that may hold the name of its secret.
    fn word(&mut self, word: &str) {
        self.address(word);
        for (name, value) in [word.split_once('='), word.split_once(':')].into_iter().flatten() {
            if is_name(name) {
                self.variable(name, value);
            }
        }
        if word.contains(char::is_whitespace) {
            self.script(word);
        }
    }

    /// The words of a script for a shell.
    fn script(&mut self, script: &str) {
        let words = shell_words(script);
        // Otherwise nothing is left to divide.
        if words.iter().all(|word| word.len() < script.len()) {
            for word in &words {
                self.arguments(std::iter::once(word.as_str()));
            }
            let pairs = words.windows(2).filter(|pair| pair[0].starts_with('-') && !pair[1].starts_with('-'));
            pairs.for_each(|pair| self.option(pair[0].trim_start_matches('-'), &pair[1]));
        }
    }

    pub(super) const fn header_names(&self) -> &BTreeSet<String> {
        &self.headers
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        self.texts.iter().map(String::as_str)
    }

    fn encoded(&mut self, text: &str) {
        self.add(text);
        if let Some(plain) = text::percent_decoded(text) {
            self.add(&plain);
        }
    }

    /// A value without the scheme word before it; with the password that `Basic` encodes.
    pub(super) fn value(&mut self, value: &str) {
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

/// The words of a script, without their quotes; what divides commands divides words.
fn shell_words(script: &str) -> Vec<String> {
    let (mut words, mut quote) = (vec![String::new()], None);
    for c in script.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            None if matches!(c, '"' | '\'') => quote = Some(c),
            None if c.is_whitespace() || matches!(c, ';' | '&' | '|' | '(' | ')') => words.push(String::new()),
            _ => words.iter_mut().last().into_iter().for_each(|word| word.push(c)),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
}

/// A segment of a path that no person chose: long, of digits and of both kinds of letters, or of hexadecimal digits.
fn is_random_segment(segment: &str) -> bool {
    let any = |is: fn(&u8) -> bool| segment.as_bytes().iter().any(is);
    let mixed = any(u8::is_ascii_digit) && any(u8::is_ascii_lowercase) && any(u8::is_ascii_uppercase);
    let hex = segment.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-') && any(u8::is_ascii_digit);
    !segment.contains('.') && ((segment.len() >= 16 && mixed) || (segment.len() >= 32 && hex))
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
