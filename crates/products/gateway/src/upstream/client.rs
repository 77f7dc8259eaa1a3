//! The client of a request, and what it says of itself: read where it is needed, from where it said it. Must not know what
//! depends on it.

use std::sync::{Arc, LazyLock};

use net::server::http::{Grant, HeaderValue};
use net::server::link::{Link, Session};
use net::service::RpcError;
use serde_json::{Value, json};
use wire::{Message, Revision, meta};

use crate::failure;
use crate::gateway::identity;
use crate::shaping::ClientShape;

/// The client of a request, as far as it distinguishes conversations.
#[derive(Clone)]
pub(crate) struct Client {
    /// The revision that it speaks.
    pub(crate) revision: Revision,
    /// What it says of itself.
    pub(crate) introduction: Introduction,
    /// Whose token it has.
    pub(crate) subject: Option<HeaderValue>,
    /// What that token grants.
    pub(crate) grant: Option<Arc<Grant>>,
    /// Its legacy session.
    pub(crate) session: Option<Arc<Session>>,
    /// Where messages go that belong to no request.
    pub(crate) link: Link,
    /// How its requests and what it gets are shaped.
    pub(crate) shape: ClientShape,
}

impl Client {
    /// `clientInfo`.
    pub(crate) fn info(&self) -> &Value {
        self.introduction.info()
    }

    /// What it declares.
    pub(crate) fn capabilities(&self) -> &Value {
        self.introduction.capabilities()
    }

    /// The same for longer than its request, of which it holds nothing.
    pub(crate) fn kept(&self) -> Self {
        Self { introduction: self.introduction.kept(), ..self.clone() }
    }

    /// Why its token or certificate lets it do nothing any more: over a WebSocket, those of the handshake go on counting.
    pub(crate) fn expired(&self) -> Option<RpcError> {
        let certificate = self.grant.as_ref().and_then(|grant| grant.certificate.as_ref());
        if certificate.is_some_and(|certificate| !certificate.is_current()) {
            return Some(failure::TOKEN_EXPIRED.error("The client certificate has expired"));
        }
        let token = self.grant.as_ref().filter(|grant| grant.has_token());
        let expired = token.is_some_and(|grant| !oauth::resource::in_time(&grant.claims));
        expired.then(|| failure::TOKEN_EXPIRED.error("The access token has expired"))
    }

    /// Whether a server may ask it something.
    pub(crate) fn may_be_asked(&self) -> bool {
        ["roots", "sampling", "elicitation"].iter().any(|name| self.capabilities().get(name).is_some())
    }
}

/// What stands for a client that says nothing.
static UNKNOWN: LazyLock<(Value, Value)> = LazyLock::new(|| (identity(), json!({})));

/// Name and capabilities of a client.
#[derive(Clone)]
pub(crate) enum Introduction {
    /// It said them in the request: most requests need neither.
    Request(Message),
    /// It said them when it opened its session.
    Session(Arc<Session>),
    /// `clientInfo`, and what it declares.
    Given(Arc<(Value, Value)>),
    /// It said nothing, or is no client.
    Nothing,
}

impl Introduction {
    /// The same without the request: that may be large.
    fn kept(&self) -> Self {
        match self {
            Self::Request(_) => Self::Given(Arc::new((self.info().clone(), self.capabilities().clone()))),
            other => other.clone(),
        }
    }

    /// `clientInfo`.
    fn info(&self) -> &Value {
        let said = match self {
            Self::Request(message) => message.meta_member(meta::CLIENT_INFO),
            Self::Session(session) => session.opening().map(|opening| &opening.client),
            Self::Given(given) => Some(&given.0),
            Self::Nothing => None,
        };
        said.unwrap_or(&UNKNOWN.0)
    }

    /// What it declares.
    fn capabilities(&self) -> &Value {
        let said = match self {
            Self::Request(message) => message.meta_member(meta::CLIENT_CAPABILITIES),
            Self::Session(session) => session.opening().map(|opening| &opening.capabilities),
            Self::Given(given) => Some(&given.1),
            Self::Nothing => None,
        };
        said.unwrap_or(&UNKNOWN.1)
    }
}
