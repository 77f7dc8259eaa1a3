//! The page `basic/patterns/mrtr`: what it demands of clients.

use wire::Party;
use wire::meta;
use wire::revision::R2026_07_28;

use super::here;
use crate::asking::{self, Asked, METHODS, param, results, same_matter};
use crate::rule::{Anchor, Rule, client};
use crate::verdict::{Kept, Verdict};
use crate::view::{Call, View};

const CLIENTS: Anchor = here("client-requirements-basic-workflow");

/// The rules.
pub(crate) const RULES: &[Rule] = &[
    client("mrtr.retries-complete")
        .says(
            R2026_07_28,
            here(""),
            "A request that comes again MUST carry the required `_meta` fields like any other.",
        )
        .how("Looks at `_meta` of every request that brings `inputResponses` or `requestState`. Takes a server that asks for input.")
        .fix("Build the `_meta` of a request that comes again as that of any other.")
        .judge(complete),
    client("mrtr.inputs-brought")
        .says(R2026_07_28, CLIENTS, "A client that comes back MUST bring the input that it was asked for.")
        .how("Compares the keys of `inputResponses` with those that the result before asked for. Takes a server that asks for something that the client declared.")
        .fix("Answer every entry of `inputRequests` under its key, be it by declining, before you come back.")
        .judge(brought),
    client("mrtr.state-echoed")
        .says(R2026_07_28, CLIENTS, "A client that comes back MUST bring the `requestState` exactly as it was given.")
        .how("Compares `requestState` of a request that comes again with that of the result before. Takes a server that gives one, best with characters that invite rewriting.")
        .fix("Keep `requestState` as a string, and send it back byte for byte.")
        .judge(state_echoed),
    client("mrtr.no-state-invented")
        .says(R2026_07_28, CLIENTS, "A client that was given no `requestState` MUST NOT bring one.")
        .how("Takes a server that asks for input without `requestState`, and looks whether the client brings one.")
        .fix("Send `requestState` only where the result had one.")
        .judge(no_state_invented),
    client("mrtr.retry-id-new")
        .says(R2026_07_28, CLIENTS, "A request that comes again MUST have another id.")
        .how("Compares the id of a request that comes again with that of the one before. Takes a server that asks for input.")
        .fix("Give the request that comes again an id of its own.")
        .judge(id_new),
    client("mrtr.inputs-on-retries-only")
        .says(R2026_07_28, CLIENTS, "Input and state MUST NOT go with any other request than the one they are for.")
        .how("Looks for `inputResponses` and `requestState` on other requests than the one that was answered with `input_required`. Takes a server that asks for input in answer to one request of several, best of several under way.")
        .fix("Keep input and state with the request they belong to.")
        .judge(retries_only),
];

const UNSEEN: &str = "no request came again after its server had asked for input";

/// The requests that a server may answer by asking for input.
const NESTING: [&str; 3] = ["tools/call", "prompts/get", "resources/read"];

/// Whether a request brings input or state.
fn brings(call: &Call<'_>) -> bool {
    ["inputResponses", "requestState"].into_iter().any(|name| param(call, name).is_some())
}

/// A request that came again, with the result that it comes back from.
struct Again<'v> {
    call: Call<'v>,
    asked: Asked<'v>,
    /// Whether other results could be meant as well: several of the same matter were waiting at the time.
    doubtful: bool,
}

/// Every request that came again: it brings something, and the same was answered by asking for input before.
fn again<'v>(view: &View<'v>) -> Vec<Again<'v>> {
    let asked = results(view);
    let mut spent = vec![false; asked.len()];
    let mut found = Vec::new();
    for call in view.calls_by(Party::Client).filter(brings) {
        let waiting: Vec<usize> = (0..asked.len())
            .filter(|&place| {
                !spent[place] && asked[place].sent.event < call.request.event && same_matter(&asked[place].call, &call)
            })
            .collect();
        let same_state = |place: &&usize| asked[**place].result.get("requestState") == param(&call, "requestState");
        let Some(&place) = waiting.iter().rfind(same_state).or_else(|| waiting.last()) else { continue };
        spent[place] = true;
        found.push(Again { call, asked: asked[place], doubtful: waiting.len() > 1 });
    }
    found
}

/// Judges every request that came again, where it is known what from.
fn each(view: &View<'_>, judge: impl Fn(&Again<'_>) -> Option<Kept>) -> Verdict {
    let all = again(view).into_iter().filter(|again| !again.doubtful);
    let judged = all.filter_map(|again| Some((again.call.request.event, judge(&again)?)));
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), UNSEEN)
}

fn complete(view: &View<'_>) -> Verdict {
    let judged = view.calls_by(Party::Client).filter(brings).map(|call| {
        let why = "the request brings input, but not the `_meta` fields that every request needs";
        let kept =
            if call.request.has_required_meta() { Ok(()) } else { Err(call.request.breach("/params/_meta", why)) };
        (call.request.event, kept)
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no request brought input or state")
}

fn brought(view: &View<'_>) -> Verdict {
    each(view, |again| {
        let wanted = again.asked.result.get("inputRequests")?.as_object()?;
        // What the client never declared, and what no client knows, it need not bring.
        let capabilities = again.asked.call.request.message.meta()?.get(meta::CLIENT_CAPABILITIES)?;
        let due = wanted.iter().filter(|(_, request)| {
            let method = request.get("method").and_then(|method| method.as_str()).unwrap_or_default();
            METHODS.contains(&method) && asking::lacking(capabilities, method, request.get("params")).is_none()
        });
        let mut due = due.map(|(key, _)| key).peekable();
        due.peek()?;
        let entries = param(&again.call, "inputResponses").and_then(|value| value.as_object());
        let missing = due.find(|key| entries.is_none_or(|entries| !entries.contains_key(*key)));
        let breach = |key: &String| {
            again
                .call
                .request
                .breach("/params/inputResponses", format!("`{}` was asked for and is not brought", key.escape_debug()))
        };
        Some(missing.map_or(Ok(()), |key| Err(breach(key))))
    })
}

fn state_echoed(view: &View<'_>) -> Verdict {
    each(view, |again| {
        let given = again.asked.result.get("requestState")?;
        let request = again.call.request;
        Some(match param(&again.call, "requestState") {
            Some(found) if found == given => Ok(()),
            Some(_) => Err(request.breach("/params/requestState", "this is not the `requestState` that was given")),
            None => Err(request.breach("/params", "the `requestState` that was given is not brought")),
        })
    })
}

fn no_state_invented(view: &View<'_>) -> Verdict {
    each(view, |again| {
        let none = again.asked.result.get("requestState").is_none();
        let why = "no `requestState` was given that could be brought";
        let invented = param(&again.call, "requestState").is_some();
        none.then(|| if invented { Err(again.call.request.breach("/params/requestState", why)) } else { Ok(()) })
    })
}

fn id_new(view: &View<'_>) -> Verdict {
    each(view, |again| {
        let same = again.call.request.message.id() == again.asked.call.request.message.id();
        let why = "the request that comes again has the id of the one before";
        Some(if same { Err(again.call.request.breach("/id", why)) } else { Ok(()) })
    })
}

/// Arguments may have been put in another way by then; what is called must be the same.
fn retries_only(view: &View<'_>) -> Verdict {
    let asked = results(view);
    let named = |call: &Call<'_>| {
        let name = |member: &str| param(call, member).cloned();
        (call.request.message.method().map(str::to_owned), name("name"), name("uri"))
    };
    // What a task waits for is brought by a request of its own (extensions/tasks).
    let calls =
        view.calls_by(Party::Client).filter(|call| view.is_current(call.request) && !call.request.is("tasks/update"));
    let judged = calls.filter_map(|call| {
        let mut before = asked.iter().filter(|asked| asked.sent.event < call.request.event).peekable();
        let own = before.clone().any(|asked| named(&asked.call) == named(&call));
        if brings(&call) {
            let why = "this brings input or state, and nothing was asked for in answer to such a request";
            return (!own).then(|| (call.request.event, Err(call.request.breach("/params", why))));
        }
        let tempting = before.peek().is_some() && !own && NESTING.into_iter().any(|method| call.request.is(method));
        tempting.then_some((call.request.event, Ok(())))
    });
    Verdict::of(
        judged.collect::<Vec<(usize, Kept)>>(),
        "after a server had asked for input, nothing else was asked of it",
    )
}
