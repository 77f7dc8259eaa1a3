//! The page on cancellation: what it demands of clients.

use wire::revision::{R2024_11_05, R2026_07_28};
use wire::{Party, Transport};

use super::own::own_requests;
use super::{CANCELLED, named, new, not_answered, old, stopped};
use crate::reading::liveness::client_continues;
use crate::reading::timeouts::{Signs, cancelled};
use crate::rule::{Rule, client};
use crate::verdict::{Kept, Verdict};
use crate::view::View;

const STDIO: &[Transport] = &[Transport::Stdio];

/// The rules.
pub(crate) const RULES: &[Rule] = &[
    client("cancellation.initialize-not-cancelled")
        .says(R2024_11_05, old("behavior-requirements"), "A client MUST NOT cancel `initialize`.")
        .gone(R2026_07_28)
        .how("Checks whether a `notifications/cancelled` names the request `initialize`. Needs a server that answers it only after half a second or more, or a client that cancels something else.")
        .fix("Close the connection if the handshake takes too long.")
        .judge(initialize_kept),
    client("cancellation.client-own-requests")
        .says(R2026_07_28, new("behavior-requirements"), "A client MUST NOT cancel what it has not asked for.")
        .how("Looks for the request that a `notifications/cancelled` names, anywhere among the client's own.")
        .fix("Send the id of the very request that you no longer want answered.")
        .judge(own_requests),
    client("cancellation.client-notifies")
        .says(
            R2026_07_28,
            new("transport-specific-cancellation"),
            "Over stdio a client that gives a request up MUST announce it by `notifications/cancelled`.",
        )
        .on(STDIO)
        .timed()
        .how("Needs a server that leaves a request unanswered, and looks for its cancellation. Only a repetition of the same request shows that the client has given up.")
        .fix("When you stop waiting for a request, send `notifications/cancelled` with its id.")
        .judge(|view| cancelled(view, Signs::Repeats)),
    client("cancellation.client-work-stopped")
        .says(
            R2024_11_05,
            old("behavior-requirements"),
            "A client SHOULD stop working on a request that was cancelled.",
        )
        .gone(R2026_07_28)
        .timed()
        .how("Needs a server that cancels a request of its own on which the client reports progress, and looks for more of it half a second later, until a quiet window closes.")
        .fix("Pass the cancellation on to the work, and stop reporting progress.")
        .judge(stopped),
    client("cancellation.client-not-answered")
        .says(R2024_11_05, old("behavior-requirements"), "A client SHOULD NOT answer a request that was cancelled.")
        .gone(R2026_07_28)
        .timed()
        .how("Needs a server that cancels a request of its own, such as one for input of a user, and looks for an answer half a second later, until a quiet window closes.")
        .fix("Drop the answer to a request that was cancelled.")
        .judge(not_answered),
    client("cancellation.client-late-answers-ignored")
        .says(
            R2024_11_05,
            old("behavior-requirements"),
            "A client SHOULD ignore an answer to a request that it has cancelled.",
        )
        .says(
            R2026_07_28,
            new("behavior-requirements"),
            "A client SHOULD ignore an answer to a request that it has cancelled.",
        )
        .how("Needs a server that answers a request though it was cancelled, and checks whether the client continues.")
        .fix("Drop answers to requests that are no longer open.")
        .judge(late_answers),
];

/// How long (microseconds) an `initialize` must have been under way before a client might cancel it.
const LONG: u64 = 500_000;

fn initialize_kept(view: &View<'_>) -> Verdict {
    let ids: Vec<_> = view
        .client_calls("initialize")
        .map(|call| (call.request.connection, call.request.message.value().get("id")))
        .collect();
    let reused = |connection: u32, id| {
        let own = view.calls_by(Party::Client).map(|call| call.request);
        own.filter(|sent| sent.connection == connection && sent.message.value().get("id") == id).count() > 1
    };
    let notes = view.by(Party::Client).filter(|sent| sent.is(CANCELLED) && named(sent).is_some());
    let mut judged: Vec<(usize, Kept)> = Vec::new();
    for sent in notes {
        let (connection, id) = (sent.connection, named(&sent));
        let it = ids.contains(&(connection, id));
        match (it, it && reused(connection, id)) {
            (true, false) => {
                judged.push((sent.event, Err(sent.breach("/params/requestId", "this is the id of `initialize`"))));
            }
            (true, true) => {}
            (false, _) => judged.push((sent.event, Ok(()))),
        }
    }
    let slow = view.client_calls("initialize").filter_map(|call| {
        let answer = call.response?;
        (answer.done > call.request.done.saturating_add(LONG)).then_some((answer.event, Ok(())))
    });
    judged.extend(slow.collect::<Vec<_>>());
    Verdict::of(judged, "no `initialize` took long, and the client cancelled nothing")
}

fn late_answers(view: &View<'_>) -> Verdict {
    let calls = view.calls_by(Party::Client).filter(|call| view.is_current(call.request));
    let events = calls.filter_map(|call| {
        let sent = view.cancellation_of(call.request)?;
        call.response.map(|response| response.event).filter(|event| *event > sent.event)
    });
    let events: Vec<_> = events.collect();
    client_continues(
        view,
        events,
        "an answer that came too late",
        "no request that the client had cancelled was answered",
    )
}
