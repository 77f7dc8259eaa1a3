//! Tokens that an endpoint was set up with, or seen to accept: a fault that accepts any other sends one of them on in its
//! place.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use net::server::http::HeaderValue;

/// Tokens that the endpoint lets in.
#[derive(Default)]
pub(super) struct ValidTokens {
    /// The one that it was set up with.
    configured: Option<HeaderValue>,
    /// Those that it was seen to let in, by session; the last of all without one.
    seen: Mutex<HashMap<Option<HeaderValue>, HeaderValue>>,
}

impl std::fmt::Debug for ValidTokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ValidTokens")
    }
}

/// How many sessions' tokens are remembered.
const MOST: usize = 1024;

impl ValidTokens {
    /// Those of an endpoint that lets in who carries `token`.
    pub(super) fn of(token: Option<&str>) -> Self {
        let configured = token.and_then(|token| HeaderValue::from_str(&format!("Bearer {token}")).ok());
        Self { configured, seen: Mutex::default() }
    }

    /// One for a request of this session.
    pub(super) fn one_for(&self, session: Option<&HeaderValue>) -> Option<HeaderValue> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let of_session = session.and_then(|session| seen.get(&Some(session.clone())));
        of_session.or(self.configured.as_ref()).or_else(|| seen.get(&None)).cloned()
    }

    /// A request that carried `token` was let in.
    pub(super) fn remember(&self, session: Option<&HeaderValue>, token: &HeaderValue) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() < MOST {
            seen.extend(session.map(|session| (Some(session.clone()), token.clone())));
        }
        seen.insert(None, token.clone());
    }
}
