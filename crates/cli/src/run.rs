//! What one run of this program owns. Made once in `main` and handed to every verb that needs it.

use net::{Children, Environment};
use wire::redact::{Redactor, Secrets};

/// The child processes of this run, and the key by which it replaces secrets.
#[derive(Clone)]
pub(crate) struct Run {
    pub(crate) children: Children,
    redactor: Redactor,
}

impl Run {
    pub(crate) fn new() -> Self {
        Self { children: Children::new(), redactor: net::new_redactor() }
    }

    /// Replaces what looks like a secret, with the same placeholders as every other redactor of this run.
    pub(crate) fn redactor(&self) -> Redactor {
        self.redactor.clone()
    }

    /// The same run, whose children get this part of our environment.
    pub(crate) fn with_environment(&self, environment: Environment) -> Self {
        Self { children: self.children.with_environment(environment), ..self.clone() }
    }

    /// The same for `secrets`, too.
    pub(crate) fn redactor_of(&self, secrets: &Secrets) -> Redactor {
        self.redactor().knowing(secrets)
    }
}
