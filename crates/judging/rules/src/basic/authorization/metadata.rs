//! The protected resource metadata (RFC 9728): where a server says that it is, what it must have, and what it should not.

use serde_json::Value;
use wire::revision::{R2025_03_26, R2025_06_18, R2025_11_25, R2026_07_28};

use super::{
    Address, HTTP, challenged, discovery, host_name, index, is_loopback, is_unrelated_to_tokens, legacy_metadata, page,
    refused, security,
};
use crate::rule::{Rule, server};
use crate::verdict::{Breach, Kept, Located, Verdict};
use crate::view::{Exchange, View};

/// The rules.
pub(crate) const RULES: &[Rule] = &[
    server("authorization.metadata-located")
        .on(HTTP)
        .says(
            R2025_06_18,
            page("authorization-server-location"),
            "A 401 MUST say in its WWW-Authenticate header where the resource's metadata is.",
        )
        .says(
            R2025_11_25,
            page("protected-resource-metadata-discovery-requirements"),
            "A server that demands tokens MUST say in its 401 where its metadata is, or serve it at a well-known URI.",
        )
        .says(
            R2026_07_28,
            discovery("protected-resource-metadata-discovery-requirements"),
            "A server that demands tokens MUST say in its 401 where its metadata is, or serve it at a well-known URI.",
        )
        .how("Reads the challenge of each 401 and, from 2025-11-25 on, looks for the well-known documents of the origin.")
        .fix("Send `WWW-Authenticate: Bearer resource_metadata=\"https://…/.well-known/oauth-protected-resource\"`.")
        .judge(located),
    server("authorization.metadata-served")
        .on(HTTP)
        .says(
            R2025_06_18,
            page("authorization-server-location"),
            "A server MUST serve its metadata as RFC 9728 has it: a JSON object about this very resource.",
        )
        .says(
            R2026_07_28,
            discovery("authorization-server-location"),
            "A server MUST serve its metadata as RFC 9728 has it: a JSON object about this very resource.",
        )
        .how("Fetches the document that the challenge names, or the well-known one, where that is on the same origin.")
        .fix("Serve it without a token, as application/json, with `resource` naming the MCP endpoint.")
        .judge(served),
    server("authorization.metadata-names-servers")
        .on(HTTP)
        .says(
            R2025_06_18,
            page("authorization-server-location"),
            "The metadata document MUST name at least one authorization server.",
        )
        .says(
            R2026_07_28,
            discovery("authorization-server-location"),
            "The metadata document MUST name at least one authorization server.",
        )
        .how("Reads `authorization_servers` of the metadata document.")
        .fix("List the issuer of the tokens in `authorization_servers`.")
        .judge(names_servers),
    server("authorization.resource-without-slash")
        .on(HTTP)
        .says(
            R2025_06_18,
            page("canonical-server-uri"),
            "A server's URI SHOULD be written without a trailing slash that means nothing.",
        )
        .says(
            R2026_07_28,
            index("canonical-server-uri"),
            "A server's URI SHOULD be written without a trailing slash that means nothing.",
        )
        .how("Reads `resource` of the metadata document; a slash that the endpoint itself ends in is left alone.")
        .fix("Write `https://mcp.example.com`, not `https://mcp.example.com/`.")
        .judge(without_slash),
    server("authorization.endpoints-https")
        .on(HTTP)
        .says(R2025_03_26, page("security-considerations"), "Authorization endpoints MUST be served over HTTPS.")
        .says(R2025_06_18, page("communication-security"), "Authorization endpoints MUST be served over HTTPS.")
        .says(R2026_07_28, security("communication-security"), "Authorization endpoints MUST be served over HTTPS.")
        .how("Reads the addresses in challenges and metadata documents; those on loopback are left alone.")
        .fix("Name https addresses; behind a proxy that ends TLS, derive them from the public address.")
        .judge(over_https),
];

/// Below the origin, before the endpoint's path.
const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

const NO_401: &str = "no request was answered 401";
const NO_DOCUMENT: &str = "no metadata document was fetched from this origin";

/// The address of the metadata in a challenge.
fn named(x: &Exchange<'_>) -> Option<String> {
    challenged(x, "resource_metadata").filter(|url| !url.is_empty())
}

/// Requests at the endpoint that were answered with a challenge of status 401, whose address of the metadata is a URL.
fn first_named(view: &View<'_>) -> Option<(usize, String)> {
    let challenged = refused(view).into_iter().map(|x| (x.event(), named(x)));
    challenged.filter_map(|(event, url)| Some((event, url?))).find(|(_, url)| Address::of(url).is_some())
}

/// Where well-known documents may be, the more telling place first.
fn well_known(view: &View<'_>) -> Vec<String> {
    let endpoint = view.endpoint_exchanges().first().and_then(|x| x.path()).unwrap_or_default();
    let below = if endpoint == "/" { "" } else { endpoint };
    let mut paths = vec![format!("{WELL_KNOWN}{below}"), WELL_KNOWN.to_owned()];
    paths.dedup();
    paths
}

/// A GET of `target` on the server's own origin.
fn fetched<'a, 'v>(view: &'a View<'v>, target: &str) -> Option<&'a Exchange<'v>> {
    let expected = if target.is_empty() { "/" } else { target };
    view.exchanges().iter().find(|x| x.is("GET") && x.request.is_some_and(|(_, _, sent, _)| sent == expected))
}

/// The JSON object that a fetch brought.
pub(super) fn object(x: &Exchange<'_>) -> Option<Value> {
    let (_, bytes) = x.response_body.filter(|_| x.status() == Some(200))?;
    serde_json::from_slice(bytes).ok().filter(Value::is_object)
}

/// Whether a fetch says that there is no such document.
pub(super) fn is_missing(x: &Exchange<'_>) -> bool {
    match x.status() {
        Some(200) => x.response_body.is_some() && object(x).is_none(),
        Some(status @ 400..=499) => !is_unrelated_to_tokens(status),
        _ => false,
    }
}

/// The fetch of the document that a client would go by: the one that the challenge names, and only where it names none a
/// well-known one.
fn document<'a, 'v>(view: &'a View<'v>) -> Option<(&'a Exchange<'v>, bool)> {
    if let Some((_, url)) = first_named(view) {
        let url = Address::of(&url)?;
        let here = |x: &&Exchange<'_>| x.request_header("host").is_some_and(|host| url.is_at(host));
        return fetched(view, url.target).filter(here).map(|x| (x, true));
    }
    well_known(view).iter().find_map(|path| fetched(view, path).filter(|x| object(x).is_some())).map(|x| (x, false))
}

/// Whether any document of this kind was found where one may be.
pub(super) fn is_published(view: &View<'_>) -> bool {
    let known = |x: &Exchange<'_>| x.is("GET") && x.path().is_some_and(|path| path.starts_with(WELL_KNOWN));
    view.exchanges().iter().any(|x| known(x) && object(x).is_some())
}

/// The document that a client would go by, read.
pub(super) fn content<'a, 'v>(view: &'a View<'v>) -> Option<(&'a Exchange<'v>, Value)> {
    let (x, _) = document(view)?;
    Some((x, object(x)?))
}

/// Whether the server says where its metadata is: authorization is then another server's task.
pub(super) fn is_delegated(view: &View<'_>) -> bool {
    first_named(view).is_some() || document(view).is_some()
}

fn breach(x: &Exchange<'_>, pointer: &str, why: impl Into<String>) -> Breach {
    Breach::at(x.response_body.map_or_else(|| x.event(), |(event, _)| event), pointer, why)
}

fn located(view: &View<'_>) -> Verdict {
    let refused = refused(view);
    if view.revision() == R2025_06_18 {
        return Verdict::every(refused, NO_401, |x| names_metadata(x));
    }
    if let Some((event, _)) = first_named(view) {
        return Verdict::Holds(vec![event]);
    }
    let Some(first) = refused.first() else { return Verdict::NotSeen(NO_401.to_owned()) };
    if let Some((x, _)) = document(view) {
        return Verdict::Holds(vec![x.event()]);
    }
    if !well_known(view).iter().all(|path| fetched(view, path).is_some_and(is_missing)) {
        return Verdict::NotSeen("the well-known documents were not all asked for, or not plainly refused".to_owned());
    }
    match names_metadata(first) {
        Err(breach) => Verdict::Broken(Breach { why: format!("{}, nor is it well-known", breach.why), ..breach }),
        Ok(()) => Verdict::NotSeen(NO_401.to_owned()),
    }
}

fn names_metadata(x: &Exchange<'_>) -> Kept {
    let why = match named(x) {
        Some(url) if Address::of(&url).is_some() => return Ok(()),
        Some(url) => format!("the metadata's address `{}` is not an absolute URL", url.escape_debug()),
        None => "the 401 does not say where the metadata is".to_owned(),
    };
    Err(x.header_breach("WWW-Authenticate", why))
}

fn served(view: &View<'_>) -> Verdict {
    let Some((x, is_named)) = document(view) else { return Verdict::NotSeen(NO_DOCUMENT.to_owned()) };
    if is_named && is_missing(x) {
        let why =
            format!("what the challenge names as metadata is not a JSON object (status {})", x.status().unwrap_or(0));
        return Verdict::Broken(x.status_breach(why));
    }
    let Some(found) = object(x) else { return Verdict::NotSeen(NO_DOCUMENT.to_owned()) };
    Verdict::of([(x.event(), is_about(x, &found))], NO_DOCUMENT)
}

/// Whether a document is one of RFC 9728, and about the server that it came from.
fn is_about(x: &Exchange<'_>, found: &Value) -> Kept {
    let json = x.media_type().is_some_and(|kind| kind == "application/json" || kind.ends_with("+json"));
    if !json {
        return Err(x.header_breach("Content-Type", "the metadata is not declared to be application/json"));
    }
    let Some(resource) = found.get("resource").and_then(Value::as_str) else {
        return Err(breach(x, "", "the metadata lacks `resource`"));
    };
    let Some(url) = Address::of(resource).filter(|url| url.fragment.is_none()) else {
        return Err(breach(x, "/resource", "`resource` is not an absolute URL without a fragment"));
    };
    // On loopback a server goes by many names, and may well know its public one alone.
    let host = x.request_header("host").filter(|host| !is_loopback(host));
    if host.is_some_and(|host| !host_name(url.authority).eq_ignore_ascii_case(host_name(host))) {
        return Err(breach(
            x,
            "/resource",
            "`resource` is another host than the one that serves it: clients must not use it",
        ));
    }
    Ok(())
}

fn names_servers(view: &View<'_>) -> Verdict {
    let judged = content(view).map(|(x, found)| {
        let listed = found.get("authorization_servers").and_then(Value::as_array);
        let named = listed.is_some_and(|all| all.iter().any(|one| one.as_str().is_some_and(|url| !url.is_empty())));
        let (pointer, why) = match listed {
            None => ("", "the metadata has no list `authorization_servers`"),
            Some(_) => ("/authorization_servers", "the metadata names no authorization server"),
        };
        (x.event(), if named { Ok(()) } else { Err(breach(x, pointer, why)) })
    });
    Verdict::of(judged, NO_DOCUMENT)
}

fn without_slash(view: &View<'_>) -> Verdict {
    let endpoint = view.endpoint_exchanges().first().and_then(|x| x.path()).unwrap_or_default();
    let judged = content(view).and_then(|(x, found)| {
        let url = Address::of(found.get("resource")?.as_str()?)?;
        if !url.target.ends_with('/') {
            return Some((x.event(), Ok(())));
        }
        let means_something = url.target != "/" && endpoint.ends_with('/');
        let why = "`resource` ends in a slash that means nothing";
        (!means_something).then(|| (x.event(), Err(breach(x, "/resource", why))))
    });
    Verdict::of(judged, NO_DOCUMENT)
}

fn over_https(view: &View<'_>) -> Verdict {
    let found = if view.revision() == R2025_03_26 { legacy_metadata::endpoints(view) } else { addresses(view) };
    // Loopback is the user's own machine.
    let plain = |url: &str| Address::of(url).is_none_or(|url| !url.is_secure() && !url.is_local());
    let secure = |url: &str| Address::of(url).is_some_and(|url| url.is_secure());
    let offences = found.iter().filter(|(_, _, url)| plain(url)).map(|(event, pointer, url)| {
        Breach::at(*event, pointer.clone(), format!("`{}` is not an https address", url.escape_debug()))
    });
    // The server's own address is not an authorization endpoint: https there is no merit here.
    let witnesses = found.iter().filter(|(_, pointer, url)| secure(url) && pointer != RESOURCE && pointer != CHALLENGE);
    let witnesses = witnesses.map(|(event, ..)| *event);
    Verdict::never(offences, witnesses, "no address of an authorization server was named, but on loopback")
}

const CHALLENGE: &str = "header:WWW-Authenticate";
const RESOURCE: &str = "/resource";

/// The addresses that a client goes by, with where they stand.
fn addresses(view: &View<'_>) -> Vec<(usize, String, String)> {
    let header = first_named(view).map(|(event, url)| (event, CHALLENGE.to_owned(), url));
    let body = content(view).map(|(x, found)| {
        let event = x.response_body.map_or_else(|| x.event(), |(event, _)| event);
        let text = |pointer: String| {
            let url = found.pointer(&pointer)?.as_str()?.to_owned();
            Some((event, pointer, url))
        };
        let servers = found.get("authorization_servers").and_then(Value::as_array).map_or(0, Vec::len);
        let servers = (0..servers).filter_map(|at| text(format!("/authorization_servers/{at}")));
        servers.chain(text(RESOURCE.to_owned())).collect::<Vec<_>>()
    });
    header.into_iter().chain(body.unwrap_or_default()).collect()
}
