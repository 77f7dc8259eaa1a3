//! Tokens of an authorization server: fetched when they are needed, used until shortly before they expire.

use std::sync::Arc;

use oauth::{IssuedToken, Secret, ServiceClient, TokenSource, now};
use tokio::sync::Mutex;

use super::service_account::ServiceAccount;
use crate::concealing::{Concealer, TokenClient};

/// How many seconds before its end a token is not used any more.
const EARLY: u64 = 30;

/// The tokens of one client.
pub(crate) struct Tokens {
    client: ServiceClient,
    /// Who asks, if it is not the client by its secret.
    account: Option<ServiceAccount>,
    held: Mutex<Option<IssuedToken>>,
    concealer: Arc<Concealer>,
    token_client: TokenClient,
}

impl Tokens {
    /// Those of a client by its secret. Fetches nothing yet.
    pub(super) fn own(source: TokenSource, concealer: Arc<Concealer>) -> Result<Self, String> {
        Self::new(source, None, concealer)
    }

    /// Those of a service account. Fetches nothing yet.
    pub(super) fn of_account(
        source: TokenSource,
        account: ServiceAccount,
        concealer: Arc<Concealer>,
    ) -> Result<Self, String> {
        Self::new(source, Some(account), concealer)
    }

    fn new(source: TokenSource, account: Option<ServiceAccount>, concealer: Arc<Concealer>) -> Result<Self, String> {
        let client = ServiceClient::new(source).map_err(|error| error.to_string())?.without_own_name();
        let token_client = concealer.client();
        Ok(Self { client, account, held: Mutex::default(), concealer, token_client })
    }

    /// A token; another one than `refused`, which is the header that the API did not take.
    pub(super) async fn token(&self, refused: Option<&Secret>) -> Result<Secret, String> {
        let mut held = self.held.lock().await;
        if let Some(token) = held.as_ref()
            && token.expires > now() + EARLY
            && refused.is_none_or(|refused| refused.reveal().strip_prefix("Bearer ") != Some(token.access.reveal()))
        {
            return Ok(token.access.clone());
        }
        let fetched = match &self.account {
            None => self.client.own().await,
            Some(account) => {
                let assertion = account.assertion();
                // The token endpoint may repeat it.
                self.concealer.learn_token(self.token_client, assertion.reveal());
                self.client.asserted(&assertion).await
            }
        };
        let token = fetched.map_err(|error| self.concealer.shortened(&error.to_string()))?;
        self.concealer.learn_token(self.token_client, token.access.reveal());
        let access = token.access.clone();
        *held = Some(token);
        Ok(access)
    }
}
