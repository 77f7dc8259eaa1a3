//! A redactor with a random key. Must not know where the secrets come from.

use wire::redact::Redactor;

/// A redactor with a random key, which nobody else learns. Make one for each run and clone it: a secret has the same
/// placeholder wherever the same key replaced it, and all clones replace what one of them learns.
///
/// # Panics
///
/// Panics where the system has no random numbers: without them nothing can be redacted.
pub fn new_redactor() -> Redactor {
    let mut key = [0; 32];
    getrandom::fill(&mut key).expect("the system gives random numbers");
    Redactor::new(key).remembering()
}
