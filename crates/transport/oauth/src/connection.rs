//! An authorizer for connections: headers for requests, and other ones after a refusal.

use url::Url;
use wire::trace::Headers;

use super::{Authorizer, NONCES, Recovery};
use net::client::{Authorizing, Refusal};

impl net::client::Authorizer for Authorizer {
    fn headers(&self, method: &str, url: &Url) -> Headers {
        self.0.headers(method, url)
    }

    fn refused<'a>(&'a self, refusal: &'a Refusal) -> Authorizing<'a> {
        // The refused token is not known: a request that waited while another token was fetched uses that one.
        let seen = self.0.generation();
        Box::pin(async move {
            let Refusal { url, status, headers, before } = refusal;
            let url = if url.origin() == self.0.resource.origin() { url } else { &self.0.resource };
            let counts = (*before, before.saturating_sub(1).min(NONCES));
            match self.0.recover(url, (*status, headers), seen, counts).await {
                Ok(Recovery::None) => Err(format!("HTTP {status}, which no token would change")),
                Ok(Recovery::Nonce | Recovery::Token) => Ok(()),
                Err(error) => Err(error.line()),
            }
        })
    }
}
