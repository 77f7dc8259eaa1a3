//! How a client finds the resource's own metadata: the judges.

use super::steps::{Document, Steps, answered_at, leads_to, requested_at};
use crate::basic::authorization::{Address, challenged};
use crate::verdict::{Breach, Verdict};
use crate::view::{Exchange, View};

const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";
const NEVER_CHALLENGED: &str = "the client was never answered 401";

fn not_seen(why: &str) -> Verdict {
    Verdict::NotSeen(why.to_owned())
}

/// The address of the metadata that a refusal names, where a client may go there.
fn named(x: &Exchange<'_>) -> Option<(usize, String)> {
    let url = challenged(x, "resource_metadata")?;
    let usable = Address::of(&url).is_some_and(|address| address.is_secure() || address.is_local());
    usable.then_some((answered_at(x)?, url))
}

pub(super) fn understood(view: &View<'_>) -> Verdict {
    let steps = Steps::of(view);
    let named: Vec<(usize, String)> = steps.refusals().filter_map(named).collect();
    let Some((answered, url)) = named.first() else { return not_seen("no 401 named where the resource's metadata is") };
    let there = |d: &&Document<'_, '_>| named.iter().any(|(_, url)| leads_to(url, d.x));
    let mut fetched = steps.resources.iter().filter(there);
    if let Some(fetch) = fetched.clone().find(|d| d.at() > *answered) {
        return Verdict::Holds(vec![fetch.at()]);
    }
    if fetched.next().is_some() {
        return not_seen("the client had asked for the metadata before it was challenged");
    }
    let elsewhere = || {
        let requested = steps.resources.iter().map(Document::at).find(|at| at > answered)?;
        steps.left(requested).map(|_| requested)
    };
    match steps.seeks(*answered).or_else(elsewhere) {
        Some(event) => Verdict::Broken(Breach::at(
            event,
            "",
            format!(
                "the 401 (event {answered}) says that the metadata is at {url}; the client continued without asking there"
            ),
        )),
        None => not_seen("the client did not continue after the 401"),
    }
}

pub(super) fn metadata_used(view: &View<'_>) -> Verdict {
    let steps = Steps::of(view);
    let Some(answered) = steps.refusals().find_map(answered_at) else { return not_seen(NEVER_CHALLENGED) };
    let Some(sought) = steps.seeks(answered) else { return not_seen("the client looked for no authorization server") };
    let listed: Vec<&str> = steps.listed(sought).into_iter().flat_map(|(_, names)| names).collect();
    if listed.is_empty() {
        if steps.resources.iter().any(|d| d.at() < sought) {
            return not_seen("the client asked for the resource's metadata and found none that lists a server");
        }
        let why = "the client looks for an authorization server without having asked for the resource's metadata";
        return Verdict::Broken(Breach::at(sought, "", why));
    }
    let Some(fetch) = steps.issuers.iter().find(|d| d.at() == sought) else {
        return not_seen("the client asked for no authorization server's metadata");
    };
    if listed.iter().any(|name| super::steps::is_at(name, fetch.x)) {
        return Verdict::Holds(vec![sought]);
    }
    let host = fetch.x.request_header("host").unwrap_or("another host");
    Verdict::Broken(fetch.breach(
        "header:Host",
        format!("the resource's metadata lists {}; the client looks at {host}", listed.join(", ")),
    ))
}

pub(super) fn metadata_order(view: &View<'_>) -> Verdict {
    let steps = Steps::of(view);
    let Some(answered) = steps.refusals().find_map(answered_at) else { return not_seen(NEVER_CHALLENGED) };
    let Some(first) = steps.resources.iter().find(|d| d.at() > answered) else {
        return not_seen("the client did not ask for the resource's metadata after a 401");
    };
    let before = |x: &&Exchange<'_>| answered_at(x).is_some_and(|answered| answered < first.at());
    let Some(refusal) = steps.refusals().filter(before).last() else { return not_seen(NEVER_CHALLENGED) };
    if challenged(refusal, "resource_metadata").is_none() {
        return by_well_known_uri(&steps, refusal, first);
    }
    let Some((_, url)) = named(refusal) else { return not_seen("the challenge names no address that can be asked") };
    if leads_to(&url, first.x) {
        return Verdict::Holds(vec![first.at()]);
    }
    if steps.resources.iter().any(|d| d.at() < first.at() && leads_to(&url, d.x)) {
        return not_seen("the client had asked for the metadata before it was challenged");
    }
    Verdict::Broken(
        first.breach("", format!("the challenge says that the metadata is at {url}; the client asks elsewhere")),
    )
}

fn by_well_known_uri(steps: &Steps<'_, '_>, refusal: &Exchange<'_>, first: &Document<'_, '_>) -> Verdict {
    let below = refusal.path().unwrap_or_default().trim_end_matches('/');
    let asks = |d: &Document<'_, '_>, place: &str| d.x.path().is_some_and(|path| path.trim_end_matches('/') == place);
    let path = format!("{WELL_KNOWN}{below}");
    if !asks(first, &path) {
        if !asks(first, WELL_KNOWN) {
            return not_seen("the client asked at an address that no server had named");
        }
        let asked_before = steps.resources.iter().any(|d| d.at() < first.at() && asks(d, &path));
        let why = format!("the client asks at the root before it asks at {path}");
        return if asked_before {
            not_seen("the path's URI had been asked before")
        } else {
            Verdict::Broken(first.breach("", why))
        };
    }
    if below.is_empty() || first.given.is_some() {
        return Verdict::Holds(vec![first.at()]);
    }
    if !first.is_missing() {
        return not_seen("the path's URI did not say whether there is metadata");
    }
    let fetched = steps.resources.iter().filter(|d| d.at() > first.at()).find(|d| asks(d, WELL_KNOWN));
    let client_continues = || steps.seeks(first.at()).or_else(|| steps.left(first.at()));
    match (fetched, client_continues()) {
        (Some(root), _) => Verdict::Holds(vec![first.at(), root.at()]),
        (None, Some(_)) => {
            let why = format!("there is no metadata at {path}, and the client does not ask at the root");
            Verdict::Broken(Breach::at(requested_at(first.x), "", why))
        }
        (None, None) => not_seen("the client was not seen to continue"),
    }
}
