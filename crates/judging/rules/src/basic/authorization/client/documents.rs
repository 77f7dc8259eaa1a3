//! Clients whose id is the URL of their own metadata document: the judges.

use serde_json::Value;
use wire::Party;
use wire::trace::Closed;

use super::steps::{Request, Step, Steps, leads_to};
use crate::basic::authorization::Address;
use crate::basic::authorization::metadata::object;
use crate::verdict::{Breach, Kept, Verdict};
use crate::view::{Exchange, View};

/// The member of a server's metadata by which it says that it takes such ids.
pub(super) const TAKES: &str = "client_id_metadata_document_supported";

/// Whether an id is a URL.
pub(super) fn is_url(id: &str) -> bool {
    id.contains("://")
}

/// Authorization and token requests that carry an id, in order.
pub(super) fn identified<'s, 'a, 'v>(steps: &'s Steps<'a, 'v>) -> Vec<(&'s Request<'a, 'v>, &'static str, &'s str)> {
    let requested = steps.authorizations.iter().map(|step| (step, "authorization_endpoint"));
    let all = requested.chain(steps.grants.iter().map(|step| (step, "token_endpoint")));
    let mut all: Vec<_> = all.filter_map(|(step, endpoint)| Some((step, endpoint, step.text("client_id")?))).collect();
    all.sort_by_key(|(step, ..)| step.at());
    all
}

/// Whether a server's metadata says that it takes such ids; `None` where its metadata was not fetched.
pub(super) fn takes_documents<Q>(steps: &Steps<'_, '_>, step: &Step<'_, '_, Q>, endpoint: &str) -> Option<bool> {
    let documents = steps.documents_of(step, endpoint);
    let newest = documents.last()?.given.as_ref()?;
    Some(newest.get(TAKES) == Some(&Value::Bool(true)))
}

pub(super) fn uses_document(view: &View<'_>) -> Verdict {
    let steps = Steps::of(view);
    let registered = steps.registrations.iter().filter_map(|step| {
        let why = "the authorization server takes metadata documents, and the client registers dynamically";
        let takes = takes_documents(&steps, step, "registration_endpoint")?;
        takes.then(|| (step.at(), Err(step.breach("", why))))
    });
    let used = identified(&steps).into_iter().filter(|(.., id)| is_url(id));
    let used = used.filter(|(step, endpoint, _)| takes_documents(&steps, *step, endpoint) == Some(true));
    let used = used.map(|(step, ..)| (step.at(), Ok(())));
    let judged: Vec<(usize, Kept)> = registered.chain(used).collect();
    Verdict::of(judged, "no authorization server that takes metadata documents was asked for a new client")
}

pub(super) fn document_location(view: &View<'_>) -> Verdict {
    let steps = Steps::of(view);
    let urls = identified(&steps).into_iter().filter(|(.., id)| is_url(id));
    let judged = urls.map(|(step, _, id)| {
        let kept = match Address::of(id) {
            Some(address) if address.is_secure() && address.target.starts_with('/') => Ok(()),
            _ => Err(step.breach("", format!("the client's id is {id}: no https URL with a path"))),
        };
        (step.at(), kept)
    });
    Verdict::of(judged.collect::<Vec<_>>(), "no client used a URL as its id")
}

pub(super) fn document_checked(view: &View<'_>) -> Verdict {
    let steps = Steps::of(view);
    let urls = identified(&steps).into_iter().filter(|(.., id)| is_url(id));
    let judged = urls.filter_map(|(step, endpoint, id)| {
        let takes = takes_documents(&steps, step, endpoint)?;
        let why = format!("the server's metadata does not say `{TAKES}`, and the client uses {id}");
        Some((step.at(), if takes { Ok(()) } else { Err(step.breach("", why)) }))
    });
    Verdict::of(judged.collect::<Vec<_>>(), "no client used a URL as its id where the server's metadata was fetched")
}

/// The documents that an authorization server fetched from the URLs that a client used as its id.
fn fetched<'a, 'v>(steps: &Steps<'a, 'v>) -> Vec<(&'a Exchange<'v>, String, Option<Value>)> {
    let ids: Vec<&str> = identified(steps).into_iter().map(|(.., id)| id).filter(|id| is_url(id)).collect();
    let by_server = |x: &&Exchange<'_>| {
        x.request.is_some_and(|(event, ..)| steps.view.frame(event).from == Party::AuthorizationServer)
    };
    let fetches = steps.view.exchanges().iter().filter(|x| x.is("GET") && x.status() == Some(200)).filter(by_server);
    // What was cut short was not seen.
    let ended = |x: &&Exchange<'_>| x.closed.is_some_and(|(_, _, how)| *how == Closed::End);
    let fetches = fetches.filter(|x| x.response_body.is_some() || ended(x));
    let named = |x: &'a Exchange<'v>| {
        let id = ids.iter().find(|id| leads_to(id, x))?;
        Some((x, (*id).to_owned(), object(x)))
    };
    fetches.filter_map(named).collect()
}

const UNFETCHED: &str = "no client's metadata document was fetched by the authorization server";

fn body_of(x: &Exchange<'_>) -> usize {
    x.response_body.map_or(0, |(event, _)| event)
}

pub(super) fn document_members(view: &View<'_>) -> Verdict {
    let steps = Steps::of(view);
    let judged = fetched(&steps).into_iter().map(|(x, _, document)| {
        let event = body_of(x);
        let Some(document) = document else {
            return (event, Err(Breach::at(event, "", "the client's metadata document is not a JSON object")));
        };
        let text = |name: &str| document.get(name).and_then(Value::as_str).is_some_and(|text| !text.is_empty());
        let list = |name: &str| document.get(name).and_then(Value::as_array).is_some_and(|list| !list.is_empty());
        let lacks = ["client_id", "client_name"].into_iter().find(|name| !text(name));
        let lacks = lacks.or_else(|| (!list("redirect_uris")).then_some("redirect_uris"));
        let why = |name: &str| format!("the client's metadata document has no `{name}`");
        (event, lacks.map_or(Ok(()), |name| Err(Breach::at(event, format!("/{name}"), why(name)))))
    });
    Verdict::of(judged.collect::<Vec<_>>(), UNFETCHED)
}

pub(super) fn document_id(view: &View<'_>) -> Verdict {
    let steps = Steps::of(view);
    let judged = fetched(&steps).into_iter().filter_map(|(x, url, document)| {
        let event = body_of(x);
        let id = document?.get("client_id")?.as_str()?.to_owned();
        let why = format!("the document at {url} says that the client's id is {id}");
        Some((event, if id == url { Ok(()) } else { Err(Breach::at(event, "/client_id", why)) }))
    });
    Verdict::of(judged.collect::<Vec<_>>(), UNFETCHED)
}
