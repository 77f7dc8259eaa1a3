//! What distinguishes conversations with an upstream. Must not know how one is opened.

use std::sync::Arc;

use net::server::http::HeaderValue;

use crate::context::Injected;

/// What distinguishes conversations: whose they are, and what the server is told of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) whose: Whose,
    pub(super) context: Option<Arc<Injected>>,
}

/// Whose a conversation is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Whose {
    /// All requests of the modern era: each says all that matters.
    Modern,
    /// Clients that cannot be told apart, and are never asked anything.
    Shared(Option<HeaderValue>),
    /// One legacy session of a client.
    Own(usize),
    /// One of several for modern clients that may be asked: one request at a time.
    Lane(Option<HeaderValue>, String),
}
