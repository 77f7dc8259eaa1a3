//! The page on cancellation: what a party that cancels must do. In the modern era a server cancels nothing but subscriptions.

use wire::revision::{R2024_11_05, R2025_11_25, R2026_07_28};
use wire::{Era, Party, RequestId, Transport};

use super::{CANCELLED, SPARE, cancellations, id, named, new, old};
use crate::reading::liveness::{Incident, server_survives};
use crate::reading::questions::{METHODS, questions};
use crate::rule::{Rule, both, server};
use crate::verdict::{Kept, Verdict};
use crate::view::{MessageAt, View};

/// The rules.
pub(crate) const RULES: &[Rule] = &[
    both("cancellation.own-requests-only")
        .says(
            R2024_11_05,
            old("behavior-requirements"),
            "A cancellation MUST name a request that its sender made.",
        )
        .gone(R2026_07_28)
        .how("Looks for the request that a `notifications/cancelled` names, anywhere among its sender's own.")
        .fix("Send the id of the very request that you no longer want answered.")
        .judge(own_requests),
    both("cancellation.in-progress-only")
        .says(R2024_11_05, old("behavior-requirements"), "A cancellation MUST name a request that is still under way.")
        .says(R2026_07_28, new("behavior-requirements"), "A cancellation MUST name a request that is still under way.")
        .timed()
        .how("Looks for the answer to the request that a `notifications/cancelled` names, or for the client's own end of a subscription. An answer counts only if the server surely read it half a second before: a later message was answered in between. Sooner, it counts if the server gives the call that asked a result though nothing else was asked for it, and if a client cancels every call but its last, three at least, after it was answered within 300 ms, and nothing that is under way.")
        .fix("Forget a request once it is answered, and its time-out with it.")
        .judge(in_progress),
    both("cancellation.tasks-apart")
        .says(
            R2025_11_25,
            old("behavior-requirements"),
            "A request that runs as a task MUST be cancelled by `tasks/cancel` and not by `notifications/cancelled`.",
        )
        .gone(R2026_07_28)
        .how("Looks for requests with `task` among those that `notifications/cancelled` names, and for `tasks/cancel`.")
        .fix("Send `tasks/cancel` with the task's id.")
        .judge(tasks_apart),
    server("cancellation.late-answers-ignored")
        .says(
            R2024_11_05,
            old("behavior-requirements"),
            "An answer to a request that the server has cancelled SHOULD be ignored.",
        )
        .gone(R2026_07_28)
        .how("Answers a request of the server after it was cancelled, and looks at what happens to the connection.")
        .fix("Drop answers to requests that are no longer open.")
        .judge(late_answers),
];

/// A party's own request that a cancellation names, on the same connection; over HTTP a connection is what the recorder
/// took for one.
fn taken_back<'v>(view: &View<'v>, sent: &MessageAt<'v>) -> Option<MessageAt<'v>> {
    let named = RequestId::from_value(named(sent)?)?;
    let here = view.requests_under(&named, view.subject(), sent.connection).next();
    // Anywhere else it is looked for only where it is to be found.
    let elsewhere = || {
        let known = view.transport() == Transport::StreamableHttp && view.has_asked(&named, view.subject());
        let mut own = view.calls_by(view.subject()).filter(|_| known).map(|call| call.request);
        own.find(|request| request.message.id() == Some(&named))
    };
    here.or_else(elsewhere)
}

pub(super) fn own_requests(view: &View<'_>) -> Verdict {
    Verdict::every(cancellations(view), "nothing was cancelled", |sent| {
        let breach = || sent.breach("/params/requestId", "its sender has sent no request with this id");
        if taken_back(view, sent).is_some() { Ok(()) } else { Err(breach()) }
    })
}

fn in_progress(view: &View<'_>) -> Verdict {
    let modern = view.era() == Era::Modern && view.subject() == Party::Server;
    let by_habit = view.subject() == Party::Client && is_habit(view);
    let judged = cancellations(view).filter_map(|sent| {
        let standing = if modern { subscription(view, &sent) } else { request(view, &sent) }?;
        let RequestState::Over(over) = standing else { return Some((sent.event, Ok(()))) };
        let why = "the request was over before, and its sender knew";
        let surely = by_habit
            || sent.done > over.done + SPARE && was_read(view, over, sent.event)
            || was_used(view, &sent, over);
        surely.then(|| (sent.event, Err(sent.breach("/params/requestId", why))))
    });
    Verdict::of(
        judged.collect::<Vec<(usize, Kept)>>(),
        "the server cancelled no request of which it is known how it stood",
    )
}

/// How many late cancellations are no coincidence, and within how long (microseconds) their requests were answered: nobody
/// gives a request up so soon.
const HABIT: usize = 3;
const SOON: u64 = 300_000;

/// Whether a client cancels calls because they were answered: all that came to a result but the last, soon, and none under way.
fn is_habit(view: &View<'_>) -> bool {
    if view.client_unseen_from().is_some() {
        return false;
    }
    let mut late = 0;
    for sent in cancellations(view) {
        let Some(RequestState::Over(answer)) = request(view, &sent) else { return false };
        let called = taken_back(view, &sent).filter(|request| request.is("tools/call"));
        late += usize::from(called.is_some_and(|call| answer.done <= call.done.saturating_add(SOON)));
    }
    let calls = view.client_calls("tools/call").filter(|call| call.result().is_some()).count();
    late >= HABIT && late + 1 >= calls
}

/// How a request stands when it is cancelled.
enum RequestState<'v> {
    /// It is under way.
    Open,
    /// This has ended it.
    Over(MessageAt<'v>),
}

/// How the request stands that a cancellation names; `None` where it names none.
fn request<'v>(view: &View<'v>, sent: &MessageAt<'v>) -> Option<RequestState<'v>> {
    let request = taken_back(view, sent).filter(|request| request.connection == sent.connection)?;
    let answer = view.answer(request).filter(|answer| answer.event < sent.event);
    Some(answer.map_or(RequestState::Open, RequestState::Over))
}

/// The same for a subscription, which its client ends by a cancellation of its own. Where the server itself has answered
/// it before, the two come together.
fn subscription<'v>(view: &View<'v>, sent: &MessageAt<'v>) -> Option<RequestState<'v>> {
    let mut listens = view.calls("subscriptions/listen").filter(|call| call.request.connection == sent.connection);
    let listen = listens.find(|call| id(&call.request) == named(sent))?;
    if listen.response.is_some_and(|response| response.event < sent.event) {
        return None;
    }
    let mut cancelled = view.by(Party::Client).filter(|other| other.is(CANCELLED) && other.event < sent.event);
    let own = cancelled.find(|other| other.connection == sent.connection && named(other) == named(sent));
    Some(own.map_or(RequestState::Open, RequestState::Over))
}

/// Whether a message of ours was read before `event`: a request that came after it on the same stream was answered, or
/// HTTP took it.
fn was_read(view: &View<'_>, ours: MessageAt<'_>, event: usize) -> bool {
    if let Some(exchange) = view.exchange(ours.exchange) {
        return exchange.response.is_some_and(|(at, status, _)| at < event && (200..300).contains(&status));
    }
    view.answered_after(ours.event, ours.connection).is_some_and(|answer| answer < event)
}

/// Whether the call for which the server asked what it then cancelled came to a result all the same: it went on with the
/// answer, which was taken before.
fn was_used(view: &View<'_>, sent: &MessageAt<'_>, over: MessageAt<'_>) -> bool {
    let taken = view.exchange(over.exchange).and_then(|x| x.response).is_some_and(|(at, ..)| at < sent.event);
    let asked = |method: &&str| questions(view, method).into_iter().find(|q| q.sent.message.id() == over.message.id());
    let found = METHODS.iter().filter(|_| view.subject() == Party::Server && taken).find_map(asked);
    let call = found.filter(|question| question.sent.connection == sent.connection).and_then(|question| question.call);
    call.is_some_and(|call| {
        let later = call.response.is_some_and(|response| response.event > sent.event);
        let alone = view
            .calls_by(Party::Server)
            .filter(|own| own.request.connection == sent.connection && own.request.event > call.request.event);
        let done = call.result().is_some_and(|result| result.get("isError").is_none_or(|failed| *failed == false));
        later && done && alone.take_while(|own| Some(own.request.event) < call.response.map(|r| r.event)).count() == 1
    })
}

fn tasks_apart(view: &View<'_>) -> Verdict {
    let as_task = |sent: &MessageAt<'_>| {
        let request = taken_back(view, sent).filter(|request| request.connection == sent.connection);
        request.is_some_and(|request| request.message.params().is_some_and(|p| p.get("task").is_some()))
    };
    let why = "the request runs as a task, which only `tasks/cancel` cancels";
    let breaches = cancellations(view).filter(as_task).map(|sent| sent.breach("/params/requestId", why));
    let right =
        view.calls_by(view.subject()).filter(|call| call.request.is("tasks/cancel") && view.is_current(call.request));
    Verdict::never(
        breaches.collect::<Vec<_>>(),
        right.map(|call| call.request.event).collect::<Vec<_>>(),
        "the server cancelled no request that runs as a task",
    )
}

fn late_answers(view: &View<'_>) -> Verdict {
    let incidents = cancellations(view).filter_map(|sent| {
        let request = taken_back(view, &sent).filter(|request| request.connection == sent.connection)?;
        let id = request.message.id()?;
        let mut answers = view.by(view.subject().peer()).filter(|other| other.message.kind().is_response());
        let late = answers.find(|other| {
            other.connection == sent.connection && other.event > sent.event && other.message.id() == Some(id)
        })?;
        Some(Incident { sent: late, call: None })
    });
    server_survives(
        view,
        incidents.collect::<Vec<_>>(),
        "an answer that came too late",
        "no request that the server had cancelled was answered",
    )
}
