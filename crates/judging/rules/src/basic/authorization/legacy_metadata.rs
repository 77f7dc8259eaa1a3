//! 2025-03-26, where the server is its own authorization server unless it says otherwise: the metadata at its origin.

use serde_json::Value;
use wire::revision::{R2025_03_26, R2025_06_18};

use super::metadata::{is_delegated, is_missing, object};
use super::{HTTP, page, refused};
use crate::rule::{Rule, server};
use crate::verdict::{Located, Verdict};
use crate::view::{Exchange, View};

/// The rules.
pub(crate) const RULES: &[Rule] = &[
    server("authorization.server-metadata")
        .on(HTTP)
        .says(
            R2025_03_26,
            page("overview"),
            "A server that demands tokens SHOULD publish OAuth 2.0 authorization server metadata.",
        )
        .gone(R2025_06_18)
        .how("Asks the origin for the well-known document, unless the server names another place to be authorized at.")
        .fix("Serve `/.well-known/oauth-authorization-server` with `issuer` and the endpoints.")
        .judge(published),
    server("authorization.server-metadata-at-root")
        .on(HTTP)
        .says(
            R2025_03_26,
            page("authorization-base-url"),
            "Authorization server metadata MUST stand at the origin, whatever the path of the MCP endpoint.",
        )
        .gone(R2025_06_18)
        .how("Where the origin has no such document, asks for it below and above the endpoint's path.")
        .fix("Serve `/.well-known/oauth-authorization-server` at the root of the origin.")
        .judge(at_root),
    server("authorization.default-endpoints")
        .on(HTTP)
        .says(
            R2025_03_26,
            page("server-metadata-discovery"),
            "A server without authorization server metadata MUST serve the default endpoints /authorize, /token and /register.",
        )
        .gone(R2025_06_18)
        .how("Where no metadata is found, asks for /authorize at the origin without parameters: 404 or 410 shows that the endpoint is missing; a page, a redirect or an error about parameters shows that it exists. A missing one counts only where a Bearer challenge of the server says more than its realm, as OAuth has it: others may want a token of another kind.")
        .fix("Publish authorization server metadata, or serve /authorize, /token and /register at the root of the origin.")
        .judge(default_endpoints),
];

const WELL_KNOWN: &str = "/.well-known/oauth-authorization-server";

const NOT_ASKED: &str = "the origin was not asked for it, or no request was refused for lack of a token";

/// Where it was looked for.
fn fetches<'a, 'v>(view: &'a View<'v>) -> impl Iterator<Item = &'a Exchange<'v>> {
    view.exchanges().iter().filter(|x| x.is("GET") && x.path().is_some_and(|path| path.contains(WELL_KNOWN)))
}

fn root<'a, 'v>(view: &'a View<'v>) -> Option<&'a Exchange<'v>> {
    fetches(view).find(|x| x.path() == Some(WELL_KNOWN))
}

/// The metadata that a fetch brought.
fn metadata(x: &Exchange<'_>) -> Option<Value> {
    object(x).filter(|found| found.get("issuer").is_some_and(Value::is_string))
}

fn published(view: &View<'_>) -> Verdict {
    let judged = root(view).filter(|_| !refused(view).is_empty()).and_then(|x| {
        if metadata(x).is_some() {
            return Some((x.event(), Ok(())));
        }
        let why = "the origin has no authorization server metadata, and the server names no other place";
        (is_missing(x) && !is_delegated(view)).then(|| (x.event(), Err(x.status_breach(why))))
    });
    Verdict::of(judged, NOT_ASKED)
}

fn at_root(view: &View<'_>) -> Verdict {
    let judged = root(view).and_then(|x| {
        if metadata(x).is_some() {
            return Some((x.event(), Ok(())));
        }
        let misplaced = fetches(view).find(|y| metadata(y).is_some())?;
        let why = format!("the metadata stands at `{}` and not at the origin's root", misplaced.path()?.escape_debug());
        (is_missing(x) && !is_delegated(view)).then(|| (x.event(), Err(misplaced.status_breach(why))))
    });
    Verdict::of(judged, NOT_ASKED)
}

/// The default endpoint that can be asked for without any effect.
const AUTHORIZE: &str = "/authorize";

fn default_endpoints(view: &View<'_>) -> Verdict {
    let missing = root(view).filter(|x| is_missing(x) && !refused(view).is_empty());
    let missing = missing.filter(|_| !is_delegated(view) && !fetches(view).any(|x| metadata(x).is_some()));
    // Who only wants a token of some kind is no part of OAuth, and owes none of its endpoints.
    let speaks_of_oauth = |challenge: &str| {
        let bearer = challenge.trim_start().get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("bearer"));
        bearer && challenge.split([',', ' ']).any(|word| word.contains('=') && !word.starts_with("realm="))
    };
    let challenges = |x: &Exchange<'_>| x.response_header("www-authenticate").is_some_and(speaks_of_oauth);
    let oauth = view.exchanges().iter().any(|x| x.status() == Some(401) && challenges(x));
    let requested = view.exchanges().iter().find(|x| x.is("GET") && x.path() == Some(AUTHORIZE));
    let judged = missing.zip(requested).and_then(|(metadata, x)| match x.status()? {
        404 | 410 if !oauth => None,
        404 | 410 => {
            let why = "the server publishes no authorization server metadata, and /authorize does not exist";
            Some((x.event(), Err(x.status_breach(why))))
        }
        // Some servers answer alike wherever they are asked: that shows no endpoint.
        status if metadata.status() == Some(status) => None,
        200..=400 | 422 => Some((x.event(), Ok(()))),
        _ => None,
    });
    Verdict::of(judged, "there is metadata to go by, or /authorize was not asked for or answered for another reason")
}

/// The endpoints that such a document names: the event, the place in the document, the address.
pub(super) fn endpoints(view: &View<'_>) -> Vec<(usize, String, String)> {
    let named = |x: &Exchange<'_>| -> Option<Vec<(usize, String, String)>> {
        let (event, _) = x.response_body?;
        let found = metadata(x)?;
        let members = found.as_object()?.iter().filter(|(name, _)| name.ends_with("_endpoint"));
        let urls = members.filter_map(|(name, url)| Some((event, format!("/{name}"), url.as_str()?.to_owned())));
        Some(urls.collect())
    };
    fetches(view).filter_map(named).flatten().collect()
}
