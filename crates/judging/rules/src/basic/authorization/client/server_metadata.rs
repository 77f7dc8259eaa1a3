//! How a client finds an authorization server's metadata, and what it does without: the judges.

use std::collections::BTreeSet;

use wire::revision::R2025_06_18;

use super::issuer::Issuer;
use super::steps::{Document, Request, Step, Steps, path_leads_to};
use crate::verdict::{Breach, Kept, Verdict};
use crate::view::{Call, Exchange, View};

const ROOT: &str = "/.well-known/oauth-authorization-server";

fn not_seen(why: &str) -> Verdict {
    Verdict::NotSeen(why.to_owned())
}

/// A request that goes to one of the three endpoints: its event, where it went, and the endpoint's names in metadata and by
/// default.
struct Visit<'s, 'a, 'v> {
    at: usize,
    x: &'s &'a Exchange<'v>,
    endpoint: &'static str,
    default: &'static str,
}

/// Every such request. A token exchange goes to an identity provider, which no resource names.
fn visits<'s, 'a, 'v>(steps: &'s Steps<'a, 'v>) -> Vec<Visit<'s, 'a, 'v>> {
    let own = |grant: &&Request<'_, '_>| !grant.text("grant_type").is_some_and(|kind| kind.ends_with("token-exchange"));
    let registrations = steps.registrations.iter().map(|r| Visit {
        at: r.at(),
        x: &r.x,
        endpoint: "registration_endpoint",
        default: "/register",
    });
    let authorizations = steps.authorizations.iter().map(|a| Visit {
        at: a.at(),
        x: &a.x,
        endpoint: "authorization_endpoint",
        default: "/authorize",
    });
    let grants = steps.grants.iter().filter(own).map(|g| Visit {
        at: g.at(),
        x: &g.x,
        endpoint: "token_endpoint",
        default: "/token",
    });
    let mut all: Vec<_> = registrations.chain(authorizations).chain(grants).collect();
    all.sort_by_key(|visit| visit.at);
    all
}

pub(super) fn server_metadata_used(view: &View<'_>) -> Verdict {
    let steps = Steps::of(view);
    let requested = steps.issuers.first().map(Step::at);
    let judged = visits(&steps).into_iter().filter_map(|visit| -> Option<(usize, Kept)> {
        let before = steps.issuers.iter().filter(|d| d.answered_at().is_some_and(|answered| answered < visit.at));
        let places: Vec<&str> = before.filter_map(|d| d.given_text(visit.endpoint)).collect();
        let breach = |why: String| Some((visit.at, Err(Breach::at(visit.at, "", why))));
        if places.iter().any(|url| path_leads_to(url, visit.x)) {
            return Some((visit.at, Ok(())));
        }
        if !places.is_empty() {
            return breach(format!("the metadata names {} as {}", places.join(", "), visit.endpoint));
        }
        // A client that registers is here for the first time and has nothing stored.
        let blind = visit.endpoint == "registration_endpoint" && requested.is_none_or(|requested| requested > visit.at);
        let blind = blind && steps.view.revision().at_least(R2025_06_18);
        blind.then(|| breach("the client registers without having asked for the server's metadata".to_owned()))?
    });
    Verdict::of(judged.collect::<Vec<_>>(), "the client went to no endpoint that metadata names")
}

/// Whether the resource's metadata leads elsewhere: the older rules do not apply.
fn points_elsewhere(steps: &Steps<'_, '_>) -> bool {
    steps.resources.iter().any(|d| d.given.is_some())
}

/// The host of the MCP server, as the client calls it.
fn own_host<'v>(steps: &Steps<'_, 'v>) -> Option<&'v str> {
    steps.refusals().find_map(|x| x.request_header("host"))
}

/// Fetches at the MCP server's host.
fn at_home<'s, 'a, 'v>(steps: &'s Steps<'a, 'v>, host: &str) -> Vec<&'s Document<'a, 'v>> {
    let same = |d: &&Document<'_, '_>| d.x.request_header("host").is_some_and(|own| own.eq_ignore_ascii_case(host));
    steps.issuers.iter().filter(same).collect()
}

/// Whether a header's value names a protocol version: any date does, and whatever the client itself offers.
fn is_version(view: &View<'_>, value: &str) -> bool {
    let is_date = value.len() == 10
        && value.bytes().enumerate().all(|(at, b)| if matches!(at, 4 | 7) { b == b'-' } else { b.is_ascii_digit() });
    let offers = |call: Call<'_>| {
        let offered = call.request.message.params().and_then(|params| params.get("protocolVersion"));
        offered.is_some_and(|offered| offered == value)
    };
    is_date || view.client_calls("initialize").any(offers)
}

pub(super) fn version_named(view: &View<'_>) -> Verdict {
    const HEADER: &str = "MCP-Protocol-Version";
    let steps = Steps::of(view);
    let Some(host) = own_host(&steps) else { return not_seen("the client was never answered 401") };
    if points_elsewhere(&steps) {
        return not_seen("the server's own metadata says where to go");
    }
    let fetches = at_home(&steps, host);
    let fetches = fetches.into_iter().filter(|d| d.x.path().is_some_and(|path| path.contains(ROOT)));
    let mut named = BTreeSet::new();
    let mut judged: Vec<(usize, Kept)> = Vec::new();
    for fetch in fetches {
        let breach = |why: String| (fetch.at(), Err(fetch.breach(&format!("header:{HEADER}"), why)));
        match fetch.x.request_header(HEADER).map(str::trim) {
            Some(value) if is_version(view, value) => {
                named.insert(fetch.x.path());
                judged.push((fetch.at(), Ok(())));
            }
            Some(value) => judged.push(breach(format!("`{}` is not a protocol version", value.escape_debug()))),
            // A browser that was refused the header asks again without it.
            None if named.contains(&fetch.x.path()) => {}
            None => judged.push(breach(format!("the request for the metadata has no `{HEADER}`"))),
        }
    }
    Verdict::of(judged, "the client asked for no metadata at the server's host")
}

pub(super) fn at_root(view: &View<'_>) -> Verdict {
    let steps = Steps::of(view);
    let Some(host) = own_host(&steps) else { return not_seen("the client was never answered 401") };
    if points_elsewhere(&steps) {
        return not_seen("the server's own metadata says where to go");
    }
    let fetches = at_home(&steps, host);
    let at_root = |d: &&&Document<'_, '_>| d.x.path().is_some_and(|path| path.trim_end_matches('/') == ROOT);
    if let Some(fetch) = fetches.iter().find(at_root) {
        return Verdict::Holds(vec![fetch.at()]);
    }
    let Some(first) = fetches.first() else { return not_seen("the client asked for no metadata at the server's host") };
    let known = fetches.iter().any(|d| d.given.is_some());
    let done = steps
        .registrations
        .first()
        .map(Step::at)
        .or_else(|| steps.wants(first.at()))
        .or_else(|| steps.left(first.at()));
    match done {
        Some(_) => Verdict::Broken(first.breach("", format!("the client looks here and never at {ROOT}"))),
        None if known => {
            Verdict::Broken(first.breach("", format!("the client takes metadata from here, not from {ROOT}")))
        }
        None => not_seen("the client may not have looked everywhere yet"),
    }
}

pub(super) fn default_endpoints(view: &View<'_>) -> Verdict {
    let steps = Steps::of(view);
    let Some(host) = own_host(&steps) else { return not_seen("the client was never answered 401") };
    if points_elsewhere(&steps) || steps.issuers.iter().any(|d| d.given.is_some()) {
        return not_seen("there is metadata to go by");
    }
    let requested = at_home(&steps, host).iter().find(|d| d.is_missing()).and_then(|d| d.answered_at());
    let judged = visits(&steps).into_iter().filter_map(|visit| -> Option<(usize, Kept)> {
        let breach = |why: String| Some((visit.at, Err(Breach::at(visit.at, "", why))));
        let Some(requested) = requested else {
            let blind = visit.endpoint == "registration_endpoint" && steps.issuers.is_empty();
            let why = "the client registers without having asked for metadata first";
            return blind.then(|| breach(why.to_owned()))?;
        };
        if visit.at < requested {
            return None;
        }
        let home = visit.x.request_header("host").is_some_and(|own| own.eq_ignore_ascii_case(host));
        if home && visit.x.path() == Some(visit.default) {
            return Some((visit.at, Ok(())));
        }
        breach(format!("without metadata this belongs to {} at the root of {host}", visit.default))
    });
    Verdict::of(judged.collect::<Vec<_>>(), "the client was not seen to do without metadata")
}

pub(super) fn locations(view: &View<'_>) -> Verdict {
    let steps = Steps::of(view);
    let issuers = steps.listed_issuers();
    // The client chose the issuer whose locations it asked first.
    let chosen = steps.issuers.iter().find_map(|d| issuers.iter().find(|issuer| issuer.place(d).is_some()));
    let Some(issuer) = chosen else { return not_seen("the client asked for the metadata of no listed issuer") };
    let mut requested: Vec<(usize, &Document<'_, '_>)> = Vec::new();
    for document in &steps.issuers {
        let Some(place) = issuer.place(document) else { continue };
        if let Some(skipped) = (0..place).find(|earlier| !requested.iter().any(|(had, _)| had == earlier)) {
            let why = format!("{} comes before this one, and was not asked", issuer.locations[skipped]);
            return Verdict::Broken(document.breach("", why));
        }
        requested.push((place, document));
        if document.given.is_some() {
            break;
        }
    }
    tried(&steps, issuer, &requested)
}

/// Whether the client continued to the next location as long as there was no document.
fn tried(steps: &Steps<'_, '_>, issuer: &Issuer<'_>, requested: &[(usize, &Document<'_, '_>)]) -> Verdict {
    let Some((last, document)) = requested.iter().max_by_key(|(place, _)| *place) else {
        return not_seen("the client asked for the metadata of no listed issuer");
    };
    let missing = |place: usize| requested.iter().any(|(had, d)| *had == place && d.is_missing());
    let all_missing = (0..=*last).all(missing);
    match issuer.locations.get(last + 1).filter(|_| all_missing) {
        Some(next) if steps.wants(document.at()).or_else(|| steps.left(document.at())).is_some() => Verdict::Broken(
            document.breach("", format!("there is no document here, and the client does not try {next}")),
        ),
        _ if *last > 0 && (0..*last).all(missing) => Verdict::Holds(requested.iter().map(|(_, d)| d.at()).collect()),
        _ => not_seen("the first location had the document"),
    }
}

const ENDPOINTS: [&str; 3] = ["authorization_endpoint", "token_endpoint", "registration_endpoint"];

pub(super) fn issuer_validated(view: &View<'_>) -> Verdict {
    let steps = Steps::of(view);
    let issuers = steps.listed_issuers();
    let expected = |d: &Document<'_, '_>| -> Vec<&str> {
        issuers.iter().filter(|issuer| issuer.place(d).is_some()).map(|issuer| issuer.name).collect()
    };
    let is_false = |d: &Document<'_, '_>| {
        let names = expected(d);
        let usable = d.given.is_some() && !names.is_empty();
        usable && d.given_text("issuer").is_none_or(|issuer| !names.contains(&issuer))
    };
    let (bad, good): (Vec<_>, Vec<_>) = steps.issuers.iter().partition(|d| is_false(d));
    let named = |d: &Document<'_, '_>, visit: &Visit<'_, '_, '_>| {
        let known = d.answered_at().is_some_and(|answered| answered < visit.at);
        known && d.given_text(visit.endpoint).is_some_and(|url| path_leads_to(url, visit.x))
    };
    let visits = visits(&steps);
    let offence = visits.iter().find_map(|visit| {
        let by = bad.iter().find(|d| named(d, visit)).filter(|_| !good.iter().any(|d| named(d, visit)))?;
        let (issuer, names) = (by.given_text("issuer").unwrap_or("none"), expected(by).join(", "));
        let why = format!("this endpoint is from a document of issuer {issuer}, which was looked up for {names}");
        Some(Breach::at(visit.at, "", why))
    });
    let marked = bad.iter().filter(|d| ENDPOINTS.iter().any(|endpoint| d.given_text(endpoint).is_some()));
    let witnesses: Vec<usize> = marked.filter_map(|d| steps.over(d.answered_at()?)).collect();
    Verdict::never(offence, witnesses, "no document of a listed issuer's location named another issuer")
}
