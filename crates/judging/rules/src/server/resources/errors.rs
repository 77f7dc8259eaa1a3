//! `server/resources#error-handling`: what happens to reads of what does not exist.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use wire::error_code::{INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, RESOURCE_NOT_FOUND};
use wire::revision::{R2024_11_05, R2026_07_28};
use wire::{Era, Kind};

use crate::reading::content::scheme;
use crate::reading::liveness::client_continues;
use crate::rule::{Anchor, Rule, at, client, server};
use crate::server::catalogue::Catalogue;
use crate::server::listing::{RESOURCES, TEMPLATES, could_make, items, walks};
use crate::verdict::{Kept, Verdict};
use crate::view::{Call, View};

const ERRORS: Anchor = at("server/resources", "error-handling");

/// The rules, in the page's order.
pub(crate) const RULES: &[Rule] = &[
    server("resources.not-found-code")
        .says(R2024_11_05, ERRORS, "A read of a resource that does not exist SHOULD be answered with the error -32002.")
        .says(R2026_07_28, ERRORS, "A read of a resource that does not exist MUST be answered with the error -32602.")
        .needs("resources")
        .how("Looks at the answers to reads of URIs that no list and no template has (legacy: and to subscriptions to them, which \
              must not fail with -32603), at errors whose text says that a resource was not found, and since 2026-07-28 at \
              -32603 for what a template makes of a value that names nothing, where another read by it succeeds.")
        .fix("Answer -32002 up to 2025-11-25, and -32602 since 2026-07-28.")
        .judge(code),
    client("resources.old-not-found-code-taken")
        .says(R2026_07_28, ERRORS, "A client SHOULD take the code -32002 of earlier servers for a resource that does not exist.")
        .how("Needs a server that refuses a read with -32002, and checks whether the client continues.")
        .fix("Treat -32002 on `resources/read` as you treat -32602: the resource does not exist.")
        .judge(old_code_taken),
    server("resources.not-found-not-empty")
        .says(R2026_07_28, ERRORS, "A read of a resource that does not exist MUST NOT be answered with empty contents.")
        .needs("resources")
        .how("Looks at the answers to reads of URIs that no list and no template has.")
        .fix("Answer with the error -32602 instead.")
        .judge(not_empty),
];

fn uri<'v>(call: &Call<'v>) -> Option<&'v str> {
    call.request.message.params()?.get("uri")?.as_str()
}

/// Reads of URIs that surely do not exist: both lists were read to their ends, no template could make the URI, and the
/// server named it nowhere else.
fn missing<'v>(view: &View<'v>) -> Vec<Call<'v>> {
    let resources = Catalogue::of(view, &RESOURCES);
    let templates = items(view, &TEMPLATES);
    let refused = || view.calls(TEMPLATES.method).any(|call| call.error_code() == Some(METHOD_NOT_FOUND));
    if walks(view, &TEMPLATES).is_empty() && !refused() {
        return Vec::new();
    }
    let fits = |uri: &str| {
        templates.iter().any(|item| item.text("uriTemplate").is_none_or(|template| could_make(template, uri)))
    };
    let reads: BTreeSet<usize> = view.calls("resources/read").filter_map(|c| Some(c.response?.index)).collect();
    let elsewhere: Vec<_> = view.by_subject().filter(|sent| !reads.contains(&sent.index)).collect();
    let mut judged: BTreeMap<&str, bool> = BTreeMap::new();
    let requested = view.calls("resources/read").filter(|call| view.judges_content(call));
    let surely = requested.filter(|call| {
        let Some(uri) = uri(call) else { return false };
        let named = || elsewhere.iter().any(|sent| sent.message.text().contains(uri));
        resources.surely_lacks(uri, call) && *judged.entry(uri).or_insert_with(|| !fits(uri) && !named())
    });
    surely.collect()
}

/// Whether the server itself says that it knows no such resource.
fn says_so(call: &Call<'_>) -> bool {
    let text = call.error().and_then(|e| e.get("message")).and_then(Value::as_str).unwrap_or_default().to_lowercase();
    let lacks = ["not found", "unknown", "does not exist", "no such"].iter().any(|words| text.contains(words));
    lacks && text.contains("resource")
}

/// In the legacy era a URI of a foreign scheme may be refused as a wrong parameter before anything is looked for.
fn is_at_home(homes: &BTreeSet<String>, call: &Call<'_>) -> bool {
    uri(call).and_then(scheme).is_some_and(|scheme| homes.contains(&scheme.to_ascii_lowercase()))
}

/// The schemes of the resources that the server lists, in lower case.
fn homes(view: &View<'_>) -> BTreeSet<String> {
    let listed = items(view, &RESOURCES);
    listed.iter().filter_map(|item| Some(scheme(item.text("uri")?)?.to_ascii_lowercase())).collect()
}

fn code(view: &View<'_>) -> Verdict {
    let due = if view.era() == Era::Modern { INVALID_PARAMS } else { RESOURCE_NOT_FOUND };
    let homes = homes(view);
    let missing: BTreeSet<usize> = missing(view).iter().map(|call| call.request.index).collect();
    let failed = failed_of_template(view).into_iter().filter(|_| view.era() == Era::Modern);
    let failed = failed.chain(unknown_subscribed(view)).filter_map(|call| {
        let (response, code) = (call.response?, call.error_code()?);
        let why = format!("the code is {code}, expected {due}");
        Some((response.event, Err(response.breach("/error/code", why))))
    });
    let judged = view.calls("resources/read").filter(|call| view.judges_content(call)).filter_map(|call| {
        let surely = missing.contains(&call.request.index) && (view.era() == Era::Modern || is_at_home(&homes, &call));
        let response = call.response?;
        // Since 2026-07-28 a rule of its own forbids it.
        if surely && view.era() == Era::Legacy && is_empty(&call) {
            let why = "a resource that does not exist is answered with empty contents";
            return Some((response.event, Err(response.breach("/result/contents", why))));
        }
        let code = call.error_code()?;
        // Other codes tell of something else: a missing method, a session, a missing permission.
        let about_it = matches!(code, RESOURCE_NOT_FOUND | INTERNAL_ERROR | INVALID_PARAMS | INVALID_REQUEST | -32000);
        if !about_it || !(surely || (uri(&call).is_some() && says_so(&call))) {
            return None;
        }
        let breach = || response.breach("/error/code", format!("the code is {code}, expected {due}"));
        Some((response.event, if code == due { Ok(()) } else { Err(breach()) }))
    });
    Verdict::of(judged.chain(failed), "no resource was read and not found")
}

/// Reads of what a template makes with values that the server never named, which fail as if the server were at fault, though
/// another read by the same template succeeds.
fn failed_of_template<'v>(view: &View<'v>) -> Vec<Call<'v>> {
    // An error of the server's own may come with status 500: it is about the content all the same.
    let reads: Vec<_> = view.calls("resources/read").filter(|call| view.is_valid_request(call.request)).collect();
    let mut failed = Vec::new();
    let listed = items(view, &TEMPLATES);
    let templates: BTreeSet<&str> = listed.iter().filter_map(|item| item.text("uriTemplate")).collect();
    let beginning = |template: &str| template.split('{').next().unwrap_or_default().to_owned();
    for template in &templates {
        // Two templates with one beginning cannot be told apart.
        let is_alike = |other: &&&str| {
            *other != template && (could_make(other, &beginning(template)) || could_make(template, &beginning(other)))
        };
        let made = |call: &&Call<'v>| uri(call).is_some_and(|uri| could_make(template, uri));
        if templates.iter().any(|other| is_alike(&other))
            || !reads.iter().filter(made).any(|call| call.result().is_some())
        {
            continue;
        }
        let named = |value: &str| {
            view.by_subject().any(|sent| sent.message.kind() != Kind::Error && sent.message.text().contains(value))
        };
        let made_of_unknown =
            |uri: &str| uri[beginning(template).len()..].split('/').any(|value| value.len() > 1 && !named(value));
        let of_their_own = |call: &&Call<'v>| call.error_code() == Some(INTERNAL_ERROR);
        let is_unknown = |call: &&Call<'v>| uri(call).is_some_and(made_of_unknown);
        failed.extend(reads.iter().filter(made).filter(of_their_own).filter(is_unknown).copied());
    }
    failed
}

/// Subscriptions to what surely does not exist that fail as if the server were at fault.
fn unknown_subscribed<'v>(view: &View<'v>) -> Vec<Call<'v>> {
    let unknown: BTreeSet<&str> = missing(view).iter().filter_map(uri).collect();
    let subscribed = view.calls("resources/subscribe").filter(|call| view.judges_content(call));
    let failed = subscribed.filter(|call| call.error_code() == Some(INTERNAL_ERROR));
    failed.filter(|call| uri(call).is_some_and(|uri| unknown.contains(uri))).collect()
}

/// Whether a read brought no contents, or none that hold anything.
fn is_empty(call: &Call<'_>) -> bool {
    let contents = call.result().and_then(|r| r.get("contents")).and_then(Value::as_array);
    contents.is_some_and(|all| all.iter().all(|one| one.is_object() && !has_substance(one)))
}

/// Whether one item of contents holds anything, or something else than contents do.
fn has_substance(one: &Value) -> bool {
    let mut texts = ["text", "blob"].into_iter().filter_map(|name| one.get(name)).peekable();
    texts.peek().is_none() || texts.any(|text| *text != "")
}

fn not_empty(view: &View<'_>) -> Verdict {
    let judged = missing(view).into_iter().filter_map(|call| {
        let response = call.response?;
        let kept: Kept = match call.error() {
            _ if is_empty(&call) => {
                Err(response.breach("/result/contents", "a resource that does not exist has empty contents"))
            }
            Some(_) => Ok(()),
            None => return None,
        };
        Some((response.event, kept))
    });
    Verdict::of(judged, "no resource was read that surely does not exist")
}

fn old_code_taken(view: &View<'_>) -> Verdict {
    let refused = view
        .client_calls("resources/read")
        .filter(|call| view.is_current(call.request) && call.error_code() == Some(RESOURCE_NOT_FOUND));
    let events: Vec<_> = refused.filter_map(|call| call.response.map(|sent| sent.event)).collect();
    client_continues(
        view,
        events,
        "a read that was refused with -32002",
        "no read was refused with -32002, or the client sent nothing afterwards",
    )
}
