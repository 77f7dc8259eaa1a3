//! Which pages may post to the gateway's own pages and to its token endpoint: its own. On one host, every port reads and sets the
//! cookies of all, so a cookie does not show which page a browser is at; `Origin` does. Must not know what forms say.

use net::server::http::{GuardRequest, Method};
use url::Url;

use super::TokenGuard;

impl TokenGuard {
    /// Whether another page posts this, or nobody knows which page does. `is_form` is what browsers alone send, and they send
    /// `Origin` with each POST; other programs send none.
    pub(super) fn is_foreign_post(&self, request: &GuardRequest, is_form: bool) -> bool {
        if request.method != Method::POST {
            return false;
        }
        let mut origins = request.headers.get_all("origin").iter();
        match (origins.next(), origins.next()) {
            (None, _) => is_form,
            (Some(origin), None) => !self.own_origins().iter().any(|own| own.as_bytes() == origin.as_bytes()),
            (Some(_), Some(_)) => true,
        }
    }

    /// The origins by which browsers reach the gateway: that of `public_url`, and the addresses where it listens.
    fn own_origins(&self) -> Vec<String> {
        let public = self.settings.public_url.iter().cloned();
        let urls = public.chain(self.own_addresses()).filter_map(|url| Url::parse(&url).ok());
        urls.map(|url| url.origin().ascii_serialization()).collect()
    }
}
