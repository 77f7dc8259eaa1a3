//! The server as a resource that tokens open: which it takes, what it says to who has none, and, for development, an
//! authorization server in the same process that hands them out. Knows requests and tokens, and of messages only which
//! scope they need.

mod challenge;
mod expiring_store;
mod issuer;
mod metadata;
mod proof;
mod reply;

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use net::server::http::StatusCode;
use net::server::http::{
    Denied, Grant, Guard, GuardRequest, GuardResponse, Head, HttpFuture, OtherTransports, SSE_PATH, WEBSOCKET_PATH,
};
use oauth::Secret;
use oauth::resource::{self, TokenFlaw, TokenRequirements};
use serde_json::{Value, json};
use wire::Message;

pub use oauth::resource::{Keys, Source};

use self::challenge::Refusal;
use self::issuer::Issuer;
use self::proof::{DPOP, Proofs, Shown};
use crate::catalogue::Catalogue;

/// What it takes to read.
pub const READ: &str = "mcp:read";
/// What it takes to call a tool that does not say that it only reads. Who may do that may read too.
pub const CALL: &str = "mcp:call";

/// Who issues the tokens.
#[derive(Debug)]
pub enum Tokens {
    /// Somebody whose keys are known.
    From {
        /// Its keys.
        keys: Keys,
        /// Its name, exactly as tokens have it in `iss`.
        issuer: String,
        /// What tokens must be for; the address where the server listens where `None`.
        audience: Option<String>,
        /// The scopes that every token must have.
        scopes: Vec<String>,
    },
    /// We do, for development.
    Ours(Development),
}

/// How the authorization server for development is set up.
#[derive(Clone, Debug)]
pub struct Development {
    /// How long an access token is good, in seconds.
    pub lasts: u64,
    /// A client that is known beforehand and may act in its own name: id and password.
    pub client: Option<(String, Secret)>,
    /// The address of a client's document that is not fetched: who it is is known beforehand.
    pub document: Option<String>,
    /// Whether users of the two may be sent back to wherever they like on this machine.
    pub lands_anywhere: bool,
    /// Whether the documents of clients are also fetched from this machine and from private networks.
    pub local_documents: bool,
    /// The only way to a token, where it is one of an extension.
    pub extension: Option<Extension>,
    /// Whether tokens are good only for who shows a key.
    pub binding: Binding,
}

/// Whether tokens are bound to a key (RFC 9449): who shows one proves with every request to have it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Binding {
    /// They are not.
    #[default]
    Free,
    /// They are.
    Bound,
    /// They are, and proofs have a nonce in them that they were told.
    WithNonce,
}

/// What is shown for a token by who knows an extension of authorization. Who may do so is known beforehand, and is handed
/// what it takes ([`TokenGuard::hands_over`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extension {
    /// A client in its own name, by an assertion that it signed with its key.
    Key,
    /// A workload, by an assertion of the platform that it runs on.
    Workload,
    /// A client in the name of a user who signed in at an enterprise's identity provider.
    Enterprise,
}

impl Default for Development {
    fn default() -> Self {
        Self {
            lasts: 600,
            client: None,
            document: None,
            lands_anywhere: false,
            local_documents: false,
            extension: None,
            binding: Binding::Free,
        }
    }
}

/// Lets in who has a token.
#[derive(Debug)]
pub struct TokenGuard {
    tokens: AcceptedTokens,
    /// The paths of the endpoints that are served, the Streamable HTTP one first.
    paths: Vec<String>,
    catalogue: RwLock<Arc<Catalogue>>,
    /// Where the server listens, once it does.
    address: OnceLock<SocketAddr>,
}

/// The tokens that are taken.
#[derive(Debug)]
enum AcceptedTokens {
    From { keys: Box<Keys>, issuer: String, audience: Option<String>, scopes: Vec<String> },
    Ours(Box<Issuer>),
}

impl TokenGuard {
    /// A guard for the endpoints at `path` and of `other_transports`. `catalogue` decides which scopes a call needs.
    pub fn new(tokens: Tokens, path: &str, other_transports: OtherTransports, catalogue: Arc<Catalogue>) -> Self {
        let others = [(other_transports.sse, SSE_PATH), (other_transports.websocket, WEBSOCKET_PATH)];
        let others = others.into_iter().filter(|(served, _)| *served).map(|(_, path)| path.to_owned());
        let paths = std::iter::once(path.to_owned()).chain(others).collect();
        let tokens = match tokens {
            Tokens::From { keys, issuer, audience, scopes } => {
                AcceptedTokens::From { keys: Box::new(keys), issuer, audience, scopes }
            }
            Tokens::Ours(development) => AcceptedTokens::Ours(Box::new(Issuer::new(development))),
        };
        Self { tokens, paths, catalogue: RwLock::new(catalogue), address: OnceLock::new() }
    }

    /// What tokens must be for. Our own issuer's are for the server as it is called by `host`: nobody else has its key. Those
    /// of another issuer may be for any server, so no request says which one this is.
    fn audiences(&self, host: &str) -> Vec<String> {
        let at = |host: &str, path: &str| format!("http://{host}{}", path.trim_end_matches('/'));
        let of = |host: &str| self.paths.iter().map(|path| at(host, path)).collect::<Vec<_>>();
        match &self.tokens {
            AcceptedTokens::From { audience: Some(audience), .. } => vec![audience.clone()],
            AcceptedTokens::From { audience: None, .. } => {
                self.authorities().iter().flat_map(|host| of(host)).collect()
            }
            AcceptedTokens::Ours(_) => of(host),
        }
    }

    /// The names of the address where the server listens; none before it does.
    fn authorities(&self) -> Vec<String> {
        self.address.get().map(|address| resource::authorities(*address, "http")).unwrap_or_default()
    }

    /// What the server calls itself to a client that calls it `host`.
    fn known_as(&self, host: &str) -> String {
        if !matches!(self.tokens, AcceptedTokens::From { audience: None, .. }) {
            return host.to_owned();
        }
        let own = self.authorities();
        let named = own.iter().find(|own| own.eq_ignore_ascii_case(host));
        named.or(own.first()).cloned().unwrap_or_else(|| host.to_owned())
    }

    /// What a client must be told beforehand of the server called `host`: an object, with members where an extension is the
    /// only way to a token.
    pub fn hands_over(&self, host: &str) -> Value {
        if let AcceptedTokens::Ours(issuer) = &self.tokens { issuer.hands_over(host) } else { json!({}) }
    }

    /// The issuers whose tokens are taken, where the server is called `host`.
    fn issuers(&self, host: &str) -> Vec<String> {
        match &self.tokens {
            AcceptedTokens::From { issuer, .. } => vec![issuer.clone()],
            AcceptedTokens::Ours(issuer) => issuer.names(host),
        }
    }

    /// Decides by another catalogue from now on.
    pub fn replace_catalogue(&self, catalogue: Arc<Catalogue>) {
        *self.catalogue.write().unwrap_or_else(PoisonError::into_inner) = catalogue;
    }

    /// What every request needs.
    fn least(&self) -> Vec<&str> {
        match &self.tokens {
            AcceptedTokens::From { scopes, .. } => scopes.iter().map(String::as_str).collect(),
            AcceptedTokens::Ours(_) => vec![READ],
        }
    }

    /// What `message` needs.
    fn needed(&self, message: &Message) -> Vec<&str> {
        let calls = || message.method() == Some("tools/call") && self.changes(message);
        match &self.tokens {
            AcceptedTokens::Ours(_) if calls() => vec![CALL],
            _ => self.least(),
        }
    }

    /// Whether a call is of a tool that does not say that it only reads.
    fn changes(&self, message: &Message) -> bool {
        let name = message.params().and_then(|params| params.get("name")?.as_str());
        let catalogue = Arc::clone(&self.catalogue.read().unwrap_or_else(PoisonError::into_inner));
        let tool = catalogue.tools.iter().find(|tool| Some(tool.name.as_ref()) == name);
        tool.is_some_and(|tool| tool.hints.is_none_or(|hints| !hints.read_only))
    }

    async fn check(&self, head: Head<'_>) -> Result<Grant, Refusal> {
        let proofs = self.proofs();
        let scheme = if proofs.is_some() { DPOP } else { "bearer" };
        let token = resource::carried(head.headers, scheme).map_err(Refusal::Invalid)?.ok_or(Refusal::Missing)?;
        let key = proofs.map(|proofs| {
            let at = format!("http://{}{}", head.host(), head.uri.path());
            let shown = Shown { method: head.method, at: &at, headers: head.headers, token: Some(token) };
            proofs.key(&shown).map_err(Refusal::Unproved)
        });
        let key = key.transpose()?;
        let wanted = TokenRequirements {
            issuers: self.issuers(head.host()),
            audiences: self.audiences(head.host()),
            key,
            certificate: None,
        };
        match &self.tokens {
            AcceptedTokens::Ours(issuer) => issuer.admit(token, &wanted).map_err(Refusal::Invalid),
            AcceptedTokens::From { keys, .. } => {
                let found = resource::grant(token, &keys.current(), &wanted);
                // Keys change; whoever signs with a new one is looked up anew, though not all the time.
                match found {
                    Err(TokenFlaw::Key) if keys.renew().await => resource::grant(token, &keys.current(), &wanted),
                    found => found,
                }
                .map_err(Refusal::Invalid)
            }
        }
    }

    fn hold(&self, grant: &Grant, head: Head<'_>, needed: &[&str]) -> Result<(), Denied> {
        let has = |scope: &&str| grant.scopes.iter().any(|own| own == scope || (own == CALL && *scope == READ));
        if needed.iter().all(has) {
            return Ok(());
        }
        Err(self.denied(head, StatusCode::FORBIDDEN, needed, Some(("insufficient_scope", "more scope is needed"))))
    }

    fn denied(&self, head: Head<'_>, status: StatusCode, scopes: &[&str], error: Option<(&str, &str)>) -> Denied {
        let path = self.paths.iter().find(|path| *path == head.uri.path()).unwrap_or(&self.paths[0]);
        let proofs = self.proofs();
        let host = self.known_as(head.host());
        let challenge = challenge::text(proofs.is_some(), (&host, path), scopes, error);
        let wants_nonce = error.is_some_and(|(error, _)| error == proof::Flaw::Nonce.error());
        let nonce = proofs.filter(|_| wants_nonce).map(|proofs| proofs.nonce().to_owned());
        Denied { status, challenge, nonce, error: None }
    }

    /// What is wanted of who shows a token, where tokens are bound to a key.
    fn proofs(&self) -> Option<&Proofs> {
        if let AcceptedTokens::Ours(issuer) = &self.tokens { issuer.proofs() } else { None }
    }
}

impl Guard for TokenGuard {
    fn listening(&self, address: SocketAddr) {
        // Where it listens twice, the first address is its own.
        let _ = self.address.set(address);
    }

    fn owns(&self, path: &str) -> bool {
        metadata::is_for(path, &self.paths).is_some() || self.issues(path)
    }

    fn issues(&self, path: &str) -> bool {
        if let AcceptedTokens::Ours(issuer) = &self.tokens { issuer.owns(path) } else { false }
    }

    fn serve(&self, asked: GuardRequest) -> HttpFuture<'_, GuardResponse> {
        Box::pin(async move {
            if let Some(path) = metadata::is_for(asked.uri.path(), &self.paths) {
                return self.metadata(&asked, path);
            }
            match &self.tokens {
                AcceptedTokens::Ours(issuer) => issuer.serve(&asked, &self.audiences(asked.host())).await,
                AcceptedTokens::From { .. } => reply::empty(StatusCode::NOT_FOUND),
            }
        })
    }

    fn admit<'g>(&'g self, head: Head<'g>) -> HttpFuture<'g, Result<Grant, Denied>> {
        Box::pin(async move {
            let least = self.least();
            let grant = self
                .check(head)
                .await
                .map_err(|refusal| self.denied(head, StatusCode::UNAUTHORIZED, &least, refusal.error()))?;
            let for_good = matches!(self.tokens, AcceptedTokens::Ours(_)) && head.for_good;
            self.hold(&grant, head, if for_good { &[CALL] } else { &least })?;
            Ok(grant)
        })
    }

    fn permits(&self, grant: &Grant, head: Head<'_>, message: &Message) -> Result<(), Denied> {
        self.hold(grant, head, &self.needed(message))
    }
}
