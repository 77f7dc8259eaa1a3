//! How a finding can be reproduced: the facts. The program that judges makes a command line of them.

use std::fmt;
use std::sync::Arc;

use wire::{Revision, Transport};

/// What has to be judged again to see a finding again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reproduction {
    /// The rule.
    pub rule: &'static str,
    /// The revision.
    pub revision: Revision,
    /// The transport.
    pub transport: Transport,
    /// Whether it is one of the safety rules, which are not judged by default.
    pub safety: bool,
}

/// Makes a command line of a [`Reproduction`].
#[derive(Clone)]
pub struct Reproduce(Arc<dyn Fn(&Reproduction) -> String + Send + Sync>);

impl Reproduce {
    /// By `command`, which knows the subject and what may be done to it.
    pub fn new(command: impl Fn(&Reproduction) -> String + Send + Sync + 'static) -> Self {
        Self(Arc::new(command))
    }

    pub(crate) fn command(&self, facts: &Reproduction) -> String {
        (self.0)(facts)
    }
}

impl fmt::Debug for Reproduce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reproduce")
    }
}
