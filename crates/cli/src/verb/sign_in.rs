//! Tokens for `check`: got before it begins, from whoever the server names, and sent with everything.

use net::client::Address;
use net::oauth::Scopes;
use url::Url;
use wire::Transport;
use workbench::check::Options;

use crate::args::check::CheckArgs;
use crate::exit::{self, Exit, tell};

/// Signs in at every target that wants it.
pub(crate) async fn sign_in(args: &CheckArgs, options: &mut Options) -> Result<(), Exit> {
    let revision = match options.revisions[..] {
        [only] => Some(only),
        _ => None,
    };
    for target in &mut options.targets {
        let Some(url) = resource(target) else { continue };
        // A check wants to see everything; what it may do there is its own options' business.
        let authorizer = args.reach.oauth.authorizer(&url, revision, Scopes::All, args.reach.ca_file.clone())?;
        let Some(authorizer) = authorizer else { return Ok(()) };
        let signed = authorizer.sign_in(target.transport() == Transport::HttpSse).await;
        let headers = signed.map_err(|error| {
            exit::tell_redacted(&format!("error: {error}"));
            Exit::NoAnswer
        })?;
        let Some(headers) = headers else {
            tell("the server demands no token, and says nowhere who issues one; going on without");
            continue;
        };
        if let Address::Http(http) | Address::Sse(http) | Address::WebSocket(http) = target {
            http.headers.extend(headers);
        }
        if let Some(token) = authorizer.token().await {
            options.secrets.add(token.reveal());
        }
    }
    exit::conceal(options.secrets.clone());
    Ok(())
}

/// What a token must be for. A WebSocket's handshake is a request over HTTP.
fn resource(target: &Address) -> Option<Url> {
    let (Address::Http(http) | Address::Sse(http) | Address::WebSocket(http)) = target else { return None };
    let scheme = match http.url.scheme() {
        "ws" => "http",
        "wss" => "https",
        _ => return Some(http.url.clone()),
    };
    Url::parse(&format!("{scheme}{}", &http.url[url::Position::AfterScheme..])).ok()
}
