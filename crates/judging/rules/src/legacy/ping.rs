//! The page `basic/utilities/ping` of the legacy era.

use std::collections::{BTreeMap, VecDeque};

use wire::pointer;
use wire::revision::{R2024_11_05, R2026_07_28};
use wire::trace::Closed;
use wire::{Kind, RequestId, Transport};

use crate::basic::overview::responses::{carries_answer, is_refused_unread};
use crate::rule::{Anchor, Rule, at, both};
use crate::verdict::Verdict;
use crate::view::{Call, Exchange, Timeout, View};

const BEHAVIOR: Anchor = at("basic/utilities/ping", "behavior-requirements");
const CONSIDERATIONS: Anchor = at("basic/utilities/ping", "implementation-considerations");
const ERRORS: Anchor = at("basic/utilities/ping", "error-handling");

/// The page's rules, in its own order.
pub(crate) const RULES: &[Rule] = &[
    both("ping.answered")
        .says(R2024_11_05, BEHAVIOR, "A ping MUST be answered promptly.")
        .gone(R2026_07_28)
        .timed()
        .how("Pings once the handshake is done and waits for the answer.")
        .fix("Answer `ping` at once, whatever else is going on.")
        .judge(answered),
    both("ping.served")
        .says(R2024_11_05, BEHAVIOR, "A ping MUST be answered with a result, not with an error.")
        .gone(R2026_07_28)
        .how("Pings once the handshake is done and checks whether a result comes; over stdio also before, where nothing but a ping may come. Over HTTP, a 400 counts only before `notifications/initialized`, where a later request with the same headers is served.")
        .fix("Implement `ping`; it takes no capability.")
        .judge(served),
    both("ping.empty-result")
        .says(R2024_11_05, BEHAVIOR, "The result of a ping MUST be empty.")
        .gone(R2026_07_28)
        .how("Looks at the result of every ping; `_meta` may be in any result and does not count.")
        .fix("Answer with `\"result\": {}`.")
        .judge(empty_result),
    both("ping.periodic")
        .says(R2024_11_05, CONSIDERATIONS, "Implementations SHOULD ping now and then.")
        .gone(R2026_07_28)
        .unobservable("no sentence bounds the period, so no window is long enough"),
    both("ping.sparing")
        .says(R2024_11_05, CONSIDERATIONS, "Implementations SHOULD NOT ping excessively.")
        .gone(R2026_07_28)
        .how("Counts the judged party's pings: more than ten within a second are too many by any reading. A quiet window without so many shows that it is sparing.")
        .fix("Ping every few seconds at most, and only where nothing else shows that the connection lives.")
        .judge(sparing),
    both("ping.failures-logged")
        .says(R2024_11_05, ERRORS, "Failed pings SHOULD be logged.")
        .gone(R2026_07_28)
        .unobservable("where an implementation logs is not visible"),
];

/// Pings made after the handshake of their connection was answered.
fn pings<'a, 'v>(view: &'a View<'v>) -> impl Iterator<Item = Call<'v>> + use<'a, 'v> {
    view.calls_by(view.subject().peer()).filter(|c| {
        let handshake = view.handshake(c.request.connection).and_then(|h| h.response);
        c.request.is("ping") && !c.request.batched && handshake.is_some_and(|h| h.index < c.request.index)
    })
}

const UNSEEN: &str = "no ping was made after a handshake, or none was answered";

fn answered(view: &View<'_>) -> Verdict {
    let pings: Vec<_> = pings(view).collect();
    let waited = pings.iter().filter(|call| call.response.is_none()).filter_map(|call| {
        let Timeout { event, after_ms } = view.timeout_of(call.request)?;
        // That we gave up waiting is not an excuse, nor that another exchange ended.
        let ended = view
            .closings()
            .any(|(e, frame, how)| e < event && carries_answer(view, call.request, frame) && *how != Closed::TimedOut);
        let excused = view.follows_unreadable_bytes(call.request) || is_refused_unread(view, call.request, event);
        (!ended && !excused).then(|| call.request.breach("", format!("no answer came within {after_ms} ms")))
    });
    Verdict::never(waited, pings.iter().filter_map(|c| c.response).map(|r| r.event), UNSEEN)
}

fn served(view: &View<'_>) -> Verdict {
    // What the HTTP envelope was refused for (no session id, a foreign origin) says nothing about pings.
    let refused: Vec<u32> = view
        .exchanges()
        .iter()
        .filter(|x| x.status().is_some_and(|s| s >= 400) && !is_too_early(view, x))
        .map(|x| x.number)
        .collect();
    // One that asks to run as a task is the tasks' business.
    let plain = |c: &Call<'_>| c.request.message.params().is_none_or(|params| params.get("task").is_none());
    let judgeable_calls = |c: &Call<'_>| plain(c) && view.is_valid_request(c.request);
    // Before the handshake a client may do nothing but ping; over HTTP it has no session yet to do so in.
    let greets = |connection: u32| view.handshake(connection).is_some_and(|handshake| handshake.result().is_some());
    let early = view.calls_by(view.subject().peer()).filter(|c| {
        let before = |handshake: Call<'_>| c.request.index < handshake.request.index;
        let alone = c.request.is("ping") && !c.request.batched && view.transport() == Transport::Stdio;
        alone && greets(c.request.connection) && view.handshake(c.request.connection).is_some_and(before)
    });
    let answered = pings(view)
        .filter(judgeable_calls)
        .chain(early.filter(plain))
        .filter(|c| c.response.is_some_and(|r| !refused.contains(&r.exchange)));
    Verdict::every(answered, UNSEEN, |call| match call.response {
        Some(r) if r.message.kind() == Kind::Error => Err(r.breach("/error", "the ping was answered with an error")),
        _ => Ok(()),
    })
}

/// Whether a ping was refused between the answer to `initialize` and `notifications/initialized`, where a client may ping, and
/// a later request with the same headers was served: then the headers were not the reason.
fn is_too_early(view: &View<'_>, x: &Exchange<'_>) -> bool {
    let Some(ping) = x.question().filter(|sent| sent.is("ping")) else { return false };
    let greeted = view.handshake(ping.connection).and_then(|handshake| handshake.response);
    let said =
        view.by(view.subject().peer()).find(|s| s.connection == ping.connection && s.is("notifications/initialized"));
    let between = greeted.is_some_and(|answer| answer.event < ping.event) && said.is_some_and(|s| ping.event < s.event);
    let served = |later: &Exchange<'_>| {
        later.connection == x.connection && later.number > x.number && later.served() && headers(later) == headers(x)
    };
    between && x.status() == Some(400) && x.response_to(ping).is_some() && view.exchanges().iter().any(served)
}

/// The headers of a request, sorted, without the length of its body.
fn headers<'v>(x: &Exchange<'v>) -> Vec<(String, &'v str)> {
    let named = x.request.into_iter().flat_map(|(_, _, _, headers)| headers);
    let named = named.map(|(name, value)| (name.to_ascii_lowercase(), value.as_str()));
    let mut headers: Vec<_> = named.filter(|(name, _)| name != "content-length").collect();
    headers.sort_unstable();
    headers
}

fn empty_result(view: &View<'_>) -> Verdict {
    let results = pings(view).filter(|c| c.result().is_some());
    Verdict::every(results, UNSEEN, |call| {
        let member = call.result().and_then(|r| r.as_object()?.keys().find(|name| *name != "_meta"));
        match (call.response, member) {
            (Some(r), Some(name)) => {
                let pointer = format!("/result/{}", pointer::escape(name));
                Err(r.breach(pointer, format!("the result has a member `{}`", name.escape_debug())))
            }
            _ => Ok(()),
        }
    })
}

/// More of them within [`SECOND`] are a flood, whatever one takes for excessive.
const MANY: usize = 10;

/// In microseconds.
const SECOND: u64 = 1_000_000;

fn sparing(view: &View<'_>) -> Verdict {
    let mut recent: BTreeMap<u32, VecDeque<(u64, RequestId)>> = BTreeMap::new();
    for sent in view.by_subject().filter(|s| s.message.kind() == Kind::Request && s.is("ping")) {
        let Some(id) = sent.message.id() else { continue };
        let pings = recent.entry(sent.connection).or_default();
        pings.retain(|(at, _)| sent.done.saturating_sub(*at) < SECOND);
        // What a resumed stream delivers again is not a further ping.
        if pings.iter().all(|(_, earlier)| earlier != id) {
            pings.push_back((sent.done, id.clone()));
        }
        if pings.len() > MANY {
            return Verdict::Broken(sent.breach("/method", format!("ping number {} within a second", pings.len())));
        }
    }
    let windows = view.windows().iter().filter(|w| view.handshake(w.connection).is_some());
    Verdict::witnessed(windows.map(|w| w.closed).collect(), "no quiet window was kept after a handshake")
}
