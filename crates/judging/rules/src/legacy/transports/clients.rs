//! What the transports of the legacy era, and no later one, demand of clients.

use std::collections::BTreeSet;

use wire::http::{self, combined, lists};
use wire::meta;
use wire::revision::{R2024_11_05, R2025_03_26, R2025_11_25, R2026_07_28};
use wire::trace::{Closed, header};
use wire::{Party, Transport};

use super::http_sse::{endpoint, streams};
use super::sessions::{Issued, issued};
use crate::reading::timeouts::{Signs, cancelled};
use crate::rule::{Anchor, Rule, at, client};
use crate::verdict::{Breach, Kept, Located, Verdict};
use crate::view::{Exchange, View};

const HTTP: &[Transport] = &[Transport::StreamableHttp];

const fn here(section: &'static str) -> Anchor {
    at("basic/transports", section)
}

const SENDING: Anchor = here("sending-messages-to-the-server");
const SESSIONS: Anchor = here("session-management");

/// The rules, in the page's own order.
pub(crate) const RULES: &[Rule] = &[
    client("sse.posts-to-endpoint")
        .on(&[Transport::HttpSse])
        .says(
            R2024_11_05,
            here("http-with-sse"),
            "A client MUST post all its messages to the URI of the `endpoint` event.",
        )
        .gone(R2025_03_26)
        .how("Compares the target of every POST with a message with the data of the `endpoint` event of its stream: path, and names of query parameters. Works with any server; one that puts a session into the query shows more.")
        .fix("Resolve the data of the `endpoint` event against the stream's URL, and post everything there.")
        .judge(posts_to_endpoint),
    client("http.polls-after-close")
        .on(HTTP)
        .says(
            R2025_11_25,
            SENDING,
            "A client whose connection is closed before the stream is over SHOULD come back for the rest.",
        )
        .gone(R2026_07_28)
        .how("Needs a server that gives an event id on the stream of a request and closes it before the answer, and looks for a GET with `Last-Event-ID`. It is broken by a client that leaves without one, or that waits for two seconds and then cancels.")
        .fix("Come back by GET with the last event's id, until the answer is there.")
        .judge(polls_after_close),
    client("http.retry-respected")
        .on(HTTP)
        .says(R2025_11_25, SENDING, "A client MUST stay away for the time that a `retry` field names.")
        .gone(R2026_07_28)
        .timed()
        .how("Needs a server that sends `retry` and then closes the stream, and measures how long the client stays away.")
        .fix("Wait for the milliseconds that the last `retry` field named before you connect again.")
        .judge(retry_respected),
    client("http.cancels-by-notification")
        .on(HTTP)
        .says(R2025_03_26, SENDING, "A client that gives a request up SHOULD say so in `notifications/cancelled`.")
        .gone(R2026_07_28)
        .timed()
        .how("Needs a server that leaves a request unanswered on an open stream. That the client has given it up is shown by its closing the stream and continuing, without coming back for it.")
        .fix("Send `notifications/cancelled` with the request's id when you give it up.")
        .judge(|view| cancelled(view, Signs::Hangs)),
    client("http.get-accepts-streams")
        .on(HTTP)
        .says(
            R2025_03_26,
            here("listening-for-messages-from-the-server"),
            "A GET MUST name event streams in its `Accept` header.",
        )
        .gone(R2026_07_28)
        .how("Reads the `Accept` header of every GET to the MCP endpoint. Works with any server.")
        .fix("Send `Accept: text/event-stream`.")
        .judge(get_accepts),
    client("http.resumes-by-last-event-id")
        .on(HTTP)
        .says(
            R2025_03_26,
            here("resumability-and-redelivery"),
            "A client SHOULD resume a stream by GET, with the last event's id in `Last-Event-ID`.",
        )
        .gone(R2026_07_28)
        .how("Needs a server that breaks a stream with event ids off, and compares the `Last-Event-ID` of each GET with the ids issued, and with the last of the stream that the server ended. A GET without one counts where the client has a stream of its own open.")
        .fix("Remember the id of the last event of each stream, and send it as it came.")
        .judge(resumes),
    client("http.session-id-sent")
        .on(HTTP)
        .says(R2025_03_26, SESSIONS, "A client that was given a session id MUST send it with all it sends afterwards.")
        .gone(R2026_07_28)
        .how("Needs a server with sessions, and looks for the session id on everything that the client sends to the MCP endpoint after it was given. A GET counts once the client has posted again, and only while a session has not been answered 404.")
        .fix("Keep the `Mcp-Session-Id` of the answer to `initialize`, and send it with every request.")
        .judge(session_sent),
    client("http.session-id-guarded")
        .on(HTTP)
        .says(R2025_11_25, SESSIONS, "A client MUST send a session id only to the server that assigned it.")
        .gone(R2026_07_28)
        .how("Needs a server with sessions that makes its client ask another origin or path (for metadata of authorization, icons, schemas), and looks for the session id in what it sends there.")
        .fix("Add the session id to requests of the MCP endpoint alone.")
        .judge(session_guarded),
    client("http.new-session-after-404")
        .on(HTTP)
        .says(
            R2025_03_26,
            SESSIONS,
            "A client whose session is answered 404 MUST open another one, by `initialize` without a session id.",
        )
        .gone(R2026_07_28)
        .how("Needs a server that answers a session with 404 from some request on, and looks for `initialize` without a session id. Who leaves instead is not judged.")
        .fix("Forget the session on 404, and start again with `initialize`.")
        .judge(new_session),
    client("http.session-ended-by-delete")
        .on(HTTP)
        .says(R2025_03_26, SESSIONS, "A client that is done with a session SHOULD end it by DELETE.")
        .gone(R2026_07_28)
        .how("Needs a server with sessions and a client that is seen to leave, and looks for its DELETE.")
        .fix("Send DELETE with the session id before you go.")
        .judge(ended_by_delete),
];

fn begun(x: &Exchange<'_>) -> usize {
    x.request.map_or(0, |(event, ..)| event)
}

/// A URI reference as the target of a request to the origin of `base`: an absolute path and perhaps a query.
fn resolved(base: &str, uri: &str) -> String {
    if let Some((_, rest)) = uri.split_once("://") {
        return rest.find('/').map_or("/", |slash| &rest[slash..]).to_owned();
    }
    if uri.starts_with('/') {
        return uri.to_owned();
    }
    let base = base.split('?').next().unwrap_or_default();
    if uri.starts_with('?') {
        return format!("{base}{uri}");
    }
    format!("{}{uri}", &base[..base.rfind('/').map_or(0, |slash| slash + 1)])
}

/// The path of a target and the names of its query's parameters. Their values may be secrets, which traces do not keep.
fn place(target: &str) -> (&str, BTreeSet<&str>) {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let names = query.split('&').filter(|part| !part.is_empty());
    (path, names.map(|part| part.split('=').next().unwrap_or_default()).collect())
}

fn posts_to_endpoint(view: &View<'_>) -> Verdict {
    let target = |x: &Exchange<'_>| x.request.map(|(_, _, target, _)| target.to_owned()).unwrap_or_default();
    let streams: Vec<_> = streams(view).into_iter().filter_map(|x| Some((x, endpoint(x)?))).collect();
    let posts = view.exchanges().iter().filter(|x| x.partner == Some(Party::Server) && !x.client_messages.is_empty());
    let judged = posts.filter_map(|x| {
        let mut before = streams.iter().filter(|(_, (event, _))| *event < begun(x));
        let here = before.clone().rfind(|(stream, _)| stream.connection == x.connection);
        let (stream, (_, uri)) = here.or_else(|| before.next_back())?;
        let (found, named) = (target(x), resolved(&target(stream), uri));
        let why = || format!("posted to `{}`; the server named `{}`", found.escape_debug(), uri.escape_debug());
        Some((begun(x), if place(&found) == place(&named) { Ok(()) } else { Err(Breach::at(begun(x), "", why())) }))
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no message was posted after an `endpoint` event")
}

/// A stream that ended before it had brought the answer that it was opened for, or one without any.
struct Broken<'a, 'v> {
    stream: &'a Exchange<'v>,
    /// Where it ended.
    closed: usize,
}

/// Streams with event ids that the server's side ended early.
fn broken_off<'a, 'v>(view: &'a View<'v>) -> Vec<Broken<'a, 'v>> {
    let early = |x: &'a Exchange<'v>| {
        let (closed, by, _) = x.closed.filter(|(.., how)| matches!(how, Closed::End | Closed::Reset))?;
        let waits = x.question().is_some_and(|sent| x.response_to(sent).is_none()) || x.is("GET");
        let named = x.blocks.iter().any(|(_, block)| block.id.as_deref().is_some_and(|id| !id.is_empty()));
        let answered = x.is("GET") && x.responses().next().is_some();
        (x.is_stream() && by == Party::Server && waits && named && !answered).then_some(Broken { stream: x, closed })
    };
    view.endpoint_exchanges().into_iter().filter_map(early).collect()
}

/// The first GET after an event by which the client resumes a stream at that id.
fn comeback<'a, 'v>(view: &'a View<'v>, broken: &Broken<'a, 'v>) -> Option<&'a Exchange<'v>> {
    let ids: BTreeSet<_> = broken.stream.blocks.iter().filter_map(|(_, block)| block.id.as_deref()).collect();
    let mut later = view.endpoint_exchanges().into_iter().filter(|x| x.is("GET") && begun(x) > broken.closed);
    later.find(|x| x.resumes().is_some_and(|id| ids.contains(id)))
}

fn polls_after_close(view: &View<'_>) -> Verdict {
    let judged = broken_off(view).into_iter().filter_map(|broken| {
        let request = broken.stream.question().filter(|sent| view.is_current(*sent))?;
        if view.answer(request).is_some_and(|answer| answer.event < broken.closed) {
            return None;
        }
        if let Some(x) = comeback(view, &broken) {
            return Some((begun(x), Ok(())));
        }
        let (left, _) = view.departure().filter(|(left, _)| *left > broken.closed)?;
        let why = format!(
            "the stream ended before the answer, and the client left (event {left}) without coming back for it"
        );
        let session = broken.stream.session();
        let over = |x: &Exchange<'_>| x.is("DELETE") && begun(x) < broken.closed;
        // It has come back, but without an id: another rule's matter.
        let without_id = |x: &Exchange<'_>| x.is("GET") && x.resumes().is_none() && begun(x) > broken.closed;
        // With the session its streams end, too.
        let others = view.endpoint_exchanges();
        if others.iter().any(|x| x.session() == session && (over(x) || without_id(x))) {
            return None;
        }
        // Who takes the request back at once does not want the rest; who first waits for it has to come back.
        let closed = view.frame(broken.closed).at;
        let taken_back = view.cancellation_of(request).is_some_and(|sent| sent.done <= closed.saturating_add(WAITED));
        (!taken_back).then(|| (broken.closed, Err(Breach::at(broken.closed, "", why))))
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no stream with event ids ended before its answer")
}

/// How long (microseconds) after the end of a stream a request that is taken back was waited for.
const WAITED: u64 = 2_000_000;
/// How much too early (microseconds) a client may seem to come back: clocks tick coarsely.
const SLACK: u64 = 25_000;
/// How long (microseconds) after a 404 a request that comes cannot have been under way before it.
const LONG: u64 = 1_000_000;
/// How long (microseconds) a 404 takes that all has come before which was sent together with what it answers.
const THOROUGH: u64 = 250_000;

fn retry_respected(view: &View<'_>) -> Verdict {
    let all = view.endpoint_exchanges();
    let stated = all.iter().filter_map(|x| {
        let retry = x.blocks.iter().rev().find_map(|(_, block)| block.retry_ms()).filter(|ms| *ms > 0)?;
        let (closed, ..) = x.closed.filter(|(_, by, _)| *by == Party::Server)?;
        Some((*x, retry, closed))
    });
    let judged = stated.filter_map(|(x, retry, closed)| {
        let ids: BTreeSet<_> = x.blocks.iter().filter_map(|(_, block)| block.id.as_deref()).collect();
        let mut later = all.iter().filter(|y| y.is("GET") && begun(y) > closed && y.connection == x.connection);
        let back = later.find(|y| match y.resumes() {
            Some(id) => ids.contains(id),
            None => x.is("GET"),
        })?;
        let waited = view.frame(begun(back)).at.saturating_sub(view.frame(closed).at);
        let early = waited + SLACK < retry.saturating_mul(1000);
        let why = || format!("the client came back after {} ms; `retry` said {retry}", waited / 1000);
        Some((begun(back), if early { Err(Breach::at(begun(back), "", why())) } else { Ok(()) }))
    });
    Verdict::of(
        judged.collect::<Vec<(usize, Kept)>>(),
        "no client came back to a stream that had named a time to stay away",
    )
}

fn get_accepts(view: &View<'_>) -> Verdict {
    let gets = view.endpoint_exchanges().into_iter().filter(|x| x.is("GET"));
    let judged = gets.map(|x| {
        let accept = x.request.and_then(|(.., headers)| combined(headers, http::ACCEPT)).unwrap_or_default();
        let why = "`Accept` does not name text/event-stream";
        let breach = || Err(Breach::at(begun(x), "header:Accept", why));
        (begun(x), if lists(&accept, http::EVENT_STREAM) { Ok(()) } else { breach() })
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "the client made no GET")
}

fn resumes(view: &View<'_>) -> Verdict {
    let all = view.endpoint_exchanges();
    let given = |before: usize| {
        let blocks = all.iter().flat_map(|x| x.blocks.iter()).filter(move |(event, _)| *event < before);
        blocks.filter_map(|(_, block)| block.id.as_deref()).collect::<BTreeSet<_>>()
    };
    let judged = all.iter().filter_map(|x| {
        let id = x.resumes()?;
        let ids = given(begun(x));
        let why = || format!("no event had the id `{}`", id.escape_debug());
        let breach = || Err(Breach::at(begun(x), "header:Last-Event-ID", why()));
        (!ids.is_empty()).then(|| (begun(x), if ids.contains(id) { Ok(()) } else { breach() }))
    });
    let judged = judged.chain(all.iter().filter_map(|x| not_the_last(view, x)));
    let judged = judged.chain(broken_off(view).into_iter().filter_map(|broken| from_nowhere(view, &broken)));
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no stream with event ids was resumed")
}

/// How long (microseconds) an event that a server sent before it closed the stream may be unread after that.
const UNREAD: u64 = 100_000;

/// A GET that resumes a stream after another event than the last. Only streams that the server ended count: what was under
/// way on one that the client gave up, it need not have read.
fn not_the_last(view: &View<'_>, x: &Exchange<'_>) -> Option<(usize, Kept)> {
    let id = x.resumes()?;
    let mut before = view.endpoint_exchanges().into_iter().filter(|y| begun(y) < begun(x));
    let held = |y: &&Exchange<'_>| y.blocks.iter().any(|(_, block)| block.id.as_deref() == Some(id));
    let stream = before.rfind(held)?;
    let (closed, ..) = stream
        .closed
        .filter(|(event, by, how)| *by == Party::Server && matches!(how, Closed::End) && *event < begun(x))?;
    let last = stream.blocks.iter().rev().find_map(|(_, block)| block.id.as_deref().filter(|id| !id.is_empty()))?;
    let waited = view.frame(begun(x)).at.saturating_sub(view.frame(closed).at);
    let why = || {
        format!("the stream is resumed after the event `{}`; its last was `{}`", id.escape_debug(), last.escape_debug())
    };
    let late = last != id && waited >= UNREAD;
    Some((begun(x), if late { Err(Breach::at(begun(x), "header:Last-Event-ID", why())) } else { Ok(()) }))
}

/// A GET by which the client comes back for the answer of a stream and does not say where that stopped: it has the stream of
/// its own, for which one may open a GET without an id, already.
fn from_nowhere(view: &View<'_>, broken: &Broken<'_, '_>) -> Option<(usize, Kept)> {
    broken.stream.question().filter(|sent| view.is_current(*sent))?;
    if comeback(view, broken).is_some() {
        return None;
    }
    let plain: Vec<_> = view
        .endpoint_exchanges()
        .into_iter()
        .filter(|x| x.is("GET") && x.resumes().is_none() && x.connection == broken.stream.connection)
        .collect();
    let back = plain.iter().find(|x| begun(x) > broken.closed)?;
    let stands = |x: &&Exchange<'_>| {
        x.is_stream() && begun(x) < broken.closed && x.closed.is_none_or(|(closed, ..)| closed > begun(back))
    };
    plain.iter().copied().find(stands)?;
    let why =
        format!("the client comes back for the stream that ended (event {}) without `Last-Event-ID`", broken.closed);
    Some((begun(back), Err(Breach::at(begun(back), "", why))))
}

/// Whether a message of the exchange opens a session, or belongs to the modern era, which has none.
fn is_apart(x: &Exchange<'_>) -> bool {
    x.client_messages
        .iter()
        .any(|s| s.is("initialize") || s.message.meta().is_some_and(|meta| meta.get(meta::PROTOCOL_VERSION).is_some()))
}

fn session_sent(view: &View<'_>) -> Verdict {
    let sessions = issued(view);
    // Where one handshake brought no session, nothing says which of them a request without one belongs to.
    let greeted = view.legacy_handshakes().filter(|call| call.result().is_some()).count();
    if greeted != sessions.len() {
        return Verdict::NotSeen("no session was opened, or not by every handshake".to_owned());
    }
    let later: Vec<_> = view.endpoint_exchanges().into_iter().filter(|x| !is_apart(x)).collect();
    let judged = later.iter().filter_map(|x| {
        let mut before = sessions.iter().filter(|one| one.exchange.event() < begun(x)).peekable();
        let given = before.peek()?.exchange.event();
        // A stream that is opened beside the handshake may cross its answer; and who turns that answer down may try an
        // older transport. Only who posts again has read it, and goes on.
        let goes_on = |y: &&Exchange<'_>| y.is("POST") && (given..begun(x)).contains(&begun(y));
        if x.is("GET") && x.session().is_none() && !later.iter().any(goes_on) {
            return None;
        }
        // After a 404 there is no session to name, and a GET may try an older transport.
        let ended = |one: &Issued<'_, '_>| {
            later.iter().any(|y| y.session() == Some(one.id) && y.status() == Some(404) && y.event() < begun(x))
        };
        if x.is("GET") && x.session().is_none() && before.clone().all(ended) {
            return None;
        }
        let kept = match x.session() {
            Some(id) if before.any(|one| one.id == id) => Ok(()),
            Some(_) => Err(Breach::at(
                begun(x),
                "header:Mcp-Session-Id",
                "this is not a session id that the server gave with its answer to `initialize`",
            )),
            None => Err(Breach::at(begun(x), "header:Mcp-Session-Id", "the request does not name its session")),
        };
        Some((begun(x), kept))
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "nothing was sent after a session was opened")
}

fn session_guarded(view: &View<'_>) -> Verdict {
    let sessions = issued(view);
    let ours: BTreeSet<_> = view.endpoint_exchanges().iter().map(|x| x.number).collect();
    let foreign = view.exchanges().iter().filter(|x| !ours.contains(&x.number));
    let judged = foreign.filter_map(|x| {
        let (event, _, target, headers) = x.request?;
        let mut known = sessions.iter().filter(|one| one.exchange.event() < event).peekable();
        known.peek()?;
        let body = x.request_body.map(|(_, bytes)| String::from_utf8_lossy(bytes)).unwrap_or_default();
        let stated =
            |id: &str| target.contains(id) || body.contains(id) || headers.iter().any(|(_, value)| value.contains(id));
        let leaks = header(headers, http::SESSION_ID).is_some() || known.any(|one| stated(one.id));
        let why = "the session id is sent to another address than the MCP endpoint";
        Some((event, if leaks { Err(Breach::at(event, "", why)) } else { Ok(()) }))
    });
    Verdict::of(
        judged.collect::<Vec<(usize, Kept)>>(),
        "with a session open, the client sent requests to the MCP endpoint only",
    )
}

fn new_session(view: &View<'_>) -> Verdict {
    let all = view.endpoint_exchanges();
    let lost =
        all.iter().filter(|x| x.status() == Some(404) && x.session().is_some() && !x.is("DELETE") && !is_apart(x));
    let judged = lost.filter_map(|x| {
        let (answer, ..) = x.response?;
        let dead = x.session();
        let mut later = all.iter().filter(|y| begun(y) > answer && y.is("POST"));
        // What was under way when the 404 came proves nothing. Where the 404 took its time, that had come before it.
        let at = |event: usize| view.frame(event).at;
        let thorough = at(answer).saturating_sub(at(begun(x))) >= THOROUGH;
        let client_continues = |y: &Exchange<'_>| thorough || at(begun(y)).saturating_sub(at(answer)) > LONG;
        let next = later.find(|y| {
            y.client_messages.iter().any(|s| s.is("initialize")) || (y.session() == dead && client_continues(y))
        });
        // Who leaves instead needs no session any more.
        let y = next?;
        let opens = y.client_messages.iter().any(|s| s.is("initialize"));
        let kept = match (opens, y.session()) {
            (true, None) => Ok(()),
            (true, Some(_)) => Err(Breach::at(begun(y), "header:Mcp-Session-Id", "`initialize` still names a session")),
            (false, _) => {
                Err(Breach::at(begun(y), "header:Mcp-Session-Id", "the client continues with a session that is gone"))
            }
        };
        Some((begun(y), kept))
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no session was answered with 404, or nothing followed")
}

fn ended_by_delete(view: &View<'_>) -> Verdict {
    let all = view.endpoint_exchanges();
    let judged = issued(view).into_iter().filter_map(|one| {
        let named = |x: &&&Exchange<'_>| x.session() == Some(one.id);
        if let Some(x) = all.iter().filter(named).find(|x| x.is("DELETE")) {
            return Some((begun(x), Ok(())));
        }
        let gone = all.iter().filter(named).any(|x| x.status() == Some(404));
        let (left, well) = view.departure()?;
        let timed_out_at = well && !gone && left > one.exchange.event();
        let why = format!("the client left (event {left}) and did not end this session");
        timed_out_at.then(|| (left, Err(Breach::at(one.exchange.event(), "header:Mcp-Session-Id", why))))
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no session was opened and ended, or left behind")
}
