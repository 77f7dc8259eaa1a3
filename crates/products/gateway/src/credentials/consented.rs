//! Tokens by a user's consent: the one that was kept, the next one by its refresh token, or the question to the user. Must not
//! know how a browser gets to the gateway.

use std::sync::Arc;
use std::time::{Duration, Instant};

use oauth::jose::sha256;
use oauth::{ConsentClient, ConsentSource, Consented, OAuthError, now};
use serde_json::json;
use tokio::time::{interval, sleep};

use super::holder::{HeldToken, Holder};
use super::refusals::Refusal;
use super::{Credentials, PATIENCE, Source};
use crate::consents::{Consent, ConsentUser, Consents, Number, Place, random_number};
use crate::settings::CredentialSettings;
use crate::shared::{Away, LEASE, Leased};
use crate::upstream::Trouble;

/// A token with less time left is not used any more, in seconds.
const LEAST: u64 = 10;
/// How long a request waits for another gateway that renews the same consent: a dead one has it for a lease.
const WAIT: Duration = Duration::from_secs(9);
/// How often it looks, and how often what the store did not take is offered again.
const LOOK: Duration = Duration::from_millis(100);
/// For how long that is done.
const OFFER: Duration = Duration::from_mins(10);

/// Where consents are, and where they are asked for.
pub(super) struct ByConsent {
    pub(super) client: ConsentClient,
    pub(super) consents: Arc<Consents>,
    /// The address of the server.
    server: String,
    /// A digest of all that decides where users consent: links of gateways with other settings are of no use here.
    pub(super) digest: String,
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
        let digest = json!([
            server.as_str(),
            settings.issuer,
            settings.client.as_ref().map(|client| &client.id),
            settings.scopes,
            settings.resource
        ]);
        let (issuer, server, digest) = (settings.issuer.clone(), server.to_string(), sha256(&digest.to_string()));
        Ok(Self { client, consents: Arc::clone(consents), issuer, server, digest })
    }
}

impl Credentials {
    /// The token of a user who consented; with `another`, not the one that is held.
    pub(super) async fn by_consent(
        &self,
        by: &ByConsent,
        holder: &Holder,
        another: bool,
    ) -> Result<HeldToken, Trouble> {
        let user = holder.subject().and_then(|subject| ConsentUser::of(subject.reveal()));
        let Some(user) = user else { return Err(self.trouble(&Refusal::NoUser)) };
        let (place, begun) = (user.at(&self.upstream), Instant::now());
        let owner = random_number().ok_or_else(|| self.trouble(&Refusal::Unavailable))?;
        loop {
            // A consent that ends while it is read must not leave its token here.
            let resets = holder.resets();
            let found = self.found(by, &place).await?;
            let is_held = another && holder.writing() == Some(found.number);
            if !is_held && found.consented.expires > now().saturating_add(LEAST) {
                match self.held(holder, &found.consented, (found.number, resets))? {
                    Some(token) => return Ok(token),
                    None => continue,
                }
            }
            match by.consents.lease(&place, &found.number, &owner).await {
                Ok(Leased::Ours) => {
                    if let Some(token) = self.renewed(by, (holder, resets), &place, (&found, owner)).await? {
                        return Ok(token);
                    }
                }
                Ok(Leased::Changed) => {}
                Ok(Leased::Theirs) if begun.elapsed() < WAIT => sleep(LOOK).await,
                Ok(Leased::Theirs) => return Err(self.trouble(&Refusal::Unavailable)),
                Err(Away) => return Err(self.trouble(&Refusal::Away)),
            }
        }
    }

    /// The consent of a user, or the question for it.
    async fn found(&self, by: &ByConsent, place: &Place) -> Result<Consent, Trouble> {
        let found = by.consents.find(place).await.map_err(|Away| self.trouble(&Refusal::Away))?;
        // A consent that was given elsewhere, or for a server at another address, does not count here.
        let is_issuer = |issuer: &str| by.issuer.as_ref().is_none_or(|own| own == issuer);
        match found.filter(|found| found.server == by.server && is_issuer(&found.consented.issuer)) {
            Some(found) => Ok(found),
            None => Err(self.ask(by, place).await),
        }
    }

    /// Keeps a token; nothing where its consent may have changed since there were so many `resets`.
    fn held(&self, holder: &Holder, consented: &Consented, of: (Number, u64)) -> Result<Option<HeldToken>, Trouble> {
        let kept = holder.keep_writing(&consented.token(), Instant::now(), of);
        kept.map_err(|refusal| self.trouble(&refusal))
    }

    /// The next token of a consent that is ours to renew; nothing where it has changed meanwhile.
    async fn renewed(
        &self,
        by: &ByConsent,
        (holder, resets): (&Holder, u64),
        place: &Place,
        (found, owner): (&Consent, Number),
    ) -> Result<Option<HeldToken>, Trouble> {
        let next = match by.refreshed(place, (found, &owner)).await {
            Ok(next) => next,
            Err(error) if error.declined() == Some("invalid_grant") => {
                let ended = by.consents.remove(place, Some(&found.number)).await;
                if ended == Ok(false) {
                    // Given again, or renewed by another gateway.
                    return Ok(None);
                }
                tracing::info!(upstream = self.upstream, "a user's consent has ended");
                holder.reset();
                return Err(self.ask(by, place).await);
            }
            Err(error) => {
                by.consents.release(place, &owner).await;
                let what = error.declined().unwrap_or_else(|| error.what());
                tracing::warn!(upstream = self.upstream, "no token: {what}");
                return Err(self.refuse(holder, Refusal::of(&error, true)));
            }
        };
        // The next refresh token is kept before the access token is used: the old one may be worth nothing now.
        match by.consents.replace(place, (found, &owner), &next).await {
            Ok(Some(number)) => {
                let held = self.held(holder, &next, (number, resets))?;
                Ok(held.map(|token| self.count(token)))
            }
            Ok(None) => Ok(None),
            Err(Away) => {
                tracing::warn!(upstream = self.upstream, "a renewed consent waits for the store");
                tokio::spawn(offer(Arc::clone(&by.consents), place.clone(), (found.clone(), owner), next));
                Err(self.trouble(&Refusal::Away))
            }
        }
    }

    async fn ask(&self, by: &ByConsent, place: &Place) -> Trouble {
        match by.consents.ask(place, (&by.digest, &self.own)).await {
            Ok(Some(asked)) => self.trouble(&Refusal::Consent(asked)),
            Ok(None) => self.trouble(&Refusal::TooManyAsked),
            Err(Away) => self.trouble(&Refusal::Away),
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
        let holder = self.holder(place.user().key());
        let _one = holder.asking.lock().await;
        let kept = by.consents.put(place, &by.server, consented).await;
        holder.reset();
        kept
    }

    /// The link of a consent that was given works no more.
    pub(crate) async fn finish_consent(&self, ticket: &str, place: &Place) {
        if let Source::Consent(by) = &self.source {
            by.consents.finish(ticket, place, &by.digest).await;
        }
    }

    /// A consent was given or ended, here or at another gateway: its token is not used any more. Without a name, all consents may
    /// have changed.
    pub(crate) fn forget_consent(&self, name: Option<&str>) {
        if !self.asks_for_consent() {
            return;
        }
        let holders: Vec<_> = self.lock().values().map(Arc::clone).collect();
        let is_it = |holder: &Holder| {
            let user = holder.subject().and_then(|subject| ConsentUser::of(subject.reveal()));
            user.is_some_and(|user| Some(user.at(&self.upstream).name().as_str()) == name)
        };
        for holder in holders.iter().filter(|holder| name.is_none() || is_it(holder)) {
            holder.reset();
        }
    }
}

impl ByConsent {
    /// Refreshes the token of a consent, which stays leased meanwhile.
    async fn refreshed(&self, place: &Place, (found, owner): (&Consent, &Number)) -> Result<Consented, OAuthError> {
        let mut refreshed = std::pin::pin!(self.client.refresh(&found.consented));
        let mut again = interval(LEASE / 3);
        again.tick().await;
        loop {
            tokio::select! {
                done = &mut refreshed => return done,
                // Without the store, the lease may end, and the authorization server decides.
                _ = again.tick() => { let _ = self.consents.lease(place, &found.number, owner).await; }
            }
        }
    }
}

/// Offers a renewed consent to the store until it takes it, or until something newer is there: the refresh token before may be
/// worth nothing.
async fn offer(consents: Arc<Consents>, place: Place, (found, owner): (Consent, Number), next: Consented) {
    let begun = Instant::now();
    while begun.elapsed() < OFFER {
        sleep(LOOK).await;
        if consents.replace(&place, (&found, &owner), &next).await.is_ok() {
            return;
        }
    }
    tracing::error!(upstream = place.upstream, "a renewed consent is lost: the store was away for too long");
}
