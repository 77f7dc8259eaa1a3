//! Requests that a client gave up: whether it cancelled them. Only its next actions show that it no longer waits, and a
//! client may have many requests under way at a time; that it continues with something else proves nothing.

use wire::Party;
use wire::trace::{Closed, Content};

use crate::verdict::{Kept, Verdict};
use crate::view::{Call, MessageAt, View};

/// The shortest time (microseconds) after which a client gives up waiting.
const PATIENCE: u64 = 1_000_000;

/// What counts as having given a request up.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signs {
    /// The same was asked again, a second or more later.
    Repeats,
    /// That, or the client left in order a second or more later.
    RepeatsOrLeaves,
    /// The client closed the stream that was to bring the answer, and continued.
    Hangs,
}

/// Judges that every request that was given up was cancelled.
pub(crate) fn cancelled(view: &View<'_>, signs: Signs) -> Verdict {
    let quiet =
        |call: &Call<'_>| ["initialize", "ping", "subscriptions/listen"].into_iter().any(|m| call.request.is(m));
    let open = view.calls_by(Party::Client).filter(|call| view.is_current(call.request) && !quiet(call));
    let judged = open.filter_map(|call| {
        let request = call.request;
        if let Some(sent) = view.cancellation_of(request) {
            let over = call.response.is_some_and(|response| response.event < sent.event);
            return (!over).then_some((sent.event, Ok(())));
        }
        if call.response.is_some() {
            return None;
        }
        let event = given_up(view, &call, signs).filter(|event| !is_lost(view, request, *event))?;
        let why = format!("the client gave this request up (event {event}) and did not cancel it");
        Some((event, Err(request.breach("", why))))
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no request was left unanswered and seen to be given up")
}

/// Whether the server's side ended what was to bring the answer, before the request was given up: no client has to wait for
/// that. That the server ends after its client has left says nothing.
fn is_lost(view: &View<'_>, request: MessageAt<'_>, given_up: usize) -> bool {
    let refused = view.exchange(request.exchange).is_some_and(|x| {
        x.closed.is_some_and(|(_, by, _)| by == Party::Server) || x.status().is_some_and(|status| status >= 400)
    });
    let ended = view.frames().take(given_up).skip(request.event).any(|(_, frame)| {
        let over = matches!(frame.content, Content::Closed(_) | Content::Exit { .. });
        over && frame.from == Party::Server && frame.connection == request.connection && frame.exchange == 0
    });
    refused || ended
}

fn given_up(view: &View<'_>, call: &Call<'_>, signs: Signs) -> Option<usize> {
    let request = call.request;
    let late = |at: u64| at > request.done.saturating_add(PATIENCE);
    if signs == Signs::Hangs {
        let x = view.exchange(request.exchange)?;
        let (closed, ..) = x.closed.filter(|(_, by, how)| *by == Party::Client && **how != Closed::Failed)?;
        let resumed = |event: usize| {
            view.exchanges().iter().any(|y| y.request.is_some_and(|(at, ..)| at > event) && y.resumes().is_some())
        };
        let mut later = view.by(Party::Client).filter(|sent| sent.connection == request.connection);
        let next = later.find(|sent| sent.event > closed).filter(|_| !resumed(closed))?;
        return (view.frame(next.event).at > view.frame(closed).at.saturating_add(PATIENCE)).then_some(closed);
    }
    let key = request.message.content_key(&["_meta"]);
    let same = |sent: &MessageAt<'_>| {
        sent.connection == request.connection
            && sent.message.method() == request.message.method()
            && sent.message.content_key(&["_meta"]) == key
    };
    let own = view.calls_by(Party::Client).map(|call| call.request);
    let again = own.skip_while(|sent| sent.index <= request.index).find(|sent| late(sent.done) && same(sent));
    let left = || {
        let (event, well) = view.departure().filter(|_| signs == Signs::RepeatsOrLeaves)?;
        (well && late(view.frame(event).at)).then_some(event)
    };
    again.map(|sent| sent.event).or_else(left)
}
