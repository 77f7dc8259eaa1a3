//! How a client asks its user's consent and takes the answer: the judges. That a verifier fits its challenge is for the
//! authorization server to say: where secrets are replaced no hash can be compared.

use serde_json::Value;

use super::client_ids::redirects;
use super::documents::is_url;
use super::form::Form;
use super::steps::{Document, Request, Steps, leads_to};
use crate::basic::authorization::Address;
use crate::basic::authorization::metadata::object;
use crate::verdict::{Breach, Kept, Verdict};
use crate::view::View;

const METHODS: &str = "code_challenge_methods_supported";

/// How long a verifier may be.
const VERIFIER: std::ops::RangeInclusive<usize> = 43..=128;

/// Requests that redeem a code.
fn redemptions<'s, 'a, 'v>(steps: &'s Steps<'a, 'v>) -> impl Iterator<Item = &'s Request<'a, 'v>> {
    steps.grants.iter().filter(|grant| grant.is_grant("authorization_code"))
}

pub(super) fn pkce(view: &View<'_>) -> Verdict {
    let steps = Steps::of(view);
    let asks_code = |step: &&Request<'_, '_>| step.text("response_type").is_some_and(|kind| kind.contains("code"));
    let mut requested = steps.authorizations.iter().filter(asks_code);
    if let Some(step) = requested.find(|step| step.text("code_challenge").is_none()) {
        return Verdict::Broken(step.breach("", "this authorization request has no code_challenge"));
    }
    let judged = redemptions(&steps).filter_map(|step| {
        let breach = |why: String| Some((step.at(), Err(step.breach("", why))));
        let Some(verifier) = step.text("code_verifier") else {
            return breach("this code is redeemed without a code_verifier".to_owned());
        };
        let length = verifier.chars().count();
        if !VERIFIER.contains(&length) {
            return breach(format!("the code_verifier has {length} characters, expected 43 to 128"));
        }
        step.given_text("access_token").map(|_| (step.at(), Ok(())))
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no code was redeemed for a token")
}

pub(super) fn pkce_s256(view: &View<'_>) -> Verdict {
    let steps = Steps::of(view);
    let lists = |d: &&Document<'_, '_>| d.list(METHODS).is_some_and(|methods| methods.contains(&"S256"));
    let judged = steps.authorizations.iter().filter_map(|step| -> Option<(usize, Kept)> {
        step.text("code_challenge")?;
        match step.text("code_challenge_method") {
            Some("S256") => Some((step.at(), Ok(()))),
            other => {
                let used = other.unwrap_or("none, which means plain");
                let why = format!("the server's metadata lists S256; the code_challenge_method is {used}");
                let can = steps.documents_of(step, "authorization_endpoint").iter().any(lists);
                can.then(|| (step.at(), Err(step.breach("", why))))
            }
        }
    });
    Verdict::of(judged.collect::<Vec<_>>(), "no authorization request had a code_challenge that could be by S256")
}

/// Whether metadata that would lead a client on names no method.
fn names_no_method(d: &Document<'_, '_>) -> bool {
    let leads_on = d.given_text("authorization_endpoint").is_some() && d.given_text("token_endpoint").is_some();
    leads_on && d.list(METHODS).is_none_or(|methods| methods.is_empty())
}

pub(super) fn pkce_verified(view: &View<'_>) -> Verdict {
    let steps = Steps::of(view);
    let offence = steps.authorizations.iter().find_map(|step| {
        let documents = steps.documents_of(step, "authorization_endpoint");
        let all = !documents.is_empty() && documents.into_iter().all(names_no_method);
        all.then(|| step.breach("", format!("the server's metadata has no {METHODS}, and the client continues")))
    });
    // Who gets tokens in another way has no code to protect.
    let other_ways = steps.grants.iter().any(|grant| !grant.is_grant("authorization_code"));
    let silent = steps.issuers.iter().filter(|d| names_no_method(d) && !other_ways);
    let witnesses: Vec<usize> = silent.filter_map(|d| steps.over(d.answered_at()?)).collect();
    Verdict::never(offence, witnesses, format!("no metadata without {METHODS} was followed by the client's end"))
}

/// Every redirect URI that a client names, with the event.
pub(super) fn redirect_secure(view: &View<'_>) -> Verdict {
    let steps = Steps::of(view);
    let registered = steps
        .registrations
        .iter()
        .flat_map(|step| redirects(&step.asks).into_iter().map(|uri| (step.at(), uri.to_owned())).collect::<Vec<_>>());
    let requested =
        steps.authorizations.iter().filter_map(|step| Some((step.at(), step.text("redirect_uri")?.to_owned())));
    let judged = registered.chain(requested).map(|(event, uri)| {
        let secure = Address::of(&uri).is_some_and(|address| address.is_secure() || address.is_local());
        let why = format!("{uri} is neither https nor on localhost");
        (event, if secure { Ok(()) } else { Err(Breach::at(event, "", why)) })
    });
    Verdict::of(judged.collect::<Vec<_>>(), "the client named no redirect URI")
}

/// A redirect URI without its port, where that may differ from one time to the next.
fn without_port(uri: &str) -> String {
    match Address::of(uri).filter(|address| address.is_local()) {
        Some(address) => {
            let host = crate::basic::authorization::host_name(address.authority);
            format!("{}://{host}{}", address.scheme, address.target)
        }
        None => uri.to_owned(),
    }
}

/// The redirect URIs that an authorization server knows of a client, as far as the trace shows them.
fn known_redirects(steps: &Steps<'_, '_>, step: &Request<'_, '_>, id: &str) -> Option<Vec<String>> {
    let texts = |object: &Value| redirects(object).into_iter().map(str::to_owned).collect::<Vec<_>>();
    if is_url(id) {
        let fetch = steps.view.exchanges().iter().find(|x| x.is("GET") && leads_to(id, x))?;
        return object(fetch).map(|document| texts(&document));
    }
    let own = |r: &&super::steps::Registration<'_, '_>| {
        r.answered_at().is_some_and(|answered| answered < step.at()) && r.given_text("client_id") == Some(id)
    };
    let registration = steps.registrations.iter().rfind(own)?;
    let answered = registration.given.as_ref().map(texts).filter(|all| !all.is_empty());
    Some(answered.unwrap_or_else(|| texts(&registration.asks)))
}

pub(super) fn redirect_registered(view: &View<'_>) -> Verdict {
    let steps = Steps::of(view);
    let judged = steps.authorizations.iter().filter_map(|step| -> Option<(usize, Kept)> {
        let (id, uri) = (step.text("client_id")?, step.text("redirect_uri")?);
        let known = known_redirects(&steps, step, id)?;
        let found = known.iter().any(|own| own == uri || without_port(own) == without_port(uri));
        let why = || format!("the client is registered with {}, and asks to be sent to {uri}", listed(&known));
        Some((step.at(), if found { Ok(()) } else { Err(step.breach("", why())) }))
    });
    let unseen = "no client asked for authorization whose redirect URIs are known here";
    Verdict::of(judged.collect::<Vec<_>>(), unseen)
}

fn listed(all: &[String]) -> String {
    if all.is_empty() { "no redirect URI".to_owned() } else { all.join(", ") }
}

/// The first request that redeems the code of an answer, where it has one.
fn redeemed<'s, 'a, 'v>(steps: &'s Steps<'a, 'v>, answered: usize, back: &Form) -> Option<&'s Request<'a, 'v>> {
    let code = back.text("code")?;
    redemptions(steps).find(|grant| grant.at() > answered && grant.text("code") == Some(code))
}

/// Judges that no code is redeemed of an answer that `is_wrong`, in which case it says why.
fn discards(
    steps: &Steps<'_, '_>,
    unseen: &str,
    is_wrong: impl Fn(&Request<'_, '_>, &Form) -> Option<String>,
) -> Verdict {
    let answers = steps.authorizations.iter().filter_map(|step| Some((step, step.answered_at()?, step.sent_back()?)));
    let mut witnesses = Vec::new();
    let with_code = answers.filter(|(.., back)| back.text("code").is_some());
    for (step, answered, back) in with_code {
        let Some(why) = is_wrong(step, &back) else { continue };
        match redeemed(steps, answered, &back) {
            Some(grant) => return Verdict::Broken(grant.breach("", format!("{why}, and the client redeems its code"))),
            None => witnesses.extend(steps.over(answered)),
        }
    }
    Verdict::witnessed(witnesses, unseen)
}

pub(super) fn state_verified(view: &View<'_>) -> Verdict {
    let steps = Steps::of(view);
    if let Some(step) = steps.authorizations.iter().find(|step| step.text("state").is_none()) {
        return Verdict::Broken(step.breach("", "this authorization request has no state"));
    }
    discards(&steps, "no answer came back without the state that was sent", |step, back| {
        let (sent, came) = (step.text("state")?, back.text("state"));
        match came {
            Some(came) if came == sent => None,
            Some(_) => Some(format!("the answer to the request of event {} has another state", step.at())),
            None => Some(format!("the answer to the request of event {} has no state", step.at())),
        }
    })
}

pub(super) fn response_issuer(view: &View<'_>) -> Verdict {
    let steps = Steps::of(view);
    let promises = |d: &Document<'_, '_>| {
        let given = d.given.as_ref().and_then(|given| given.get("authorization_response_iss_parameter_supported"));
        given == Some(&Value::Bool(true))
    };
    discards(&steps, "no answer came back with another issuer, or without the one that was promised", |step, back| {
        let owner = steps.owner(step, "authorization_endpoint")?;
        let documents = steps.documents_of(step, "authorization_endpoint");
        match back.text("iss") {
            Some(iss) if iss == owner => None,
            Some(iss) => Some(format!("the answer is of issuer {iss}, not of {owner}")),
            None => {
                documents.into_iter().all(promises).then(|| format!("the answer has no `iss`, which {owner} promises"))
            }
        }
    })
}
