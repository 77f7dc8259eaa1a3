//! A token before anything is said, for who sends the same headers with everything.

use url::Url;
use wire::trace::Headers;
use wire::{Party, Revision};

use super::backend::WebRequest;
use super::error::{Advice, OAuthError};
use super::{AuthChallenge, Authorizer};

/// What is asked to see whether anybody may ask: it stands alone, and a server that does not know it begins nothing.
const HELLO: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"#,
    r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"#,
    r#""io.modelcontextprotocol/clientInfo":{"name":"proofhouse","version":""#,
    env!("CARGO_PKG_VERSION"),
    r#""}}}}"#
);

impl Authorizer {
    /// Gets a token, where the server demands one or publishes who issues it: the headers that carry it. `None` where it
    /// does neither. `streams` asks by GET, as the old HTTP+SSE transport begins.
    pub async fn sign_in(&self, streams: bool) -> Result<Option<Headers>, OAuthError> {
        let inner = self.0.as_ref();
        let url = &inner.resource;
        let (status, headers) = self.hello(url, streams).await?;
        let demand = AuthChallenge::read(status, &headers);
        let mut state = inner.state.lock().await;
        if demand.is_none() && !state.may_be_had(&inner.web, &inner.options, url).await {
            return Ok(None);
        }
        let authorized = state.authorize(&inner.web, &inner.options, url, &demand.unwrap_or_default()).await;
        inner.show(&state);
        authorized?;
        if state.is_bound() {
            let what = "its tokens are bound to a key, and every request would need a proof of its own";
            return Err(OAuthError::at(what, url, Advice::AuthorizeRequests));
        }
        drop(state);
        Ok(Some(inner.headers("POST", url)))
    }

    /// Asks without a token: status and headers.
    async fn hello(&self, url: &Url, streams: bool) -> Result<(u16, Headers), OAuthError> {
        let asked = if streams {
            WebRequest {
                headers: vec![("accept".to_owned(), "text/event-stream".to_owned())],
                ..WebRequest::get(url, Party::Server)
            }
        } else {
            let mut asked = WebRequest::post(url, "application/json", HELLO.to_owned());
            asked.headers.retain(|(name, _)| name != "accept");
            let asked = asked.with("accept", "application/json, text/event-stream");
            let asked = asked.with("mcp-method", "server/discover");
            WebRequest { party: Party::Server, ..asked.with("mcp-protocol-version", Revision::R2026_07_28.as_str()) }
        };
        let answered = self.0.web.send(WebRequest { head_only: true, ..asked }).await?;
        Ok((answered.status, answered.headers))
    }
}
