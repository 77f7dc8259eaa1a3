//! Why there is no token for a request, and what its client is told: a code, no text of an authorization server.

use std::time::Duration;

use net::service::RpcError;
use oauth::OAuthError;
use serde_json::json;

use crate::consents::Asked;
use crate::failure;

/// Why a request goes to no server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// It is in no user's name.
    NoUser,
    /// The authorization server gives this user no token.
    Denied(String),
    /// It does not accept the gateway.
    Gateway(String),
    /// It gives none at this moment.
    Unavailable,
    /// The server refuses the token.
    Refused,
    /// The server wants these scopes.
    Scope(Vec<String>),
    /// The user has to consent first.
    Consent(Asked),
    /// Too many users have to consent first.
    TooManyAsked,
    /// The store that has the consents cannot be asked.
    Away,
}

impl Refusal {
    pub(super) fn of(error: &OAuthError, per_user: bool) -> Self {
        match error.declined() {
            None => Self::Unavailable,
            Some(code @ ("temporarily_unavailable" | "server_error")) => {
                tracing::debug!(code, "the authorization server fails");
                Self::Unavailable
            }
            Some(code @ ("invalid_client" | "unauthorized_client" | "unsupported_grant_type")) => {
                Self::Gateway(code.to_owned())
            }
            Some(code) if per_user => Self::Denied(code.to_owned()),
            Some(code) => Self::Gateway(code.to_owned()),
        }
    }

    /// How long it stays, where it came up `times` times in a row.
    pub(super) fn lasts(&self, times: u32) -> Duration {
        match self {
            Self::Denied(_) => Duration::from_secs(5),
            Self::Gateway(_) => Duration::from_secs(15),
            _ => Duration::from_secs(1 << times.min(5)).min(Duration::from_secs(30)),
        }
    }

    pub(super) fn error(&self, upstream: &str) -> RpcError {
        let (row, what, mut data) = match self {
            Self::NoUser => {
                (failure::USER_NEEDED, "is used in the name of a user, and the request has no token", json!({}))
            }
            Self::Denied(code) => {
                let what = "is not open to this user: the authorization server gives no token for it";
                (failure::EXCHANGE_DENIED, what, json!({ "oauth_error": code }))
            }
            Self::Gateway(code) => {
                let what = "was not reached: its authorization server does not accept the gateway";
                (failure::GATEWAY_NOT_ACCEPTED, what, json!({ "oauth_error": code }))
            }
            Self::Unavailable => {
                (failure::NO_SERVER_TOKEN, "was not reached: its authorization server gives no token", json!({}))
            }
            Self::Refused => (failure::SERVER_TOKEN_REFUSED, "refuses the gateway's token", json!({})),
            Self::Scope(scopes) => {
                let what = "wants a scope that the gateway's token lacks";
                (failure::SERVER_WANTS_SCOPE, what, json!({ "required_scopes": scopes }))
            }
            Self::Consent(asked) => return consent_needed(upstream, asked),
            Self::TooManyAsked => {
                (failure::TOO_MANY_CONSENTS, "needs a consent of the user, and too many are asked for", json!({}))
            }
            Self::Away => (
                failure::STORE_AWAY,
                "needs a consent of the user, and the store of consents does not answer",
                json!({}),
            ),
        };
        data["upstream"] = json!(upstream);
        row.error_with(format!("The server `{upstream}` {what}"), data)
    }
}

fn consent_needed(upstream: &str, Asked { url, id }: &Asked) -> RpcError {
    let what = format!("The server `{upstream}` needs the consent of this user: open {url}");
    failure::CONSENT_NEEDED.error_with(what, json!({ "upstream": upstream, "url": url, "elicitationId": id }))
}
