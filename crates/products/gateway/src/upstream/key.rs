//! Which requests share a conversation with an upstream. What distinguishes clients there is never less than whose token they
//! have; where the gateway's tokens are users' own, no conversation is shared between users in either era.

use std::sync::Arc;

use net::server::http::HeaderValue;
use wire::Era;

use super::{Client, Upstream};
use crate::settings::Sessions;

/// What distinguishes conversations. Where tokens are per user, each has its user.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key {
    /// All requests of the modern era: each says all that matters.
    Modern(Option<HeaderValue>),
    /// Clients that cannot be told apart, and are never asked anything.
    Shared(Option<HeaderValue>),
    /// One legacy session of a client.
    Own(usize, Option<HeaderValue>),
    /// One of several for modern clients that may be asked: one request at a time.
    Lane(Option<HeaderValue>, String),
}

impl Key {
    /// The key of modern requests whose user is that of `self`.
    pub(super) fn modern(&self, per_user: bool) -> Self {
        let (Self::Modern(user) | Self::Shared(user) | Self::Own(_, user) | Self::Lane(user, _)) = self;
        Self::Modern(user.clone().filter(|_| per_user))
    }
}

impl Upstream {
    /// Whether the gateway's tokens there are users' own.
    pub(crate) fn is_per_user(&self) -> bool {
        self.credentials.as_ref().is_some_and(|credentials| credentials.is_per_user())
    }

    /// Whose view of the server a client has: that of its subject, or of its user there.
    pub(crate) fn owner(&self, client: &Client) -> Option<HeaderValue> {
        if self.is_per_user() { client.user() } else { client.subject.clone() }
    }

    pub(super) fn key(&self, client: &Client, era: Era, asks: bool) -> Key {
        let user = || self.is_per_user().then(|| client.user()).flatten();
        let own = || client.session.as_ref().map(|session| Key::Own(Arc::as_ptr(session) as usize, user()));
        match era {
            Era::Modern => Key::Modern(user()),
            Era::Legacy if client.session.is_some() && self.settings.sessions == Sessions::PerClient => {
                own().unwrap_or_else(|| Key::Modern(user()))
            }
            Era::Legacy if !client.may_be_asked() => Key::Shared(self.owner(client)),
            Era::Legacy => own().unwrap_or_else(|| {
                let capabilities = String::from_utf8_lossy(&wire::json::canonical(&client.capabilities)).into_owned();
                let owner = self.owner(client);
                // What asks nothing needs no lane, but the server must not take it for a client that it may ask.
                if asks { Key::Lane(owner, capabilities) } else { Key::Shared(owner) }
            }),
        }
    }
}
