//! A server may send nothing more for a cancelled request. It may leave a request uncancelled, so only
//! one that shows that it did cancel can break this.

use wire::{Kind, RequestId, meta};

use crate::basic::patterns::cancellation::{Progress, Spans};
use crate::verdict::{Kept, Verdict};
use crate::view::{Call, MessageAt, View};

/// After this time (microseconds) what still comes is no longer explained by messages that crossed.
const SPARE: u64 = 500_000;

/// How much longer than undisturbed, in microseconds, a call may take before its silence is taken for its end.
const SLACK: u64 = SPARE / 2;

pub(super) fn silent(view: &View<'_>) -> Verdict {
    let cancelled = cancelled(view);
    let unseen = "no call that ends well if let alone was cancelled and then waited for";
    if let Some(late) = on_ended_subscription(view) {
        return Verdict::Broken(late.breach("", "a cancelled subscription still announces changes"));
    }
    if cancelled.is_empty() {
        return Verdict::NotSeen(unseen.to_owned());
    }
    let (reports, spans) = (Progress::of(view), Spans::of(view));
    Verdict::of(
        cancelled.into_iter().filter_map(|(sent, call)| judge_one(view, (&reports, &spans), sent, &call)),
        unseen,
    )
}

/// What still came on a subscription that the client had cancelled well before.
fn on_ended_subscription<'v>(view: &View<'v>) -> Option<MessageAt<'v>> {
    let named = |sent: &MessageAt<'v>| sent.message.params()?.get("_meta")?.get(meta::SUBSCRIPTION_ID);
    view.calls("subscriptions/listen").find_map(|call| {
        let cancelled = view.cancellation_of(call.request)?;
        let id = call.request.message.value().get("id");
        let late = |sent: &MessageAt<'v>| {
            sent.connection == cancelled.connection
                && sent.message.kind() == Kind::Notification
                && sent.done > cancelled.done + SPARE
                && named(sent) == id
        };
        view.by_subject().find(late)
    })
}

/// The client's cancellations of calls that were under way when it began to say so. That an error came before it had ended
/// saying so proves nothing: servers are quick.
fn cancelled<'v>(view: &View<'v>) -> Vec<(MessageAt<'v>, Call<'v>)> {
    let client = view.subject().peer();
    let notes = view.by(client).filter(|s| s.message.kind() == Kind::Notification && s.is("notifications/cancelled"));
    let calls = notes.filter(|sent| view.is_current(*sent)).filter_map(|sent| {
        let id = RequestId::from_value(sent.message.params()?.get("requestId")?)?;
        let request = view.requests_under(&id, client, sent.connection).rfind(|r| r.event < sent.event)?;
        let response = view.answer(request);
        // A subscription has an end of its own, and a task outlives the request.
        let other =
            request.is("subscriptions/listen") || request.message.params().is_some_and(|p| p.get("task").is_some());
        let over = response.is_some_and(|response| response.event < sent.event);
        (!other && !over).then_some((sent, Call { request, response }))
    });
    calls.collect()
}

/// The word on one cancellation, with the event that shows it; `None` where it shows nothing.
fn judge_one<'v>(
    view: &View<'v>,
    (reports, spans): (&Progress<'v>, &Spans<'v>),
    sent: MessageAt<'v>,
    call: &Call<'v>,
) -> Option<(usize, Kept)> {
    if let Some(answer) = call.response {
        // A result may have crossed the cancellation, or come of work that cannot be cancelled: that takes its usual time.
        let tells = spans.fails_for_once(call) || spans.ends_early(call);
        let breach = || answer.breach("", "the request was cancelled, and is answered");
        return tells.then(|| (answer.event, Err(breach())));
    }
    let window = view.window_after(sent.event, sent.connection)?;
    let closed = view.frame(window.closed).at;
    if closed <= sent.done + SPARE {
        return None;
    }
    let late = reports.on(call).iter().find(|p| p.done > sent.done + SPARE && p.event < window.closed);
    let Some(late) = late else { return Some((window.closed, Ok(()))) };
    // Left alone the call would have been answered by now: it was cancelled.
    let over = spans.of_call(call).is_some_and(|span| closed > call.request.done + span + SLACK);
    over.then(|| (late.event, Err(late.breach("", "a cancelled request still makes progress"))))
}
