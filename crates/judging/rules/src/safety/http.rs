//! HTTP behaviour: what a good server keeps apart, refuses and cleans up though no sentence demands it.

use std::collections::{BTreeMap, BTreeSet};

use wire::message::{Kind, Packet, parse};
use wire::revision::{R2024_11_05, R2025_03_26, R2026_07_28};
use wire::trace::{Event, SseFields};
use wire::{Party, Transport};

use crate::basic::transports::streamable_http::reserved;
use crate::legacy::transports::http_sse::{endpoint, streams};
use crate::legacy::transports::sessions::{endings, issued};
use crate::rule::{Anchor, Rule, at, safety};
use crate::verdict::{Breach, Located, Verdict};
use crate::view::{Exchange, View};

const HTTP: &[Transport] = &[Transport::StreamableHttp];
const SSE: &[Transport] = &[Transport::HttpSse];
const SESSIONS: Anchor = at("basic/transports", "session-management");

/// A safety rule for Streamable HTTP in every revision.
const fn over_http(id: &'static str, asks: &'static str) -> Rule {
    safety(id).on(HTTP).asks(R2025_03_26, at("basic/transports", "streamable-http"), asks).asks(
        R2026_07_28,
        at("basic/transports/streamable-http", ""),
        asks,
    )
}

/// A safety rule for sessions over Streamable HTTP.
const fn with_sessions(id: &'static str, asks: &'static str) -> Rule {
    safety(id).on(HTTP).asks(R2025_03_26, SESSIONS, asks).gone(R2026_07_28)
}

/// A safety rule for HTTP+SSE.
const fn over_sse(id: &'static str, asks: &'static str) -> Rule {
    safety(id).on(SSE).asks(R2024_11_05, at("basic/transports", "http-with-sse"), asks).gone(R2025_03_26)
}

/// The rules.
pub(crate) const RULES: &[Rule] = &[
    over_http(
        "safety.foreign-host-refused",
        "A good server on loopback refuses requests whose Host names someone else.",
    )
    .how(
        "Repeats a request that was accepted on loopback with a Host under a reserved name, and no Origin: also with names \
         that begin like a loopback one, in capitals, with a port, with a trailing dot.",
    )
    .fix("Compare the Host header with the names that the server answers to (DNS rebinding).")
    .judge(foreign_host_refused),
    over_http(
        "safety.null-origin-refused",
        "A good server on loopback refuses requests from an origin that does not say who it is.",
    )
    .by_default()
    .how("Repeats a request that was accepted on loopback with the Origin `null`, as sandboxed pages and local files have it.")
    .fix("Allow the origins that are known and no others; `null` can be any page.")
    .judge(null_origin_refused),
    over_http(
        "safety.garbage-refused",
        "A good server answers a body that is not a message with a 4xx status or an error.",
    )
    .how("Posts a body that is not a JSON-RPC message.")
    .fix("Answer 400 with code -32700 or -32600; 5xx is for the server's own faults.")
    .judge(garbage_refused),
    over_http(
        "safety.media-types-read",
        "A good server reads media types as HTTP has them: in any order, with parameters.",
    )
    .by_default()
    .how("Repeats a request that was accepted with both types in `Accept` in another order, and with `charset=utf-8` in `Content-Type`.")
    .fix("Compare the media types without their parameters, and look for each in the whole of `Accept`.")
    .judge(media_types_read),
    over_http(
        "safety.streams-carry-messages",
        "The `message` events on a good server's streams are all messages.",
    )
    .how("Reads the data of each event that a client would take for a message.")
    .fix("Send keep-alives as comments (lines that begin with a colon).")
    .judge(streams_carry_messages),
    over_http("safety.answers-stay-home", "A good server sends no client the answer to another's request.")
        .how("Sends requests with different ids on two connections and looks which answers come where.")
        .fix("Look requests up by session and id, not by id alone.")
        .judge(answers_stay_home),
    with_sessions(
        "safety.unknown-session-refused",
        "A good server serves no request under a session id that it never assigned.",
    )
    .how("Uses a session id of our own making after a session was opened.")
    .fix("Answer 404 where the session is not known.")
    .judge(unknown_session_refused),
    with_sessions("safety.session-id-stable", "A good server does not change a session's id on the way.")
        .how("Compares the session header of each response with the request's.")
        .fix("Send the session header with the result of `initialize` only, or repeat the same id.")
        .judge(session_id_stable),
    with_sessions("safety.delete-answered", "A good server answers the DELETE of a session with success or 405.")
        .how("Sends DELETE for a session that is in use.")
        .fix("Route DELETE on the MCP endpoint: end the session, or answer 405.")
        .judge(delete_answered),
    with_sessions(
        "safety.session-end-closes-streams",
        "A good server closes a session's streams when the session ends.",
    )
    .timed()
    .how("Keeps a GET stream open, ends the session with DELETE, and waits for the stream's end.")
    .fix("Close every stream of a session when it is deleted.")
    .judge(session_end_closes_streams),
    with_sessions("safety.resume-own-session", "A good server replays no events of another session.")
        .how("Resumes a stream with an event id that another session was given.")
        .fix("Check that the event id in `Last-Event-ID` belongs to the session of the request.")
        .judge(resume_own_session),
    over_sse(
        "safety.sse-answers-on-stream",
        "A good server answers on the stream, as `message` events, and not in the POST.",
    )
    .how("Posts requests and looks where their answers come.")
    .fix("Answer the POST with 202 and send the response as an event of type `message` on the stream.")
    .judge(sse_answers_on_stream),
    over_sse("safety.sse-endpoint-at-home", "A good server names an endpoint of its own, not of another host.")
        .how("Compares the host in the `endpoint` event with the one the stream was opened at.")
        .fix("Send a path without scheme and host.")
        .judge(sse_endpoint_at_home),
];

fn host(text: &str) -> String {
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().unwrap_or_default().to_ascii_lowercase()
}

fn loopback(host: &str) -> bool {
    ["localhost", "127.", "[::1]"].iter().any(|name| host.starts_with(name)) && !host.contains("example")
}

/// Whether a request like `x` was accepted on loopback without an Origin.
fn has_accepted_twin(all: &[&Exchange<'_>], x: &Exchange<'_>) -> bool {
    let asks = |x: &Exchange<'_>| x.client_messages.first().and_then(|s| s.message.method().map(str::to_owned));
    all.iter().any(|y| {
        y.succeeded()
            && y.method() == x.method()
            && asks(y) == asks(x)
            && y.request_header("origin").is_none()
            && y.request_header("host").is_some_and(loopback)
    })
}

/// Whether the answer is about the request itself: not about a token, or how many there were.
fn is_about_request(x: &Exchange<'_>) -> bool {
    matches!(x.status(), Some(200..=299 | 400..=499)) && !matches!(x.status(), Some(401 | 407 | 429))
}

fn null_origin_refused(view: &View<'_>) -> Verdict {
    let all = view.endpoint_exchanges();
    let tried = all.iter().filter(|x| {
        x.request_header("origin") == Some("null")
            && x.request_header("host").is_some_and(loopback)
            && is_about_request(x)
            && has_accepted_twin(&all, x)
    });
    Verdict::every(tried.copied(), "no request differed from one accepted on loopback in the Origin `null`", |x| {
        if x.succeeded() && (x.served() || x.error_code().is_none()) {
            return Err(x.status_breach("a request from the origin `null` was served on loopback"));
        }
        Ok(())
    })
}

fn foreign_host_refused(view: &View<'_>) -> Verdict {
    let all = view.endpoint_exchanges();
    let tried = all.iter().filter(|x| {
        x.request_header("host").is_some_and(reserved)
            && x.request_header("origin").is_none()
            && is_about_request(x)
            && has_accepted_twin(&all, x)
    });
    Verdict::every(tried.copied(), "no request differed from one accepted on loopback in a foreign Host", |x| {
        if x.succeeded() && (x.served() || x.error_code().is_none()) {
            return Err(x.status_breach("a request for another host was served on loopback"));
        }
        Ok(())
    })
}

/// The media types that a header names, in order, without their parameters.
fn named_types(header: &str) -> Vec<String> {
    header.split(',').map(|one| one.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()).collect()
}

/// Whether a header accepts both of what a request may be answered with, and means neither to be left out.
fn accepts_both(x: &Exchange<'_>) -> bool {
    let Some(header) = x.request_header("accept") else { return false };
    let types = named_types(header);
    let refuses = header.split(',').any(|one| one.replace(' ', "").trim_end_matches(['0', '.']).ends_with(";q="));
    !refuses && ["application/json", "text/event-stream"].iter().all(|due| types.iter().any(|one| one == due))
}

/// Whether the body is said to be JSON in UTF-8, which all JSON is.
fn sends_json(x: &Exchange<'_>) -> bool {
    let Some(header) = x.request_header("content-type") else { return false };
    let parameter = header.split_once(';').map(|(_, rest)| rest.trim().to_ascii_lowercase());
    named_types(header) == ["application/json"]
        && parameter.is_none_or(|one| matches!(one.as_str(), "charset=utf-8" | "charset=\"utf-8\""))
}

/// Everything about a request but the two headers, sorted: equal for requests that differ in these alone.
fn otherwise<'v>(x: &Exchange<'v>) -> Option<(String, Vec<(String, &'v str)>)> {
    const APART: [&str; 3] = ["accept", "content-type", "content-length"];
    let (_, _, _, headers) = x.request?;
    let named = headers.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.as_str()));
    let mut headers: Vec<_> = named.filter(|(name, _)| !APART.contains(&name.as_str())).collect();
    headers.sort_unstable();
    Some((x.question()?.message.content_key(&[]), headers))
}

/// How a request spells its two headers.
fn spelling<'v>(x: &Exchange<'v>) -> [&'v str; 2] {
    ["accept", "content-type"].map(|name| x.request_header(name).unwrap_or_default())
}

fn media_types_read(view: &View<'_>) -> Verdict {
    let all = view.endpoint_exchanges();
    let asks = all.iter().copied().filter(|x| x.is("POST") && accepts_both(x) && sends_json(x));
    let asks: Vec<_> = asks.filter_map(|x| Some((x, (x.connection, otherwise(x)?)))).collect();
    let mut served: BTreeMap<_, BTreeSet<[&str; 2]>> = BTreeMap::new();
    for (x, same) in asks.iter().filter(|(x, _)| x.succeeded()) {
        served.entry(same).or_default().insert(spelling(x));
    }
    let twin = |(x, same): &(&Exchange<'_>, _)| {
        served.get(same).is_some_and(|spellings| spellings.iter().any(|other| *other != spelling(x)))
    };
    let odd = asks.iter().filter(|one| is_about_request(one.0) && twin(one)).map(|(x, _)| *x);
    Verdict::every(odd, "no request was repeated with its media types in another spelling", |x| match x.status() {
        Some(status @ (400 | 406 | 415)) => {
            let [accept, content] = spelling(x).map(str::escape_debug);
            let refused = format!("refused with {status}: Accept `{accept}`, Content-Type `{content}`");
            Err(x.status_breach(format!("{refused}; in another spelling the same is served")))
        }
        _ => Ok(()),
    })
}

fn garbage_refused(view: &View<'_>) -> Verdict {
    // Nesting that only our own reader refuses may well be a message.
    let beyond_us: Vec<u32> =
        view.invalid_by_peer().filter(|g| g.malformed.fault.is_ours()).map(|g| g.exchange).collect();
    let posts = view
        .endpoint_exchanges()
        .into_iter()
        .filter(|x| {
            x.is("POST")
                && x.has_invalid_message
                && x.client_messages.is_empty()
                && x.status().is_some()
                && !x.turned_away()
        })
        .filter(|x| !beyond_us.contains(&x.number));
    Verdict::every(posts, "no garbage was posted", |x| match x.status() {
        Some(400..=499) => Ok(()),
        Some(200..=299) if x.error_code().is_some() => Ok(()),
        other => Err(x.status_breach(format!("garbage was answered {}", other.unwrap_or_default()))),
    })
}

fn streams_carry_messages(view: &View<'_>) -> Verdict {
    let from_server = |event: &usize| view.frame(*event).from == Party::Server;
    let echoes: BTreeSet<usize> =
        view.invalid_by_subject().filter(|g| view.echoes_impossible_id(g)).map(|g| g.event).collect();
    let blocks: Vec<(usize, String)> = view
        .events()
        .filter(|(event, _)| from_server(event) && !echoes.contains(event))
        .filter_map(|(event, understood)| match understood {
            Event::Sse { packet: Some(Ok(Packet::Message(_) | Packet::Batch(_))), .. } => Some((event, String::new())),
            Event::Sse { packet: Some(Err(bad)), .. } if !bad.fault.is_ours() => {
                Some((event, format!("an event's data is not a message: {}", bad.fault)))
            }
            Event::Sse { fields, packet: None } => Some((event, misnamed(fields)?)),
            _ => None,
        })
        .collect();
    Verdict::every(blocks, "no stream carried a message", |(event, fault)| {
        if fault.is_empty() { Ok(()) } else { Err(Breach::at(*event, "", fault.clone())) }
    })
}

/// What is wrong with a message under another name: clients that listen for messages never get it. Events of other names
/// with other data are legal.
fn misnamed(fields: &SseFields) -> Option<String> {
    let (name, data) = (fields.event.as_deref()?, fields.data.as_deref()?);
    let is_message = matches!(parse(data.as_bytes()), Ok(Packet::Message(_)));
    is_message.then(|| format!("a message in an event of the type `{}`", name.escape_debug()))
}

fn answers_stay_home(view: &View<'_>) -> Verdict {
    let requested_on = |connection: u32, sent: &crate::view::MessageAt<'_>| {
        view.by(Party::Client).any(|s| {
            s.connection == connection && s.message.kind() == Kind::Request && s.message.id() == sent.message.id()
        })
    };
    let mut connections: Vec<u32> = view.calls_by(Party::Client).map(|c| c.request.connection).collect();
    connections.sort_unstable();
    connections.dedup();
    if connections.len() < 2 {
        return Verdict::NotSeen("there were not two clients".to_owned());
    }
    let answers = view.by(Party::Server).filter(|s| s.message.kind().is_response() && s.message.id().is_some());
    let stray = answers.filter(|s| {
        !requested_on(s.connection, s)
            && connections.iter().any(|&other| other != s.connection && requested_on(other, s))
    });
    let stray: Vec<_> = stray.map(|s| s.breach("/id", "answers a request of another client")).collect();
    let answered = view.calls_by(Party::Client).filter_map(|c| c.response.map(|r| r.event));
    Verdict::never(stray, answered.collect::<Vec<_>>(), "nothing was answered")
}

fn unknown_session_refused(view: &View<'_>) -> Verdict {
    let issued = issued(view);
    let invented = view.endpoint_exchanges().into_iter().filter(|x| {
        let earlier = |i: &crate::legacy::transports::sessions::Issued<'_, '_>| {
            i.exchange.connection == x.connection && i.event() < x.event()
        };
        x.is("POST")
            && x.session().is_some_and(|id| issued.iter().all(|i| i.id != id))
            && issued.iter().any(earlier)
            && x.question().is_some_and(|s| !s.is("initialize"))
            && x.status().is_some_and(|s| s < 500)
            && !x.turned_away()
    });
    Verdict::every(invented, "no session id was made up", |x| {
        if x.served() { Err(x.status_breach("a request under a made-up session id was served")) } else { Ok(()) }
    })
}

fn session_id_stable(view: &View<'_>) -> Verdict {
    let answered = view
        .endpoint_exchanges()
        .into_iter()
        .filter(|x| x.session().is_some() && x.succeeded() && !x.client_messages.iter().any(|s| s.is("initialize")));
    Verdict::every(answered, "nothing was asked in a session", |x| match x.response_header("mcp-session-id") {
        Some(id) if Some(id) != x.session() => Err(x.header_breach("Mcp-Session-Id", "another id than the request's")),
        _ => Ok(()),
    })
}

fn delete_answered(view: &View<'_>) -> Verdict {
    let issued = issued(view);
    let mut seen = Vec::new();
    let deletes = view.endpoint_exchanges().into_iter().filter(|x| {
        let live = x.session().is_some_and(|id| issued.iter().any(|i| i.id == id && i.event() < x.event()));
        let first = !seen.contains(&x.session());
        if x.is("DELETE") {
            seen.push(x.session());
        }
        x.is("DELETE") && live && first && x.status().is_some() && !x.turned_away()
    });
    Verdict::every(deletes.collect::<Vec<_>>(), "no session was deleted", |x| match x.status() {
        Some(200..=299 | 405) => Ok(()),
        other => Err(x.status_breach(format!("DELETE was answered {}", other.unwrap_or_default()))),
    })
}

fn session_end_closes_streams(view: &View<'_>) -> Verdict {
    let windows = view.windows();
    let mut witnesses = Vec::new();
    let all = view.endpoint_exchanges();
    for (end, id) in endings(view) {
        // The streams may be closed before the DELETE is answered.
        let deletes = all.iter().find(|x| x.event() == end).and_then(|x| x.request);
        let begun = deletes.map_or(end, |(event, ..)| event);
        for x in all.iter().filter(|x| x.is("GET") && x.is_stream() && x.session() == Some(id) && x.open_at(begun)) {
            let waited = windows.iter().find(|w| w.opened > end && w.connection == x.connection && x.open_at(w.closed));
            if x.ended() {
                witnesses.extend(x.closed.map(|(event, ..)| event));
            } else if let Some(window) = waited {
                return Verdict::Broken(Breach::at(window.closed, "", "the stream of an ended session is still open"));
            }
        }
    }
    Verdict::witnessed(witnesses, "no session was ended while a stream of it was open")
}

/// Whether a message can only be meant for one client: changes are announced to many clients in the same words.
fn is_personal(data: &str) -> bool {
    match parse(data.as_bytes()) {
        Ok(Packet::Message(message)) => {
            message.kind().is_response() || message.method() == Some("notifications/progress")
        }
        _ => false,
    }
}

fn resume_own_session(view: &View<'_>) -> Verdict {
    let all = view.endpoint_exchanges();
    let given = |id: &str| {
        all.iter().filter(|x| x.resumes().is_none()).find(|x| x.blocks.iter().any(|(_, b)| b.id.as_deref() == Some(id)))
    };
    let session = |x: &Exchange<'_>| x.session().or_else(|| x.response_header("mcp-session-id")).map(str::to_owned);
    let foreign = all.iter().filter_map(|x| {
        let from = given(x.resumes()?)?;
        let own =
            |y: &Exchange<'_>| session(y) == session(x) && y.blocks.iter().any(|(_, b)| b.id.as_deref() == x.resumes());
        let apart = session(from).is_some() && session(x).is_some() && !all.iter().any(|y| own(y));
        (apart && x.status().is_some()).then_some((x.event(), (x, from)))
    });
    Verdict::every(foreign.collect::<Vec<_>>(), "no event id of another session was used", |(_, (x, from))| {
        // Ids need only be unique within a session: a replay has the same data as well.
        let gave = |y: &Exchange<'_>, b: &SseFields| y.blocks.iter().any(|(_, f)| f.id == b.id && f.data == b.data);
        let theirs = |b: &SseFields| all.iter().any(|y| session(y) == session(from) && gave(y, b));
        let replayed = x.blocks.iter().find(|(_, b)| {
            let data = b.data.as_deref().unwrap_or_default();
            !data.is_empty() && (gave(from, b) || (is_personal(data) && theirs(b)))
        });
        match replayed {
            Some((event, _)) => Err(Breach::at(*event, "", "an event of another session was replayed")),
            None => Ok(()),
        }
    })
}

fn sse_answers_on_stream(view: &View<'_>) -> Verdict {
    let all = view.exchanges();
    let posts = all.iter().filter(|x| x.is("POST") && x.partner == Some(Party::Server));
    let in_post = posts.flat_map(|x| x.responses().filter(|_| x.succeeded()).collect::<Vec<_>>());
    let stray: Vec<_> = in_post.map(|s| s.breach("", "the answer is in the POST's response")).collect();
    let on_stream = view.calls_by(Party::Client).filter_map(|c| {
        let answer = c.response?;
        all.iter().any(|x| x.number == answer.exchange && x.is("GET")).then_some(answer.event)
    });
    Verdict::never(stray, on_stream.collect::<Vec<_>>(), "no request was answered")
}

fn sse_endpoint_at_home(view: &View<'_>) -> Verdict {
    let named = streams(view).into_iter().filter_map(|x| {
        let (event, uri) = endpoint(x)?;
        Some((event, (x.request_header("host")?, uri)))
    });
    Verdict::every(named.collect::<Vec<_>>(), "no `endpoint` event came", |&(event, (home, uri))| {
        let absolute = uri.contains("://") || uri.starts_with("//");
        let named = host(uri.strip_prefix("//").unwrap_or(uri));
        if !absolute || named == home.to_ascii_lowercase() {
            return Ok(());
        }
        Err(Breach::at(event, "", format!("names the host `{}`", named.escape_debug())))
    })
}
