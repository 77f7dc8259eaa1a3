//! Which requests share a conversation with an upstream. What distinguishes clients there is never less than whose token they
//! have and what the server learns of them; where the gateway's tokens are users' own, no conversation is shared between users
//! in either era. Must not know how a conversation is opened.

use std::sync::Arc;

use net::server::http::HeaderValue;
use wire::Era;

use super::{Client, Upstream};
use crate::context::{Injected, principal};
use crate::credentials::Credentials;
use crate::settings::Sessions;

/// What distinguishes conversations: whose they are, and what the server learns of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) whose: Whose,
    pub(super) context: Option<Arc<Injected>>,
}

/// Whose a conversation is. Where tokens are per user, each has its user.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Whose {
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
        let (Whose::Modern(user) | Whose::Shared(user) | Whose::Own(_, user) | Whose::Lane(user, _)) = &self.whose;
        Self { whose: Whose::Modern(user.clone().filter(|_| per_user)), context: self.context.clone() }
    }
}

impl Upstream {
    /// Whether the gateway's tokens there are users' own, or its assertions name users.
    pub(crate) fn is_per_user(&self) -> bool {
        self.credentials.as_ref().is_some_and(|credentials| credentials.is_per_user()) || self.names_users()
    }

    /// Whether the gateway's assertions there name users.
    fn names_users(&self) -> bool {
        self.asserter.as_ref().is_some_and(|asserter| asserter.is_per_user())
    }

    /// Whether users are asked for a consent.
    pub(crate) fn asks_for_consent(&self) -> bool {
        self.credentials.as_ref().is_some_and(|credentials| credentials.asks_for_consent())
    }

    /// Whether clients' tokens are exchanged for others.
    pub(crate) fn exchanges_tokens(&self) -> bool {
        self.credentials.as_ref().is_some_and(|credentials| credentials.exchanges_tokens())
    }

    /// What tokens it gets.
    pub(crate) const fn credentials(&self) -> Option<&Arc<Credentials>> {
        self.credentials.as_ref()
    }

    /// The user whose token or claims a client's requests carry, where these differ by user.
    fn user(&self, client: &Client) -> Option<HeaderValue> {
        let by_token = self.credentials.as_ref().filter(|credentials| credentials.is_per_user());
        let by_token = by_token.map(|credentials| credentials.user(client));
        let by_claims = self.asserter.as_ref().filter(|asserter| asserter.is_per_user());
        let by_claims = by_claims.map(|asserter| asserter.user(client));
        match (by_token, by_claims) {
            (Some(token), Some(claims)) => principal(Some(&token?), &[claims?.to_str().ok().map(str::to_owned)]),
            (one, other) => one.or(other)?,
        }
    }

    /// Whose view of the server a client has: that of its principal, and of its user there.
    pub(crate) fn owner(&self, client: &Client) -> Option<HeaderValue> {
        if !self.is_per_user() {
            return client.subject.clone();
        }
        let user = self.user(client)?;
        principal(client.subject.as_ref(), &[user.to_str().ok().map(str::to_owned)])
    }

    pub(super) fn key(&self, client: &Client, era: Era, asks: bool) -> Key {
        let context = client.shape.context.as_ref().map(|context| context.for_upstream(&self.name));
        Key { whose: self.whose(client, era, asks), context }
    }

    pub(super) fn whose(&self, client: &Client, era: Era, asks: bool) -> Whose {
        let user = || self.user(client);
        let own = || client.session.as_ref().map(|session| Whose::Own(Arc::as_ptr(session) as usize, user()));
        match era {
            Era::Modern => Whose::Modern(user()),
            Era::Legacy if client.session.is_some() && self.settings.sessions == Sessions::PerClient => {
                own().unwrap_or_else(|| Whose::Modern(user()))
            }
            Era::Legacy if !client.may_be_asked() => Whose::Shared(self.owner(client)),
            Era::Legacy => own().unwrap_or_else(|| {
                let capabilities = String::from_utf8_lossy(&wire::json::canonical(client.capabilities())).into_owned();
                let owner = self.owner(client);
                // What asks nothing needs no lane, but the server must not take it for a client that it may ask.
                if asks { Whose::Lane(owner, capabilities) } else { Whose::Shared(owner) }
            }),
        }
    }
}
