//! Listening over Streamable HTTP, 2025-03-26 to 2025-11-25: the GET stream, and several streams at a time.

use std::collections::{BTreeMap, BTreeSet};

use wire::message::{Kind, RequestId};
use wire::revision::{R2025_03_26, R2026_07_28};
use wire::{Era, Party, Revision, Transport};

use super::sessions::{endings, issued};
use crate::basic::transports::streamable_http::foreign_origin;
use crate::reading::content::canonical;
use crate::rule::{Anchor, Rule, at, server};
use crate::verdict::{Breach, Located, Verdict};
use crate::view::{Call, Exchange, MessageAt, View};

const HTTP: &[Transport] = &[Transport::StreamableHttp];
const LISTENING: Anchor = at("basic/transports", "listening-for-messages-from-the-server");

/// How far apart, in microseconds, two equal notifications on two streams may stand to be taken for one that was sent twice.
const AT_ONCE: u64 = 100_000;

/// The sections' rules, in their own order.
pub(crate) const RULES: &[Rule] = &[
    server("http.get-stream-or-405")
        .on(HTTP)
        .says(
            R2025_03_26,
            LISTENING,
            "A GET MUST be answered with an event stream, or else with 405 Method Not Allowed.",
        )
        .gone(R2026_07_28)
        .how("Opens a stream with GET in a live session and looks at status and content type.")
        .fix("Route GET on the MCP endpoint: open an event stream, or answer 405.")
        .judge(get_stream_or_405),
    server("http.get-stream-unrelated")
        .on(HTTP)
        .says(R2025_03_26, LISTENING, "Messages on a GET stream SHOULD NOT belong to a request that is still running.")
        .gone(R2026_07_28)
        .how("Keeps a GET stream open during a call with a progress token and looks where progress turns up. Requests run as \
              tasks are passed over.")
        .fix("Send what belongs to a request on the stream that answers it (in SDKs: pass the related request's id).")
        .judge(get_stream_unrelated),
    server("http.get-stream-no-responses")
        .on(HTTP)
        .says(R2025_03_26, LISTENING, "A GET stream MUST NOT carry a response, unless it resumes a stream.")
        .gone(R2026_07_28)
        .how("Keeps a GET stream open while requests are answered elsewhere.")
        .fix("Answer a request in the exchange of its own POST.")
        .judge(get_stream_no_responses),
    server("http.not-broadcast")
        .on(HTTP)
        .says(
            R2025_03_26,
            at("basic/transports", "multiple-connections"),
            "Each message MUST be sent on one stream alone, however many are open.",
        )
        .gone(R2026_07_28)
        .timed()
        .how("Keeps several streams of one session open and looks for the same message on two of them.")
        .fix("Choose one of the client's streams for a message instead of writing it to all.")
        .judge(not_broadcast),
];

/// What a trace shows of its sessions.
struct Sessions<'v> {
    /// The last id that was assigned on each connection.
    last: BTreeMap<u32, &'v str>,
    /// When each session was first ended.
    ended: BTreeMap<&'v str, usize>,
}

impl<'v> Sessions<'v> {
    fn of(view: &View<'v>) -> Self {
        let last = issued(view).into_iter().map(|i| (i.exchange.connection, i.id)).collect();
        let mut ended = BTreeMap::new();
        for (event, id) in endings(view) {
            let first = ended.entry(id).or_insert(event);
            *first = event.min(*first);
        }
        Self { last, ended }
    }
}

/// Whether a GET is one that a server has no reason of its own to refuse.
fn plain_get(sessions: &Sessions<'_>, x: &Exchange<'_>) -> bool {
    let accepts = x.request_header("accept").is_some_and(|a| a.contains("text/event-stream"));
    let version = x.request_header("mcp-protocol-version");
    let session = sessions.last.get(&x.connection).copied();
    let over = x.session().and_then(|id| sessions.ended.get(id)).is_some_and(|ended| *ended < x.event());
    x.is("GET")
        && x.resumes().is_none()
        && accepts
        // In a session, that of another era may be refused.
        && version.is_none_or(|v| v.parse::<Revision>().is_ok_and(|revision| revision.era() == Era::Legacy))
        && x.session() == session
        && !foreign_origin(x)
        && !over
}

fn get_stream_or_405(view: &View<'_>) -> Verdict {
    if view.initialized().is_none() {
        return Verdict::NotSeen("no session was opened".to_owned());
    }
    let all = view.endpoint_exchanges();
    let sessions = Sessions::of(view);
    let mut tried = BTreeSet::new();
    let gets = all.iter().filter(|x| {
        // A second stream of the same session may be refused: how many there may be is the server's business.
        let first = !tried.contains(&(x.connection, x.session()));
        let counts =
            plain_get(&sessions, x) && x.status().is_some_and(|s| !(300..400).contains(&s)) && !x.turned_away();
        if counts {
            tried.insert((x.connection, x.session()));
        }
        // Where there are no sessions, the stream in the way may be that of another case.
        let in_the_way = x.status() == Some(409) && x.session().is_none();
        counts && first && !in_the_way && !(x.status() == Some(404) && x.session().is_some() && !lives_on(&all, x))
    });
    Verdict::every(gets.copied().collect::<Vec<_>>(), "no stream was opened with GET", |x| match x.status() {
        Some(405) => Ok(()),
        Some(200..300) if x.is_stream() => Ok(()),
        Some(200..300) => Err(x.header_breach("Content-Type", "a GET was answered with something else than a stream")),
        other => Err(x.status_breach(format!("a GET was answered {}, not 405", other.unwrap_or_default()))),
    })
}

/// Whether the session of `x` still served a request later on.
fn lives_on(all: &[&Exchange<'_>], x: &Exchange<'_>) -> bool {
    all.iter().any(|y| y.event() > x.event() && y.session() == x.session() && y.succeeded())
}

/// Streams opened with GET that do not resume another.
fn listening<'a, 'v>(view: &'a View<'v>) -> Vec<&'a Exchange<'v>> {
    let mut all = view.endpoint_exchanges();
    all.retain(|x| x.is("GET") && x.is_stream() && x.succeeded() && x.request_header("last-event-id").is_none());
    all
}

fn token(sent: MessageAt<'_>) -> Option<&serde_json::Value> {
    sent.message.params()?.get("_meta")?.get("progressToken")
}

/// Requests by connection and progress token.
struct Tokens<'v>(BTreeMap<(u32, String), Vec<Call<'v>>>);

impl<'v> Tokens<'v> {
    fn of(view: &View<'v>) -> Self {
        let mut calls: BTreeMap<_, Vec<Call<'v>>> = BTreeMap::new();
        // What runs as a task continues after its answer, which may come after the first report on another stream.
        let task = |call: &Call<'_>| call.request.message.params().is_some_and(|params| params.get("task").is_some());
        for call in view.calls_by(Party::Client).filter(|call| !task(call)) {
            let Some(token) = token(call.request) else { continue };
            calls.entry((call.request.connection, canonical(token))).or_default().push(call);
        }
        Self(calls)
    }

    /// Whether the request that a progress notification reports on is still running.
    fn runs(&self, note: MessageAt<'v>) -> bool {
        let named = note.message.params().and_then(|p| p.get("progressToken"));
        let calls = named.and_then(|token| self.0.get(&(note.connection, canonical(token))));
        calls
            .into_iter()
            .flatten()
            .any(|c| c.request.event < note.event && c.response.is_none_or(|response| response.event > note.event))
    }
}

fn get_stream_unrelated(view: &View<'_>) -> Verdict {
    let streams = listening(view);
    let tokens = Tokens::of(view);
    let sent = || streams.iter().flat_map(|x| x.server_messages.iter().copied());
    let progress = |s: &MessageAt<'_>| s.is("notifications/progress");
    let strays = sent().filter(|s| progress(s) && tokens.runs(*s));
    let strays: Vec<_> =
        strays.map(|s| s.breach("/params/progressToken", "belongs to a request still running")).collect();
    let apart = sent().filter(|s| !progress(s) && s.message.kind() == Kind::Notification).map(|s| s.event);
    let at_home = view.by(Party::Server).filter(|s| {
        progress(s) && tokens.runs(*s) && streams.iter().any(|x| x.connection == s.connection && x.open_at(s.event))
    });
    let witnesses: Vec<_> = apart.chain(at_home.map(|s| s.event)).collect();
    Verdict::never(strays, witnesses, "no GET stream was open while a request reported progress")
}

fn get_stream_no_responses(view: &View<'_>) -> Verdict {
    let streams = listening(view);
    let strays = streams.iter().flat_map(|x| x.responses().collect::<Vec<_>>());
    let strays: Vec<_> = strays.map(|s| s.breach("/id", "a response on a GET stream that resumes nothing")).collect();
    let answers = view.calls_by(Party::Client).filter_map(|c| c.response);
    let meanwhile = answers.filter(|r| streams.iter().any(|x| x.connection == r.connection && x.open_at(r.event)));
    let witnesses: Vec<_> = meanwhile.map(|r| r.event).collect();
    Verdict::never(strays, witnesses, "no request was answered while a GET stream was open")
}

/// A message, and the exchange on whose stream it came.
type On<'x, 'v> = (&'x Exchange<'v>, MessageAt<'v>);

fn not_broadcast(view: &View<'_>) -> Verdict {
    if view.is_cut() {
        return Verdict::NotSeen("the trace reached its limit: which streams had ended is not known".to_owned());
    }
    let mut streams = view.endpoint_exchanges();
    streams.retain(|x| x.is_stream() && x.resumes().is_none());
    let sent: Vec<On<'_, '_>> = streams.iter().flat_map(|&x| x.server_messages.iter().map(move |&s| (x, s))).collect();
    for (index, (x, one)) in sent.iter().enumerate() {
        let twin = view.budget().walk(sent[index + 1..].iter()).find(|(y, other)| {
            let apart = y.number != x.number && y.connection == x.connection;
            apart && same(view, &sent, (x, *one), (y, *other))
        });
        if let Some((_, other)) = twin {
            let why = format!("the same message was sent in event {} on another stream", one.event);
            return Verdict::Broken(Breach::at(other.event, "", why));
        }
    }
    if let Some(breach) = copied(&sent) {
        return Verdict::Broken(breach);
    }
    let among = |s: &MessageAt<'_>| {
        streams
            .iter()
            .filter(|x| x.connection == s.connection && (x.number == s.exchange || x.open_at(s.event)))
            .count()
    };
    let witnesses: Vec<_> = sent.iter().filter(|(_, s)| among(s) > 1).map(|(_, s)| s.event).collect();
    Verdict::witnessed(witnesses, "nothing was sent while several streams were open")
}

/// Notifications of which every one on the stream of a request came at once on a GET stream too: one may be an event of its
/// own, two that differ are copies.
fn copied(sent: &[On<'_, '_>]) -> Option<Breach> {
    let notes: Vec<_> = sent.iter().filter(|(_, s)| s.message.kind() == Kind::Notification).collect();
    let mut by_post: BTreeMap<u32, Vec<MessageAt<'_>>> = BTreeMap::new();
    for (x, one) in notes.iter().filter(|(x, _)| x.is("POST")) {
        by_post.entry(x.number).or_default().push(*one);
    }
    by_post.into_values().find_map(|all| {
        let copy = |one: &MessageAt<'_>| {
            let listening = notes.iter().filter(|(y, other)| y.is("GET") && other.connection == one.connection);
            let mut equal = listening.filter(|(_, other)| other.message.text() == one.message.text());
            equal.find(|(_, other)| other.done.abs_diff(one.done) <= AT_ONCE).map(|(_, other)| *other)
        };
        let copies: Vec<_> = all.iter().map(copy).collect::<Option<_>>()?;
        let texts: BTreeSet<_> = all.iter().map(|one| one.message.text()).collect();
        let (first, one) = (copies.first()?, all.first()?);
        let why = || format!("the same message was sent in event {} on another stream", one.event);
        (texts.len() > 1 && texts.len() == all.len()).then(|| Breach::at(first.event, "", why()))
    })
}

/// Whether whatever is equal to `one`, and came on either stream while both were open, came at once on the other, too: a
/// server that chooses one stream for each message may choose now this one and now that.
fn each_twice(sent: &[On<'_, '_>], (x, y): (&Exchange<'_>, &Exchange<'_>), one: MessageAt<'_>) -> bool {
    let on = |stream: &Exchange<'_>, beside: &Exchange<'_>| -> Vec<u64> {
        let equal = |(z, s): &&On<'_, '_>| z.number == stream.number && s.message.text() == one.message.text();
        let beside = |(_, s): &&On<'_, '_>| beside.open_at(s.event);
        sent.iter().filter(equal).filter(beside).map(|(_, s)| s.done).collect()
    };
    let (first, second) = (on(x, y), on(y, x));
    let all_in = |these: &[u64], those: &[u64]| {
        these.iter().all(|done| those.iter().any(|other| other.abs_diff(*done) <= AT_ONCE))
    };
    all_in(&first, &second) && all_in(&second, &first)
}

/// Whether two messages on two streams are one that was sent twice.
fn same(view: &View<'_>, sent: &[On<'_, '_>], (x, one): On<'_, '_>, (y, other): On<'_, '_>) -> bool {
    let asked_once = |id: Option<&RequestId>| {
        let requests =
            view.by(Party::Client).filter(|s| s.connection == one.connection && s.message.kind() == Kind::Request);
        requests.filter(|s| s.message.id() == id).count() == 1
    };
    let equal = || one.message.text() == other.message.text();
    match one.message.kind() {
        Kind::Request => equal(),
        Kind::Result | Kind::Error => equal() && asked_once(one.message.id()),
        // Two equal notifications may be two events; at one moment, on two streams that only listen, they are one.
        Kind::Notification if one.is("notifications/progress") => equal(),
        Kind::Notification => {
            let side_by_side = x.open_at(other.event) && y.open_at(one.event);
            let at_once = other.done.abs_diff(one.done) <= AT_ONCE;
            // A flood has thousands of long texts: they are compared last.
            x.is("GET") && y.is("GET") && side_by_side && at_once && equal() && each_twice(sent, (x, y), one)
        }
    }
}
