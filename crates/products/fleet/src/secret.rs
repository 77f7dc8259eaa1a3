//! What is secret in a `fleet.yaml`, where only references may stand, and in what children report.

use wire::redact::{Redactor, Secrets};

use crate::config::Server;

/// Whether the value of a variable is a secret, by its name and its look.
pub fn is_secret(name: &str, value: &str) -> bool {
    let mut known = Secrets::default();
    known.variable(name, value);
    let redactor = Redactor::masking().knowing(&known);
    redactor.redact_known(value) != value || redactor.redact_text(value) != value
}

/// The first word of a command that holds a secret.
pub fn in_words(words: &[String]) -> Option<usize> {
    let mut known = Secrets::default();
    known.arguments(words.iter().map(String::as_str));
    let redactor = Redactor::masking().knowing(&known);
    words.iter().position(|word| redactor.redact_known(word) != word.as_str())
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
