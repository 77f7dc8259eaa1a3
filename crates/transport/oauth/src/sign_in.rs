//! Gets a token before the first message, for connections whose headers never change.

use net::client::negotiation::first_request;
use serde_json::json;
use url::Url;
use wire::trace::Headers;
use wire::{Party, Revision};

use super::backend::WebRequest;
use super::error::{Advice, OAuthError};
use super::web::Web;
use super::{AuthChallenge, Authorizer};

/// A request that shows whether the server demands a token: it stands alone, and a server that does not know it starts
/// nothing.
fn first_message() -> String {
    let client = json!({ "name": "proofhouse", "version": env!("CARGO_PKG_VERSION") });
    let (method, params) = first_request(Revision::R2026_07_28, &client, &json!({}));
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string()
}

impl Authorizer {
    /// Gets a token where the server demands one or publishes an issuer, and returns its headers. `None` where it does neither.
    /// `streams` sends a GET, as the old HTTP+SSE transport begins.
    pub async fn sign_in(&self, streams: bool) -> Result<Option<Headers>, OAuthError> {
        let inner = self.0.as_ref();
        let url = &inner.resource;
        let (status, headers) = first_response(&inner.web, url, streams).await?;
        let challenge = AuthChallenge::read(status, &headers);
        let mut state = inner.state.lock().await;
        if challenge.is_none() && !state.has_issuer(&inner.web, &inner.options, url).await {
            return Ok(None);
        }
        let authorized = state.authorize(&inner.web, &inner.options, url, &challenge.unwrap_or_default()).await;
        inner.publish(&state);
        authorized?;
        if state.is_bound() {
            let what = "its tokens are bound to a key, and every request would need a proof of its own";
            return Err(OAuthError::at(what, url, Advice::AuthorizeRequests));
        }
        drop(state);
        Ok(Some(inner.headers("POST", url)))
    }
}

/// Sends a request without a token; returns status and headers.
pub(crate) async fn first_response(web: &Web, url: &Url, streams: bool) -> Result<(u16, Headers), OAuthError> {
    let request = if streams {
        WebRequest {
            headers: vec![("accept".to_owned(), "text/event-stream".to_owned())],
            ..WebRequest::get(url, Party::Server)
        }
    } else {
        let mut request = WebRequest::post(url, "application/json", first_message());
        request.headers.retain(|(name, _)| name != "accept");
        let request = request.with("accept", "application/json, text/event-stream");
        let request = request.with("mcp-method", "server/discover");
        WebRequest { party: Party::Server, ..request.with("mcp-protocol-version", Revision::R2026_07_28.as_str()) }
    };
    let response = web.send(WebRequest { head_only: true, ..request }).await?;
    Ok((response.status, response.headers))
}
