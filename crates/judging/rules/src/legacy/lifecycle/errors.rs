//! The page `basic/lifecycle`, sections "Timeouts" and "Error Handling": what a server does where a client does not suit
//! it, or says nothing more.

use std::collections::BTreeMap;

use wire::Party;
use wire::revision::{R2024_11_05, R2025_03_26, R2026_07_28};
use wire::trace::StimulusKind;

use super::versions::{never_existed, requested};
use crate::rule::{Anchor, Rule, at, both, server};
use crate::verdict::{Breach, Kept, Located, Verdict};
use crate::view::{Call, MessageAt, View};

const TIMEOUTS: Anchor = at("basic/lifecycle", "timeouts");
const ERRORS: Anchor = at("basic/lifecycle", "error-handling");

/// The sections' rules.
pub(crate) const RULES: &[Rule] = &[
    both("lifecycle.timeouts-kept")
        .says(R2024_11_05, ERRORS, "Requests SHOULD have time-outs.")
        .says(R2025_03_26, TIMEOUTS, "Requests SHOULD have time-outs, and one that no progress can put off.")
        .gone(R2026_07_28)
        .unobservable("no sentence bounds the time, so no window is long enough"),
    server("lifecycle.timeouts-cancelled")
        .says(R2025_03_26, TIMEOUTS, "A server that gives up waiting for its client SHOULD cancel the request it made.")
        .gone(R2026_07_28)
        .how("Looks for calls that were answered though the server had asked the client for sampling or elicitation in between and was never answered: it gave up, and should have sent a cancellation by then.")
        .fix("Send `notifications/cancelled` with the id of your own request when its time is over, then answer the call.")
        .judge(timeouts_cancelled),
    server("lifecycle.version-mismatch-handled")
        .says(R2024_11_05, ERRORS, "A server SHOULD be prepared for a client whose version it does not have: it answers.")
        .gone(R2026_07_28)
        .timed()
        .how("Asks for a version that never existed and looks for any answer; silence, a crash or the end of the connection does not count as one.")
        .fix("Answer with a version of yours, or with an error; do not end, and do not stay silent.")
        .judge(mismatch_handled),
    server("lifecycle.missing-capability-handled")
        .says(R2024_11_05, ERRORS, "A server SHOULD be prepared for a client without the capabilities it needs: it continues.")
        .gone(R2026_07_28)
        .how("As a client that declares nothing, makes calls; those that are known to need something of the client must be answered, and none may end the connection.")
        .fix("Look at the client's capabilities before using them, and report what is missing as the failure of the call.")
        .judge(missing_capability_handled),
];

/// Requests that a server makes because a call needs what they bring, with the call.
fn timeouts_cancelled(view: &View<'_>) -> Verdict {
    let given_up: Vec<_> =
        view.calls_by(Party::Server).filter_map(|question| Some((question, given_up(view, &question)?))).collect();
    let judged = given_up.iter().map(|(question, answer)| {
        let cancelled = view.cancellation_of(question.request).is_some();
        let why = || {
            question
                .request
                .breach("", format!("the call was answered (event {}) without cancelling this", answer.event))
        };
        (answer.event, if cancelled { Ok(()) } else { Err(why()) })
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "the server gave up none of its requests")
}

/// The answer to the one call that a request of the server's can be for, where it came though the client answered that
/// request never at all.
fn given_up<'v>(view: &View<'v>, question: &Call<'v>) -> Option<MessageAt<'v>> {
    let request = question.request;
    if question.response.is_some() || !(request.is("sampling/createMessage") || request.is("elicitation/create")) {
        return None;
    }
    let here = |c: &Call<'v>| c.request.connection == request.connection && c.request.event < request.event;
    let open = |c: &Call<'v>| here(c) && c.response.is_none_or(|r| r.event > request.event);
    let mut open = view.calls_by(Party::Client).filter(open);
    let (call, others) = (open.next()?, open.next());
    // A task, or a call that the client took back, goes by other rules.
    let plain = call.request.message.params().is_none_or(|p| p.get("task").is_none())
        && view.cancellation_of(call.request).is_none();
    call.response.filter(|r| others.is_none() && plain && view.settled(r.event).is_some())
}

fn mismatch_handled(view: &View<'_>) -> Verdict {
    let greetings = view.calls("initialize").filter(|c| requested(c).is_some_and(never_existed));
    // A server that leaves other versions unanswered, too, is not silent over the version.
    let silent_to_all =
        view.calls("initialize").any(|c| !requested(&c).is_some_and(never_existed) && is_given_up(view, c.request));
    let judged = greetings.filter_map(|call| {
        let breach = |why: &str| Some((call.request.event, Err(call.request.breach("/params/protocolVersion", why))));
        if let Some(response) = call.response {
            return Some((response.event, Ok(())));
        }
        let exchange = view.exchange(call.request.exchange);
        if let Some(refused) = exchange.filter(|x| x.status().is_some_and(|status| status >= 400)) {
            let broke_down = refused.status() == Some(500);
            let breach = || refused.status_breach("the server failed over the version");
            return (!refused.turned_away())
                .then(|| (refused.event(), if broke_down { Err(breach()) } else { Ok(()) }));
        }
        match (ended(view, call.request), is_given_up(view, call.request)) {
            (true, _) => breach("the server ended the connection over the version, without an answer"),
            (_, true) if !silent_to_all => breach("a version that the server does not have was never answered"),
            _ => None,
        }
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no version that never existed was asked for")
}

/// Whether the server ended the connection after `request`, before anything else was sent on it.
fn ended(view: &View<'_>, request: MessageAt<'_>) -> bool {
    let later = view.by(request.from).any(|s| s.connection == request.connection && s.event > request.event);
    !later && matches!(view.aftermath(request.event, request.connection), Some(Err(_)))
}

/// Whether we waited for an answer in vain.
fn is_given_up<'v>(view: &View<'v>, request: MessageAt<'v>) -> bool {
    view.timeout_of(request).is_some()
}

fn missing_capability_handled(view: &View<'_>) -> Verdict {
    // A server that ends over a request before `initialized` does so for its time, not for what the client lacks.
    let mut initialized = BTreeMap::new();
    for sent in view.by(Party::Client).filter(|s| s.is("notifications/initialized")) {
        initialized.entry(sent.connection).or_insert(sent.index);
    }
    let bare = |c: &Call<'_>| {
        let handshake = view.handshake(c.request.connection).filter(|h| h.request.index < c.request.index);
        let declared = handshake.and_then(|h| h.request.message.params()?.get("capabilities")?.as_object());
        declared.is_some_and(serde_json::Map::is_empty)
            && initialized.get(&c.request.connection).is_some_and(|index| *index < c.request.index)
    };
    let calls: Vec<_> = view.all_calls().filter(bare).collect();
    let fatal = calls.iter().filter(|c| c.response.is_none() && ended(view, c.request)).map(|c| {
        let method = c.request.message.method().unwrap_or_default().escape_debug();
        c.request.breach("", format!("the server ended over `{method}` of a client that declares no capability"))
    });
    let needy = view.stimulated(StimulusKind::AskingCall).filter_map(|event| {
        let connection = view.frame(event).connection;
        calls.iter().find(|c| c.request.connection == connection && c.request.event > event)?.response
    });
    let witnesses = needy.map(|r| r.event).collect::<Vec<_>>();
    Verdict::never(
        fatal.collect::<Vec<Breach>>(),
        witnesses,
        "no call that is known to need something of the client was made without it",
    )
}
