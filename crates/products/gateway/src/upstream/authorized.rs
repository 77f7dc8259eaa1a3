//! Requests to a server that wants the gateway's token: one token for each, and one repeat with another token where the server
//! refused the first (401), which says that it did nothing. Must not know where tokens come from.

use bytes::Bytes;
use net::server::http::{HeaderMap, HeaderValue, Method};
use net::upstream::{HttpUpstream, Response};
use oauth::AuthChallenge;
use serde_json::json;
use wire::http::JSON;

use super::connecting::Route;
use super::{Trouble, Upstream};
use crate::credentials::Bearer;

/// How much of a refusal is read.
const REST: usize = 16 << 10;

/// Sends one request; without a bearer, as it is.
pub(super) async fn send(
    http: &HttpUpstream,
    bearer: Option<&Bearer>,
    method: Method,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Trouble> {
    match bearer {
        None => Ok(http.send(method, headers, body).await?),
        // On the heap: those who need no token do not pay for it.
        Some(bearer) => Box::pin(send_with_token(http, bearer, method, headers, body)).await,
    }
}

async fn send_with_token(
    http: &HttpUpstream,
    bearer: &Bearer,
    method: Method,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Trouble> {
    let token = bearer.token().await?;
    let mut response = http.send(method.clone(), with(headers.clone(), &token.header), body.clone()).await?;
    if response.status.as_u16() == 401 {
        let _ = response.whole(REST).await;
        let token = bearer.after_refusal(token.number).await?;
        response = http.send(method, with(headers, &token.header), body).await?;
    }
    match challenge(&response) {
        Some(challenge) if challenge.more_scope => Err(bearer.lacks_scope(challenge.scopes.as_deref())),
        _ if response.status.as_u16() == 401 => Err(bearer.refused()),
        _ => Ok(response),
    }
}

fn with(mut headers: HeaderMap, token: &HeaderValue) -> HeaderMap {
    headers.insert("authorization", token.clone());
    headers
}

fn challenge(response: &Response) -> Option<AuthChallenge> {
    let status = response.status.as_u16();
    let headers = response.header("www-authenticate").map(|value| ("www-authenticate".to_owned(), value.to_owned()));
    AuthChallenge::read(status, &headers.into_iter().collect())
}

impl Upstream {
    /// Whether a server whose users have tokens of their own answers at all: somebody without one is refused, not ignored.
    pub(super) async fn answers_strangers(&self) -> bool {
        let Route::Http(http, _) = &self.route else { return false };
        let mut headers = HeaderMap::new();
        headers.insert("accept", HeaderValue::from_static("application/json, text/event-stream"));
        headers.insert("content-type", HeaderValue::from_static(JSON));
        let body = json!({ "jsonrpc": "2.0", "id": 0, "method": "ping" }).to_string();
        let answered = tokio::time::timeout(self.limits.start, http.send(Method::POST, headers, body.into())).await;
        matches!(answered, Ok(Ok(response)) if !response.status.is_server_error())
    }
}
