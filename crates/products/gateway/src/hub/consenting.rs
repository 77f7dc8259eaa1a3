//! What those who run the gateway see and end of users' consents.

use std::sync::Arc;

use serde_json::{Value, json};

use super::Gateway;
use crate::consents::Consents;

impl Gateway {
    /// Consents of users, if the configuration has them.
    pub(crate) fn consents(&self) -> Option<&Arc<Consents>> {
        self.0.consents.as_ref()
    }

    /// A user has consented: what the server shows may be more than before.
    pub(crate) fn announce_consent(&self, upstream: &str) {
        let named = self.0.upstreams().into_iter().find(|one| one.name == upstream);
        if let Some(one) = named {
            self.0.announce_all(one.index);
        }
    }

    /// All consents, without a token.
    pub fn list_consents(&self) -> Value {
        self.consents().map_or_else(|| json!({ "consents": [], "pending": 0 }), |consents| consents.list())
    }

    /// Ends the consent with this id of the list; whether there was one. No request carries its token any more.
    pub async fn revoke_consent(&self, id: &str) -> bool {
        let Some(consents) = self.consents() else { return false };
        let Some(place) = consents.place(id) else { return false };
        let upstreams = self.0.upstreams();
        let named = upstreams.iter().find(|upstream| upstream.name == place.upstream);
        match named.and_then(|upstream| upstream.credentials()).filter(|one| one.asks_for_consent()) {
            Some(credentials) => credentials.revoke_consent(&place).await,
            None => consents.vault.remove(&place, None).await,
        }
    }
}
