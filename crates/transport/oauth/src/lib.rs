//! OAuth for MCP. [`resource`]: which tokens a server accepts. All the rest is
//! the client end of authorization: from the refusal of a request to a header that is accepted. An [`Authorizer`] is for one
//! server and keeps its tokens; an [`Operation`] is one request with its attempts. Knows no MCP method and judges nothing.

mod agent;
mod authorize;
mod backend;
mod cache;
mod challenge;
mod connection;
mod consent_client;
mod discovery;
mod dpop;
mod error;
mod flow;
mod guide;
mod issuer_trust;
pub mod jose;
mod login_client;
mod look;
mod metadata;
mod options;
pub mod redirect;
mod redirect_server;
mod registration;
pub mod resource;
mod secret;
mod service_client;
mod sign_in;
mod token_endpoint;
mod verifier;
mod web;

use std::fmt;
use std::sync::{Arc, Mutex as Lock, PoisonError};

use tokio::sync::{Mutex, OnceCell};
use url::Url;
use wire::trace::{Headers, header};

pub use backend::{Backend, NetBackend, Responding, WebRequest, WebResponse};
pub use challenge::AuthChallenge;
pub use consent_client::{ConsentClient, ConsentPlace, ConsentRequest, ConsentSource, Consented};
pub use dpop::now;
pub use error::{Advice, OAuthError};
pub use guide::{Guide, GuideStep, GuidedToken};
pub use issuer_trust::{Agreeing, IssuerQuestion, IssuerTrust};
pub use login_client::{LoginClient, LoginSource, SavedLogin};
pub use look::Discovery;
pub use metadata::{Issuer as IssuerMetadata, Resource as ResourceMetadata};
pub use net::egress::Reach;
pub use options::{Agent, Browser, Client, Credential, Enterprise, Grant, Options, Scopes};
pub use redirect_server::RedirectServer;
pub use secret::{Secret, SecretListener, random};
pub use service_client::{IssuedToken, ServiceClient, TokenSource};
pub use verifier::{StrictVerifier, VerificationError, Verifier};
pub use web::{fetch, fetch_within, is_loopback};

use dpop::Prover;
use flow::State;
use token_endpoint::Token;
use web::{Web, check_scheme};

/// How many times one operation may be authorized.
const ATTEMPTS: usize = 3;
/// How many nonces one operation may get.
const NONCES: usize = 2;

/// Gets tokens for one server. Clones share their tokens.
#[derive(Clone)]
pub struct Authorizer(Arc<Inner>);

struct Inner {
    resource: Url,
    options: Options,
    web: Web,
    prover: Arc<Prover>,
    /// The token in use and its number, readable without the async lock.
    current: Lock<(u64, Option<Token>)>,
    state: Mutex<State>,
}

impl fmt::Debug for Authorizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Authorizer").field(&self.0.resource.as_str()).finish()
    }
}

/// What a response led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Recovery {
    /// The response is not a refusal that a token resolves.
    None,
    /// Only a nonce was missing.
    Nonce,
    /// There is another token.
    Token,
}

impl Authorizer {
    /// An authorizer for the MCP server at `resource`, which must have https or be on this machine. Sends nothing yet.
    pub fn new(resource: Url, options: Options) -> Result<Self, OAuthError> {
        let backend = Arc::new(NetBackend::new(&options));
        Self::with_backend(resource, options, backend)
    }

    /// The same, with HTTP requests sent by `backend`, which has its own certificates and recording.
    pub fn with_backend(resource: Url, options: Options, backend: Arc<dyn Backend>) -> Result<Self, OAuthError> {
        Self::with_verifier(resource, options, backend, StrictVerifier)
    }

    /// The same, with the decisions of another verifier. Product code has [`StrictVerifier`] and no other.
    pub fn with_verifier(
        resource: Url,
        options: Options,
        backend: Arc<dyn Backend>,
        verifier: impl Verifier + 'static,
    ) -> Result<Self, OAuthError> {
        let (verifier, limit) = (Arc::new(verifier), options.timeout);
        check_scheme(&resource)?;
        let named = std::iter::once(resource.clone()).chain(options.named_addresses()).collect();
        let secrets = options.secrets.clone();
        let web = Web { backend, verifier, limit, named, reach: OnceCell::new(), secrets };
        let prover = Arc::new(Prover::new());
        let state = Mutex::new(State::new(options.cache.clone(), prover.clone()));
        Ok(Self(Arc::new(Inner { resource, options, web, prover, current: Lock::default(), state })))
    }

    /// One request by `method`, or several that stand for it: each answer that refuses it goes to [`Operation::refused`].
    pub fn operation(&self, method: impl Into<String>) -> Operation {
        Operation { authorizer: self.clone(), method: method.into(), seen: 0, attempts: 0, nonces: 0 }
    }

    /// The access token in use, for code that redacts it.
    pub async fn token(&self) -> Option<Secret> {
        self.0.state.lock().await.token().map(|token| token.access.clone())
    }
}

impl Inner {
    /// The headers for a request by `method` to `url`; none for another origin.
    fn headers(&self, method: &str, url: &Url) -> Headers {
        let current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(token) = current.1.as_ref().filter(|_| url.origin() == self.resource.origin()) else {
            return Headers::new();
        };
        let access = token.access.reveal();
        if !token.bound {
            return vec![("authorization".to_owned(), format!("Bearer {access}"))];
        }
        let proof = self.prover.proof(method, url, Some(access));
        vec![("authorization".to_owned(), format!("DPoP {access}")), ("dpop".to_owned(), proof)]
    }

    /// The number of tokens so far.
    fn generation(&self) -> u64 {
        self.current.lock().unwrap_or_else(PoisonError::into_inner).0
    }

    fn publish(&self, state: &State) {
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = (state.generation(), state.token().cloned());
    }

    /// Does what a response of the server at `url` demands, if anything. `seen` is the number of the token of the request,
    /// `attempts` how often it was authorized, `nonces` how many nonces it got.
    async fn recover(
        &self,
        url: &Url,
        (status, headers): (u16, &Headers),
        seen: u64,
        (attempts, nonces): (usize, usize),
    ) -> Result<Recovery, OAuthError> {
        let mut state = self.state.lock().await;
        if let Some(nonce) = header(headers, "dpop-nonce") {
            self.prover.learn(url, nonce);
        }
        let Some(challenge) = AuthChallenge::read(status, headers) else { return Ok(Recovery::None) };
        if challenge.nonce.is_some() && nonces < NONCES && state.is_bound() {
            return Ok(Recovery::Nonce);
        }
        let max_attempts = if matches!(self.options.grant, Grant::Assertion(_)) { 1 } else { ATTEMPTS };
        let is_futile = attempts > 0 && challenge.more_scope && state.grants(&challenge);
        if attempts >= max_attempts || is_futile {
            let times = if attempts == 1 { "once".to_owned() } else { format!("{attempts} times") };
            let what =
                format!("the server refuses the tokens that it required: authorized {times}, then HTTP {status}");
            return Err(OAuthError::at(what, url, "check the log of the server"));
        }
        // Another request was refused before and got a new token.
        if state.generation() > seen {
            return Ok(Recovery::Token);
        }
        let authorized = state.authorize(&self.web, &self.options, url, &challenge).await;
        self.publish(&state);
        authorized.map(|()| Recovery::Token)
    }
}

/// One request and the attempts that it took.
pub struct Operation {
    authorizer: Authorizer,
    method: String,
    /// The number of the token that was sent last.
    seen: u64,
    attempts: usize,
    nonces: usize,
}

impl Operation {
    /// The headers for the request: none before there is a token. Call it for every attempt.
    pub async fn headers(&mut self) -> Result<Headers, OAuthError> {
        let inner = self.authorizer.0.as_ref();
        let mut state = inner.state.lock().await;
        state.keep_fresh(&inner.web).await;
        inner.publish(&state);
        self.seen = state.generation();
        drop(state);
        Ok(inner.headers(&self.method, &inner.resource))
    }

    /// Handles a response that may be a refusal. `true`: retry with new [`headers`](Self::headers). `false`: it is not a refusal
    /// that a token resolves. An error: no token can be had, or all attempts were used.
    pub async fn refused(&mut self, status: u16, headers: &Headers) -> Result<bool, OAuthError> {
        let inner = self.authorizer.0.as_ref();
        let counts = (self.attempts, self.nonces);
        let recovery = inner.recover(&inner.resource, (status, headers), self.seen, counts).await?;
        match recovery {
            Recovery::None => {}
            Recovery::Nonce => self.nonces += 1,
            Recovery::Token => self.attempts += 1,
        }
        Ok(recovery != Recovery::None)
    }
}
