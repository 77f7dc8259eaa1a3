//! The page `basic/patterns/mrtr`: multi round-trip requests. That a server sends no requests of its own and asks for
//! nothing the client did not declare is judged by `jsonrpc.no-server-requests` and `meta.undeclared-not-used`.

pub(crate) mod clients;
pub(crate) mod states;

use std::collections::BTreeSet;

use serde_json::Value;
use wire::error_code::{INTERNAL_ERROR, INVALID_PARAMS};
use wire::json::{self, Outline};
use wire::pointer;
use wire::revision::R2026_07_28;

use crate::reading::questions::{self, InputResult, Retry, asks_for_input, asks_the_same, param, results, retries};
use crate::rule::{Anchor, Rule, at, server};
use crate::server::listing::OFFERS;
use crate::verdict::{Kept, Verdict};
use crate::view::{Call, View};

const fn here(section: &'static str) -> Anchor {
    at("basic/patterns/mrtr", section)
}

const SERVERS: Anchor = here("server-requirements-basic-workflow");

/// The page's rules, in its own order.
pub(crate) const RULES: &[Rule] = &[
    server("mrtr.only-where-supported")
        .says(
            R2026_07_28,
            here("supported-requests"),
            "A server MUST NOT ask for input in answer to other requests than `prompts/get`, `resources/read` and \
             `tools/call`.",
        )
        .about(OFFERS)
        .how("Looks at the requests that results with `resultType: input_required` answer.")
        .fix("Answer other requests with a final result or an error.")
        .judge(only_where_supported),
    server("mrtr.keys-unique")
        .says(R2026_07_28, SERVERS, "The keys of `inputRequests` MUST be unique.")
        .about(OFFERS)
        .how("Looks for a key that is repeated in the text of `inputRequests`.")
        .fix("Give each request a key of its own.")
        .judge(unique_keys),
    server("mrtr.requests-known")
        .says(
            R2026_07_28,
            SERVERS,
            "Every entry of `inputRequests` MUST be a request to elicit, to sample or to list roots.",
        )
        .about(OFFERS)
        .how("Reads the method of every entry of `inputRequests`.")
        .fix("Use `elicitation/create`, `sampling/createMessage` or `roots/list`.")
        .judge(known),
    server("mrtr.something-asked")
        .says(R2026_07_28, SERVERS, "A result that asks for input MUST have `inputRequests`, `requestState` or both.")
        .about(OFFERS)
        .how("Looks for either member in results with `resultType: input_required`.")
        .fix("Say what is needed in `inputRequests`, or give a `requestState` to come back with.")
        .judge(something),
    server("mrtr.malformed-responses-refused")
        .says(R2026_07_28, here("error-handling"), "`inputResponses` of a wrong form SHOULD be answered with an error.")
        .about(OFFERS)
        .how(
            "Looks at the answers to requests whose `inputResponses` is not an object, or has entries that are not objects.",
        )
        .fix("Check the form of `inputResponses` and answer -32602.")
        .judge(malformed),
    server("mrtr.unneeded-responses-ignored")
        .says(
            R2026_07_28,
            here("error-handling"),
            "Unrequested entries of `inputResponses` SHOULD be ignored.",
        )
        .about(OFFERS)
        .how("Looks at the answers to retries that have all that was asked for, and more: they should not be refused.")
        .fix("Read the entries you asked for, and pass over the others.")
        .judge(unneeded),
    server("mrtr.missing-responses-asked-again")
        .says(
            R2026_07_28,
            here("error-handling"),
            "Where a retry lacks input that is needed, the server SHOULD ask for it again instead of refusing.",
        )
        .about(OFFERS)
        .how("Looks at the answers to retries that lack entries the result before asked for: the error -32602 breaks it, and -32603 where the same request succeeds with all that was asked for.")
        .fix("Return another `InputRequiredResult` with what is missing.")
        .judge(missing),
];

/// The entries of `inputRequests` with their pointers and methods.
fn entries(result: &Value) -> impl Iterator<Item = (String, &str)> {
    let all = result.get("inputRequests").and_then(Value::as_object).into_iter().flatten();
    all.filter_map(|(key, entry)| {
        let pointer = format!("/result/inputRequests/{}/method", pointer::escape(key));
        Some((pointer, entry.get("method")?.as_str()?))
    })
}

fn only_where_supported(view: &View<'_>) -> Verdict {
    let judged = results(view).into_iter().map(|InputResult { call, sent, .. }| {
        let method = call.request.message.method().unwrap_or_default();
        let supported = ["prompts/get", "resources/read", "tools/call"].contains(&method);
        let why = || format!("`{}` is answered by asking for input", method.escape_debug());
        (sent.event, if supported { Ok(()) } else { Err(sent.breach("/result/resultType", why())) })
    });
    // An extension may have requests of its own that support it.
    let core =
        results(view).iter().all(|origin| origin.call.request.message.method().is_some_and(wire::method::known_ever));
    Verdict::of(judged.filter(|_| core), "no core request was answered by asking for input")
}

fn known(view: &View<'_>) -> Verdict {
    let judged = results(view).into_iter().flat_map(|InputResult { sent, result, .. }| {
        entries(result).map(move |(pointer, method)| {
            let known = questions::METHODS.contains(&method);
            let why = || format!("`{}` is not a request to a client", method.escape_debug());
            (sent.event, if known { Ok(()) } else { Err(sent.breach(pointer, why())) })
        })
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "the server asked the client for nothing")
}

/// Read from the text: a value has lost what stood twice.
fn unique_keys(view: &View<'_>) -> Verdict {
    let judged = results(view).into_iter().filter_map(|InputResult { sent, .. }| {
        let names = keys(keyed(sent.message.body_text()?, "inputRequests")?)?;
        let mut seen = BTreeSet::new();
        let twice = names.iter().find(|name| !seen.insert(name.as_str()));
        let breach = |key: &String| {
            sent.breach(
                format!("/result/inputRequests/{}", pointer::escape(key)),
                format!("`{}` is repeated", key.escape_debug()),
            )
        };
        (names.len() > 1).then(|| (sent.event, twice.map_or(Ok(()), |key| Err(breach(key)))))
    });
    Verdict::of(judged, "the server asked the client for no two things at once")
}

/// The text of a member of an object.
fn keyed<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let Ok(Outline::Object(members)) = json::outline(text) else { return None };
    let member = members.into_iter().find(|member| json::unquote(&text[member.name.clone()]) == name)?;
    Some(&text[member.value])
}

/// The names of an object's members, in order and as often as they occur.
fn keys(text: &str) -> Option<Vec<String>> {
    let Ok(Outline::Object(members)) = json::outline(text) else { return None };
    Some(members.into_iter().map(|member| json::unquote(&text[member.name]).into_owned()).collect())
}

fn something(view: &View<'_>) -> Verdict {
    Verdict::of(
        results(view).into_iter().map(|InputResult { sent, result, .. }| {
            let there = ["inputRequests", "requestState"].into_iter().any(|member| result.get(member).is_some());
            let breach = || Err(sent.breach("/result", "there is neither `inputRequests` nor `requestState`"));
            (sent.event, if there { Ok(()) } else { breach() })
        }),
        "no request was answered by asking for input",
    )
}

fn responses<'v>(call: &Call<'v>) -> Option<&'v Value> {
    param(call, "inputResponses")
}

fn malformed(view: &View<'_>) -> Verdict {
    let wrong = |value: &Value| value.as_object().is_none_or(|all| all.values().any(|entry| !entry.is_object()));
    let origin = results(view);
    let name =
        |call: &Call<'_>| call.request.message.params().and_then(|p| p.get("name").or_else(|| p.get("uri"))).cloned();
    // Who never asked for input may pass `inputResponses` over like any member it does not know.
    let expected = |call: &Call<'_>| {
        origin.iter().any(|InputResult { call: first, .. }| {
            first.request.message.method() == call.request.message.method() && name(first) == name(call)
        })
    };
    let judged = view.all_calls().filter(|call| view.judges_content(call) && expected(call)).filter_map(|call| {
        let (response, _) = (call.response?, responses(&call).filter(|value| wrong(value))?);
        let why = "malformed `inputResponses` are answered with a result";
        // Asking again is an answer too: nothing of what came was used.
        let again = call.result().is_some_and(asks_for_input);
        let kept: Kept = if call.error().is_some() { Ok(()) } else { Err(response.breach("/result", why)) };
        (!again).then_some((response.event, kept))
    });
    Verdict::of(judged, "no malformed `inputResponses` were sent")
}

/// A retry should not be refused with -32602 for `why`.
fn not_refused(call: &Call<'_>, why: &str) -> Option<(usize, Kept)> {
    let response = call.response?;
    match call.error_code() {
        Some(INVALID_PARAMS) => Some((response.event, Err(response.breach("/error", why)))),
        Some(_) => None,
        None => Some((response.event, Ok(()))),
    }
}

fn unneeded(view: &View<'_>) -> Verdict {
    let more = retries(view).into_iter().filter(|retry| {
        let keys = retry.keys();
        retry.entries.len() > keys.len() && keys.iter().all(|key| retry.entries.contains_key(*key))
    });
    let why = "a retry is refused that has more than was asked for";
    let judged = more.filter_map(|retry| not_refused(&retry.call, why));
    Verdict::of(judged, "no retry had more than was asked for")
}

fn missing(view: &View<'_>) -> Verdict {
    let retries = retries(view);
    let lacks = |retry: &Retry<'_>| retry.keys().into_iter().any(|key| !retry.entries.contains_key(key));
    let succeeds = |retry: &Retry<'_>| {
        let other = |other: &Retry<'_>| {
            let served = other.call.result().is_some_and(|result| !asks_for_input(result));
            served && !lacks(other) && asks_the_same(&other.call, &retry.call)
        };
        retries.iter().any(other)
    };
    let judged = retries.iter().filter(|retry| lacks(retry)).filter_map(|retry| {
        let why = "a retry is refused for what it lacks";
        if retry.call.error_code() == Some(INTERNAL_ERROR) {
            let response = retry.call.response.filter(|_| succeeds(retry))?;
            return Some((response.event, Err(response.breach("/error/code", why))));
        }
        let again = retry.call.result().is_none_or(asks_for_input);
        not_refused(&retry.call, why).filter(|_| again)
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no retry lacked what was asked for")
}
