//! Credentials of a connection. What they are and where they come from, only the implementation knows; a connection sends
//! the headers that it is given.

use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;

use url::Url;
use wire::trace::Headers;

/// A request that a server refused because of its credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The endpoint that refused.
    pub url: Url,
    /// 401 or 403.
    pub status: u16,
    /// The headers of the response, its challenges among them.
    pub headers: Headers,
    /// How often the same request was refused before.
    pub before: usize,
}

/// New credentials on their way; the error says for a person why there are none.
pub type Authorizing<'a> = Pin<Box<dyn Future<Output = Result<(), String>> + Send + 'a>>;

/// Supplies credentials.
pub trait Authorizer: Debug + Send + Sync {
    /// The headers for a request by `method` to `url`; called for every request.
    fn headers(&self, method: &str, url: &Url) -> Headers;

    /// Gets other credentials after a refusal. On `Ok` the request is repeated with the new [`Self::headers`].
    fn refused<'a>(&'a self, refusal: &'a Refusal) -> Authorizing<'a>;
}
