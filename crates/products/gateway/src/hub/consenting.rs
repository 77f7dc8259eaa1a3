//! What those who run the gateway see and end of users' consents, and what becomes of their tokens at all gateways.

use std::sync::{Arc, PoisonError, Weak};

use serde_json::{Value, json};

use super::{Gateway, Hub};
use crate::consents::{Consents, Place};

impl Gateway {
    /// Consents of users, if the configuration has them.
    pub(crate) fn consents(&self) -> Option<&Arc<Consents>> {
        self.0.consents.as_ref()
    }

    /// A user has consented: what the server shows may be more than before. Other gateways learn it.
    pub(crate) async fn announce_consent(&self, place: &Place) {
        let (name, upstream) = (place.name(), place.upstream.clone());
        self.0.consent_given(&name, &upstream);
        self.0.tell_consent(name, Some(upstream)).await;
    }

    /// All consents, without a token; `None` while the store that has them does not answer.
    pub async fn list_consents(&self) -> Option<Value> {
        let Some(consents) = self.consents() else { return Some(json!({ "consents": [], "pending": 0 })) };
        consents.list().await.ok()
    }

    /// Ends the consent with this id of the list; whether there was one, or `None` while the store that has it does not answer.
    /// From then on, no request carries its token.
    pub async fn revoke_consent(&self, id: &str) -> Option<bool> {
        let Some(consents) = self.consents() else { return Some(false) };
        let Some(name) = consents.named(id).await.ok()? else { return Some(false) };
        let ended = consents.end(&name).await;
        // A store that does not answer may have ended it.
        self.0.consent_ended(Some(&name));
        self.0.tell_consent(name, None).await;
        ended.ok()
    }

    /// The claim of tokens by which one subject in two tenants is two users.
    pub(crate) fn tenant_claim(&self) -> Option<String> {
        let state = self.0.state.read().unwrap_or_else(PoisonError::into_inner);
        state.settings.tenant_claim().map(str::to_owned)
    }
}

impl Hub {
    /// A user has consented to a server, here or at another gateway.
    pub(super) fn consent_given(&self, name: &str, upstream: &str) {
        self.consent_ended(Some(name));
        let named = self.upstreams().into_iter().find(|one| one.name == upstream);
        if let Some(one) = named {
            self.announce_all(one.index);
        }
    }

    /// A consent has ended or changed, here or at another gateway; without a name, any of them may have.
    pub(super) fn consent_ended(&self, name: Option<&str>) {
        for upstream in self.upstreams() {
            if let Some(credentials) = upstream.credentials() {
                credentials.forget_consent(name);
            }
        }
    }

    /// What the store knows of consents may be something else from now on: tokens that were got before are not used any more.
    pub(super) fn follow_consents(self: &Arc<Self>) {
        let (Some(consents), Some(shared)) = (&self.consents, &self.kept.shared) else { return };
        let (mut epoch, hub, consents) = (shared.epoch(), Arc::downgrade(self), Arc::clone(consents));
        tokio::spawn(async move {
            loop {
                let is_there = epoch.borrow_and_update().is_some();
                let Some(hub) = Weak::upgrade(&hub) else { return };
                hub.consent_ended(None);
                drop(hub);
                if is_there {
                    consents.seal_again().await;
                }
                if epoch.changed().await.is_err() {
                    return;
                }
            }
        });
    }
}
