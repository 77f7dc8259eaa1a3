//! From the connection options to those of the client library.

use std::sync::Arc;
use std::time::Duration;

use client::Options;
use net::client::{Address, Authorizer, Limits};
use oauth::Scopes;
use wire::Revision;

use crate::args::reach::Reach;
use crate::exit::Exit;
use crate::run::Run;

/// The default timeout of a request without progress.
const ANSWER: Duration = Duration::from_mins(1);
/// The default timeout of a connection.
const CONNECT: Duration = Duration::from_secs(10);

/// The options of a client of the server at `address`.
pub(crate) fn options(run: &Run, reach: &Reach, address: Address, revision: Option<Revision>) -> Result<Options, Exit> {
    let request = reach.timeout.unwrap_or(ANSWER);
    let limits = Limits {
        request,
        connect: reach.timeout.unwrap_or(CONNECT),
        start: request,
        shutdown: client::SHUTDOWN,
        ..Limits::default()
    };
    let authorizer = match &address {
        Address::Http(http) => reach.oauth.authorizer(&http.url, revision, Scopes::Needed, reach.ca_file.clone())?,
        // These open with one request, so the token is fetched before. A command has its credentials in its environment.
        Address::Sse(_) | Address::WebSocket(_) | Address::Stdio(_) => None,
    };
    let authorizer = authorizer.map(|one| Arc::new(one) as Arc<dyn Authorizer>);
    Ok(Options { revision, limits, authorizer, ..Options::new(address, &run.children) })
}
