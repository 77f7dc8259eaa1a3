//! From options for reaching a server to those of the reference client.

use std::sync::Arc;
use std::time::Duration;

use client::Options;
use net::client::{Address, Authorizer, Limits};
use oauth::Scopes;
use wire::Revision;

use crate::args::reach::Reach;
use crate::exit::Exit;
use crate::run::Run;

/// How long a request may go without a sign of life.
const ANSWER: Duration = Duration::from_mins(1);
/// How long a server gets to be reached.
const CONNECT: Duration = Duration::from_secs(10);
/// What a server gets to end after its input is closed, and again after TERM.
const SHUTDOWN: Duration = Duration::from_secs(1);

/// A client of the server at `address` that wants nothing special of it.
pub(crate) fn options(run: &Run, reach: &Reach, address: Address, revision: Option<Revision>) -> Result<Options, Exit> {
    let request = reach.timeout.unwrap_or(ANSWER);
    let limits = Limits {
        request,
        connect: reach.timeout.unwrap_or(CONNECT),
        start: request,
        shutdown: SHUTDOWN,
        ..Limits::default()
    };
    let authorizer = match &address {
        Address::Http(http) => reach.oauth.authorizer(&http.url, revision, Scopes::Asked, reach.ca_file.clone())?,
        // These open with one request: a token is got before. A command has its credentials in its environment.
        Address::Sse(_) | Address::WebSocket(_) | Address::Stdio(_) => None,
    };
    let authorizer = authorizer.map(|one| Arc::new(one) as Arc<dyn Authorizer>);
    Ok(Options { revision, limits, authorizer, ..Options::new(address, &run.children) })
}
