//! What is secret in a `fleet.yaml`, where only references may stand, and in what children report.

use wire::redact::{Redactor, Secrets};

use crate::config::Server;

/// Whether the value of a variable is a secret, by its name and its look.
pub fn is_secret(name: &str, value: &str) -> bool {
    let mut known = Secrets::default();
    known.variable(name, value);
    is_redacted(value, &known)
}

/// The first word of a command that holds a secret.
pub fn in_words(words: &[String]) -> Option<usize> {
    let mut known = Secrets::default();
    known.arguments(words.iter().map(String::as_str));
    let redactor = Redactor::masking().knowing(&known);
    words.iter().position(|word| redactor.redact_known(word) != word.as_str())
}

/// Whether an address holds a user name, a password, a token or a path that only who knows it can call.
pub fn in_address(url: &str) -> bool {
    let mut known = Secrets::default();
    known.address(url);
    has_userinfo(url) || is_redacted(url, &known)
}

/// Whether a text for people holds an address with a user name, or what looks like a token.
pub fn in_text(text: &str) -> bool {
    text.split_whitespace().any(has_userinfo) || is_redacted(text, &Secrets::default())
}

/// Whether a path is an address or a list of settings with a password instead.
pub fn in_path(path: &str) -> bool {
    let words: Vec<String> = path.split_whitespace().map(str::to_owned).collect();
    let has_user = path.split_once('@').is_some_and(|(before, _)| before.contains(':'));
    path.contains("://") || has_user || in_words(&words).is_some()
}

fn has_userinfo(word: &str) -> bool {
    let authority = word.split_once("://").and_then(|(_, rest)| rest.split(['/', '?', '#']).next());
    authority.is_some_and(|authority| authority.contains('@'))
}

fn is_redacted(text: &str, known: &Secrets) -> bool {
    let redactor = Redactor::masking().knowing(known);
    redactor.redact_known(text) != text || redactor.redact_text(text) != text
}

/// Replaces what the variables of servers hold in texts that are kept.
pub fn redactor<'s>(servers: impl IntoIterator<Item = &'s Server>) -> Redactor {
    let mut known = Secrets::default();
    for name in servers.into_iter().flat_map(Server::variables) {
        if let Ok(value) = std::env::var(name) {
            known.handed_variable(name, &value);
        }
    }
    Redactor::masking().knowing(&known)
}

/// The variables that an entry refers to and that are not set.
pub fn missing(server: &Server) -> Vec<&str> {
    server.variables().filter(|name| std::env::var_os(name).is_none()).collect()
}
