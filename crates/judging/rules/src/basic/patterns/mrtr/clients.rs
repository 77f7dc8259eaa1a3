//! The page `basic/patterns/mrtr`: what it demands of clients.

use wire::Party;
use wire::meta;
use wire::revision::R2026_07_28;

use super::here;
use crate::reading::questions::{self, InputResult, METHODS, asks_the_same, param, results};
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
            "A request that comes again MUST be as complete as any other: with the required `_meta` fields, and with its arguments.",
        )
        .how("Looks at `_meta` of every request that brings `inputResponses` or `requestState`, and for the arguments that the original had. Needs a server that asks for input in answer to a request with arguments.")
        .fix("Repeat the original request with its arguments, and add the input and the required `_meta` fields.")
        .judge(complete),
    client("mrtr.inputs-brought")
        .says(R2026_07_28, CLIENTS, "A client that comes back MUST bring the input that it was asked for.")
        .how("Compares the keys of `inputResponses` with those that the result before asked for. Needs a server that asks for something that the client declared.")
        .fix("Answer every entry of `inputRequests` under its key, be it by declining, before you come back.")
        .judge(brought),
    client("mrtr.state-echoed")
        .says(R2026_07_28, CLIENTS, "A client that comes back MUST bring the `requestState` exactly as it was given.")
        .how("Compares `requestState` of a request that comes again with that of the result before. Needs a server that gives one, best with characters that invite rewriting.")
        .fix("Keep `requestState` as a string, and send it back byte for byte.")
        .judge(state_echoed),
    client("mrtr.no-state-invented")
        .says(R2026_07_28, CLIENTS, "A client that was given no `requestState` MUST NOT bring one.")
        .how("Needs a server that asks for input without `requestState`, and checks whether the client brings one.")
        .fix("Send `requestState` only where the result had one.")
        .judge(no_state_invented),
    client("mrtr.retry-id-new")
        .says(R2026_07_28, CLIENTS, "A request that comes again MUST have another id.")
        .how("Compares the id of a request that comes again with that of the one before. Needs a server that asks for input.")
        .fix("Give the request that comes again an id of its own.")
        .judge(id_new),
    client("mrtr.inputs-on-retries-only")
        .says(R2026_07_28, CLIENTS, "Input and state MUST NOT go with any other request than the one they are for.")
        .how("Looks for `inputResponses` and `requestState` on other requests than the one that was answered with `input_required`. Needs a server that asks for input in answer to one request of several, best of several under way.")
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
struct Repeat<'v> {
    call: Call<'v>,
    origin: InputResult<'v>,
    /// Whether other results could be meant as well: several of the same matter were waiting at the time.
    doubtful: bool,
}

/// Every request that came again: it brings something, and the same was answered by asking for input before.
fn repeats<'v>(view: &View<'v>) -> Vec<Repeat<'v>> {
    let origin = results(view);
    let mut spent = vec![false; origin.len()];
    let mut found = Vec::new();
    for call in view.calls_by(Party::Client).filter(brings) {
        let waiting: Vec<usize> = (0..origin.len())
            .filter(|&place| {
                !spent[place]
                    && origin[place].sent.event < call.request.event
                    && asks_the_same(&origin[place].call, &call)
            })
            .collect();
        let same_state = |place: &&usize| origin[**place].result.get("requestState") == param(&call, "requestState");
        let Some(&place) = waiting.iter().rfind(same_state).or_else(|| waiting.last()) else { continue };
        spent[place] = true;
        found.push(Repeat { call, origin: origin[place], doubtful: waiting.len() > 1 });
    }
    found
}

/// Judges every request that came again, where it is known what from.
fn each(view: &View<'_>, judge: impl Fn(&Repeat<'_>) -> Option<Kept>) -> Verdict {
    let all = repeats(view).into_iter().filter(|repeat| !repeat.doubtful);
    let judged = all.filter_map(|repeat| Some((repeat.call.request.event, judge(&repeat)?)));
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), UNSEEN)
}

fn complete(view: &View<'_>) -> Verdict {
    let origin = results(view);
    let judged = view.calls_by(Party::Client).filter(brings).map(|call| {
        let why = "the request brings input, but not the `_meta` fields that every request needs";
        let without = "the request brings input, but not the arguments that it had before";
        let kept = if !call.request.has_required_meta() {
            Err(call.request.breach("/params/_meta", why))
        } else if lost_arguments(&origin, &call) {
            Err(call.request.breach("/params", without))
        } else {
            Ok(())
        };
        (call.request.event, kept)
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no request brought input or state")
}

/// Whether a request comes again without arguments, and every request that it may come from had some.
fn lost_arguments(origin: &[InputResult<'_>], call: &Call<'_>) -> bool {
    let arguments = |call: &Call<'_>| {
        param(call, "arguments").and_then(|value| value.as_object()).is_some_and(|arguments| !arguments.is_empty())
    };
    let same = |one: &Call<'_>, name: &str| param(one, name) == param(call, name);
    let mut before = origin
        .iter()
        .filter(|origin| {
            let (asked, here) = (origin.call.request.message.method(), call.request.message.method());
            origin.sent.event < call.request.event && asked == here && same(&origin.call, "name")
        })
        .peekable();
    !arguments(call) && before.peek().is_some() && before.all(|origin| arguments(&origin.call))
}

fn brought(view: &View<'_>) -> Verdict {
    each(view, |repeat| {
        let expected = repeat.origin.result.get("inputRequests")?.as_object()?;
        // What the client never declared, and what no client knows, it need not bring.
        let capabilities = repeat.origin.call.request.message.meta()?.get(meta::CLIENT_CAPABILITIES)?;
        let due = expected.iter().filter(|(_, request)| {
            let method = request.get("method").and_then(|method| method.as_str()).unwrap_or_default();
            METHODS.contains(&method) && questions::lacking(capabilities, method, request.get("params")).is_none()
        });
        let mut due = due.map(|(key, _)| key).peekable();
        due.peek()?;
        let entries = param(&repeat.call, "inputResponses").and_then(|value| value.as_object());
        let missing = due.find(|key| entries.is_none_or(|entries| !entries.contains_key(*key)));
        let breach = |key: &String| {
            repeat
                .call
                .request
                .breach("/params/inputResponses", format!("`{}` was asked for and is not brought", key.escape_debug()))
        };
        Some(missing.map_or(Ok(()), |key| Err(breach(key))))
    })
}

fn state_echoed(view: &View<'_>) -> Verdict {
    each(view, |repeat| {
        let given = repeat.origin.result.get("requestState")?;
        let request = repeat.call.request;
        Some(match param(&repeat.call, "requestState") {
            Some(found) if found == given => Ok(()),
            Some(_) => Err(request.breach("/params/requestState", "this is not the `requestState` that was given")),
            None => Err(request.breach("/params", "the `requestState` that was given is not brought")),
        })
    })
}

fn no_state_invented(view: &View<'_>) -> Verdict {
    each(view, |repeat| {
        let none = repeat.origin.result.get("requestState").is_none();
        let why = "no `requestState` was given that could be brought";
        let invented = param(&repeat.call, "requestState").is_some();
        none.then(|| if invented { Err(repeat.call.request.breach("/params/requestState", why)) } else { Ok(()) })
    })
}

fn id_new(view: &View<'_>) -> Verdict {
    each(view, |repeat| {
        let same = repeat.call.request.message.id() == repeat.origin.call.request.message.id();
        let why = "the request that comes again has the id of the one before";
        Some(if same { Err(repeat.call.request.breach("/id", why)) } else { Ok(()) })
    })
}

/// Arguments may have been put in another way by then; what is called must be the same.
fn retries_only(view: &View<'_>) -> Verdict {
    let origin = results(view);
    let named = |call: &Call<'_>| {
        let name = |member: &str| param(call, member).cloned();
        (call.request.message.method().map(str::to_owned), name("name"), name("uri"))
    };
    // What a task waits for is brought by a request of its own (extensions/tasks).
    let calls =
        view.calls_by(Party::Client).filter(|call| view.is_current(call.request) && !call.request.is("tasks/update"));
    let judged = calls.filter_map(|call| {
        let mut before = origin.iter().filter(|origin| origin.sent.event < call.request.event).peekable();
        let own = before.clone().any(|origin| named(&origin.call) == named(&call));
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
