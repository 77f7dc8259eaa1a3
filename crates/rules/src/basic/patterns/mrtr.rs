//! The page `basic/patterns/mrtr`: multi round-trip requests. That a server sends no requests of its own and asks for
//! nothing the client did not declare is judged by `jsonrpc.no-server-requests` and `meta.undeclared-not-used`.

use std::collections::BTreeSet;

use serde_json::Value;
use wire::json::{self, Outline};
use wire::revision::R2026_07_28;

use crate::content::step;
use crate::rule::{Anchor, Rule, at, server};
use crate::verdict::{Kept, Verdict};
use crate::view::{Call, Said, View};

const fn here(section: &'static str) -> Anchor {
    at("basic/patterns/mrtr", section)
}

const SERVERS: Anchor = here("server-requirements-basic-workflow");

/// What a server may ask a client for.
const REQUESTS: [&str; 3] = ["elicitation/create", "sampling/createMessage", "roots/list"];

/// The page's rules, in its own order.
pub(crate) const RULES: &[Rule] = &[
    server("mrtr.only-where-supported")
        .says(
            R2026_07_28,
            here("supported-requests"),
            "A server MUST NOT ask for input in answer to other requests than `prompts/get`, `resources/read` and \
             `tools/call`.",
        )
        .how("Looks at the requests that results with `resultType: input_required` answer.")
        .mend("Answer other requests with a final result or an error.")
        .judge(only_where_supported),
    server("mrtr.keys-unique")
        .says(R2026_07_28, SERVERS, "The keys of `inputRequests` MUST be unique.")
        .how("Looks for a key that stands twice in the text of `inputRequests`.")
        .mend("Give each request a key of its own.")
        .judge(unique_keys),
    server("mrtr.requests-known")
        .says(
            R2026_07_28,
            SERVERS,
            "Every entry of `inputRequests` MUST be a request to elicit, to sample or to list roots.",
        )
        .how("Reads the method of every entry of `inputRequests`.")
        .mend("Use `elicitation/create`, `sampling/createMessage` or `roots/list`.")
        .judge(known),
    server("mrtr.state-verified")
        .says(R2026_07_28, SERVERS, "A server MUST refuse a `requestState` that fails its verification.")
        .unobservable("whether a state must be verified depends on what the server uses it for"),
    server("mrtr.something-asked")
        .says(R2026_07_28, SERVERS, "A result that asks for input MUST have `inputRequests`, `requestState` or both.")
        .how("Looks for either member in results with `resultType: input_required`.")
        .mend("Say what is needed in `inputRequests`, or give a `requestState` to come back with.")
        .judge(something),
    server("mrtr.malformed-responses-refused")
        .says(R2026_07_28, here("error-handling"), "`inputResponses` of a wrong form SHOULD be answered with an error.")
        .how(
            "Looks at the answers to requests whose `inputResponses` is no object, or has entries that are no objects.",
        )
        .mend("Check the form of `inputResponses` and answer -32602.")
        .judge(malformed),
    server("mrtr.unneeded-responses-ignored")
        .says(
            R2026_07_28,
            here("error-handling"),
            "Entries of `inputResponses` that nobody asked for SHOULD be ignored.",
        )
        .how("Looks at the answers to retries that have all that was asked for, and more: they should not be refused.")
        .mend("Read the entries you asked for, and pass over the others.")
        .judge(unneeded),
    server("mrtr.missing-responses-asked-again")
        .says(
            R2026_07_28,
            here("error-handling"),
            "Where a retry lacks input that is needed, the server SHOULD ask for it again instead of refusing.",
        )
        .how("Looks at the answers to retries that lack entries the result before asked for.")
        .mend("Return another `InputRequiredResult` with what is missing.")
        .judge(missing),
];

/// Results that ask for input: the request's method, the response and the result.
fn asking<'v>(view: &View<'v>) -> Vec<(Call<'v>, Said<'v>, &'v Value)> {
    let asks = |call: Call<'v>| {
        let result = call.result().filter(|r| r.get("resultType").is_some_and(|kind| kind == "input_required"))?;
        Some((call, call.response?, result))
    };
    view.all_calls().filter(|call| view.current(call.request)).filter_map(asks).collect()
}

/// The entries of `inputRequests` with their pointers and methods.
fn entries(result: &Value) -> impl Iterator<Item = (String, &str)> {
    let all = result.get("inputRequests").and_then(Value::as_object).into_iter().flatten();
    all.filter_map(|(key, entry)| {
        let pointer = format!("/result/inputRequests/{}/method", step(key));
        Some((pointer, entry.get("method")?.as_str()?))
    })
}

fn only_where_supported(view: &View<'_>) -> Verdict {
    let judged = asking(view).into_iter().map(|(call, said, _)| {
        let method = call.request.message.method().unwrap_or_default();
        let supported = ["prompts/get", "resources/read", "tools/call"].contains(&method);
        let why = || format!("`{}` is answered by asking for input", method.escape_debug());
        (said.event, if supported { Ok(()) } else { Err(said.breach("/result/resultType", why())) })
    });
    // An extension may have requests of its own that support it.
    let core =
        asking(view).iter().all(|(call, ..)| call.request.message.method().is_some_and(wire::method::known_ever));
    Verdict::of(judged.filter(|_| core), "no core request was answered by asking for input")
}

fn known(view: &View<'_>) -> Verdict {
    let judged = asking(view).into_iter().flat_map(|(_, said, result)| {
        entries(result).map(move |(pointer, method)| {
            let known = REQUESTS.contains(&method);
            let why = || format!("`{}` is no request to a client", method.escape_debug());
            (said.event, if known { Ok(()) } else { Err(said.breach(pointer, why())) })
        })
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "the server asked the client for nothing")
}

/// Read from the text: a value has lost what stood twice.
fn unique_keys(view: &View<'_>) -> Verdict {
    let judged = asking(view).into_iter().filter_map(|(_, said, _)| {
        let names = keys(keyed(said.message.body_text()?, "inputRequests")?)?;
        let mut seen = BTreeSet::new();
        let twice = names.iter().find(|name| !seen.insert(name.as_str()));
        let breach = |key: &String| {
            said.breach(
                format!("/result/inputRequests/{}", step(key)),
                format!("`{}` stands twice", key.escape_debug()),
            )
        };
        (names.len() > 1).then(|| (said.event, twice.map_or(Ok(()), |key| Err(breach(key)))))
    });
    Verdict::of(judged, "the server asked the client for no two things at once")
}

/// The text of a member of an object.
fn keyed<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let Ok(Outline::Object(members)) = json::outline(text) else { return None };
    let member = members.into_iter().find(|member| json::unquote(&text[member.name.clone()]) == name)?;
    Some(&text[member.value])
}

/// The names of an object's members, in order and as often as they stand.
fn keys(text: &str) -> Option<Vec<String>> {
    let Ok(Outline::Object(members)) = json::outline(text) else { return None };
    Some(members.into_iter().map(|member| json::unquote(&text[member.name]).into_owned()).collect())
}

fn something(view: &View<'_>) -> Verdict {
    Verdict::of(
        asking(view).into_iter().map(|(_, said, result)| {
            let there = ["inputRequests", "requestState"].into_iter().any(|member| result.get(member).is_some());
            let breach = || Err(said.breach("/result", "there is neither `inputRequests` nor `requestState`"));
            (said.event, if there { Ok(()) } else { breach() })
        }),
        "no request was answered by asking for input",
    )
}

fn responses<'v>(call: &Call<'v>) -> Option<&'v Value> {
    call.request.message.params()?.get("inputResponses")
}

fn malformed(view: &View<'_>) -> Verdict {
    let wrong = |value: &Value| value.as_object().is_none_or(|all| all.values().any(|entry| !entry.is_object()));
    let asked = asking(view);
    let name =
        |call: &Call<'_>| call.request.message.params().and_then(|p| p.get("name").or_else(|| p.get("uri"))).cloned();
    // Who never asked for input may pass `inputResponses` over like any member it does not know.
    let wanted = |call: &Call<'_>| {
        asked.iter().any(|(first, ..)| {
            first.request.message.method() == call.request.message.method() && name(first) == name(call)
        })
    };
    let judged = view.all_calls().filter(|call| view.is_weighed(call) && wanted(call)).filter_map(|call| {
        let (response, _) = (call.response?, responses(&call).filter(|value| wrong(value))?);
        let why = "malformed `inputResponses` are answered with a result";
        // Asking again is an answer too: nothing of what came was used.
        let again = call.result().is_some_and(|r| r.get("resultType").is_some_and(|kind| kind == "input_required"));
        let kept: Kept = if call.error().is_some() { Ok(()) } else { Err(response.breach("/result", why)) };
        (!again).then_some((response.event, kept))
    });
    Verdict::of(judged, "no malformed `inputResponses` were sent")
}

/// Retries: the call, the keys that the result before it asked for, and the entries that came.
fn retries<'v>(view: &View<'v>) -> Vec<(Call<'v>, Vec<&'v str>, &'v serde_json::Map<String, Value>)> {
    let part = |call: &Call<'v>, name: &str| call.request.message.params().and_then(|p| p.get(name));
    let asked = asking(view);
    let retry = |call: Call<'v>| {
        let entries = responses(&call)?.as_object()?;
        let (_, _, before) = asked.iter().rfind(|(first, said, result)| {
            let same = ["name", "uri", "arguments"].into_iter().all(|name| part(first, name) == part(&call, name));
            said.event < call.request.event
                && first.request.message.method() == call.request.message.method()
                && same
                && result.get("requestState") == part(&call, "requestState")
        })?;
        let keys = before.get("inputRequests")?.as_object()?.keys().map(String::as_str).collect();
        Some((call, keys, entries))
    };
    view.all_calls().filter(|call| view.is_weighed(call)).filter_map(retry).collect()
}

/// A retry should not be refused with -32602 for `why`.
fn not_refused(call: &Call<'_>, why: &str) -> Option<(usize, Kept)> {
    let response = call.response?;
    match call.error_code() {
        Some(-32602) => Some((response.event, Err(response.breach("/error", why)))),
        Some(_) => None,
        None => Some((response.event, Ok(()))),
    }
}

fn unneeded(view: &View<'_>) -> Verdict {
    let more = retries(view)
        .into_iter()
        .filter(|(_, keys, entries)| entries.len() > keys.len() && keys.iter().all(|key| entries.contains_key(*key)));
    let judged =
        more.filter_map(|(call, ..)| not_refused(&call, "a retry is refused that has more than was asked for"));
    Verdict::of(judged, "no retry had more than was asked for")
}

fn missing(view: &View<'_>) -> Verdict {
    let less = retries(view).into_iter().filter(|(_, keys, entries)| keys.iter().any(|k| !entries.contains_key(*k)));
    let judged = less.filter_map(|(call, ..)| {
        let again = call.result().is_none_or(|r| r.get("resultType").is_some_and(|kind| kind == "input_required"));
        not_refused(&call, "a retry is refused for what it lacks").filter(|_| again)
    });
    Verdict::of(judged, "no retry lacked what was asked for")
}
