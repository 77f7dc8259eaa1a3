//! Gets a token before the first request, and sends it with every request: for `check`, and for transports that open with
//! one request.

use std::path::PathBuf;
use std::sync::Arc;

use judge::check::Options;
use net::client::{Address, Authorizer};
use oauth::{Scopes, Secret};
use suite::test::Authorize;
use url::Url;
use wire::{Revision, Transport};

use crate::args::check::CheckArgs;
use crate::args::oauth::OAuthArgs;
use crate::args::reach::Reach;
use crate::exit::{self, Exit, tell};
use crate::run::Run;

/// Signs in at every target that requires it.
pub(crate) async fn sign_in(run: &Run, args: &CheckArgs, options: &mut Options) -> Result<(), Exit> {
    let revision = match options.revisions.named() {
        [only] => Some(*only),
        _ => None,
    };
    for target in &mut options.targets {
        if let Some(token) = sign_in_at(&args.server.reach, target, revision).await? {
            options.secrets.add(token.reveal());
        }
    }
    exit::conceal(run.redactor_of(&options.secrets));
    Ok(())
}

/// Signs in at one address, if it requires that; adds the token to the address and returns it.
pub(crate) async fn sign_in_at(
    reach: &Reach,
    target: &mut Address,
    revision: Option<Revision>,
) -> Result<Option<Secret>, Exit> {
    sign_in_with(&reach.oauth, reach.ca_file.clone(), target, revision).await
}

/// The same, with options of its own.
pub(crate) async fn sign_in_with(
    oauth: &OAuthArgs,
    ca: Option<PathBuf>,
    target: &mut Address,
    revision: Option<Revision>,
) -> Result<Option<Secret>, Exit> {
    let Some(url) = resource(target) else { return Ok(None) };
    // All scopes, because none can be added later; other options limit what is called.
    let authorizer = oauth.authorizer(&url, revision, Scopes::All, ca)?;
    let Some(authorizer) = authorizer else { return Ok(None) };
    let signed = authorizer.sign_in(target.transport() == Transport::HttpSse).await;
    let headers = signed.map_err(|error| {
        exit::tell_redacted(&format!("error: {}", error.describe(crate::advice::authorizing)));
        Exit::NoAnswer
    })?;
    let Some(headers) = headers else {
        tell("note: the server requires no token and names no issuer; continuing without");
        return Ok(None);
    };
    if let Address::Http(http) | Address::Sse(http) | Address::WebSocket(http) = target {
        http.headers.extend(headers);
    }
    Ok(authorizer.token().await)
}

/// How test files get credentials for their servers, if `--oauth` is given.
pub(crate) fn authorize(oauth: &OAuthArgs, ca: Option<PathBuf>) -> Option<Authorize> {
    oauth.oauth?;
    let given = (oauth.clone(), ca);
    Some(Arc::new(move |mut address: Address, revision: Option<Revision>| {
        let (oauth, ca) = given.clone();
        // The cause was printed.
        let failed = |_| "no token: see the error above".to_owned();
        Box::pin(async move {
            if let Address::Http(http) = &address {
                let authorizer = oauth.authorizer(&http.url, revision, Scopes::Needed, ca).map_err(failed)?;
                return Ok((address, authorizer.map(|one| Arc::new(one) as Arc<dyn Authorizer>)));
            }
            sign_in_with(&oauth, ca, &mut address, revision).await.map_err(failed)?;
            Ok((address, None))
        })
    }))
}

/// The resource that a token is for. A WebSocket handshake is an HTTP request.
fn resource(target: &Address) -> Option<Url> {
    let (Address::Http(http) | Address::Sse(http) | Address::WebSocket(http)) = target else { return None };
    let scheme = match http.url.scheme() {
        "ws" => "http",
        "wss" => "https",
        _ => return Some(http.url.clone()),
    };
    Url::parse(&format!("{scheme}{}", &http.url[url::Position::AfterScheme..])).ok()
}
