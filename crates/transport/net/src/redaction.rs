//! The one redactor of a process: a secret has the same placeholder in reports, traces and messages. Must not know where the
//! secrets come from.

use std::sync::LazyLock;

use wire::redact::{Redactor, Secrets};

/// A redactor that knows `secrets`, with a random key that ends with this process. Without randomness from the system
/// nothing can be redacted, so there is nothing to go on with.
pub fn redactor(secrets: &Secrets) -> Redactor {
    static KEY: LazyLock<[u8; 32]> = LazyLock::new(|| {
        let mut key = [0; 32];
        getrandom::fill(&mut key).expect("the system gives random numbers");
        key
    });
    Redactor::new(*KEY).knowing(secrets)
}
