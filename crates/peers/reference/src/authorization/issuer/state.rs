//! What the issuers remember, all of it bounded, and what is revoked of it. Knows no request.

use super::client::Registered;
use crate::authorization::expiring_store::ExpiringStore;

/// What an issuer remembers. Everything is bounded; what is oldest is forgotten first.
#[derive(Debug)]
pub(super) struct State {
    pub(super) clients: ExpiringStore<Registered>,
    pub(super) codes: ExpiringStore<Code>,
    /// Codes that were redeemed, and the consent they came of: who redeems one again is a thief, or was robbed.
    pub(super) redeemed: ExpiringStore<String>,
    pub(super) refreshes: ExpiringStore<Grant>,
    /// Refresh tokens that were used, and whose they were: who uses one again is a thief, or was robbed.
    pub(super) spent: ExpiringStore<String>,
    /// Consents whose tokens are good no more.
    pub(super) revoked: ExpiringStore<()>,
    /// Authorization requests that a person is looking at.
    pub(super) pending: ExpiringStore<String>,
}

/// What a user agreed to.
#[derive(Clone, Debug)]
pub(super) struct Grant {
    pub(super) tenant: &'static str,
    pub(super) client: String,
    pub(super) subject: String,
    pub(super) scopes: Vec<String>,
    pub(super) resource: String,
    /// Which tokens come from the same consent.
    pub(super) family: String,
    /// The fingerprint of the key that the token is bound to.
    pub(super) key: Option<String>,
}

/// An authorization code.
#[derive(Clone, Debug)]
pub(super) struct Code {
    pub(super) grant: Grant,
    pub(super) redirect: String,
    pub(super) challenge: String,
}

impl State {
    /// Nothing yet; access tokens are good for `lasts` seconds.
    pub(super) fn new(lasts: u64) -> Self {
        Self {
            clients: ExpiringStore::new(1024, 24 * 3600),
            codes: ExpiringStore::new(1024, 60),
            redeemed: ExpiringStore::new(4096, 24 * 3600),
            refreshes: ExpiringStore::new(4096, 24 * 3600),
            spent: ExpiringStore::new(4096, 24 * 3600),
            // For as long as an access token may still be good.
            revoked: ExpiringStore::new(4096, lasts + 60),
            pending: ExpiringStore::new(256, 600),
        }
    }

    /// Ends every token that came of a consent.
    pub(super) fn revoke(&mut self, consent: &str) {
        self.refreshes.drop_where(|grant| grant.family == consent);
        self.revoked.put(consent.to_owned(), ());
    }
}
