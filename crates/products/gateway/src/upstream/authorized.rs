//! Requests to a server that wants the gateway's token, its assertion, or both: one of each for each request, and one repeat
//! with others where the server refused the token (401), which says that it did nothing. Must not know where they come from.

use bytes::Bytes;
use net::server::http::{HeaderMap, HeaderValue, Method};
use net::upstream::{HttpUpstream, Response};
use oauth::AuthChallenge;
use serde_json::json;
use wire::http::JSON;

use super::connecting::Route;
use super::{Trouble, Upstream};
use crate::assertions::Assertion;
use crate::credentials::Bearer;
use crate::live::Side;

/// How much of a refusal is read.
const REST: usize = 16 << 10;

/// What the requests of a conversation prove.
#[derive(Clone)]
pub(super) struct Authority {
    /// The token that the gateway has for the server.
    pub(super) bearer: Option<Bearer>,
    /// That they come through this gateway, and for whom.
    pub(super) assertion: Option<Assertion>,
    /// Learns what no text may show.
    pub(super) side: Side,
}

impl Authority {
    /// The headers of one request, which are never those of another.
    fn headers(
        &self,
        mut headers: HeaderMap,
        token: Option<&HeaderValue>,
        (method, body): (&Method, &Bytes),
    ) -> Result<HeaderMap, Trouble> {
        if let Some(token) = token {
            headers.insert("authorization", token.clone());
        }
        if let Some(assertion) = &self.assertion {
            assertion.sign(method, &mut headers, body)?;
        }
        self.side.live().learn(&headers);
        Ok(headers)
    }
}

/// Sends one request; as it is, where the server gets no proof.
pub(super) async fn send(
    http: &HttpUpstream,
    authority: &Authority,
    method: Method,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Trouble> {
    match authority {
        Authority { bearer: None, assertion: None, .. } => Ok(http.send(method, headers, body).await?),
        Authority { bearer: None, assertion: Some(_), .. } => {
            let headers = authority.headers(headers, None, (&method, &body))?;
            Ok(http.send(method, headers, body).await?)
        }
        // On the heap: those who need no token do not pay for it.
        Authority { bearer: Some(bearer), .. } => {
            Box::pin(send_with_token(http, (authority, bearer), method, headers, body)).await
        }
    }
}

async fn send_with_token(
    http: &HttpUpstream,
    (authority, bearer): (&Authority, &Bearer),
    method: Method,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Trouble> {
    let token = bearer.token().await?;
    let first = authority.headers(headers.clone(), Some(&token.header), (&method, &body))?;
    let mut response = http.send(method.clone(), first, body.clone()).await?;
    if response.status.as_u16() == 401 {
        let _ = response.whole(REST).await;
        let token = bearer.after_refusal(token.number).await?;
        let second = authority.headers(headers, Some(&token.header), (&method, &body))?;
        response = http.send(method, second, body).await?;
    }
    match challenge(&response) {
        Some(challenge) if challenge.more_scope => Err(bearer.lacks_scope(challenge.scopes.as_deref())),
        _ if response.status.as_u16() == 401 => Err(bearer.refused()),
        _ => Ok(response),
    }
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
