//! One entry of `auth`: what it holds decides what it is.

use std::path::PathBuf;
use std::sync::Arc;

use oauth::{Secret, TokenSource};
use openapi::model::{Place, Scheme};
use serde::Deserialize;
use url::Url;

use super::tokens::Tokens;
use super::{Authorizing, basic, token_url};
use crate::concealing::Concealer;
use crate::config::AuthConfig;
use crate::credentials::Reference;
use crate::error::SetupError;
use crate::sending::Sender;
use crate::{Base, CONNECT};

/// An entry of `auth`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AuthRule {
    env: Option<String>,
    file: Option<PathBuf>,
    #[serde(rename = "in")]
    place: Option<KeyPlace>,
    name: Option<String>,
    prefix: Option<String>,
    username: Option<Reference>,
    password: Option<Reference>,
    client_id: Option<Reference>,
    client_secret: Option<Reference>,
    token_url: Option<String>,
    audience: Option<String>,
    #[serde(default)]
    scopes: Vec<String>,
    /// Hosts besides the API's own that may get it.
    #[serde(default)]
    pub(super) hosts: Vec<String>,
}

/// Where a key goes that the description does not know.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum KeyPlace {
    Header,
    Query,
    Cookie,
}

impl AuthRule {
    /// Whether only a scheme of the description says where the credential goes.
    pub(super) const fn needs_scheme(&self) -> bool {
        self.place.is_none() && self.username.is_none() && self.client_id.is_none()
    }

    /// The credential that the entry at `place` stands for.
    pub(super) fn credential(
        &self,
        scheme: Option<&Scheme>,
        place: &str,
        config: &AuthConfig,
        base: &Base,
        (sender, concealer): (&Sender, &Arc<Concealer>),
    ) -> Result<Authorizing, SetupError> {
        let read = |reference: &Option<Reference>, member: &str| {
            let at = format!("{place}.{member}");
            let reference = reference.as_ref();
            let missing = || SetupError::new(format!("{at} is missing"), "`env: VARIABLE` or `file: PATH`");
            reference.ok_or_else(missing)?.read(&at, &config.folder)
        };
        if self.client_id.is_some() || self.client_secret.is_some() {
            let client = (read(&self.client_id, "client_id")?, read(&self.client_secret, "client_secret")?);
            concealer.learn(client.1.reveal());
            // Both go to the token endpoint in one text, plain or form-encoded, which it may repeat.
            for spell in [str::to_owned, crate::auth::form] {
                let both = [&client.0, &client.1].map(|secret| Secret::new(spell(secret.reveal())));
                concealer.learn(basic(&both[0], &both[1]).reveal().trim_start_matches("Basic "));
            }
            let source = self.source(scheme, place, base, client, sender)?;
            let tokens = Tokens::new(source, Arc::clone(concealer));
            let tokens = tokens.map_err(|why| SetupError::new(format!("{place}: {why}"), "another address"))?;
            return Ok(Authorizing::Token(Box::new(tokens)));
        }
        if self.username.is_some() || self.password.is_some() {
            let (user, password) = (read(&self.username, "username")?, read(&self.password, "password")?);
            concealer.learn(password.reveal());
            let value = basic(&user, &password);
            concealer.learn(value.reveal().trim_start_matches("Basic "));
            return Ok(Authorizing::Header(value));
        }
        let secret = Reference::new(self.env.clone(), self.file.clone()).read(place, &config.folder)?;
        concealer.learn(secret.reveal());
        self.key(scheme, place, secret)
    }

    /// A key or a token that is configured.
    fn key(&self, scheme: Option<&Scheme>, place: &str, secret: Secret) -> Result<Authorizing, SetupError> {
        let (at, name) = match (self.place, scheme) {
            (Some(at), _) => {
                let at = match at {
                    KeyPlace::Header => Place::Header,
                    KeyPlace::Query => Place::Query,
                    KeyPlace::Cookie => Place::Cookie,
                };
                let missing =
                    || SetupError::new(format!("{place} has no `name`"), "the name of the header, or of the pair");
                (at, self.name.clone().ok_or_else(missing)?)
            }
            (None, Some(Scheme::Key { place, name })) => (*place, name.clone()),
            (None, Some(Scheme::Basic)) => {
                return Err(SetupError::new(format!("{place} is for Basic"), "give it `username` and `password`"));
            }
            (None, _) => {
                let prefix = self.prefix.as_deref().unwrap_or("Bearer ");
                return Ok(Authorizing::Header(Secret::new(format!("{prefix}{}", secret.reveal()))));
            }
        };
        let prefix = self.prefix.as_deref().unwrap_or_default();
        let value = Secret::new(format!("{prefix}{}", secret.reveal()));
        if at == Place::Header && !wire::http::is_token(&name) {
            let what = format!("{place}: {} is not the name of a header", crate::shown(&name));
            return Err(SetupError::new(what, "a name such as X-Api-Key"));
        }
        Ok(Authorizing::Key { place: at, name, value })
    }

    fn source(
        &self,
        scheme: Option<&Scheme>,
        place: &str,
        base: &Base,
        (id, secret): (Secret, Secret),
        sender: &Sender,
    ) -> Result<TokenSource, SetupError> {
        let configured = self.token_url.as_ref().map(|url| {
            let bad =
                |_| SetupError::new(format!("{place}.token_url is not a URL"), "the address of the token endpoint");
            Url::parse(url).map_err(bad)
        });
        let endpoint = configured.transpose()?.or_else(|| token_url(scheme, &base.url));
        let missing = || {
            let what = format!("{place} has no `token_url`, and the description names none on the origin of the API");
            SetupError::new(what, "add `token_url`, the address of the token endpoint")
        };
        let endpoint = endpoint.ok_or_else(missing)?;
        let credential = oauth::Credential::Secret(secret);
        Ok(TokenSource {
            server: base.url.clone(),
            issuer: None,
            egress: Some(sender.egress_to(&endpoint, self.token_url.is_some() || base.is_named)),
            token_endpoint: Some(endpoint),
            client: oauth::Client::new(id.reveal(), credential),
            scopes: self.scopes.clone(),
            audience: self.audience.clone(),
            resource: None,
            timeout: CONNECT,
        })
    }
}
