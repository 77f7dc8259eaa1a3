//! The tokens that a server gets from the gateway: one for all clients, or one for each user who consented or whose token is
//! exchanged. A client's own token goes to the token endpoint alone. Must not know messages, nor how a server is reached.

mod consented;
mod holder;
mod refusals;
mod user;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use net::OpenError;
use net::server::http::HeaderValue;
use oauth::{Secret, ServiceClient, TokenSource};
use serde_json::{Value, json};

use self::consented::ByConsent;
pub(crate) use self::holder::HeldToken;
use self::holder::{Due, Holder};
use self::refusals::Refusal;
use crate::consents::Consents;
use crate::settings::{CredentialGrant, Target, UpstreamSettings};
use crate::upstream::{Client, Trouble};

/// The most users whose tokens are kept for one server.
const MOST: usize = 10_000;
/// How long an authorization server may take to answer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// Where tokens come from.
enum Source {
    /// The gateway's own, or users' by exchange.
    Service(Box<ServiceClient>),
    /// Users' by consent.
    Consent(Box<ByConsent>),
}

/// The tokens for one server.
pub(crate) struct Credentials {
    upstream: String,
    grant: CredentialGrant,
    source: Source,
    own: Weak<Self>,
    /// By user; one without a user, where all clients use the same token.
    holders: Mutex<HashMap<Option<HeaderValue>, Arc<Holder>>>,
    issued: AtomicU64,
    refused: AtomicU64,
}

/// The token of one user, or of the gateway, for requests to come.
#[derive(Clone)]
pub(crate) struct Bearer {
    credentials: Arc<Credentials>,
    user: Option<HeaderValue>,
}

impl Credentials {
    /// Those of an upstream, where it has some; sends nothing yet.
    pub(crate) fn of(
        settings: &UpstreamSettings,
        consents: Option<&Arc<Consents>>,
    ) -> Result<Option<Arc<Self>>, OpenError> {
        let Some(credentials) = &settings.credentials else { return Ok(None) };
        let bad = |why: String| OpenError::BadAddress { at: format!("the upstream `{}`", settings.name), why };
        let (Target::Http(address) | Target::StreamableHttp(address)) = &settings.target else {
            return Err(bad("`credentials` need Streamable HTTP".to_owned()));
        };
        let source = match (credentials.grant, &credentials.client) {
            (CredentialGrant::AuthorizationCode, _) => {
                Source::Consent(Box::new(ByConsent::new(credentials, &address.url, consents).map_err(bad)?))
            }
            (_, None) => return Err(bad("`credentials` have no `client`".to_owned())),
            (_, Some(client)) => {
                let source = TokenSource {
                    server: address.url.clone(),
                    issuer: credentials.issuer.clone(),
                    token_endpoint: credentials.token_endpoint.clone(),
                    client: client.clone(),
                    scopes: credentials.scopes.clone(),
                    audience: credentials.audience.clone(),
                    resource: credentials.resource.clone(),
                    timeout: PATIENCE,
                    egress: credentials.egress.clone(),
                };
                Source::Service(Box::new(ServiceClient::new(source).map_err(|error| bad(error.what().to_owned()))?))
            }
        };
        let made = Arc::new_cyclic(|own| Self {
            upstream: settings.name.clone(),
            grant: credentials.grant,
            source,
            own: Weak::clone(own),
            holders: Mutex::default(),
            issued: AtomicU64::new(0),
            refused: AtomicU64::new(0),
        });
        if let Source::Consent(by) = &made.source {
            by.consents.know(&made.upstream, &by.digest, &made.own);
        }
        Ok(Some(made))
    }

    /// Whether each user has a token of their own.
    pub(crate) fn is_per_user(&self) -> bool {
        self.grant != CredentialGrant::ClientCredentials
    }

    /// Whether clients' tokens are needed for others.
    pub(crate) fn exchanges_tokens(&self) -> bool {
        self.grant == CredentialGrant::TokenExchange
    }

    /// Whether users are asked for a consent.
    pub(crate) fn asks_for_consent(&self) -> bool {
        self.grant == CredentialGrant::AuthorizationCode
    }

    /// Whose token a client's requests carry, where each user has one.
    pub(crate) fn user(&self, client: &Client) -> Option<HeaderValue> {
        match self.grant {
            CredentialGrant::ClientCredentials => None,
            CredentialGrant::TokenExchange => client.user(),
            CredentialGrant::AuthorizationCode => client.consent_user()?.key(),
        }
    }

    /// Takes note of a client whose request comes next: its token may be a new one.
    pub(crate) fn note(&self, client: &Client) {
        let noted = match self.grant {
            CredentialGrant::ClientCredentials => return,
            CredentialGrant::TokenExchange => client.token().map(Cow::Borrowed),
            CredentialGrant::AuthorizationCode => client.consent_user().map(|user| Cow::Owned(user.text())),
        };
        if let (Some(user), Some(noted)) = (self.user(client), noted) {
            self.holder(Some(user)).note(&noted);
        }
    }

    /// What requests of this client carry.
    pub(crate) fn bearer(self: &Arc<Self>, client: &Client) -> Bearer {
        Bearer { credentials: Arc::clone(self), user: self.user(client) }
    }

    /// What it does, without a secret.
    pub(crate) fn status(&self) -> Value {
        let grant = match self.grant {
            CredentialGrant::ClientCredentials => "client-credentials",
            CredentialGrant::TokenExchange => "token-exchange",
            CredentialGrant::AuthorizationCode => "authorization-code",
        };
        let (issued, refused) = (self.issued.load(Ordering::Relaxed), self.refused.load(Ordering::Relaxed));
        let tokens = self.lock().values().filter(|holder| holder.has_token()).count();
        json!({ "grant": grant, "tokens": tokens, "issued": issued, "refused": refused })
    }

    /// Renews what is in use and soon expires, and forgets users who are gone.
    pub(crate) fn sweep(self: &Arc<Self>, idle: Duration) {
        let now = Instant::now();
        let due: Vec<_> = {
            let mut holders = self.lock();
            holders.retain(|_, holder| !holder.is_idle(idle, now));
            holders.values().filter(|holder| holder.take_renewal(now)).map(Arc::clone).collect()
        };
        for holder in due {
            self.renew(holder);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Option<HeaderValue>, Arc<Holder>>> {
        self.holders.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn holder(&self, user: Option<HeaderValue>) -> Arc<Holder> {
        let mut holders = self.lock();
        if !holders.contains_key(&user) && holders.len() >= MOST {
            let oldest = holders.iter().min_by_key(|(_, holder)| holder.used()).map(|(user, _)| user.clone());
            oldest.map(|oldest| holders.remove(&oldest));
        }
        Arc::clone(holders.entry(user).or_default())
    }

    /// Gets another token, while requests go on with the old one.
    fn renew(self: &Arc<Self>, holder: Arc<Holder>) {
        let credentials = Arc::clone(self);
        tokio::spawn(async move {
            let _one = holder.asking.lock().await;
            // Requests go on with the old token; what is wrong is in the log.
            let _ = credentials.fetch(&holder, true).await;
            holder.renewal_ended();
        });
    }

    /// Asks for a token; with `another`, a kept one does not do. To be called by one at a time for each holder.
    async fn fetch(&self, holder: &Holder, another: bool) -> Result<HeldToken, Trouble> {
        if let Some(refusal) = holder.refusal(Instant::now()) {
            return Err(self.trouble(&refusal));
        }
        let client = match &self.source {
            Source::Service(client) => client,
            Source::Consent(by) => {
                // Without a named type: the compiler would look through all of the way to the store, again and again.
                let asked: BoxFuture<'_, _> = Box::pin(self.by_consent(by, holder, another));
                return asked.await;
            }
        };
        let issued = if self.exchanges_tokens() {
            match holder.subject() {
                Some(subject) => client.exchanged(&subject).await,
                None => return Err(self.trouble(&Refusal::NoUser)),
            }
        } else {
            client.own().await
        };
        let kept = match issued {
            Ok(issued) => holder.keep(&issued, Instant::now()).ok_or(Refusal::Unavailable),
            Err(error) => {
                let refusal = Refusal::of(&error, self.is_per_user());
                // What a server says of a refusal may quote the token; its code does not.
                let what = error.declined().unwrap_or_else(|| error.what());
                tracing::warn!(upstream = self.upstream, "no token: {what}");
                Err(refusal)
            }
        };
        match kept {
            Ok(token) => Ok(self.count(token)),
            Err(refusal) => Err(self.refuse(holder, refusal)),
        }
    }

    fn count(&self, token: HeldToken) -> HeldToken {
        self.issued.fetch_add(1, Ordering::Relaxed);
        token
    }

    fn refuse(&self, holder: &Holder, refusal: Refusal) -> Trouble {
        self.refused.fetch_add(1, Ordering::Relaxed);
        let trouble = self.trouble(&refusal);
        holder.refuse(refusal, Instant::now());
        trouble
    }

    /// Whether nobody can say which consents still count.
    fn is_cut_off(&self) -> bool {
        matches!(&self.source, Source::Consent(by) if by.consents.is_cut_off())
    }

    fn trouble(&self, refusal: &Refusal) -> Trouble {
        Trouble::Refused(refusal.error(&self.upstream))
    }
}

impl Bearer {
    fn holder(&self) -> Result<Arc<Holder>, Trouble> {
        if self.user.is_none() && self.credentials.is_per_user() {
            return Err(self.credentials.trouble(&Refusal::NoUser));
        }
        if self.credentials.is_cut_off() {
            return Err(self.credentials.trouble(&Refusal::Away));
        }
        Ok(self.credentials.holder(self.user.clone()))
    }

    /// The token for a request; gets one where there is none.
    pub(crate) async fn token(&self) -> Result<HeldToken, Trouble> {
        let holder = self.holder()?;
        match holder.current(Instant::now()) {
            Due::Good(token) => return Ok(token),
            Due::Soon(token) => {
                if holder.take_renewal(Instant::now()) {
                    self.credentials.renew(holder);
                }
                return Ok(token);
            }
            Due::Now => {}
        }
        self.asked(holder, None).await
    }

    /// Another token, after the server refused the one with this number.
    pub(crate) async fn after_refusal(&self, number: u64) -> Result<HeldToken, Trouble> {
        self.asked(self.holder()?, Some(number)).await
    }

    /// Asks for a token, in a task that outlives its request: what an authorization server answers may be the only refresh token
    /// that counts. `refused` is the number of a token that the server refused.
    async fn asked(&self, holder: Arc<Holder>, refused: Option<u64>) -> Result<HeldToken, Trouble> {
        let bearer = self.clone();
        let asking = tokio::spawn(async move {
            let _one = holder.asking.lock().await;
            match holder.current(Instant::now()) {
                Due::Good(token) | Due::Soon(token) if refused.is_none_or(|number| token.number > number) => Ok(token),
                _ if refused.is_some() && !holder.take_forced(Instant::now()) => Err(bearer.refused()),
                _ => bearer.credentials.fetch(&holder, refused.is_some()).await,
            }
        });
        asking.await.unwrap_or_else(|_| Err(self.credentials.trouble(&Refusal::Unavailable)))
    }

    /// What a client learns where the server refuses the gateway's tokens.
    pub(crate) fn refused(&self) -> Trouble {
        self.credentials.trouble(&Refusal::Refused)
    }

    /// What a client learns where the token has too little scope.
    pub(crate) fn lacks_scope(&self, scopes: Option<&[String]>) -> Trouble {
        self.credentials.trouble(&Refusal::Scope(scopes.map(<[String]>::to_vec).unwrap_or_default()))
    }
}

/// A user's token, as a secret.
fn secret(token: &str) -> Secret {
    Secret::new(token)
}
