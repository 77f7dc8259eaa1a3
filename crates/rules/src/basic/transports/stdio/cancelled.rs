//! What a server may still say of a request that was cancelled: nothing. A server may leave a request uncancelled, so only
//! one that shows that it did cancel can break this.

use serde_json::Value;
use wire::Kind;

use crate::basic::patterns::cancellation::{SPARE, in_time};
use crate::content::canonical;
use crate::verdict::{Kept, Verdict};
use crate::view::{Call, Said, View};

/// How much longer than undisturbed, in microseconds, a call may take before its silence is taken for its end.
const SLACK: u64 = SPARE / 2;

pub(super) fn silent(view: &View<'_>) -> Verdict {
    let judged = in_time(view).into_iter().filter_map(|(said, call)| word(view, said, &call));
    Verdict::of(judged.collect::<Vec<_>>(), "no call that ends well if let alone was cancelled and then waited for")
}

/// The word on one cancellation, with the event that shows it; `None` where it shows nothing.
fn word<'v>(view: &View<'v>, said: Said<'v>, call: &Call<'v>) -> Option<(usize, Kept)> {
    let span = undisturbed(view, call);
    if let Some(answer) = call.response {
        // A result may have crossed the cancellation, or come of work that cannot be cancelled.
        span.filter(|_| answer.message.kind() == Kind::Error)?;
        return Some((answer.event, Err(answer.breach("/error", "the request was cancelled, and is answered"))));
    }
    let window = view.window_after(said.event, said.connection)?;
    let closed = view.frame(window.closed).at;
    if closed <= said.done + SPARE {
        return None;
    }
    match progress(view, call).into_iter().find(|p| p.done > said.done + SPARE && p.event < window.closed) {
        None => Some((window.closed, Ok(()))),
        // Left alone the call would have been answered by now: it was cancelled.
        Some(late) if span.is_some_and(|span| closed > call.request.done + span + SLACK) => {
            Some((late.event, Err(late.breach("", "a cancelled request still makes progress"))))
        }
        Some(_) => None,
    }
}

/// How long the same call took, at the most, where nobody cancelled it and it came to a result.
fn undisturbed<'v>(view: &View<'v>, call: &Call<'v>) -> Option<u64> {
    let substance = substance(call.request);
    let same = view.calls(call.request.message.method()?).filter(|c| self::substance(c.request) == substance);
    let ended = same.filter(|c| c.result().is_some() && !view.cancelled(c.request));
    ended.filter_map(|c| Some(c.response?.done.saturating_sub(c.request.done))).max()
}

/// What a request asks, `_meta` aside.
fn substance(request: Said<'_>) -> Option<String> {
    let mut params = request.message.params()?.clone();
    params.as_object_mut()?.remove("_meta");
    Some(canonical(&params))
}

fn progress<'v>(view: &View<'v>, call: &Call<'v>) -> Vec<Said<'v>> {
    let token = call.request.message.params().and_then(|p| p.get("_meta")?.get("progressToken"));
    let about = |said: &Said<'v>| {
        let named: Option<&Value> = said.message.params().and_then(|p| p.get("progressToken"));
        token.is_some() && named == token && said.connection == call.request.connection
    };
    view.notifications("notifications/progress").filter(about).collect()
}
