//! Tokens by a user's consent: the one that was kept, the next one by its refresh token, or the question to the user. Must not
//! know how a browser gets to the gateway.

use std::sync::Arc;
use std::time::Instant;

use oauth::{ConsentClient, ConsentSource, Consented, now};

use super::holder::{HeldToken, Holder};
use super::refusals::Refusal;
use super::{Credentials, PATIENCE, Source, principal_key};
use crate::consents::{Consents, Place};
use crate::settings::CredentialSettings;
use crate::upstream::Trouble;

/// A token with less time left is not used any more, in seconds.
const LEAST: u64 = 10;

/// Where consents are, and where they are asked for.
pub(super) struct ByConsent {
    pub(super) client: ConsentClient,
    pub(super) consents: Arc<Consents>,
    /// The address of the server.
    server: String,
    /// The only authorization server whose consents count, where one is configured.
    issuer: Option<String>,
}

impl ByConsent {
    pub(super) fn new(
        settings: &CredentialSettings,
        server: &url::Url,
        consents: Option<&Arc<Consents>>,
    ) -> Result<Self, String> {
        let consents = consents.ok_or("`grant: authorization-code` needs `consents`")?;
        let source = ConsentSource {
            server: Some(server.clone()),
            issuer: settings.issuer.clone(),
            client: settings.client.clone(),
            scopes: settings.scopes.clone(),
            resource: settings.resource.clone(),
            timeout: PATIENCE,
            egress: settings.egress.clone(),
        };
        let client = ConsentClient::new(source).map_err(|error| error.what().to_owned())?;
        Ok(Self { client, consents: Arc::clone(consents), issuer: settings.issuer.clone(), server: server.to_string() })
    }
}

impl Credentials {
    fn place(&self, principal: &str) -> Place {
        Place { principal: principal.to_owned(), upstream: self.upstream.clone() }
    }

    /// The token of a user who consented; with `another`, not the one that was kept.
    pub(super) async fn by_consent(
        &self,
        by: &ByConsent,
        holder: &Holder,
        another: bool,
    ) -> Result<HeldToken, Trouble> {
        let Some(principal) = holder.subject() else { return Err(self.trouble(&Refusal::NoUser)) };
        let place = self.place(principal.reveal());
        let found = by.consents.vault.find(&place);
        // A consent that was given elsewhere, or for a server at another address, does not count here.
        let is_issuer = |issuer: &str| by.issuer.as_ref().is_none_or(|own| own == issuer);
        let found = found.filter(|found| found.server == by.server && is_issuer(&found.consented.issuer));
        let Some(found) = found else { return Err(self.ask(by, &place)) };
        if !another && found.consented.expires > now().saturating_add(LEAST) {
            let kept = holder.keep(&found.consented.token(), Instant::now());
            return kept.ok_or_else(|| self.trouble(&Refusal::Unavailable));
        }
        match by.client.refresh(&found.consented).await {
            Ok(next) => self.use_next(by, (holder, &place), found.number, &next).await,
            Err(error) if error.declined() == Some("invalid_grant") => {
                tracing::info!(upstream = self.upstream, "a user's consent has ended");
                by.consents.vault.remove(&place, Some(found.number)).await;
                holder.reset();
                Err(self.ask(by, &place))
            }
            Err(error) => {
                let what = error.declined().unwrap_or_else(|| error.what());
                tracing::warn!(upstream = self.upstream, "no token: {what}");
                Err(self.refuse(holder, Refusal::of(&error, true)))
            }
        }
    }

    async fn use_next(
        &self,
        by: &ByConsent,
        (holder, place): (&Holder, &Place),
        number: u64,
        next: &Consented,
    ) -> Result<HeldToken, Trouble> {
        // The next refresh token is kept before the access token is used: the old one may be worth nothing now.
        if !by.consents.vault.replace(place, number, next).await {
            return Err(self.ask(by, place));
        }
        match holder.keep(&next.token(), Instant::now()) {
            Some(token) => Ok(self.count(token)),
            None => Err(self.refuse(holder, Refusal::Unavailable)),
        }
    }

    fn ask(&self, by: &ByConsent, place: &Place) -> Trouble {
        match by.consents.ask(place, &self.own) {
            Some(asked) => self.trouble(&Refusal::Consent(asked)),
            None => self.trouble(&Refusal::TooManyAsked),
        }
    }

    /// The client for requests to the authorization server, where users consent.
    pub(crate) fn consent_client(&self) -> Option<&ConsentClient> {
        match &self.source {
            Source::Consent(by) => Some(&by.client),
            Source::Service(_) => None,
        }
    }

    /// Keeps a consent; whether that outlives a crash. A token of the consent before is not used any more.
    pub(crate) async fn keep_consent(&self, place: &Place, consented: &Consented) -> bool {
        let Source::Consent(by) = &self.source else { return false };
        let wrong_issuer = by.issuer.as_ref().is_some_and(|issuer| *issuer != consented.issuer);
        if place.upstream != self.upstream || wrong_issuer {
            return false;
        }
        let holder = self.holder(principal_key(&place.principal));
        let _one = holder.asking.lock().await;
        let kept = by.consents.vault.put(place, &by.server, consented).await;
        holder.reset();
        kept
    }

    /// Ends a consent; whether there was one.
    pub(crate) async fn revoke_consent(&self, place: &Place) -> bool {
        let Source::Consent(by) = &self.source else { return false };
        let holder = self.holder(principal_key(&place.principal));
        let _one = holder.asking.lock().await;
        let removed = by.consents.vault.remove(place, None).await;
        holder.reset();
        removed
    }
}
