//! Which issuer gets a client's credentials. A server names its issuer itself, and could name one that collects passwords: so
//! credentials belong to one issuer, which the user named, or agreed to once. Must not know how the user is asked.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use super::cache::Cache;
use super::error::{Advice, OAuthError, quoted};
use super::options::{Credential, Grant, Options};

/// What is decided about an issuer that the user did not name.
#[derive(Clone, Default)]
pub enum IssuerTrust {
    /// It gets no credentials.
    #[default]
    Named,
    /// It gets them if the user agrees. With a cache, the user is asked once.
    Ask(Arc<dyn Fn(IssuerQuestion) -> Agreeing + Send + Sync>),
    /// The first issuer gets them: for credentials that were made for this one server.
    First,
}

/// Whether the user agrees.
pub type Agreeing = Pin<Box<dyn Future<Output = bool> + Send>>;

/// What the user is asked. Texts of a server are escaped and truncated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssuerQuestion {
    /// The server that names the issuer.
    pub server: String,
    /// The issuer that would get the credentials.
    pub issuer: String,
    /// The client whose credentials they are.
    pub client: String,
}

impl fmt::Debug for IssuerTrust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Named => "Named",
            Self::Ask(_) => "Ask",
            Self::First => "First",
        })
    }
}

/// The decision about one issuer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trusted {
    /// It may get the credentials, or there are none.
    Yes,
    /// The user agreed just now.
    Agreed,
}

/// Refuses an `issuer` that may not get the credentials which these options hold.
pub(crate) async fn trust(
    options: &Options,
    cache: Option<&Cache>,
    server: &str,
    issuer: &str,
) -> Result<Trusted, OAuthError> {
    if let Some(named) = options.issuer.as_deref().filter(|named| *named != issuer) {
        let what = format!("the server names another authorization server, not {}", quoted(named));
        return Err(OAuthError::new(what, issuer, "ask who runs the server"));
    }
    let client = options.client.as_ref();
    let is_named = options.issuer.is_some() || client.is_some_and(|client| client.issuer.is_some());
    let has_secret = client.is_some_and(|client| client.credential != Credential::None)
        || matches!(options.grant, Grant::Assertion(_));
    if is_named || !has_secret {
        return Ok(Trusted::Yes);
    }
    let id = client.map_or("", |client| client.id.as_str());
    let pinned = cache.map(|cache| cache.issuer_of(id)).transpose()?.flatten();
    match (pinned, &options.trust) {
        (_, IssuerTrust::First) => Ok(Trusted::Yes),
        (Some(pinned), _) if pinned == issuer => Ok(Trusted::Yes),
        (Some(pinned), _) => {
            let what = format!("the client's credentials belong to another authorization server, {}", quoted(&pinned));
            Err(OAuthError::new(what, issuer, Advice::NameIssuer))
        }
        (None, IssuerTrust::Ask(ask)) => {
            let question = IssuerQuestion { server: quoted(server), issuer: quoted(issuer), client: quoted(id) };
            let refused =
                || OAuthError::new("the authorization server gets no credentials", issuer, Advice::NameIssuer);
            if ask(question).await { Ok(Trusted::Agreed) } else { Err(refused()) }
        }
        (None, IssuerTrust::Named) => {
            let what = "the server chose this authorization server, and it would get the client's credentials";
            Err(OAuthError::new(what, issuer, Advice::NameIssuer))
        }
    }
}
