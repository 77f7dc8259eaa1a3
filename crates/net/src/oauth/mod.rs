//! The client end of authorization: from the refusal of a request to the header that will be let in. An [`Authorizer`] is
//! for one server and keeps what it learns; an [`Operation`] is one request with its few attempts. Nothing here knows what
//! is asked of the server, or judges it.

mod agent;
mod authorize;
mod cache;
mod demand;
mod discovery;
mod dpop;
mod error;
mod flow;
pub mod jose;
mod metadata;
mod options;
mod registration;
mod secret;
mod token;
mod web;

use std::sync::Arc;

use tokio::sync::Mutex;
use url::Url;
use wire::trace::{Headers, header};

pub use demand::Demand;
pub use dpop::now;
pub use error::OAuthError;
pub use options::{Agent, Browser, Client, Enterprise, Grant, Options, Proof, Scopes};
pub use secret::{Secret, random};
pub use web::{fetch, is_loopback};

use flow::State;
use web::Web;

/// How many times one operation may be authorized before it is given up.
const ATTEMPTS: u8 = 3;
/// How many nonces one operation may be told.
const NONCES: u8 = 2;

/// Gets tokens for one server. Clones share what they learned.
#[derive(Clone)]
pub struct Authorizer(Arc<Inner>);

struct Inner {
    resource: Url,
    options: Options,
    web: Web,
    state: Mutex<State>,
}

impl Authorizer {
    /// One for the MCP server at `resource`. Nothing is asked yet. The server must have https, or be on this machine.
    pub fn new(resource: Url, options: Options) -> Result<Self, OAuthError> {
        let (ca, limit, tap) = (options.ca.clone(), options.timeout, options.tap.clone());
        let web = Web { ca, limit, tap, local: is_loopback(&resource) };
        web.admit(&resource)?;
        let state = Mutex::new(State::new(options.cache.clone()));
        Ok(Self(Arc::new(Inner { resource, options, web, state })))
    }

    /// One request by `method`, or several that stand for it: each answer that refuses it goes to [`Operation::refused`].
    pub fn operation(&self, method: impl Into<String>) -> Operation {
        Operation { authorizer: self.clone(), method: method.into(), seen: 0, attempts: 0, nonces: 0 }
    }

    /// The access token in use, for who must know which text is secret.
    pub async fn token(&self) -> Option<Secret> {
        self.0.state.lock().await.token().map(|token| token.access.clone())
    }
}

/// One request and the attempts that it took.
pub struct Operation {
    authorizer: Authorizer,
    method: String,
    /// The number of the token that went along last.
    seen: u64,
    attempts: u8,
    nonces: u8,
}

impl Operation {
    /// The headers that go along with the request now: none before a token is there. To be asked anew for every attempt.
    pub async fn headers(&mut self) -> Result<Headers, OAuthError> {
        let Inner { resource, web, state, .. } = self.authorizer.0.as_ref();
        let mut state = state.lock().await;
        state.keep_fresh(web).await;
        self.seen = state.generation();
        Ok(state.headers(&self.method, resource))
    }

    /// Takes a response in that may be a refusal. `true`: try again, with new [`headers`](Self::headers). `false`: it is no
    /// refusal that a token mends. An error: it cannot be mended, or was tried often enough.
    pub async fn refused(&mut self, status: u16, headers: &Headers) -> Result<bool, OAuthError> {
        let Inner { resource, options, web, state } = self.authorizer.0.as_ref();
        let mut state = state.lock().await;
        if let Some(nonce) = header(headers, "dpop-nonce") {
            state.learn_nonce(resource, nonce);
        }
        let Some(demand) = Demand::read(status, headers) else { return Ok(false) };
        if demand.nonce.is_some() && self.nonces < NONCES && state.is_bound() {
            self.nonces += 1;
            return Ok(true);
        }
        let most = if matches!(options.grant, Grant::Assertion(_)) { 1 } else { ATTEMPTS };
        let vain = self.attempts > 0 && demand.more_scope && state.grants(&demand);
        if self.attempts >= most || vain {
            let times = if self.attempts == 1 { "once".to_owned() } else { format!("{} times", self.attempts) };
            let what = format!("the server refuses what it asked for: authorized {times}, and still HTTP {status}");
            return Err(OAuthError::at(what, resource, "look into the server's log"));
        }
        self.attempts += 1;
        // Somebody else was refused too, and was sooner.
        if state.generation() > self.seen {
            return Ok(true);
        }
        state.authorize(web, options, resource, &demand).await?;
        Ok(true)
    }
}
