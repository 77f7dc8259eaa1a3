//! Tokens of an authorization server: fetched when they are needed, used until shortly before they expire.

use std::sync::Arc;

use oauth::{IssuedToken, Secret, ServiceClient, TokenSource, now};
use tokio::sync::Mutex;

use crate::concealing::{Concealer, TokenClient};

/// How many seconds before its end a token is not used any more.
const EARLY: u64 = 30;

/// The tokens of one client.
pub(crate) struct Tokens {
    client: ServiceClient,
    held: Mutex<Option<IssuedToken>>,
    concealer: Arc<Concealer>,
    token_client: TokenClient,
}

impl Tokens {
    /// Fetches nothing yet.
    pub(super) fn new(source: TokenSource, concealer: Arc<Concealer>) -> Result<Self, String> {
        let client = ServiceClient::new(source).map_err(|error| error.to_string())?.without_own_name();
        let token_client = concealer.client();
        Ok(Self { client, held: Mutex::default(), concealer, token_client })
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
        let token = self.client.own().await.map_err(|error| self.concealer.text(&error.to_string()))?;
        self.concealer.learn_token(self.token_client, token.access.reveal());
        let access = token.access.clone();
        *held = Some(token);
        Ok(access)
    }
}
