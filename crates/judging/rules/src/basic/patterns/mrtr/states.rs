//! The page `basic/patterns/mrtr`: the state that a server hands out and gets back, and questions that get no answer.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use wire::error_code::INTERNAL_ERROR;
use wire::revision::R2026_07_28;

use super::SERVERS;
use crate::reading::content::canonical;
use crate::reading::questions::{InputResult, asks_for_input, param, results};
use crate::rule::{Rule, server};
use crate::server::listing::OFFERS;
use crate::verdict::{Breach, Kept, Verdict};
use crate::view::{Call, View};

/// The rules.
pub(crate) const RULES: &[Rule] = &[
    server("mrtr.state-verified")
        .says(R2026_07_28, SERVERS, "A server MUST refuse a `requestState` that fails its verification.")
        .about(OFFERS)
        .how("Repeats a request with a `requestState` in which one character is changed. It should fail or be asked again. A success that uses the input breaks the rule where the true state gave one outcome more than once and the changed state gives another: then a client can decide what the state says. A changed signature at the end of a state breaks it as well, where the same input without any state is no success: then the server reads the state and not its signature. Other changes without effect are not judged.")
        .fix("Seal the state with a key of your own (HMAC or AEAD), and refuse with -32602 what does not open.")
        .judge(verified),
    server("mrtr.state-bound")
        .says(R2026_07_28, SERVERS, "A server SHOULD refuse a `requestState` that it gave for another request.")
        .about(OFFERS)
        .how("Repeats one call with the state of another. A server that ignores states is not judged: its answers without any state are the same.")
        .fix("Put the method and a digest of the parameters into the sealed state, and compare.")
        .judge(bound),
    server("mrtr.abandonment-survived")
        .says(R2026_07_28, SERVERS, "A server MUST NOT count on a client that comes back with what it asked for.")
        .about(OFFERS)
        .how("Leaves questions unanswered, and checks whether the same request is served when it is made again, or else \
              whether the server continues.")
        .fix("Keep nothing that waits for the answer: let a new request start over.")
        .judge(abandoned),
];

/// What a request is about: the same for those that differ in their input and metadata alone.
fn subject_key(call: &Call<'_>) -> String {
    let of = |name: &str| param(call, name).map(canonical).unwrap_or_default();
    let method = call.request.message.method().unwrap_or_default();
    format!("{method} {} {} {}", of("name"), of("uri"), of("arguments"))
}

/// The states that the server gave, each with what they were given for.
fn given<'v>(view: &View<'v>) -> BTreeMap<&'v str, BTreeSet<String>> {
    let mut given: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for origin in results(view) {
        if let Some(state) = origin.result.get("requestState").and_then(Value::as_str) {
            given.entry(state).or_default().insert(subject_key(&origin.call));
        }
    }
    given
}

/// What came of a request: a success with what it says, its metadata aside, or none.
fn success(call: &Call<'_>) -> Option<String> {
    let result = call.result().filter(|result| !asks_for_input(result))?;
    if result.get("isError") == Some(&Value::Bool(true)) {
        return None;
    }
    let mut sent = result.clone();
    sent.as_object_mut()?.remove("_meta");
    Some(canonical(&sent))
}

/// A request that brings input, with the state it comes with.
struct Return<'v> {
    call: Call<'v>,
    subject_key: String,
    state: Option<&'v str>,
    input: String,
}

fn returns<'v>(view: &View<'v>) -> Vec<Return<'v>> {
    let one = |call: Call<'v>| {
        let input = canonical(param(&call, "inputResponses").filter(|input| input.is_object())?);
        let state = param(&call, "requestState").and_then(Value::as_str);
        call.response?;
        Some(Return { call, subject_key: subject_key(&call), state, input })
    };
    view.all_calls().filter(|call| view.judges_content(call)).filter_map(one).collect()
}

fn verified(view: &View<'_>) -> Verdict {
    let (given, returns) = (given(view), returns(view));
    let mut honest: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
    for one in returns.iter().filter(|one| one.state.is_some_and(|state| given.contains_key(state))) {
        honest.entry((&one.subject_key, &one.input)).or_default().extend(success(&one.call));
    }
    let asks: BTreeSet<&String> = given.values().flatten().collect();
    let forged = returns
        .iter()
        .filter(|one| one.state.is_some_and(|state| !given.contains_key(state)) && asks.contains(&one.subject_key));
    let judged = forged.filter_map(|one| {
        let response = one.call.response?;
        let Some(sent) = success(&one.call) else { return Some((response.event, Ok(()))) };
        if is_signature_ignored(&given, &returns, one) {
            let why = "a state is taken whose signature is not the one that the server made";
            return Some((response.event, Err(response.breach("/result", why))));
        }
        let truly = honest.get(&(one.subject_key.as_str(), one.input.as_str()))?;
        let steady = truly.len() > 1 && truly.iter().all(|other| *other == truly[0]);
        let why = "a state that the server never gave is taken, and changes what comes of the request";
        (steady && sent != truly[0] && uses(param(&one.call, "inputResponses")?, &sent))
            .then(|| (response.event, Err(response.breach("/result", why))))
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no changed state was sent back, or nothing came of the change")
}

/// Whether a request succeeds with a state that differs from one of the server's in its signature alone, and does not without
/// any state.
fn is_signature_ignored(given: &BTreeMap<&str, BTreeSet<String>>, returns: &[Return<'_>], one: &Return<'_>) -> bool {
    let Some((payload, forged)) = one.state.and_then(signed) else { return false };
    let differs = |(state, matters): (&&str, &BTreeSet<String>)| {
        let own = signed(state).filter(|(own, _)| *own == payload);
        matters.contains(&one.subject_key) && own.is_some_and(|(_, signature)| signature != forged)
    };
    let mut stateless = returns
        .iter()
        .filter(|other| other.state.is_none() && (&other.subject_key, &other.input) == (&one.subject_key, &one.input))
        .peekable();
    given.iter().any(differs) && stateless.peek().is_some() && stateless.all(|other| success(&other.call).is_none())
}

/// How many characters a digest of 160, 256, 384 or 512 bits has in hexadecimal and in Base64 without padding.
const DIGESTS: [usize; 8] = [40, 64, 96, 128, 27, 43, 64, 86];

/// What a state says, and the digest that it ends in, if it is of that form.
fn signed(state: &str) -> Option<(&str, &str)> {
    let (payload, digest) = state.rsplit_once(['.', ':', '|', '~'])?;
    let plain = digest.trim_end_matches('=');
    let made_of_letters = plain.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_+/".contains(&b));
    (!payload.is_empty() && made_of_letters && DIGESTS.contains(&plain.len())).then_some((payload, digest))
}

/// Whether a text that was brought is in what was said: a success may also say that nothing was done.
fn uses(input: &Value, sent: &str) -> bool {
    match input {
        Value::String(text) => text.len() > 2 && sent.contains(text.as_str()),
        Value::Array(items) => items.iter().any(|item| uses(item, sent)),
        Value::Object(members) => members.iter().any(|(name, value)| name != "action" && uses(value, sent)),
        _ => false,
    }
}

fn bound(view: &View<'_>) -> Verdict {
    let (given, returns) = (given(view), returns(view));
    let foreign = |one: &&Return<'_>| {
        one.state.and_then(|state| given.get(state)).is_some_and(|matters| !matters.contains(&one.subject_key))
    };
    let own = |one: &Return<'_>| {
        one.state.and_then(|state| given.get(state)).is_some_and(|matters| matters.contains(&one.subject_key))
    };
    let judged = returns.iter().filter(foreign).filter_map(|one| {
        let response = one.call.response?;
        let mut alike =
            returns.iter().filter(|other| (&other.subject_key, &other.input) == (&one.subject_key, &one.input));
        if success(&one.call).is_some() {
            let idle = alike.all(|other| other.state.is_some() || success(&other.call).is_some());
            let why = "the state of another request is taken";
            return (!idle).then(|| (response.event, Err(response.breach("/result", why))));
        }
        // What fails with the right state too fails for another reason.
        alike.any(|other| own(other) && success(&other.call).is_some()).then_some((response.event, Ok(())))
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no request came back with the state of another")
}

fn abandoned(view: &View<'_>) -> Verdict {
    let mut calls: BTreeMap<String, Vec<Call<'_>>> = BTreeMap::new();
    for call in view.all_calls().filter(|call| view.judges_content(call)) {
        calls.entry(subject_key(&call)).or_default().push(call);
    }
    let judged = results(view).into_iter().filter_map(|origin| {
        let alike = calls.get(&subject_key(&origin.call)).map_or(&[][..], Vec::as_slice);
        let later = &alike[alike.partition_point(|call| call.request.event <= origin.sent.event)..];
        match later.first() {
            Some(next) if param(next, "inputResponses").is_some() => None,
            Some(next) => begun_again(view, &origin, next),
            None => Some(match view.aftermath(origin.sent.event, origin.sent.connection)? {
                Ok(event) => (event, Ok(())),
                Err(event) => (event, Err(Breach::at(event, "", "the server ended while a question was unanswered"))),
            }),
        }
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no question was left unanswered")
}

/// How the same request fares when it is made again by a client that declares the same.
fn begun_again(view: &View<'_>, origin: &InputResult<'_>, next: &Call<'_>) -> Option<(usize, Kept)> {
    let declared = |call: &Call<'_>| view.client_capabilities(call.request).map(canonical);
    // Something may also go wrong by itself.
    let blamed = declared(&origin.call) == declared(next) && next.error_code() != Some(INTERNAL_ERROR);
    let response = next.response.filter(|_| blamed)?;
    let why = "the request is refused because an earlier question was not answered";
    Some((response.event, if next.error().is_some() { Err(response.breach("/error", why)) } else { Ok(()) }))
}
