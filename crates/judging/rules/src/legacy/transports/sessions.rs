//! Sessions and the protocol version header of the Streamable HTTP transport, 2025-03-26 to 2025-11-25.

use wire::meta;
use wire::revision::{R2025_03_26, R2025_06_18, R2026_07_28};
use wire::{Revision, Transport};

use crate::basic::transports::streamable_http::{foreign_origin, metadata::impossible};
use crate::reading::entropy::guessable;
use crate::rule::{Anchor, Rule, at, server};
use crate::verdict::{Located, Verdict};
use crate::view::{Exchange, View};

const HTTP: &[Transport] = &[Transport::StreamableHttp];
const SESSIONS: Anchor = at("basic/transports", "session-management");
const VERSION: Anchor = at("basic/transports", "protocol-version-header");

/// The sections' rules, in their own order.
pub(crate) const RULES: &[Rule] = &[
    server("http.session-id-unique")
        .on(HTTP)
        .says(R2025_03_26, SESSIONS, "A session id SHOULD be globally unique.")
        .gone(R2026_07_28)
        .how("Opens more than one session and compares their ids.")
        .fix("Make a new random id for each `initialize`.")
        .judge(session_id_unique),
    server("http.session-id-unguessable")
        .on(HTTP)
        .says(R2025_03_26, SESSIONS, "A session id SHOULD be cryptographically secure.")
        .gone(R2026_07_28)
        .how("Estimates how many ids of that length and alphabet there can be, and how much of it differs between two ids.")
        .fix("Use a random UUID or 128 bits from a secure generator; no counters, no clocks.")
        .judge(session_id_unguessable),
    server("http.session-id-visible-ascii")
        .on(HTTP)
        .says(R2025_03_26, SESSIONS, "A session id MUST consist of visible ASCII characters, 0x21 to 0x7E.")
        .gone(R2026_07_28)
        .how("Looks at each session id that the server assigns.")
        .fix("Encode the id in hexadecimal or Base64url.")
        .judge(session_id_visible),
    server("http.session-required-400")
        .on(HTTP)
        .says(R2025_03_26, SESSIONS, "A server that requires a session id SHOULD answer 400 where it is missing.")
        .gone(R2026_07_28)
        .how("Leaves the session header out after a session was assigned; a server that serves the request does not require it. One that refuses a request without it, and opens a stream to a GET without it, requires it here and not there.")
        .fix("Answer 400 Bad Request to any request but `initialize` that has no `Mcp-Session-Id` header.")
        .judge(session_required_400),
    server("http.terminated-session-404")
        .on(HTTP)
        .says(R2025_03_26, SESSIONS, "Requests with the id of a terminated session MUST be answered with 404.")
        .gone(R2026_07_28)
        .how("Ends a session with DELETE and, if the server agreed, keeps using its id.")
        .fix("Answer 404 Not Found where the session in the header is not (or no longer) known.")
        .judge(terminated_session_404),
    server("http.bad-version-header-400")
        .on(HTTP)
        .says(R2025_06_18, VERSION, "An invalid or unsupported MCP-Protocol-Version header MUST be answered with 400.")
        .gone(R2026_07_28)
        .how("Names a protocol version that never was in the header of a request that is otherwise valid.")
        .fix("Check the header on every request after `initialize` and answer 400 Bad Request.")
        .judge(bad_version_header_400),
    server("http.absent-version-header-served")
        .on(HTTP)
        .says(
            R2025_06_18,
            VERSION,
            "Without a version header, or any other sign of the version, a server SHOULD assume 2025-03-26.",
        )
        .gone(R2026_07_28)
        .how("Leaves the version header out where no session tells the version, and checks whether the request is served. A refusal counts only where the server agreed to 2025-03-26 before.")
        .fix("Treat a request without `MCP-Protocol-Version` as one of 2025-03-26 instead of refusing it.")
        .judge(absent_version_header_served),
];

/// A session that a server assigned.
pub(crate) struct Issued<'a, 'v> {
    /// The exchange of the `initialize` request.
    pub exchange: &'a Exchange<'v>,
    /// The session's id.
    pub id: &'v str,
}

impl Located for Issued<'_, '_> {
    fn event(&self) -> usize {
        self.exchange.event()
    }
}

/// The sessions that the server assigned, in order.
pub(crate) fn issued<'a, 'v>(view: &'a View<'v>) -> Vec<Issued<'a, 'v>> {
    let opens = |x: &&Exchange<'_>| x.succeeded() && x.client_messages.iter().any(|s| s.is("initialize"));
    let assigned = |x: &'a Exchange<'v>| {
        let id = x.response_header("mcp-session-id")?;
        Some(Issued { exchange: x, id })
    };
    view.endpoint_exchanges().into_iter().filter(opens).filter_map(assigned).collect()
}

/// Sessions that the client ended and the server agreed: the event of the DELETE's answer, and the id.
pub(crate) fn endings<'v>(view: &View<'v>) -> Vec<(usize, &'v str)> {
    let all = view.endpoint_exchanges();
    all.iter().filter(|x| x.is("DELETE") && x.succeeded()).filter_map(|x| Some((x.event(), x.session()?))).collect()
}

fn session_id_unique(view: &View<'_>) -> Verdict {
    let issued = issued(view);
    if issued.len() < 2 {
        return Verdict::NotSeen("fewer than two sessions were opened".to_owned());
    }
    Verdict::every(issued.iter().enumerate().map(|(n, i)| (i.event(), (n, i))), "", |(_, (n, i))| {
        match issued[..*n].iter().find(|other| other.id == i.id) {
            None => Ok(()),
            Some(other) => {
                let why = format!("the session opened in event {} has the same id", other.event());
                Err(i.exchange.header_breach("Mcp-Session-Id", why))
            }
        }
    })
}

fn session_id_unguessable(view: &View<'_>) -> Verdict {
    let issued = issued(view);
    let numbered = issued.iter().enumerate().map(|(n, i)| (i.event(), (n, i)));
    Verdict::every(numbered, "no session was assigned", |(_, (n, i))| {
        match guessable(i.id, issued[..*n].iter().map(|other| (other.event(), other.id))) {
            None => Ok(()),
            Some(why) => Err(i.exchange.header_breach("Mcp-Session-Id", why)),
        }
    })
}

fn session_id_visible(view: &View<'_>) -> Verdict {
    Verdict::every(issued(view), "no session was assigned", |i| {
        if !i.id.is_empty() && i.id.bytes().all(|b| b.is_ascii_graphic()) {
            return Ok(());
        }
        let why = if i.id.is_empty() { "the id is empty" } else { "the id has characters beyond visible ASCII" };
        Err(i.exchange.header_breach("Mcp-Session-Id", why))
    })
}

/// The session of an exchange's connection at that time.
fn issued_session<'i, 'a, 'v>(issued: &'i [Issued<'a, 'v>], x: &Exchange<'v>) -> Option<&'i Issued<'a, 'v>> {
    issued.iter().rfind(|i| i.exchange.connection == x.connection && i.event() < x.event())
}

/// Whether a request's head can only be wrong in what a rule is about.
fn sound_version(x: &Exchange<'_>) -> bool {
    x.request_header("mcp-protocol-version").is_none_or(|v| v.parse::<Revision>().is_ok())
}

fn session_required_400(view: &View<'_>) -> Verdict {
    let issued = issued(view);
    let bare = view.endpoint_exchanges().into_iter().filter(|x| {
        x.session().is_none()
            && issued_session(&issued, x).is_some()
            && !x.client_messages.iter().any(|s| s.is("initialize") || modern(s.message.meta()))
            && !x.client_messages.is_empty()
            && !x.has_invalid_message
            && sound_version(x)
            && !foreign_origin(x)
            && (!x.turned_away() || x.status() == Some(401) && is_about_the_session(view, x))
            && x.status().is_some_and(|s| (400..500).contains(&s))
    });
    let refused: Vec<_> = bare.collect();
    let streams = view.endpoint_exchanges().into_iter().filter(|x| opens_without_session(view, &issued, x));
    let streams: Vec<_> = streams.filter(|_| refused.iter().any(|x| x.status() == Some(400))).collect();
    let unseen = "no request without the session's id was refused";
    Verdict::every(refused.into_iter().chain(streams), unseen, |x| match x.status() {
        Some(400) => Ok(()),
        Some(200..=299) => Err(x.status_breach("a GET without the session's id opens a stream")),
        other => Err(x.status_breach(format!("refused with {}, not 400", other.unwrap_or_default()))),
    })
}

/// Whether a 401 cannot be about credentials: with the same ones, or as few, requests of a session are served.
fn is_about_the_session(view: &View<'_>, refused: &Exchange<'_>) -> bool {
    let credentials = |x: &Exchange<'_>| x.request_header("authorization").map(str::to_owned);
    let challenged = refused.response_header("www-authenticate").is_some();
    let alike = |x: &&Exchange<'_>| x.session().is_some() && x.served() && credentials(x) == credentials(refused);
    !challenged && view.exchanges().iter().any(|x| alike(&x))
}

/// How long (microseconds) the stream of the older transport may take to say what it is.
const SAYS_WHAT_IT_IS: u64 = 200_000;

/// Whether a stream was opened that names no session, though there is one. Where HTTP+SSE is served at the same address, its
/// `endpoint` event comes first: a stream that was not listened to for a while tells nothing.
fn opens_without_session(view: &View<'_>, issued: &[Issued<'_, '_>], x: &Exchange<'_>) -> bool {
    let listened = |head: usize| {
        let end = x.blocks.first().map(|(event, _)| *event).or(x.closed.map(|(event, ..)| event));
        !x.blocks.is_empty() || end.is_some_and(|end| view.frame(end).at >= view.frame(head).at + SAYS_WHAT_IT_IS)
    };
    x.is("GET")
        && x.session().is_none()
        && issued_session(issued, x).is_some()
        && x.succeeded()
        && x.is_stream()
        && sound_version(x)
        && !foreign_origin(x)
        && !x.blocks.iter().any(|(_, block)| block.event.as_deref() == Some("endpoint"))
        && x.response.is_some_and(|(head, ..)| listened(head))
}

fn modern(meta: Option<&serde_json::Value>) -> bool {
    meta.is_some_and(|m| m.get(meta::PROTOCOL_VERSION).is_some())
}

fn terminated_session_404(view: &View<'_>) -> Verdict {
    let endings = endings(view);
    let over = |x: &Exchange<'_>| endings.iter().any(|&(event, id)| event < begun(x) && x.session() == Some(id));
    let exchanges = view.endpoint_exchanges();
    // Refused for its credentials, where the same credentials are good for others, before and after, and none are asked for.
    let credentials = |x: &Exchange<'_>| x.request_header("authorization").map(str::to_owned);
    let taken = |x: &Exchange<'_>, other: &Exchange<'_>| {
        other.succeeded() && begun(other) > begun(x) && credentials(other) == credentials(x)
    };
    let blames_credentials = |x: &Exchange<'_>| {
        matches!(x.status(), Some(401 | 403))
            && x.response_header("www-authenticate").is_none()
            && exchanges.iter().any(|other| taken(x, other))
    };
    let late = exchanges.iter().copied().filter(|x| {
        over(x)
            && (!x.turned_away() || blames_credentials(x))
            && sound_version(x)
            && !foreign_origin(x)
            && x.status().is_some()
            && !x.has_invalid_message
    });
    let opens = |x: &Exchange<'_>| x.client_messages.iter().any(|s| s.is("initialize"));
    // A second DELETE that succeeds says, as HTTP has it, that the session is gone: no client is misled.
    // A server without streams answers every GET with 405, as the specification wants it.
    let late = late.filter(|x| !(x.is("DELETE") || x.is("GET") && x.status() == Some(405)));
    Verdict::every(late.filter(|x| !opens(x)), "no session was ended and used again", |x| match x.status() {
        Some(404) => Ok(()),
        other => {
            Err(x.status_breach(format!("a terminated session was answered {}, not 404", other.unwrap_or_default())))
        }
    })
}

fn begun(x: &Exchange<'_>) -> usize {
    x.request.map_or(0, |(event, ..)| event)
}

fn bad_version_header_400(view: &View<'_>) -> Verdict {
    let all = view.endpoint_exchanges();
    let issued = issued(view);
    let odd = all.iter().filter(|x| {
        x.request_header("mcp-protocol-version").is_some_and(impossible)
            && x.is("POST")
            && !x.client_messages.is_empty()
            && !x.has_invalid_message
            && !x.client_messages.iter().any(|s| s.is("initialize"))
            && x.session() == issued_session(&issued, x).map(|i| i.id)
            && !foreign_origin(x)
            && !x.turned_away()
            && x.status().is_some()
            && twin(&all, x).is_some()
    });
    let odd = odd.copied().chain(all.iter().copied().filter(|x| names_impossible_version_to_stream(&all, &issued, x)));
    Verdict::every(odd, "no request in an open session named an impossible version", |x| match x.status() {
        Some(400) => Ok(()),
        other => {
            let version = x.request_header("mcp-protocol-version").unwrap_or_default().escape_debug();
            let what = match (x.is("GET"), x.client_messages.iter().any(|s| s.message.kind() == wire::Kind::Request)) {
                (true, _) => "a GET with version",
                (_, true) => "a request with version",
                _ => "a notification with version",
            };
            Err(x.status_breach(format!("{what} `{version}` was answered {}, not 400", other.unwrap_or_default())))
        }
    })
}

/// Whether a GET in an open session asks for a stream under an impossible version, where another GET opened one. A refusal
/// with another status than 400 may have another reason.
fn names_impossible_version_to_stream(all: &[&Exchange<'_>], issued: &[Issued<'_, '_>], x: &Exchange<'_>) -> bool {
    let opens = |y: &Exchange<'_>| y.is("GET") && y.succeeded() && y.is_stream();
    let version = |y: &Exchange<'_>| y.request_header("mcp-protocol-version").map(impossible);
    x.is("GET")
        && version(x) == Some(true)
        && x.session() == issued_session(issued, x).map(|i| i.id)
        && !foreign_origin(x)
        && (opens(x) || x.status() == Some(400))
        && all.iter().any(|y| opens(y) && version(y) != Some(true))
}

/// A request of the same session, with another version header, that was accepted.
fn twin<'a, 'v>(all: &[&'a Exchange<'v>], x: &Exchange<'v>) -> Option<&'a Exchange<'v>> {
    let version = |y: &Exchange<'v>| y.request_header("mcp-protocol-version");
    all.iter().copied().find(|y| {
        y.is("POST")
            && y.succeeded()
            && y.connection == x.connection
            && y.session() == x.session()
            && version(y) != version(x)
            || y.succeeded() && y.connection == x.connection && y.client_messages.iter().any(|s| s.is("initialize"))
    })
}

fn absent_version_header_served(view: &View<'_>) -> Verdict {
    let all = view.endpoint_exchanges();
    // A server may refuse the version that it has to assume.
    let speaks = view.legacy_handshakes().any(|call| {
        call.result().and_then(|result| result.get("protocolVersion")).is_some_and(|v| v == R2025_03_26.as_str())
    });
    let bare = all.iter().filter(|x| {
        let same = |y: &&Exchange<'_>| {
            y.request_header("mcp-protocol-version").is_some()
                && y.succeeded()
                && y.question().and_then(|s| s.message.method()) == x.question().and_then(|s| s.message.method())
        };
        x.is("POST")
            && x.request_header("mcp-protocol-version").is_none()
            && x.session().is_none()
            && x.question().is_some_and(|s| !s.is("initialize") && !modern(s.message.meta()))
            && !foreign_origin(x)
            && !x.turned_away()
            && x.status().is_some()
            && (x.succeeded() || speaks)
            && issued(view).is_empty()
            && all.iter().any(same)
    });
    let unseen = "no request without a session left the version header out, or whether the server speaks 2025-03-26 is not known";
    Verdict::every(bare.copied(), unseen, |x| {
        if x.succeeded() {
            return Ok(());
        }
        let status = x.status().unwrap_or_default();
        Err(x.status_breach(format!("refused with {status}; with the header the same request was served")))
    })
}
