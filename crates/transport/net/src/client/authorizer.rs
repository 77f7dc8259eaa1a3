//! The seam between a connection and whoever has credentials for it. What they are and where they come from is for the one
//! behind it; a connection only sends what it is given.

use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;

use url::Url;
use wire::trace::Headers;

/// What a server refused for want of other credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The endpoint that refused.
    pub url: Url,
    /// 401 or 403.
    pub status: u16,
    /// The headers of the response, its challenges among them.
    pub headers: Headers,
    /// How often this one request was refused before.
    pub before: usize,
}

/// The outcome of looking for other credentials: `Err` says for a person why there are none.
pub type Authorizing<'a> = Pin<Box<dyn Future<Output = Result<(), String>> + Send + 'a>>;

/// Has credentials, or gets them.
pub trait Authorizer: Debug + Send + Sync {
    /// The headers that go with a request of `method` to `url`; asked for each anew.
    fn headers(&self, method: &str, url: &Url) -> Headers;

    /// Gets other credentials after a refusal. On `Ok` the request is made again, with what [`Self::headers`] gives then.
    fn refused<'a>(&'a self, refusal: &'a Refusal) -> Authorizing<'a>;
}
