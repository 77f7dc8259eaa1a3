//! Whether a server stays alive after a client's message: the request concerned is answered, and the server continues.
//! And whether a client continues after an event.

use wire::trace::{Closed, Content};

use crate::reading::questions::{asks_the_same, param};
use crate::verdict::{Breach, Kept, Verdict};
use crate::view::{Call, MessageAt, Timeout, View};

/// Something that a client sent, and the request of its own that depends on it.
#[derive(Clone, Copy)]
pub(crate) struct Incident<'v> {
    /// What was sent.
    pub sent: MessageAt<'v>,
    /// The request that waits for it.
    pub call: Option<Call<'v>>,
}

/// Judges that the server survives each of them. `what` names it, as in "the server ended after …".
pub(crate) fn server_survives<'v>(
    view: &View<'v>,
    incidents: impl IntoIterator<Item = Incident<'v>>,
    what: &str,
    unseen: &str,
) -> Verdict {
    let judged = incidents.into_iter().filter_map(|incident| outcome_of(view, &incident, what));
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), unseen)
}

/// Judges that a client continues after each of these events. `what` names them, as in "the client failed after …".
pub(crate) fn client_continues(
    view: &View<'_>,
    events: impl IntoIterator<Item = usize>,
    what: &str,
    unseen: &str,
) -> Verdict {
    let judged = events.into_iter().filter_map(|event| {
        Some(match view.reaction(event)? {
            Ok(next) => (next, Ok(())),
            Err(end) => (end, Err(Breach::at(event, "", format!("the client failed after {what} (event {end})")))),
        })
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), unseen)
}

fn outcome_of(view: &View<'_>, incident: &Incident<'_>, what: &str) -> Option<(usize, Kept)> {
    let Incident { sent, call } = incident;
    if let Some(response) = call.and_then(|call| call.response) {
        let failed = view.exchange(response.exchange).and_then(|x| x.status()).is_some_and(|status| status >= 500);
        let breach = || response.breach("", format!("the server failed over {what}"));
        return Some((response.event, if failed { Err(breach()) } else { Ok(()) }));
    }
    if let Some(event) = call.and_then(|call| timed_out_at(view, &call)) {
        return Some((event, Err(sent.breach("", format!("the request was never answered after {what}")))));
    }
    Some(match view.aftermath(sent.event, sent.connection)? {
        // Another request was answered: that shows nothing about the one that waits.
        Ok(event) => call.is_none().then_some((event, Ok(())))?,
        Err(event) => (event, Err(Breach::at(event, "", format!("the server ended after {what}")))),
    })
}

/// Where a request timed out, though only the server kept it from being answered, and it is usually answered
/// quickly.
fn timed_out_at(view: &View<'_>, call: &Call<'_>) -> Option<usize> {
    let request = call.request;
    let Timeout { event, after_ms } = view.timeout_of(request)?;
    let broke_off = view.frames().take(event).skip(request.event).any(|(_, frame)| {
        let here = frame.connection == request.connection && [0, request.exchange].contains(&frame.exchange);
        let over = matches!(&frame.content, Content::Closed(how) if *how != Closed::TimedOut);
        here && (over || matches!(frame.content, Content::Exit { .. }))
    });
    let waited = after_ms.saturating_mul(1000);
    (!broke_off && view.cancellation_of(request).is_none() && is_quick(view, call, waited)).then_some(event)
}

/// Whether the same request, when it was answered otherwise, took less than half of a time (microseconds): work that may
/// rightly take long shows nothing.
fn is_quick(view: &View<'_>, call: &Call<'_>, waited: u64) -> bool {
    let comes_back = |call: &Call<'_>| param(call, "inputResponses").is_some();
    view.all_calls().filter(|other| asks_the_same(other, call) && comes_back(other) == comes_back(call)).any(|other| {
        let took = other.response.map(|response| response.done.saturating_sub(other.request.done));
        took.is_some_and(|took| took.saturating_mul(2) < waited)
    })
}
