//! The page `basic/patterns/cancellation` (before 2026-07-28: `basic/utilities/cancellation`).

pub(crate) mod clients;
pub(crate) mod own;

use std::collections::BTreeMap;

use serde_json::Value;
use wire::revision::{R2024_11_05, R2026_07_28};
use wire::{Era, Kind, RequestId, Transport};

use crate::reading::content::canonical;
use crate::rule::{Anchor, Rule, at, both, server};
use crate::verdict::{Breach, Kept, Verdict};
use crate::view::{Call, MessageAt, View};

const fn old(section: &'static str) -> Anchor {
    at("basic/utilities/cancellation", section)
}

const fn new(section: &'static str) -> Anchor {
    at("basic/patterns/cancellation", section)
}

/// After this time (microseconds) what follows a cancellation is no longer explained by messages that crossed.
const SPARE: u64 = 500_000;

/// The page's rules, in its own order.
pub(crate) const RULES: &[Rule] = &[
    server("cancellation.only-for-subscriptions")
        .says(
            R2026_07_28,
            new("behavior-requirements"),
            "A server MUST NOT send `notifications/cancelled` but to end a `subscriptions/listen` request of the client.",
        )
        .how("Looks for the `subscriptions/listen` request that a server's `notifications/cancelled` names.")
        .fix("Answer other requests with an error instead of cancelling them.")
        .judge(only_subscriptions),
    server("cancellation.announced-on-teardown")
        .says(
            R2026_07_28,
            new(""),
            "A server that tears a subscription down MUST send `notifications/cancelled` for it.",
        )
        .unobservable(
            "a stream the server tore down looks like one the transport dropped; where the server says that it ended, the \
             page on subscriptions asks for a result instead",
        ),
    server("cancellation.disconnect-cancels")
        .says(
            R2026_07_28,
            new("transport-specific-cancellation"),
            "Over Streamable HTTP a server MUST take the client's disconnect for a cancellation of the request.",
        )
        .unobservable(
            "nothing can be sent on the closed stream, and continued work proves nothing: a request may be impossible to cancel",
        ),
    server("cancellation.work-stopped")
        .says(R2024_11_05, old("behavior-requirements"), "The receiver of a cancellation SHOULD stop working on the request.")
        .says(R2026_07_28, new("behavior-requirements"), "A server SHOULD stop working on a cancelled request.")
        .timed()
        .how("Looks for progress on the request more than half a second after its cancellation, and after the next request was answered; a \
              quiet window that closes without any shows that it stopped. Requests that showed no progress before are passed over.")
        .fix("Pass the cancellation on to the work, and stop reporting progress.")
        .judge(stopped),
    server("cancellation.not-answered")
        .says(
            R2024_11_05,
            old("behavior-requirements"),
            "The receiver of a cancellation SHOULD NOT answer the cancelled request any more.",
        )
        .says(R2026_07_28, new("behavior-requirements"), "A server SHOULD NOT answer a cancelled request any more.")
        .timed()
        .how("Looks for an answer more than half a second after the cancellation of a request that was under way, and after the next request was answered, and for a failure at any time where the same request succeeds when it is left alone; a \
              quiet window that closes without one shows that there was none.")
        .fix("Drop the answer to a request that was cancelled.")
        .judge(not_answered),
    both("cancellation.races-handled")
        .says(
            R2024_11_05,
            old("timing-considerations"),
            "A cancellation that arrives after the answer was sent MUST be handled gracefully.",
        )
        .says(
            R2026_07_28,
            new("timing-considerations"),
            "A cancellation that arrives after the answer was sent MUST be handled gracefully.",
        )
        .how("Looks at what happens to the connection after a cancellation of a request that was answered before.")
        .fix("Ignore cancellations of requests that are not under way.")
        .judge(|view| outlived(view, is_late)),
    both("cancellation.unknown-ignored")
        .says(R2024_11_05, old("error-handling"), "A cancellation that names no known request SHOULD be ignored.")
        .says(R2026_07_28, new("error-handling"), "A cancellation that names no known request SHOULD be ignored.")
        .how("Looks at what happens to the connection after a cancellation of a request that was never sent, and over HTTP whether it is refused where other notifications are accepted.")
        .fix("Ignore it: a notification has no answer, and the request may be over.")
        .judge(unknown_ignored),
    both("cancellation.malformed-ignored")
        .says(R2024_11_05, old("error-handling"), "A malformed cancellation SHOULD be ignored.")
        .says(R2026_07_28, new("error-handling"), "A malformed cancellation SHOULD be ignored.")
        .how("Looks at what happens to the connection after a cancellation without a request id, or with one that is neither \
              a string nor a number.")
        .fix("Check the parameters, and ignore the notification where they make no sense.")
        .judge(|view| outlived(view, is_malformed)),
];

const CANCELLED: &str = "notifications/cancelled";

fn named<'v>(sent: &MessageAt<'v>) -> Option<&'v Value> {
    sent.message.params()?.get("requestId")
}

fn id<'v>(sent: &MessageAt<'v>) -> Option<&'v Value> {
    sent.message.value().get("id")
}

/// Cancellations by the server that name a request; 2025-11-25 lets them name a task instead.
fn cancellations<'v>(view: &View<'v>) -> impl Iterator<Item = MessageAt<'v>> {
    view.notifications(CANCELLED)
        .filter(|sent| named(sent).is_some() && view.is_current(*sent))
        .collect::<Vec<_>>()
        .into_iter()
}

fn only_subscriptions(view: &View<'_>) -> Verdict {
    let listens: Vec<_> = view.calls("subscriptions/listen").map(|call| call.request).collect();
    Verdict::every(cancellations(view), "the server cancelled nothing", |sent| {
        let here = |request: &MessageAt<'_>| view.era() == Era::Legacy || request.connection == sent.connection;
        let listen = listens.iter().any(|request| here(request) && id(request) == named(sent));
        let why = "this is not a request of `subscriptions/listen`";
        if listen { Ok(()) } else { Err(sent.breach("/params/requestId", why)) }
    })
}

/// Cancellations by the client.
fn ours<'v>(view: &View<'v>) -> impl Iterator<Item = MessageAt<'v>> {
    let all = view.by(view.subject().peer()).filter(|sent| sent.message.kind() == Kind::Notification);
    all.filter(|sent| sent.is(CANCELLED) && view.is_current(*sent)).collect::<Vec<_>>().into_iter()
}

/// The request that a cancellation names: the last of that id before it.
fn target<'v>(view: &View<'v>, sent: &MessageAt<'v>) -> Option<Call<'v>> {
    let named = RequestId::from_value(named(sent)?)?;
    let mut requested = view.requests_under(&named, view.subject().peer(), sent.connection);
    let request = requested.rfind(|request| request.event < sent.event)?;
    Some(Call { request, response: view.answer(request) })
}

/// Cancellations that count: of a request under way, which is neither the handshake nor run as a task. In the modern era
/// the notification says so on stdio alone, and a subscription has an end of its own.
fn in_time<'v>(view: &View<'v>) -> Vec<(MessageAt<'v>, Call<'v>)> {
    let counts = |call: &Call<'_>, sent: &MessageAt<'_>| {
        let task = call.request.message.params().is_some_and(|p| p.get("task").is_some());
        let other = ["initialize", "subscriptions/listen"].into_iter().any(|method| call.request.is(method));
        let over = call.response.is_some_and(|response| response.done < sent.done || response.event < sent.event);
        !task && !other && !over
    };
    let sent = ours(view).filter(|_| view.era() == Era::Legacy || view.transport() != Transport::StreamableHttp);
    sent.filter_map(|sent| target(view, &sent).filter(|call| counts(call, &sent)).map(|call| (sent, call))).collect()
}

/// When a cancellation had surely arrived: with the first answer to what was asked after it, where anything was.
fn arrived(view: &View<'_>, sent: &MessageAt<'_>) -> u64 {
    let later = view.calls_by(view.subject().peer());
    let later = later.filter(|call| call.request.connection == sent.connection && call.request.event > sent.event);
    later.filter_map(|call| Some(call.response?.done)).min().unwrap_or_default().max(sent.done)
}

/// Judges that nothing of some kind came once a cancellation had time to arrive.
fn nothing_after<'v>(
    view: &View<'v>,
    cancelled: impl IntoIterator<Item = (MessageAt<'v>, Call<'v>)>,
    followed: impl Fn(&Call<'v>) -> Vec<MessageAt<'v>>,
    why: &str,
) -> Verdict {
    let judged = cancelled.into_iter().filter_map(|(sent, call)| {
        let due = arrived(view, &sent) + SPARE;
        let late = followed(&call).into_iter().find(|f| f.done > due && f.event > sent.event);
        if let Some(late) = late {
            return Some((late.event, Err(late.breach("", why))));
        }
        let window = view.window_after(sent.event, sent.connection)?;
        let long = view.frame(window.closed).at > due;
        long.then_some((window.closed, Ok(())))
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no request under way was cancelled and then waited for")
}

/// Over modern HTTP a client cancels by closing the stream, on which nothing can come any more.
fn by_leaving(view: &View<'_>) -> Option<Verdict> {
    let leaves = view.era() == Era::Modern && view.transport() == Transport::StreamableHttp;
    let why = "over Streamable HTTP a client of this revision cancels by closing the stream";
    leaves.then(|| Verdict::NotApplicable(why.to_owned()))
}

fn not_answered(view: &View<'_>) -> Verdict {
    if let Some(verdict) = by_leaving(view) {
        return verdict;
    }
    let answers = |call: &Call<'_>| call.response.is_some();
    // What succeeds when it is left alone, and fails when it is cancelled, is answered on account of that.
    let spans = Spans::of(view);
    let at_once = in_time(view).into_iter().find_map(|(_, call)| call.response.filter(|_| spans.fails_for_once(&call)));
    if let Some(answer) = at_once {
        return Verdict::Broken(answer.breach("", "a cancelled request is answered with a failure"));
    }
    // An answer within the time to spare crossed the cancellation: it proves nothing either way.
    let cancelled: Vec<_> = in_time(view);
    let judged = cancelled.into_iter().filter(|(sent, call)| {
        !answers(call) || call.response.is_some_and(|response| response.done > arrived(view, sent) + SPARE)
    });
    nothing_after(
        view,
        judged.collect::<Vec<_>>(),
        |call| call.response.into_iter().collect(),
        "a cancelled request is answered",
    )
}

/// How calls went that were not cancelled and succeeded: by method and parameters.
pub(crate) struct Spans<'v>(BTreeMap<String, Undisturbed<'v>>);

/// The same call, left alone once or more.
struct Undisturbed<'v> {
    /// How long it took, in microseconds.
    longest: u64,
    shortest: u64,
    results: Vec<&'v Value>,
}

impl<'v> Spans<'v> {
    pub(crate) fn of(view: &View<'v>) -> Self {
        let mut spans: BTreeMap<String, Undisturbed<'v>> = BTreeMap::new();
        for call in
            view.all_calls().filter(|c| c.result().is_some() && !failed(c) && view.cancellation_of(c.request).is_none())
        {
            let (Some(took), Some(result)) = (took(&call), call.result()) else { continue };
            let fresh = || Undisturbed { longest: took, shortest: took, results: Vec::new() };
            let known = spans.entry(call.request.message.content_key(&["_meta"])).or_insert_with(fresh);
            (known.longest, known.shortest) = (known.longest.max(took), known.shortest.min(took));
            known.results.push(result);
        }
        Self(spans)
    }

    fn undisturbed(&self, call: &Call<'_>) -> Option<&Undisturbed<'v>> {
        self.0.get(&call.request.message.content_key(&["_meta"]))
    }

    /// How long such a call takes at the most.
    pub(crate) fn of_call(&self, call: &Call<'_>) -> Option<u64> {
        self.undisturbed(call).map(|known| known.longest)
    }

    /// Whether a call has a result long before it usually has one, and another one than usual.
    pub(crate) fn ends_early(&self, call: &Call<'_>) -> bool {
        let (Some(known), Some(took), Some(result)) = (self.undisturbed(call), took(call), call.result()) else {
            return false;
        };
        took + EARLY < known.shortest && took < known.shortest / 2 && !known.results.contains(&result)
    }

    /// Whether a call fails that succeeds when it is left alone.
    pub(crate) fn fails_for_once(&self, call: &Call<'_>) -> bool {
        failed(call) && self.of_call(call).is_some()
    }
}

/// How much sooner than usual, in microseconds, a result must come so that the call ended early.
const EARLY: u64 = 250_000;

/// How long a call took, in microseconds.
fn took(call: &Call<'_>) -> Option<u64> {
    Some(call.response?.done.saturating_sub(call.request.done))
}

/// Whether the answer to a call is an error, or a result that says so.
fn failed(call: &Call<'_>) -> bool {
    call.error().is_some() || call.result().is_some_and(|result| result.get("isError").is_some_and(|is| *is == true))
}

/// Progress notifications, by connection and token.
pub(crate) struct Progress<'v>(BTreeMap<(u32, String), Vec<MessageAt<'v>>>);

impl<'v> Progress<'v> {
    pub(crate) fn of(view: &View<'v>) -> Self {
        let mut reports: BTreeMap<(u32, String), Vec<MessageAt<'v>>> = BTreeMap::new();
        for sent in view.notifications("notifications/progress") {
            let Some(token) = sent.message.params().and_then(|p| p.get("progressToken")) else { continue };
            reports.entry((sent.connection, canonical(token))).or_default().push(sent);
        }
        Self(reports)
    }

    /// The progress notifications of a call.
    pub(crate) fn on(&self, call: &Call<'v>) -> &[MessageAt<'v>] {
        let token = call.request.message.params().and_then(|p| p.get("_meta")?.get("progressToken"));
        let reports = token.and_then(|token| self.0.get(&(call.request.connection, canonical(token))));
        reports.map_or(&[], Vec::as_slice)
    }
}

fn stopped<'v>(view: &View<'v>) -> Verdict {
    if let Some(verdict) = by_leaving(view) {
        return verdict;
    }
    let progress = Progress::of(view);
    let worked = |sent: &MessageAt<'_>, call: &Call<'v>| progress.on(call).iter().any(|p| p.event < sent.event);
    let cancelled = in_time(view).into_iter().filter(|(sent, call)| call.response.is_none() && worked(sent, call));
    nothing_after(
        view,
        cancelled.collect::<Vec<_>>(),
        |call| progress.on(call).to_vec(),
        "a cancelled request makes progress",
    )
}

fn is_late(view: &View<'_>, sent: &MessageAt<'_>) -> bool {
    target(view, sent).and_then(|call| call.response).is_some_and(|response| response.event < sent.event)
}

fn is_unknown(view: &View<'_>, sent: &MessageAt<'_>) -> bool {
    let readable = named(sent).is_some_and(|id| id.is_string() || id.is_number());
    let id = named(sent).and_then(RequestId::from_value);
    readable && !id.is_some_and(|id| view.has_asked(&id, view.subject().peer()))
}

fn is_malformed(view: &View<'_>, sent: &MessageAt<'_>) -> bool {
    let task = view.revision() == wire::revision::R2025_11_25 && sent.message.params().is_some();
    named(sent).map_or(!task, |id| !id.is_string() && !id.is_number())
}

fn unknown_ignored(view: &View<'_>) -> Verdict {
    let refused = |sent: &MessageAt<'_>| {
        let exchange = view.exchange(sent.exchange)?;
        exchange.status().filter(|status| matches!(status, 400 | 404 | 409 | 410 | 422))?;
        view.exchanges().iter().find(|other| {
            let notes = other.client_messages.iter().any(|one| one.message.kind() == Kind::Notification);
            notes && other.connection == exchange.connection && other.number > exchange.number && other.succeeded()
        })?;
        Some(exchange.status_breach("the cancellation is refused, though the session accepts notifications"))
    };
    let mut unknown = ours(view).filter(|sent| is_unknown(view, sent) && sent.message.params().is_some());
    unknown.find_map(|sent| refused(&sent)).map_or_else(|| outlived(view, is_unknown), Verdict::Broken)
}

/// Judges that the server continues after such a cancellation. An answer to it is the business of
/// `jsonrpc.notifications-unanswered`.
fn outlived(view: &View<'_>, such: fn(&View<'_>, &MessageAt<'_>) -> bool) -> Verdict {
    let judged = ours(view).filter(|sent| such(view, sent)).filter_map(|sent| {
        let failed = view.exchange(sent.exchange).filter(|x| x.status().is_some_and(|status| status >= 500));
        if let Some(exchange) = failed {
            return Some((sent.event, Err(exchange.status_breach("a cancellation makes the server fail"))));
        }
        Some(match view.aftermath(sent.event, sent.connection)? {
            Ok(event) => (event, Ok(())),
            Err(event) => (event, Err(Breach::at(event, "", "the connection was ended after a cancellation"))),
        })
    });
    Verdict::of(judged, "no such cancellation was sent, or no request followed")
}
