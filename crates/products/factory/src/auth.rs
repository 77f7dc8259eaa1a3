//! How requests are authorized: which credentials an operation needs, and where they go. Credentials go to the API alone.

mod configured;
mod consents;
mod flows;
mod service_account;
mod tokens;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use net::egress::HostPattern;
use oauth::Secret;
use openapi::model::{Api, Operation, Place};
use url::Url;

pub(crate) use configured::AuthRule;
use configured::Setting;
use consents::Consents;
use tokens::Tokens;

use crate::Base;
use crate::caller::Caller;
use crate::concealing::Concealer;
use crate::config::AuthConfig;
use crate::error::SetupError;
use crate::sending::{Sender, host_patterns};

/// Why a caller without a name gets no user's token.
const UNKNOWN: &str =
    "a user must consent, and this client cannot be told from others: it needs stdio, a session, or a token of its own";

/// The credentials of an API, by the names of their schemes.
pub(crate) struct Authorization {
    known: BTreeMap<String, Arc<Credential>>,
    /// Those that the description does not know: every request has them.
    always: Vec<Arc<Credential>>,
}

/// What authorizes a request, and where it may go.
pub(crate) struct Credential {
    secret: Authorizing,
    /// The hosts besides the API's own that may get it.
    pub(crate) hosts: Vec<HostPattern>,
    /// Whether no scheme of the description asks for it.
    pub(crate) is_optional: bool,
}

/// What authorizes a request.
pub(crate) enum Authorizing {
    /// A key in a header, the query or a cookie.
    Key { place: Place, name: String, value: Secret },
    /// `Authorization`, whole.
    Header(Secret),
    /// A token that is fetched.
    Token(Box<Tokens>),
    /// A token that each user consents to.
    Consent(Box<Consents>),
}

/// What credentials add to a request.
#[derive(Default)]
pub(crate) struct Additions {
    /// Headers.
    pub(crate) headers: Vec<(String, Secret)>,
    /// Pairs of the query, encoded.
    pub(crate) query: Vec<Secret>,
    /// Pairs of the header `Cookie`, encoded.
    pub(crate) cookies: Vec<Secret>,
    /// What conceals the tokens of the caller.
    pub(crate) concealers: Vec<Arc<Concealer>>,
}

/// Why a request is not authorized.
pub(crate) enum Missing {
    /// The user has not consented yet, and may do so here.
    Consent(Url),
    /// Something else.
    Because(String),
}

/// A text as a form has it.
pub(crate) fn form(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

/// A text with everything but unreserved characters encoded.
pub(crate) fn encoded(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a text cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

impl Authorization {
    /// Reads the configured credentials. With any, requests without TLS stay on this machine.
    pub(crate) fn new(
        config: &AuthConfig,
        api: &Api,
        base: &Base,
        (sender, concealer): (&Sender, Arc<Concealer>),
    ) -> Result<Self, SetupError> {
        if !config.rules.is_empty() && base.url.scheme() != "https" && !oauth::is_loopback(&base.url) {
            let what = format!("{} has no TLS: everybody on the way would read the credentials", base.as_str());
            return Err(SetupError::new(what, "use https, or take `auth` away"));
        }
        let (mut known, mut always) = (BTreeMap::new(), Vec::new());
        for (name, rule) in &config.rules {
            let scheme = api.schemes.get(name);
            let place = format!("auth.{}", wire::escape::line(name));
            if scheme.is_none() && rule.needs_scheme() && !api.schemes.is_empty() {
                // A slip in the name would send the key as a token with every request.
                let known: Vec<_> =
                    api.schemes.keys().map(|known| format!("`{}`", wire::escape::line(known))).collect();
                let what = format!("{place}: the API has no security scheme of this name");
                return Err(SetupError::new(what, format!("{}, or `in` and `name`", known.join(", "))));
            }
            let secret =
                rule.credential(&Setting { scheme, place: &place, config, base, sender, concealer: &concealer })?;
            let hosts = host_patterns(&rule.hosts, &format!("{place}.hosts"))?;
            let credential = Arc::new(Credential { secret, hosts, is_optional: scheme.is_none() });
            if scheme.is_some() {
                known.insert(name.clone(), credential);
            } else {
                always.push(credential);
            }
        }
        Ok(Self { known, always })
    }

    /// The credentials of an operation: those of the first way for which all are configured. An error names what is missing.
    pub(crate) fn of(&self, operation: &Operation) -> Result<Vec<Arc<Credential>>, String> {
        let ways = operation.security.iter().map(|way| {
            let found: Vec<_> = way.iter().map(|one| self.known.get(&one.scheme).cloned()).collect();
            (way, found)
        });
        let mut missing = Vec::new();
        let mut is_free = operation.security.is_empty();
        for (way, found) in ways {
            if way.is_empty() {
                is_free = true;
            } else if let Some(all) = found.into_iter().collect::<Option<Vec<_>>>() {
                return Ok(all.into_iter().chain(self.always.iter().cloned()).collect());
            } else {
                let names: Vec<_> = way.iter().map(|one| format!("`{}`", wire::escape::line(&one.scheme))).collect();
                missing.push(names.join(" and "));
            }
        }
        if is_free || !self.always.is_empty() {
            return Ok(self.always.clone());
        }
        Err(missing.join(", or "))
    }
}

impl Credential {
    /// Adds itself, for a call of `caller`. `refused` is the header `Authorization` that the API did not take.
    pub(crate) async fn add(
        &self,
        additions: &mut Additions,
        caller: &Caller,
        refused: Option<&Secret>,
    ) -> Result<(), Missing> {
        match &self.secret {
            Authorizing::Key { place: Place::Query, name, value } => {
                additions.query.push(Secret::new(format!("{}={}", encoded(name), encoded(value.reveal()))));
            }
            Authorizing::Key { place: Place::Cookie, name, value } => {
                additions.cookies.push(Secret::new(format!("{}={}", encoded(name), encoded(value.reveal()))));
            }
            Authorizing::Key { name, value, .. } => additions.headers.push((name.clone(), value.clone())),
            Authorizing::Header(value) => additions.headers.push(("authorization".to_owned(), value.clone())),
            Authorizing::Token(tokens) => {
                let token = tokens.token(refused).await.map_err(Missing::Because)?;
                additions.headers.push(bearer(&token));
            }
            Authorizing::Consent(consents) => {
                let user = caller.user().ok_or_else(|| Missing::Because(UNKNOWN.to_owned()))?;
                let (token, concealer) = consents.token(&user, refused).await?;
                additions.headers.push(bearer(&token));
                additions.concealers.push(concealer);
            }
        }
        Ok(())
    }

    /// Whether another one can be had when it is refused.
    pub(crate) const fn is_renewable(&self) -> bool {
        matches!(self.secret, Authorizing::Token(_) | Authorizing::Consent(_))
    }

    /// Whether users consent to it in a browser.
    pub(crate) const fn asks_users(&self) -> bool {
        matches!(self.secret, Authorizing::Consent(_))
    }

    /// Waits until the caller has consented to it; `false` where that takes too long.
    pub(crate) async fn given(&self, caller: &Caller, limit: Duration) -> bool {
        match (&self.secret, caller.user()) {
            (Authorizing::Consent(consents), Some(user)) => consents.given(&user, limit).await,
            _ => true,
        }
    }
}

/// `Basic` of RFC 7617.
fn basic(user: &Secret, password: &Secret) -> Secret {
    Secret::new(format!("Basic {}", STANDARD.encode(format!("{}:{}", user.reveal(), password.reveal()))))
}

/// The header with a token.
fn bearer(token: &Secret) -> (String, Secret) {
    ("authorization".to_owned(), Secret::new(format!("Bearer {}", token.reveal())))
}

/// An address of the description, if it is on the API's own origin. Credentials go nowhere else because a description says so.
fn on_origin(url: &str, base: &Base) -> Option<Url> {
    base.url.join(url).ok().filter(|url| url.origin() == base.url.origin())
}
