//! The page `server/utilities/caching`: what it demands of clients. What a client does not ask for it may not need: where
//! a sentence is broken by asking too little, nothing shows.

use std::collections::BTreeMap;

use wire::error_code::INVALID_PARAMS;
use wire::revision::R2026_07_28;
use wire::{Kind, Party, Transport};

use super::{CACHED, PAGES, TTL};
use crate::rule::{Anchor, Rule, at, client};
use crate::server::listing::{ALL, pages};
use crate::verdict::{Breach, Kept, Verdict};
use crate::view::{Call, MessageAt, View};

const KEY: Anchor = at("server/utilities/caching", "cache-key");
const FRESHNESS: Anchor = at("server/utilities/caching", "freshness-calculation");

/// The rules, in the page's own order.
pub(crate) const RULES: &[Rule] = &[
    client("caching.key-respected")
        .says(
            R2026_07_28,
            KEY,
            "A client MUST NOT use a cached result for a request of another method or with other parameters.",
        )
        .unobservable("a client's use of its cache is invisible: a request that it does not make may be unnecessary"),
    client("caching.retries-not-cached")
        .says(
            R2026_07_28,
            KEY,
            "What came of a request with `inputResponses` or `requestState` MUST NOT be cached.",
        )
        .unobservable("a client's use of its cache is invisible: a request that it does not make may be unnecessary"),
    client("caching.stale-refetched")
        .says(
            R2026_07_28,
            TTL,
            "A client SHOULD ask again where `ttlMs` has passed, is 0, negative or absent, the next time it needs the result.",
        )
        .unobservable("a client's use of its cache is invisible: a request that it does not make may be unnecessary"),
    client("caching.fresh-kept")
        .says(R2026_07_28, TTL, "A client SHOULD keep to a result until its `ttlMs` has passed, unless it has reason to doubt it.")
        .timed()
        .how("Needs a server whose results have a long `ttlMs`, and checks whether a list of one page, or a resource, is asked for again in that time. Announced changes, errors, a new beginning and another access token are reasons to; a second call, read or prompt of what was listed shows that the list was kept.")
        .fix("Keep results with the time they came, and ask again only when `ttlMs` has passed since.")
        .judge(fresh_kept),
    client("caching.not-polled")
        .says(R2026_07_28, FRESHNESS, "A client SHOULD NOT ask again each time a `ttlMs` has passed, needed or not.")
        .timed()
        .how("Needs a server whose results have a short `ttlMs`, and checks whether the client asks again each time it has passed, three times in a row and saying nothing else. A client that stays silent for twice that time, and for a second at least, does not.")
        .fix("Look at the age of a result when you need it; set no timer.")
        .judge(not_polled),
    client("caching.polls-jittered")
        .says(R2026_07_28, FRESHNESS, "A client that polls MUST do so at uneven intervals, and less often where it fails.")
        .timed()
        .how("Measures the intervals at which a client asks the same again and again, saying nothing else: five in a row that differ by less than a fiftieth have no jitter.")
        .fix("Add a random part to each interval, and lengthen it after failures.")
        .judge(jittered),
    client("caching.not-shared")
        .says(
            R2026_07_28,
            at("server/utilities/caching", "cache-scope-field"),
            "A `private` result MUST NOT be used under another authorization than the one it was got with.",
        )
        .unobservable("a client's use of its cache is invisible: a request that it does not make may be unnecessary"),
    client("caching.page-refetched-by-cursor")
        .says(R2026_07_28, PAGES, "A client SHOULD get a page that is stale again by its own cursor.")
        .unobservable("a client that starts again with the first page may want a consistent list, as the page advises"),
    client("caching.invalid-cursor-starts-over")
        .says(R2026_07_28, PAGES, "A client whose cursor is refused SHOULD forget all pages and begin with the first.")
        .how("Needs a server that refuses a cursor which it issued, and checks whether the next request for the list is for its first page.")
        .fix("Drop all pages when a cursor is refused, and ask without one.")
        .judge(starts_over),
];

/// What a request asks, `_meta` aside, and where: the same for requests that one cached result may answer.
fn key(sent: MessageAt<'_>) -> (u32, String) {
    (sent.connection, sent.message.content_key(&["_meta"]))
}

/// Requests whose results may be cached, in order, by what they ask.
fn cacheable_calls<'v>(view: &View<'v>) -> BTreeMap<(u32, String), Vec<Call<'v>>> {
    let mut cacheable_calls: BTreeMap<_, Vec<Call<'v>>> = BTreeMap::new();
    let calls = view.calls_by(Party::Client).filter(|call| view.is_current(call.request));
    for call in calls.filter(|call| CACHED.into_iter().any(|method| call.request.is(method))) {
        cacheable_calls.entry(key(call.request)).or_default().push(call);
    }
    cacheable_calls
}

/// How long (microseconds) a final result stays fresh.
fn fresh_for(call: &Call<'_>) -> Option<u64> {
    let result = call.result().filter(|result| result.get("resultType").is_none_or(|kind| kind == "complete"))?;
    result.get("ttlMs")?.as_u64().filter(|ms| *ms > 0).map(|ms| ms.saturating_mul(1000))
}

/// Whether a list has more pages than this one: a client that needs a consistent list starts over when any page is stale.
fn is_part(call: &Call<'_>) -> bool {
    let asks = call.request.message.params().is_some_and(|p| p.get("cursor").is_some());
    asks || call.result().is_some_and(|result| result.get("nextCursor").is_some())
}

/// Whether anything between two events may make a client doubt what it has: an announced change, an error, a failure, or
/// another beginning.
fn has_doubts(view: &View<'_>, from: usize, to: usize) -> bool {
    let between = view.messages().filter(|sent| sent.event > from && sent.event < to);
    between.into_iter().any(|sent| match sent.message.kind() {
        Kind::Error => true,
        Kind::Notification => {
            sent.from == Party::Server && !sent.is("notifications/progress") && !sent.is("notifications/message")
        }
        Kind::Result => {
            sent.message.result().is_some_and(|result| result.get("isError").is_some_and(|failed| failed == true))
        }
        Kind::Request => sent.is("server/discover"),
    })
}

/// What an HTTP request proves its sender's authority with. A cache belongs to one authorization context: another access
/// token starts with an empty one.
fn authorization<'v>(view: &View<'v>, request: MessageAt<'_>) -> Option<&'v str> {
    view.exchange(request.exchange)?.request_header("authorization")
}

/// How much earlier (microseconds) a client may think that a time has passed.
const SLACK: u64 = 50_000;

/// The requests that use what a list holds.
fn uses(method: &str) -> Option<&'static str> {
    match method {
        "tools/list" => Some("tools/call"),
        "prompts/list" => Some("prompts/get"),
        "resources/list" => Some("resources/read"),
        _ => None,
    }
}

fn fresh_kept(view: &View<'_>) -> Verdict {
    let mut judged: Vec<(usize, Kept)> = Vec::new();
    for calls in cacheable_calls(view).values() {
        for (place, call) in calls.iter().enumerate() {
            let (Some(answer), Some(fresh)) = (call.response, fresh_for(call)) else { continue };
            // Over HTTP two clients at once look like one that asks twice.
            if is_part(call) || (call.request.is("server/discover") && view.transport() == Transport::StreamableHttp) {
                continue;
            }
            let until = answer.done.saturating_add(fresh);
            let same = |next: &&Call<'_>| authorization(view, next.request) == authorization(view, call.request);
            let next = calls[place + 1..].iter().find(same).map(|next| next.request);
            let again = next.filter(|next| next.event > answer.event);
            if let Some(next) = again.filter(|next| next.done + SLACK < until) {
                if !has_doubts(view, answer.event, next.event) {
                    let why = format!("asked for again, though the result of event {} was still fresh", answer.event);
                    judged.push((next.event, Err(next.breach("", why))));
                }
                continue;
            }
            let used = call.request.message.method().and_then(uses);
            let mut later = view.by(Party::Client).filter(|sent| {
                sent.event > answer.event && sent.done < until && used.is_some_and(|method| sent.is(method))
            });
            judged.extend(later.nth(1).map(|sent| (sent.event, Ok(()))));
        }
    }
    Verdict::of(judged, "nothing that was still fresh could have been asked for again")
}

/// Runs of requests for the same, one after the other with nothing else said in between.
fn runs<'v>(view: &View<'v>) -> Vec<Vec<Call<'v>>> {
    let cacheable_calls = cacheable_calls(view);
    let mut runs = Vec::new();
    for calls in cacheable_calls.values() {
        let mut run: Vec<Call<'v>> = Vec::new();
        for call in calls {
            let follows =
                run.last().is_some_and(|last| view.next_message_after(last.request.event) == Some(call.request.event));
            if !follows && !run.is_empty() {
                runs.push(std::mem::take(&mut run));
            }
            run.push(*call);
        }
        runs.push(run);
    }
    runs
}

/// How long (microseconds) a client must at least have been silent to be known for one that does not poll.
const IDLE: u64 = 1_000_000;

fn not_polled(view: &View<'_>) -> Verdict {
    let mut judged: Vec<(usize, Kept)> = Vec::new();
    for run in runs(view) {
        let on_time = |pair: &[Call<'_>]| {
            let (answer, fresh) = (pair[0].response?, fresh_for(&pair[0])?);
            let after = pair[1].request.done.checked_sub(answer.done)?;
            let due = fresh.saturating_sub(SLACK)..=fresh.saturating_add(fresh / 2).saturating_add(SLACK * 2);
            due.contains(&after).then_some(pair[1].request.event)
        };
        let polls: Vec<_> = run.windows(2).map(on_time).collect();
        if let Some(three) = polls.windows(3).find(|three| three.iter().all(Option::is_some)) {
            let last = three[2].unwrap_or_default();
            let why = "asked for the third time in a row just when `ttlMs` had passed";
            judged.push((last, Err(Breach::at(last, "", why))));
            continue;
        }
        let Some((last, fresh)) = run.last().and_then(|last| Some((last.response?, fresh_for(last)?))) else {
            continue;
        };
        // By its next word, or by its leaving, the client has been there for that long.
        let next = view.next_message_after(last.event).or_else(|| view.left_after(last.event, last.connection));
        let span = fresh.saturating_mul(2).max(IDLE);
        let long = |event: &usize| view.frame(*event).at > last.done.saturating_add(span);
        judged.extend(next.filter(long).map(|event| (event, Ok(()))));
    }
    Verdict::of(judged, "no client stayed for twice the time that a result stays fresh")
}

fn jittered(view: &View<'_>) -> Verdict {
    let judged = runs(view).into_iter().filter_map(|run| {
        let times: Vec<u64> = run.iter().map(|call| call.request.done).collect();
        let gaps: Vec<u64> = times.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect();
        let gaps = gaps.get(..5)?;
        let (least, most) = (gaps.iter().min()?, gaps.iter().max()?);
        let event = run.get(5)?.request.event;
        // What comes faster than that is not polling, but a loop.
        if *least < 100_000 {
            return None;
        }
        let spread = (most - least).saturating_mul(50);
        let why = || format!("asked for every {} ms, again and again", most / 1000);
        match spread {
            spread if spread < *most => Some((event, Err(Breach::at(event, "", why())))),
            spread if spread > most.saturating_mul(3) => Some((event, Ok(()))),
            _ => None,
        }
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "the client polled for nothing")
}

fn starts_over(view: &View<'_>) -> Verdict {
    let mut judged: Vec<(usize, Kept)> = Vec::new();
    for list in ALL {
        let pages = pages(view, list);
        let calls: Vec<_> = view.client_calls(list.method).filter(|call| view.is_current(call.request)).collect();
        let cursor =
            |call: &Call<'_>| call.request.message.params().and_then(|p| p.get("cursor")?.as_str().map(str::to_owned));
        for (place, call) in calls.iter().enumerate().filter(|(_, call)| call.error_code() == Some(INVALID_PARAMS)) {
            let (Some(refused), Some(answer)) = (cursor(call), call.response) else { continue };
            let given =
                pages.iter().any(|page| page.next() == Some(&refused) && page.response.event < call.request.event);
            let next = calls[place + 1..].iter().find(|next| next.request.event > answer.event);
            let Some(next) = next.filter(|_| given) else { continue };
            let why = "a cursor was refused, and the client does not begin with the first page again";
            let kept = if cursor(next).is_none() { Ok(()) } else { Err(next.request.breach("/params/cursor", why)) };
            judged.push((next.request.event, kept));
        }
    }
    Verdict::of(judged, "no cursor that had been issued was refused, or the list not asked for again")
}
