//! One entry of `auth`: what it holds decides what it is.

use std::path::PathBuf;
use std::sync::Arc;

use oauth::Secret;
use openapi::model::{Place, Scheme};
use serde::Deserialize;

use super::{Authorizing, basic};
use crate::Base;
use crate::concealing::Concealer;
use crate::config::AuthConfig;
use crate::credentials::Reference;
use crate::error::SetupError;
use crate::sending::Sender;

/// An entry of `auth`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AuthRule {
    env: Option<String>,
    file: Option<PathBuf>,
    grant: Option<Grant>,
    #[serde(rename = "in")]
    place: Option<KeyPlace>,
    name: Option<String>,
    prefix: Option<String>,
    username: Option<Reference>,
    password: Option<Reference>,
    pub(super) client_id: Option<Reference>,
    pub(super) client_secret: Option<Reference>,
    pub(super) issuer: Option<String>,
    pub(super) authorize_url: Option<String>,
    pub(super) token_url: Option<String>,
    pub(super) redirect_port: Option<u16>,
    /// A key file as Google gives it.
    pub(super) service_account: Option<Reference>,
    pub(super) private_key: Option<Reference>,
    pub(super) algorithm: Option<String>,
    pub(super) key_id: Option<String>,
    /// For whom a service account acts.
    pub(super) subject: Option<String>,
    pub(super) audience: Option<String>,
    #[serde(default)]
    pub(super) scopes: Vec<String>,
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

/// How tokens are had, where it is not seen from the other members.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Grant {
    ClientCredentials,
    AuthorizationCode,
}

/// What an entry is read with.
pub(super) struct Setting<'s> {
    /// The scheme of its name in the description.
    pub(super) scheme: Option<&'s Scheme>,
    /// Where it stands, for errors.
    pub(super) place: &'s str,
    pub(super) config: &'s AuthConfig,
    pub(super) base: &'s Base,
    pub(super) sender: &'s Sender,
    pub(super) concealer: &'s Arc<Concealer>,
}

impl AuthRule {
    /// Whether only a scheme of the description says where the credential goes.
    pub(super) const fn needs_scheme(&self) -> bool {
        self.place.is_none() && self.username.is_none() && self.client_id.is_none() && self.service_account.is_none()
    }

    /// Whether users consent to it in a browser.
    pub(crate) const fn asks_users(&self) -> bool {
        matches!(self.grant, Some(Grant::AuthorizationCode))
    }

    /// The credential that the entry stands for.
    pub(super) fn credential(&self, setting: &Setting<'_>) -> Result<Authorizing, SetupError> {
        if self.asks_users() {
            return self.consents(setting);
        }
        if self.service_account.is_some() || self.private_key.is_some() {
            return self.service_account(setting);
        }
        if self.client_id.is_some() || self.client_secret.is_some() {
            return self.client_credentials(setting);
        }
        if self.username.is_some() || self.password.is_some() {
            let user = setting.read(self.username.as_ref(), "username")?;
            let password = setting.read(self.password.as_ref(), "password")?;
            setting.concealer.learn(password.reveal());
            let value = basic(&user, &password);
            setting.concealer.learn(value.reveal().trim_start_matches("Basic "));
            return Ok(Authorizing::Header(value));
        }
        let reference = Reference::new(self.env.clone(), self.file.clone());
        let secret = reference.read(setting.place, &setting.config.folder)?;
        setting.concealer.learn(secret.reveal());
        self.key(setting.scheme, setting.place, secret)
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
}
