//! How a client comes by its id, and what it does with it: the judges.

use std::collections::BTreeMap;

use serde_json::Value;
use wire::trace::Stimulus;

use super::documents::{TAKES, identified, is_url, takes_documents};
use super::steps::{Document, Registration, Request, Step, Steps};
use crate::basic::authorization::Address;
use crate::verdict::{Breach, Kept, Verdict};
use crate::view::View;

fn not_seen(why: &str) -> Verdict {
    Verdict::NotSeen(why.to_owned())
}

/// Whether a registration before `event` brought this id.
fn is_registered(steps: &Steps<'_, '_>, id: &str, event: usize) -> bool {
    steps
        .registrations
        .iter()
        .any(|r| r.answered_at().is_some_and(|answered| answered < event) && r.given_text("client_id") == Some(id))
}

/// Whether the authorization server says that it does not know the client.
fn is_refused(step: &Request<'_, '_>) -> bool {
    let error = || -> Option<String> {
        let (_, bytes) = step.x.response_body?;
        serde_json::from_slice::<Value>(bytes).ok()?.get("error")?.as_str().map(str::to_owned)
    };
    let refuses = |error: &str| matches!(error, "invalid_client" | "unauthorized_client");
    matches!(step.x.status(), Some(400 | 401)) && error().is_some_and(|error| refuses(&error))
}

/// Whether the authorization server took the client for one that it knows.
fn is_known(step: &Request<'_, '_>) -> bool {
    step.sent_back().is_some_and(|back| back.has("code")) || step.given_text("access_token").is_some()
}

/// Ids that nothing else in the trace explains: no URL, and not from a registration.
fn unexplained<'s, 'a, 'v>(steps: &'s Steps<'a, 'v>) -> Vec<(&'s Request<'a, 'v>, &'static str, &'s str)> {
    let own = |(step, _, id): &(&Request<'_, '_>, &str, &str)| !is_url(id) && !is_registered(steps, id, step.at());
    identified(steps).into_iter().filter(own).collect()
}

pub(super) fn registers(view: &View<'_>) -> Verdict {
    let steps = Steps::of(view);
    if let Some(first) = steps.registrations.first() {
        return Verdict::Holds(vec![first.at()]);
    }
    let offers = |d: &&Document<'_, '_>| d.given_text("registration_endpoint").is_some();
    let refused = unexplained(&steps)
        .into_iter()
        .find(|(step, endpoint, _)| is_refused(step) && steps.documents_of(*step, endpoint).iter().any(offers));
    match refused {
        Some((step, _, id)) => Verdict::Broken(step.breach(
            "",
            format!("the server has a registration endpoint and does not know `{id}`; the client did not register"),
        )),
        None => not_seen("the client did not register, and no id that it used was refused"),
    }
}

pub(super) fn registration_order(view: &View<'_>) -> Verdict {
    let steps = Steps::of(view);
    let has_document = identified(&steps).into_iter().any(|(.., id)| is_url(id));
    let registered = steps.registrations.iter().filter_map(|step| {
        let takes = takes_documents(&steps, step, "registration_endpoint")?;
        let why = "the client has a metadata document, this server takes it, and the client registers dynamically";
        (takes && has_document).then(|| (step.at(), Err(step.breach("", why))))
    });
    let both = |d: &Document<'_, '_>| {
        let takes = d.given.as_ref().is_some_and(|given| given.get(TAKES) == Some(&Value::Bool(true)));
        takes && d.given_text("registration_endpoint").is_some()
    };
    let preferred = identified(&steps).into_iter().filter(|(step, endpoint, id)| {
        let offered = steps.documents_of(*step, endpoint).into_iter().any(both);
        offered && (is_url(id) || (!is_registered(&steps, id, step.at()) && is_known(step)))
    });
    let preferred = preferred.map(|(step, ..)| (step.at(), Ok(())));
    let judged: Vec<(usize, Kept)> = registered.chain(preferred).collect();
    Verdict::of(judged, "no server offered both, or it was not seen that the client had a choice")
}

pub(super) fn preregistered(view: &View<'_>) -> Verdict {
    let steps = Steps::of(view);
    let given = view.stimuli().find_map(|(event, what)| match what {
        Stimulus::ClientIdGiven { client_id } => Some((event, client_id.as_str())),
        _ => None,
    });
    // A client that does not read the context has been given nothing.
    let uses = |given: &str| identified(&steps).into_iter().any(|(.., id)| id == given);
    if let Some((event, given)) = given.filter(|(_, given)| uses(given)) {
        let later = identified(&steps).into_iter().filter(|(step, ..)| step.at() > event);
        let judged = later.map(|(step, _, id)| {
            let why = format!("the client was given the id `{given}` and uses `{id}`");
            (step.at(), if id == given { Ok(()) } else { Err(step.breach("", why)) })
        });
        return Verdict::of(judged.collect::<Vec<_>>(), "the client was given an id and used none");
    }
    let nothing_else = |step: &Request<'_, '_>, endpoint: &str| {
        let documents = steps.documents_of(step, endpoint);
        let silent = documents.iter().all(|d| d.given_text("registration_endpoint").is_none());
        !documents.is_empty() && silent
    };
    let known =
        unexplained(&steps).into_iter().filter(|(step, endpoint, _)| is_known(step) && nothing_else(step, endpoint));
    Verdict::witnessed(known.map(|(step, ..)| step.at()).collect(), "no id that was registered beforehand was used")
}

pub(super) fn id_obtained(view: &View<'_>) -> Verdict {
    let steps = Steps::of(view);
    let judged = steps.authorizations.iter().filter_map(|step| -> Option<(usize, Kept)> {
        let Some(id) = step.text("client_id") else {
            return Some((step.at(), Err(step.breach("", "this authorization request has no client_id"))));
        };
        if is_url(id) || is_registered(&steps, id, step.at()) || is_known(step) {
            return Some((step.at(), Ok(())));
        }
        let why = format!("no registration brought the id `{id}`, and the authorization server does not know it");
        is_refused(step).then(|| (step.at(), Err(step.breach("", why))))
    });
    Verdict::of(judged.collect::<Vec<_>>(), "the client asked for no authorization that shows where its id is from")
}

fn type_of<'s>(step: &'s Registration<'_, '_>) -> Option<&'s str> {
    step.asks.get("application_type")?.as_str()
}

pub(super) fn application_type(view: &View<'_>) -> Verdict {
    let steps = Steps::of(view);
    Verdict::every(steps.registrations.iter(), "the client did not register", |step| match type_of(step) {
        Some("native" | "web") => Ok(()),
        Some(other) => Err(step.breach("/application_type", format!("`{other}` is neither `native` nor `web`"))),
        None => Err(step.breach("/application_type", "the registration does not say what type of application it is")),
    })
}

/// The redirect URIs of a registration, or of a client's document.
pub(super) fn redirects(object: &Value) -> Vec<&str> {
    let list = object.get("redirect_uris").and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Whether a redirect URI stays on the user's machine: on loopback, or of a scheme that is an application's own.
fn is_native(uri: &str) -> bool {
    let scheme = uri.split(':').next().unwrap_or_default().to_ascii_lowercase();
    !matches!(scheme.as_str(), "http" | "https") || Address::of(uri).is_some_and(|address| address.is_local())
}

pub(super) fn type_fits(view: &View<'_>) -> Verdict {
    let steps = Steps::of(view);
    let judged = steps.registrations.iter().filter_map(|step| {
        let all = redirects(&step.asks);
        let native = !all.is_empty() && all.iter().all(|uri| is_native(uri));
        let remote = !all.is_empty() && !all.iter().any(|uri| is_native(uri));
        match type_of(step)? {
            "native" if native => Some((step.at(), Ok(()))),
            "web" if remote => Some((step.at(), Ok(()))),
            "web" if native => {
                let why = format!("the client says that it is `web` and is sent back to {}", all.join(", "));
                Some((step.at(), Err(step.breach("/application_type", why))))
            }
            // Applications on a user's machine may claim https addresses, and others may be tried out there.
            _ => None,
        }
    });
    Verdict::of(judged.collect::<Vec<_>>(), "no registration's redirect URIs tell what type of application it is")
}

/// How often the same registration may be sent after it was refused.
const PATIENCE: usize = 3;

fn is_redirect_refusal(step: &Registration<'_, '_>) -> bool {
    let error = || -> Option<String> {
        let (_, bytes) = step.x.response_body?;
        serde_json::from_slice::<Value>(bytes).ok()?.get("error")?.as_str().map(str::to_owned)
    };
    step.x.status() == Some(400)
        && error().is_some_and(|error| matches!(error.as_str(), "invalid_redirect_uri" | "invalid_client_metadata"))
}

pub(super) fn refusal_survived(view: &View<'_>) -> Verdict {
    let steps = Steps::of(view);
    let Some(refused) = steps.registrations.iter().find(|step| is_redirect_refusal(step)) else {
        return not_seen("no registration was refused for its redirect URIs");
    };
    let answered = refused.answered_at().unwrap_or_default();
    if let Some(step) = steps.registrations.iter().filter(|r| r.at() > answered && r.asks == refused.asks).nth(PATIENCE)
    {
        return Verdict::Broken(step.breach("", "the client sends again and again what was refused"));
    }
    let nobody = |step: &&Request<'_, '_>| {
        let id = step.text("client_id").unwrap_or("undefined");
        matches!(id, "undefined" | "null" | "None")
            || (!is_url(id) && !is_registered(&steps, id, step.at()) && is_refused(step))
    };
    if let Some(step) = steps.authorizations.iter().filter(|step| step.at() > answered).find(nobody) {
        return Verdict::Broken(
            step.breach("", "the registration was refused, and the client continues without an id"),
        );
    }
    if let Some(event) = steps.crashed(answered) {
        return Verdict::Broken(Breach::at(event, "", "the registration was refused, and a signal ended the client"));
    }
    let again = steps.registrations.iter().find(|r| r.at() > answered && r.asks != refused.asks).map(Step::at);
    let witness = again
        .or_else(|| steps.left(answered))
        .or_else(|| steps.authorizations.iter().map(Step::at).find(|at| *at > answered));
    Verdict::witnessed(witness.into_iter().collect(), "it was not seen what the client did after the refusal")
}

pub(super) fn per_issuer(view: &View<'_>) -> Verdict {
    let steps = Steps::of(view);
    let mut homes: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut seen: Vec<String> = Vec::new();
    let mut witnesses = Vec::new();
    for registration in &steps.registrations {
        let owner = steps.owner(registration, "registration_endpoint");
        if let Some((owner, id)) = owner.zip(registration.given_text("client_id")) {
            homes.entry(id.to_owned()).or_default().push(owner.to_owned());
        }
    }
    for (step, endpoint, id) in identified(&steps).into_iter().filter(|(.., id)| !is_url(id)) {
        let Some(owner) = steps.owner(step, endpoint) else { continue };
        let home = homes.entry(id.to_owned()).or_insert_with(|| vec![owner.to_owned()]);
        if !home.iter().any(|issuer| issuer == owner) {
            let why = format!("the id `{id}` belongs to {}, and the client uses it with {owner}", home.join(", "));
            return Verdict::Broken(step.breach("", why));
        }
        if !seen.iter().any(|issuer| issuer == owner) {
            seen.push(owner.to_owned());
        }
        if seen.len() > 1 {
            witnesses.push(step.at());
        }
    }
    Verdict::witnessed(witnesses, "the client did not use ids with two issuers")
}
