//! Which answer belongs to which request: a good server mixes up neither concurrent requests nor their ids.

use std::collections::BTreeSet;

use wire::trace::{Closed, Content, Frame};
use wire::{Party, RequestId};

use super::anywhere;
use super::marks::{blanked, marks};
use crate::rule::Rule;
use crate::verdict::{Kept, Verdict};
use crate::view::{Call, MessageAt, View, twin_of};

/// From how many bytes on an id is long.
const LONG: usize = 256;

/// Lists, and the member by which each shows that it is that one.
const LISTS: [(&str, &str); 4] = [
    ("tools/list", "tools"),
    ("prompts/list", "prompts"),
    ("resources/list", "resources"),
    ("resources/templates/list", "resourceTemplates"),
];

/// The rules.
pub(crate) const RULES: &[Rule] = &[
    anywhere(
        "safety.answers-fit",
        "A good server answers each of many requests that are under way at once with what belongs to that one.",
    )
    .how(
        "Sends dozens of concurrent requests, each with its own mark in text that a tool or an error returns, and list requests between them; checks which mark, and which list, each answer has.",
    )
    .fix("Keep what belongs to a request in the request, not in a variable that all share.")
    .judge(answers_fit),
    anywhere("safety.ids-told-apart", "A good server distinguishes the id 1 from the id \"1\", also where both are under way.")
        .timed()
        .by_default()
        .how("Sends two requests at once whose ids differ only in their type, cancels one by an id of the other type, and looks for the answers.")
        .fix("Let the type be a part of the key under which requests are kept.")
        .judge(ids_distinguished),
    anywhere(
        "safety.odd-ids-kept",
        "A good server answers a request whose id is legal but odd under that very id, or refuses it.",
    )
    .timed()
    .how("Sends requests whose ids are empty, very long, negative, digits in a string, beyond ASCII, or full of characters that JSON escapes.")
    .fix("Keep ids as they came; ask whether there is one, not whether it is empty or zero.")
    .judge(odd_ids_kept),
];

/// A request and its answer, by what tells whose they are.
struct MarkedCall<'v> {
    call: Call<'v>,
    /// When the answer came, as an event.
    end: usize,
    own: BTreeSet<&'v str>,
    came: BTreeSet<&'v str>,
}

impl<'v> MarkedCall<'v> {
    fn of(call: Call<'v>) -> Option<Self> {
        let response = call.response?;
        let (own, came) = (marks(call.request.message.text()), marks(response.message.text()));
        Some(Self { call, end: response.event, own, came })
    }

    fn comes_back(&self) -> bool {
        !self.own.is_disjoint(&self.came)
    }

    /// What is asked, whatever the mark.
    fn subject_key(&self) -> String {
        let request = self.call.request.message;
        blanked(&format!("{} {}", request.method().unwrap_or_default(), request.body_text().unwrap_or_default()))
    }

    /// Of a list: whether it is the one that was asked for. `None` where that does not show.
    fn is_own_list(&self) -> Option<bool> {
        let result = self.call.result()?;
        let has = |(_, member): &&(&str, &str)| result.get(member).is_some();
        let (_, own) = LISTS.iter().find(|(method, _)| self.call.request.is(method))?;
        if result.get(own).is_some() { Some(true) } else { LISTS.iter().find(has).map(|_| false) }
    }

    /// What its content says of whose answer it is; `None` where it says nothing.
    fn kept(&self, echoing: &BTreeSet<String>) -> Option<Kept> {
        let response = self.call.response?;
        let requested = self.call.request.event;
        if self.is_own_list() == Some(false) {
            return Some(Err(response.breach("/result", format!("another list than event {requested} asked for"))));
        }
        if self.comes_back() || self.is_own_list() == Some(true) {
            return Some(Ok(()));
        }
        let astray = !self.own.is_empty() && !self.came.is_empty() && echoing.contains(&self.subject_key());
        let why = || format!("holds what another request asked, not what event {requested} did");
        astray.then(|| Err(response.breach("", why())))
    }
}

/// Whether each of the calls, in the order of their requests, was under way together with another.
fn overlaps(calls: &[MarkedCall<'_>]) -> Vec<bool> {
    let mut latest = 0;
    let mut concurrent = Vec::new();
    for (at, marked) in calls.iter().enumerate() {
        let next = calls.get(at + 1).is_some_and(|next| next.call.request.event < marked.end);
        concurrent.push(next || marked.call.request.event < latest);
        latest = latest.max(marked.end);
    }
    concurrent
}

fn answers_fit(view: &View<'_>) -> Verdict {
    let calls: Vec<_> = view.calls_by(Party::Client).filter_map(MarkedCall::of).collect();
    // A tool that never returned a mark may have other reasons to hold one.
    let echoing: BTreeSet<_> = calls.iter().filter(|t| t.comes_back()).map(MarkedCall::subject_key).collect();
    let judged = calls.iter().zip(overlaps(&calls)).filter_map(|(marked, concurrent)| {
        let kept = marked.kept(&echoing)?;
        (concurrent || kept.is_err()).then_some((marked.end, kept))
    });
    Verdict::of(judged.collect::<Vec<_>>(), "no requests whose answers tell whose they are were under way at once")
}

/// The event by which a request was given up, though nothing said what happened to it: no error without an id, no refusal by
/// HTTP, nor a connection that broke, which is left to other rules.
fn silence(view: &View<'_>, call: &Call<'_>) -> Option<usize> {
    let request = call.request;
    let here = |event: usize| event > request.event && view.frame(event).connection == request.connection;
    let given_up = view.timeout_of(request)?.event;
    let exchange = view.exchange(request.exchange);
    let broke = |(event, frame): (usize, &Frame)| {
        let over = match &frame.content {
            Content::Exit { .. } => true,
            Content::Closed(how) => *how != Closed::TimedOut && exchange.is_none_or(|x| x.status().is_none()),
            _ => false,
        };
        here(event) && [0, request.exchange].contains(&frame.exchange) && over
    };
    let refused = exchange.and_then(|x| x.status()).is_some_and(|status| status >= 300)
        || view.error_without_id_after(request.event, request.connection).is_some_and(|error| error.event < given_up)
        || view.frames().take(given_up).skip(request.event).any(broke);
    (!refused).then_some(given_up)
}

/// The answer that came over HTTP in the request's own exchange under its id in the other type.
fn under_other_type<'v>(view: &View<'v>, call: &Call<'v>) -> Option<MessageAt<'v>> {
    let own = twin_of(call.request.message.id()?);
    let posted = view.exchange(call.request.exchange)?;
    let asked = posted.question().is_some_and(|asked| asked.event == call.request.event);
    posted.responses().find(|response| asked && response.message.id().is_some_and(|id| *id == own))
}

/// What to say of a request that was answered only under its id in the other type, if it was.
fn astray(view: &View<'_>, call: &Call<'_>) -> Option<(usize, Kept)> {
    let answer = under_other_type(view, call)?;
    Some((answer.event, Err(answer.breach("/id", "answered under an id of the other type"))))
}

fn ids_distinguished(view: &View<'_>) -> Verdict {
    let calls: Vec<_> = view.calls_by(Party::Client).collect();
    let pairs = calls.windows(2).filter(|pair| {
        let [first, second] = pair else { return false };
        are_twins(first, second) && first.response.is_none_or(|answer| answer.event > second.request.event)
    });
    let judged = pairs.flatten().filter_map(|call| {
        if let Some(answer) = call.response {
            return Some((answer.event, Ok(())));
        }
        if let Some(astray) = astray(view, call) {
            return Some(astray);
        }
        let event = silence(view, call)?;
        let why = "never answered while its twin, with an id of the other type, was under way";
        Some((event, Err(call.request.breach("/id", why))))
    });
    // Cancelled by the id of the other type: that was none of this request's.
    let is_cancelled = |call: &Call<'_>| view.cancellation_of(call.request).is_some();
    let misnamed = calls.iter().filter(|call| view.is_twin_cancelled(call.request) && !is_cancelled(call));
    let kept = misnamed.filter_map(|call| {
        if let Some(answer) = call.response {
            return Some((answer.event, Ok(())));
        }
        // Where the same call is never answered, whatever is cancelled, the id has nothing to do with it.
        let key = call.request.message.content_key(&["_meta"]);
        let is_undisturbed = |other: &Call<'_>| {
            other.request.connection == call.request.connection
                && other.response.is_some()
                && !is_cancelled(other)
                && !view.is_twin_cancelled(other.request)
                && other.request.message.content_key(&["_meta"]) == key
        };
        if !calls.iter().any(is_undisturbed) {
            return None;
        }
        let why = "never answered after another id, of the other type, was cancelled";
        Some((silence(view, call)?, Err(call.request.breach("/id", why))))
    });
    let judged: Vec<_> = judged.chain(kept).collect();
    Verdict::of(judged, "no two requests with ids like 1 and \"1\" were under way at once")
}

fn are_twins(first: &Call<'_>, second: &Call<'_>) -> bool {
    let same_place = first.request.connection == second.request.connection;
    let ids = first.request.message.id().zip(second.request.message.id());
    same_place && ids.is_some_and(|(first, second)| *first == twin_of(second))
}

fn is_odd(id: &RequestId) -> bool {
    match id {
        RequestId::Number(digits) => digits.starts_with('-'),
        RequestId::String(text) => {
            let digits = text.bytes().all(|b| b.is_ascii_digit());
            let unusual = |c: char| c.is_control() || !c.is_ascii() || matches!(c, '"' | '\\');
            digits || text.len() >= LONG || text.contains(unusual)
        }
    }
}

fn odd_ids_kept(view: &View<'_>) -> Verdict {
    let odd = view.calls_by(Party::Client).filter(|c| c.request.message.id().is_some_and(is_odd));
    // One that has a twin is left to `safety.ids-told-apart`.
    let numbers: BTreeSet<(u32, &str)> = view
        .calls_by(Party::Client)
        .filter_map(|call| match call.request.message.id() {
            Some(RequestId::Number(digits)) => Some((call.request.connection, digits.as_str())),
            _ => None,
        })
        .collect();
    let has_twin = |call: &Call<'_>| match call.request.message.id() {
        Some(RequestId::String(text)) => numbers.contains(&(call.request.connection, text.as_str())),
        _ => false,
    };
    let judged = odd.filter_map(|call| match call.response {
        Some(answer) => Some((answer.event, Ok(()))),
        None if has_twin(&call) => None,
        None if under_other_type(view, &call).is_some() => astray(view, &call),
        None => Some((silence(view, &call)?, Err(call.request.breach("/id", "never answered under this id")))),
    });
    Verdict::of(judged.collect::<Vec<_>>(), "no request with an odd id was made, or it was refused")
}
