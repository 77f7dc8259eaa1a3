//! What a connection is opened with, besides an address. Values only.

use std::sync::Arc;
use std::time::Duration;

use super::authorizer::Authorizer;
use crate::process::Children;

/// Timeouts and size limits of one connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Timeout of TCP and TLS together.
    pub connect: Duration,
    /// Timeout from a request to the head of its response, and from there to the end of a body that is not an event stream.
    pub request: Duration,
    /// Timeout from the start of a child process to its first response, where that is longer.
    pub start: Duration,
    /// How long a child process may take to end after its stdin is closed, and again after TERM.
    pub shutdown: Duration,
    /// The longest message; a longer one ends the connection.
    pub message_bytes: usize,
    /// The size of a trace, and of a connection's inbox.
    pub trace_bytes: usize,
    /// How much of a child process's stderr is kept.
    pub stderr_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(5),
            request: Duration::from_secs(30),
            start: Duration::ZERO,
            shutdown: Duration::from_secs(2),
            message_bytes: 16 << 20,
            trace_bytes: 64 << 20,
            stderr_bytes: 1 << 20,
        }
    }
}

/// What a connection is opened with, whatever its transport.
#[derive(Clone, Debug)]
pub struct ConnectOptions {
    /// Timeouts and sizes.
    pub limits: Limits,
    /// Owns the process, where one is started.
    pub children: Children,
    /// Supplies credentials for HTTP requests.
    pub authorizer: Option<Arc<dyn Authorizer>>,
    /// Whether a response that breaks the envelope counts where it is clear which request it answers.
    pub lenient: bool,
}

impl ConnectOptions {
    /// Without credentials.
    pub fn new(limits: Limits, children: &Children) -> Self {
        Self { limits, children: children.clone(), authorizer: None, lenient: false }
    }

    /// Takes responses that break the envelope, where it is clear which request they answer.
    pub fn lenient(self) -> Self {
        Self { lenient: true, ..self }
    }
}
