//! Resumability and redelivery over Streamable HTTP, 2025-03-26 to 2025-11-25.

use std::collections::BTreeMap;

use wire::revision::{R2025_03_26, R2025_11_25, R2026_07_28};
use wire::{Kind, Party, Transport};

use crate::rule::{Anchor, Rule, at, server};
use crate::verdict::{Breach, Kept, Verdict};
use crate::view::{Exchange, MessageAt, View};

const HTTP: &[Transport] = &[Transport::StreamableHttp];
const SECTION: Anchor = at("basic/transports", "resumability-and-redelivery");

/// The section's rules, in its own order.
pub(crate) const RULES: &[Rule] = &[
    server("http.event-ids-unique")
        .on(HTTP)
        .says(R2025_03_26, SECTION, "Event ids MUST be unique across all streams of a session.")
        .gone(R2026_07_28)
        .how("Collects the event ids of all streams of a session; a replay of the same event does not count.")
        .fix("Put the stream's identity into the event id, or count per session instead of per stream.")
        .judge(event_ids_unique),
    server("http.event-ids-name-stream")
        .on(HTTP)
        .says(R2025_11_25, SECTION, "Event ids SHOULD tell the server which stream they came from.")
        .gone(R2026_07_28)
        .unobservable("an event id is opaque; its meaning to the server is not sent"),
    server("http.replay-same-stream")
        .on(HTTP)
        .says(R2025_03_26, SECTION, "A resumed stream MUST NOT replay messages of another stream.")
        .gone(R2026_07_28)
        .how("Resumes one of several streams and looks for events, or the answer, of another.")
        .fix("Store events by stream, and replay those of the stream that `Last-Event-ID` belongs to alone.")
        .judge(replay_same_stream),
    server("http.replay-follows-last")
        .on(HTTP)
        .says(
            R2025_03_26,
            SECTION,
            "A server MAY replay what followed the event that `Last-Event-ID` names: then all of it, and not that event again.",
        )
        .gone(R2026_07_28)
        .how("Resumes a stream after an event that others are known to have followed, and compares what is replayed: in between nothing is missing, and the event itself does not come again. A server that replays nothing is passed over.")
        .fix("Look the event up that the header names, and begin with the very next one of its stream.")
        .judge(replay_follows),
];

/// A session: by its name where it has one, else by the client's connection.
fn session<'v>(x: &Exchange<'v>) -> (u32, Option<&'v str>) {
    (x.connection, x.session().or_else(|| x.response_header("mcp-session-id")))
}

fn streams<'a, 'v>(view: &'a View<'v>) -> Vec<&'a Exchange<'v>> {
    let mut all = view.endpoint_exchanges();
    all.retain(|x| x.is_stream() && x.succeeded());
    all
}

/// Events with an id and data, with their exchange, in the order in which they came.
fn identified<'a, 'v>(streams: &[&'a Exchange<'v>]) -> Vec<(usize, &'a Exchange<'v>, &'v str, &'v str)> {
    let each = streams.iter().flat_map(|&x| {
        x.blocks.iter().filter_map(move |&(event, block)| {
            let id = block.id.as_deref().filter(|id| !id.is_empty())?;
            Some((event, x, id, block.data.as_deref()?))
        })
    });
    let mut found: Vec<_> = each.collect();
    found.sort_by_key(|&(event, ..)| event);
    found
}

fn event_ids_unique(view: &View<'_>) -> Verdict {
    let streams = streams(view);
    let mut seen: BTreeMap<_, (usize, &str)> = BTreeMap::new();
    let mut witnesses = Vec::new();
    for (event, x, id, data) in identified(&streams) {
        let key = (session(x), id);
        match seen.get(&key) {
            // An event without data is there for its id alone; some servers replay it with data of their own.
            Some((_, before)) if x.resumes().is_some() && (*before == data || before.is_empty()) => {}
            Some((first, _)) => {
                let why = format!("event id {id:?} was given in event {first} already");
                return Verdict::Broken(Breach::at(event, "", why));
            }
            None => _ = seen.insert(key, (event, data)),
        }
        witnesses.push(event);
    }
    if seen.len() < 2 {
        return Verdict::NotSeen("fewer than two events had an id".to_owned());
    }
    Verdict::witnessed(witnesses, "no event had an id")
}

/// The streams on which events were first given, by session and event id.
type Origins<'v> = BTreeMap<((u32, Option<&'v str>), &'v str), u32>;

/// The stream that this one resumes. `Last-Event-ID` may name an event of another session: ids are unique within one alone, and
/// what comes then is no repetition, even with the same id.
fn resumed(origins: &Origins<'_>, x: &Exchange<'_>) -> Option<u32> {
    origins.get(&(session(x), x.resumes()?)).copied().filter(|origin| *origin != x.number)
}

/// Which stream each event id was first given on; a resumption counts as the stream that it resumes.
fn origins<'v>(streams: &[&Exchange<'v>]) -> Origins<'v> {
    let mut origins = BTreeMap::new();
    for (_, x, id, _) in identified(streams) {
        let resumed = resumed(&origins, x).unwrap_or(x.number);
        origins.entry((session(x), id)).or_insert(resumed);
    }
    origins
}

fn replay_same_stream(view: &View<'_>) -> Verdict {
    if event_ids_unique(view).is_broken() {
        return Verdict::NotSeen("event ids are not unique, so none tells which stream it came from".to_owned());
    }
    let streams = streams(view);
    let origins = origins(&streams);
    let mut witnesses = Vec::new();
    for x in &streams {
        let Some(origin) = resumed(&origins, x) else { continue };
        for &(event, block) in &x.blocks {
            let id = block.id.as_deref().unwrap_or_default();
            if origins.get(&(session(x), id)).is_some_and(|&first| first != origin) {
                let why = format!("event {id:?} belongs to another stream than the one resumed");
                return Verdict::Broken(Breach::at(event, "", why));
            }
        }
        if let Some(stray) = x.responses().find(|r| requested_elsewhere(view, *r, origin)) {
            return Verdict::Broken(stray.breach("/id", "answers a request of another stream than the one resumed"));
        }
        let others = streams.iter().any(|y| {
            y.connection == x.connection && y.number != origin && !y.server_messages.is_empty() && y.resumes().is_none()
        });
        if others {
            witnesses.extend(x.server_messages.last().map(|s| s.event));
        }
    }
    Verdict::witnessed(witnesses, "no stream was resumed while there were others to confuse it with")
}

/// The events with data of one stream and of those that resumed it, in the order in which they were first seen.
type Known<'v> = BTreeMap<(u32, Option<&'v str>, u32), Vec<&'v str>>;

fn replay_follows(view: &View<'_>) -> Verdict {
    if event_ids_unique(view).is_broken() {
        return Verdict::NotSeen("event ids are not unique, so none tells what follows it".to_owned());
    }
    if replay_same_stream(view).is_broken() {
        return Verdict::NotSeen("another stream was replayed, so what follows an event is not known".to_owned());
    }
    let streams = streams(view);
    let origins = origins(&streams);
    let (mut known, mut judged) = (Known::new(), Vec::new());
    for x in &streams {
        let ((connection, name), last) = (session(x), x.resumes());
        let origin = last.map_or(Some(x.number), |_| resumed(&origins, x));
        let Some(origin) = origin else { continue };
        let seen = known.entry((connection, name, origin)).or_default();
        let said = |block: &wire::trace::SseFields| block.data.as_deref().is_some_and(|data| !data.is_empty());
        let given: Vec<(usize, &str, bool)> = x
            .blocks
            .iter()
            .filter_map(|(event, block)| Some((*event, block.id.as_deref().filter(|id| !id.is_empty())?, said(block))))
            .collect();
        if let Some(last) = last {
            judged.extend(judge_replay(seen, &given, last));
        }
        for (_, id, _) in given {
            if !seen.contains(&id) {
                seen.push(id);
            }
        }
    }
    Verdict::of(judged, "no stream was resumed after an event that was known to be followed by others")
}

/// What a resumed stream shows, by the ids that its stream was known to have, in their order.
fn judge_replay(seen: &[&str], given: &[(usize, &str, bool)], last: &str) -> Option<(usize, Kept)> {
    let again = given.iter().find(|(_, id, said)| *id == last && *said);
    if let Some((event, id, _)) = again {
        let why = format!("event {id:?} is sent again, which `Last-Event-ID` names as received");
        return Some((*event, Err(Breach::at(*event, "", why))));
    }
    let following = &seen[seen.iter().position(|id| *id == last)? + 1..];
    let mut new = given.iter().filter(|(_, id, said)| *said && *id != last);
    for (event, id, _) in new.clone() {
        let before = following.iter().take_while(|known| *known != id);
        let missing = before.copied().find(|known| !given.iter().any(|(_, given, _)| given == known));
        if let Some(missing) = missing {
            let why = format!("event {missing:?}, which followed {last:?}, is left out before this one");
            return Some((*event, Err(Breach::at(*event, "", why))));
        }
    }
    new.next_back().filter(|_| !following.is_empty()).map(|(event, ..)| (*event, Ok(())))
}

/// Whether the request that `response` answers was put in another exchange than `origin`, and only there.
fn requested_elsewhere(view: &View<'_>, response: MessageAt<'_>, origin: u32) -> bool {
    let requested = view.by(Party::Client).filter(|s| {
        s.message.kind() == Kind::Request
            && s.connection == response.connection
            && s.message.id() == response.message.id()
    });
    let places: Vec<u32> = requested.map(|s| s.exchange).collect();
    !places.is_empty() && !places.contains(&origin)
}
