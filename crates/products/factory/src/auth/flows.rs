//! Entries of `auth` that stand for tokens: client credentials, service accounts, and the consent of users.

use std::sync::Arc;

use oauth::{Client, ConsentClient, ConsentSource, Credential, Secret, TokenSource};
use openapi::model::Scheme;
use url::Url;

use super::configured::{AuthRule, Setting};
use super::consents::Consents;
use super::service_account::{Claims, KeyFile, ServiceAccount};
use super::tokens::Tokens;
use super::{Authorizing, basic, form, on_origin};
use crate::CONNECT;
use crate::credentials::Reference;
use crate::error::SetupError;

/// How assertions are signed by default.
const ALGORITHM: &str = "RS256";

impl AuthRule {
    /// The service itself, by its id and secret.
    pub(super) fn client_credentials(&self, setting: &Setting<'_>) -> Result<Authorizing, SetupError> {
        let id = setting.read(self.client_id.as_ref(), "client_id")?;
        let secret = setting.read(self.client_secret.as_ref(), "client_secret")?;
        learn_client(setting, &id, &secret);
        let client = Client::new(id.reveal(), Credential::Secret(secret));
        let source = self.source(setting, client, None)?;
        Tokens::own(source, Arc::clone(setting.concealer)).map_err(|why| setting.unusable(&why)).map(Self::token)
    }

    /// A service account, by its private key (RFC 7523): of a key file as Google gives it, or as the entry says.
    pub(super) fn service_account(&self, setting: &Setting<'_>) -> Result<Authorizing, SetupError> {
        let scope = (!self.scopes.is_empty()).then(|| self.scopes.join(" "));
        let (key, issuer, subject, key_id, token_url, claimed) = if let Some(reference) = &self.service_account {
            let place = setting.member("service_account");
            let file = KeyFile::read(&setting.read_whole(Some(reference), "service_account")?, &place)?;
            (file.key, file.email, self.subject.clone(), file.key_id, file.token_url, scope)
        } else {
            let key = setting.read_whole(self.private_key.as_ref(), "private_key")?;
            let id = setting.read(self.client_id.as_ref(), "client_id")?.reveal().to_owned();
            let subject = self.subject.clone().unwrap_or_else(|| id.clone());
            (key, id, Some(subject), self.key_id.clone(), None, None)
        };
        setting.concealer.learn(key.reveal());
        // The key file is the user's own: it may name where its assertions go.
        let client = Client::new("", Credential::None);
        let mut source = self.source(setting, client, token_url.as_deref())?;
        source.audience = None;
        if claimed.is_some() {
            source.scopes = Vec::new();
        }
        let endpoint = source.token_endpoint.as_ref().map(Url::to_string).unwrap_or_default();
        let audience = self.audience.clone().unwrap_or(endpoint);
        let claims = Claims { key_id, issuer, subject, audience, scope: claimed };
        let algorithm = self.algorithm.as_deref().unwrap_or(ALGORITHM);
        let account = ServiceAccount::new(&key, algorithm, claims, setting.place)?;
        let tokens = Tokens::of_account(source, account, Arc::clone(setting.concealer));
        tokens.map_err(|why| setting.unusable(&why)).map(Self::token)
    }

    /// Users who consent in a browser, each for themselves.
    pub(super) fn consents(&self, setting: &Setting<'_>) -> Result<Authorizing, SetupError> {
        let id = setting.read(self.client_id.as_ref(), "client_id")?;
        let credential = match &self.client_secret {
            None => Credential::None,
            Some(reference) => {
                let secret = setting.read(Some(reference), "client_secret")?;
                learn_client(setting, &id, &secret);
                Credential::Secret(secret)
            }
        };
        let mut source = ConsentSource {
            server: None,
            issuer: self.issuer.clone(),
            client: Some(Client::new(id.reveal(), credential)),
            scopes: self.scopes.clone(),
            resource: self.audience.clone(),
            timeout: CONNECT,
            egress: None,
        };
        let client = match self.consent_endpoints(setting)? {
            None => ConsentClient::new(source),
            Some((authorize, token)) => {
                let is_named = self.token_url.is_some() || setting.base.is_named;
                source.egress = Some(setting.sender.egress_to(&token, is_named));
                ConsentClient::at(source, authorize, token)
            }
        };
        let client = client.map_err(|error| setting.unusable(error.what()))?;
        let consents = Consents::new(client, self.redirect_port, Arc::clone(setting.concealer));
        Ok(Authorizing::Consent(Box::new(consents)))
    }

    /// Where users consent and where tokens are: as configured, or as the description says, if both are on the origin of the API.
    /// `None`: the metadata of the issuer says so.
    fn consent_endpoints(&self, setting: &Setting<'_>) -> Result<Option<(Url, Url)>, SetupError> {
        let described = match setting.scheme {
            Some(Scheme::OAuth { authorization_code: Some((authorize, token)), .. }) => {
                on_origin(authorize, setting.base).zip(on_origin(token, setting.base))
            }
            _ => None,
        };
        match (&self.authorize_url, &self.token_url, &self.issuer) {
            (Some(authorize), Some(token), _) => {
                Ok(Some((setting.url(authorize, "authorize_url")?, setting.url(token, "token_url")?)))
            }
            (None, None, Some(_)) => Ok(None),
            (None, None, None) if described.is_some() => Ok(described),
            _ => {
                let what = format!(
                    "{} does not say where users consent, and the description says it of no place on the API's origin",
                    setting.place
                );
                Err(SetupError::new(what, "add `authorize_url` and `token_url`, or `issuer`"))
            }
        }
    }

    fn token(tokens: Tokens) -> Authorizing {
        Authorizing::Token(Box::new(tokens))
    }

    /// Where tokens come from: as configured, as the user's key file says, or as the description says.
    fn source(&self, setting: &Setting<'_>, client: Client, own: Option<&str>) -> Result<TokenSource, SetupError> {
        let named = self.token_url.as_deref().or(own).map(|url| setting.url(url, "token_url")).transpose()?;
        let is_named = named.is_some() || setting.base.is_named;
        let described = || match setting.scheme {
            Some(Scheme::OAuth { client_credentials: Some(url), .. }) => on_origin(url, setting.base),
            _ => None,
        };
        let missing = || {
            let place = setting.place;
            let what = format!("{place} has no `token_url`, and the description names none on the origin of the API");
            SetupError::new(what, "add `token_url`, the address of the token endpoint")
        };
        let endpoint = named.or_else(described).ok_or_else(missing)?;
        Ok(TokenSource {
            server: setting.base.url.clone(),
            issuer: None,
            egress: Some(setting.sender.egress_to(&endpoint, is_named)),
            token_endpoint: Some(endpoint),
            client,
            scopes: self.scopes.clone(),
            audience: self.audience.clone(),
            resource: None,
            timeout: CONNECT,
        })
    }
}

/// Both go to the token endpoint in one text, plain or form-encoded, which it may repeat.
fn learn_client(setting: &Setting<'_>, id: &Secret, secret: &Secret) {
    setting.concealer.learn(secret.reveal());
    for spell in [str::to_owned, form] {
        let both = [id, secret].map(|secret| Secret::new(spell(secret.reveal())));
        setting.concealer.learn(basic(&both[0], &both[1]).reveal().trim_start_matches("Basic "));
    }
}

impl Setting<'_> {
    /// The place of a member of the entry.
    pub(super) fn member(&self, name: &str) -> String {
        format!("{}.{name}", self.place)
    }

    fn missing(&self, name: &str) -> SetupError {
        SetupError::new(format!("{} is missing", self.member(name)), "`env: VARIABLE` or `file: PATH`")
    }

    /// A credential on one line.
    pub(super) fn read(&self, reference: Option<&Reference>, name: &str) -> Result<Secret, SetupError> {
        reference.ok_or_else(|| self.missing(name))?.read(&self.member(name), &self.config.folder)
    }

    /// A credential that may have several lines.
    fn read_whole(&self, reference: Option<&Reference>, name: &str) -> Result<Secret, SetupError> {
        reference.ok_or_else(|| self.missing(name))?.read_whole(&self.member(name), &self.config.folder)
    }

    fn url(&self, text: &str, name: &str) -> Result<Url, SetupError> {
        Url::parse(text).map_err(|_| SetupError::new(format!("{} is not a URL", self.member(name)), "a whole URL"))
    }

    fn unusable(&self, why: &str) -> SetupError {
        SetupError::new(format!("{}: {why}", self.place), "another address")
    }
}
