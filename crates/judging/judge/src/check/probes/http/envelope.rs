//! Origins and hosts, content types, HTTP methods and bodies.

use std::time::Duration;

use net::client::Outgoing;
use serde_json::json;
use wire::trace::Stimulus;
use wire::{Era, RequestId};

use super::{ANY_HTTP, HTTP, harmless, put};
use crate::check::context::{Abort, ProbeContext};
use crate::check::is_near;
use crate::check::probe::{Probe, Script};

pub(in super::super) const ORIGINS: Probe = Probe::shared("http-origins", origins).on(HTTP);

/// Foreign origins, as a browser under attack would send them, some of which look like a loopback name; the first twice, as
/// on a connection that is kept; on loopback one that its Host bears out, as after DNS rebinding; and our own.
fn origins(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        let plain = ["http://evil.example", "https://attacker.example:8443", "http://evil.example"];
        for origin in plain.into_iter().chain(["null"]).chain(LOOK_ALIKES) {
            put(case, |o| o.header("Origin", origin)).await?;
        }
        rebound(case).await?;
        put(case, |o| o).await?;
        Ok(())
    })
}

/// What a page sends to a server on loopback once its own name resolves to it: that name in Host and Origin.
pub(in super::super) async fn rebound(case: &ProbeContext) -> Result<(), Abort> {
    if is_near(&case.setting().address) {
        put(case, |o| o.header("Host", "evil.example").header("Origin", "http://evil.example")).await?;
    }
    Ok(())
}

pub(in super::super) const ORIGIN_GREETING: Probe = Probe::bare("http-origin-first", origin_first).on(HTTP);

/// A foreign origin on the very first request.
fn origin_first(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        let (method, params) = match case.era() {
            Era::Legacy => ("initialize", case.initialize_params()),
            Era::Modern => ("server/discover", json!({})),
        };
        super::request(case, method, params.clone(), |o| o.header("Origin", "http://evil.example")).await?;
        super::request(case, method, params, |o| o).await?;
        Ok(())
    })
}

/// Names that are nobody's, some of which begin or end as a loopback name does.
const HOST_NAMES: [&str; 7] = [
    "evil.example",
    "EVIL.EXAMPLE",
    "evil.example.",
    "evil.example:80",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "LOCALHOST.evil.example:3000",
];

/// Origins that begin as those of a loopback name do.
const LOOK_ALIKES: [&str; 4] = [
    "http://localhost.evil.example",
    "http://127.0.0.1.evil.example",
    "http://localhost.evil.example:8080",
    "https://localhost-evil.example",
];

/// Origins that are nobody's, likewise, and the one that does not say whose it is.
const ORIGIN_NAMES: [&str; 7] = [
    "null",
    "HTTP://EVIL.EXAMPLE",
    "http://evil.example.",
    "http://localhost.evil.example",
    "http://127.0.0.1.evil.example",
    "http://localhost.evil.example:3000",
    "http://localhost@evil.example",
];

pub(in super::super) const HOSTS: Probe = Probe::shared("http-hosts", hosts).on(HTTP).safety();

/// Foreign and look-alike hosts and origins.
fn hosts(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        put(case, |o| o).await?;
        for host in HOST_NAMES {
            put(case, |o| o.header("Host", host)).await?;
        }
        for origin in ORIGIN_NAMES {
            put(case, |o| o.header("Origin", origin)).await?;
        }
        Ok(())
    })
}

/// A notification that no revision has: every server may pass over it.
const UNKNOWN: &str = "notifications/proofhouse/no-such-notification";

pub(in super::super) const NOTIFICATIONS: Probe = Probe::shared("http-notifications", notifications).on(HTTP);

/// Messages that want no answer: an empty 202, or an error status.
fn notifications(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        let note = json!({ "jsonrpc": "2.0", "method": UNKNOWN });
        case.say(&note.to_string()).await?.finished(case.short()).await;
        if case.era() == Era::Modern {
            // Due on requests only; some servers want it on all that is posted.
            let named = Outgoing::message(note.to_string()).header("Mcp-Method", UNKNOWN);
            case.connection().send_with(named).await?.finished(case.short()).await;
        } else {
            let note = json!({ "jsonrpc": "2.0", "method": "notifications/roots/list_changed" });
            case.say(&note.to_string()).await?.finished(case.short()).await;
            let answer = json!({ "jsonrpc": "2.0", "id": "proof-nobody-asked", "result": {} });
            case.say(&answer.to_string()).await?.finished(case.short()).await;
        }
        for outgoing in unwelcome(case, &note.to_string()) {
            case.connection().send_with(outgoing).await?.finished(case.short()).await;
        }
        Ok(())
    })
}

/// The same notification in envelopes that a server has reason to refuse.
fn unwelcome(case: &ProbeContext, note: &str) -> Vec<Outgoing> {
    let note = || Outgoing::message(note);
    let mut all = vec![note().header("MCP-Protocol-Version", "1999-01-01")];
    if case.era() == Era::Legacy && case.connection().session_id().is_some() {
        all.extend([note().without_session(), note().session("proof-no-such-session")]);
    }
    all
}

pub(in super::super) const CONTENT: Probe = Probe::shared("http-content", content).on(HTTP);

/// What is accepted and what is sent, named otherwise than usual, and otherwise than it should be.
fn content(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        put(case, |o| o.header("Accept", "text/event-stream, application/json")).await?;
        put(case, |o| o.header("Accept", "application/json")).await?;
        put(case, |o| o.header("Accept", "text/event-stream")).await?;
        put(case, |o| o.header("Accept", "text/html")).await?;
        put(case, |o| o.header("Content-Type", "text/plain")).await?;
        put(case, |o| o.header("Content-Type", "application/json; charset=utf-8")).await?;
        put(case, |o| o).await?;
        Ok(())
    })
}

pub(in super::super) const BODIES: Probe = Probe::shared("http-bodies", bodies).on(HTTP);

/// Bodies that are no message.
fn bodies(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        for body in ["", "{", "[]", "no JSON at all", "{\"jsonrpc\":\"2.0\"}"] {
            let outgoing = Outgoing::message(body).header("Mcp-Method", harmless(case));
            let outgoing = if case.era() == Era::Modern { outgoing } else { outgoing.without("Mcp-Method") };
            case.connection().send_with(outgoing).await?.finished(case.short()).await;
        }
        put(case, |o| o).await?;
        Ok(())
    })
}

pub(in super::super) const METHODS: Probe = Probe::shared("http-methods", methods).on(HTTP);

/// HTTP methods that the endpoint has no use for.
fn methods(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        for method in ["PUT", "PATCH"] {
            case.connection().send_with(Outgoing::bare(method)).await?.finished(case.short()).await;
        }
        Ok(())
    })
}

pub(in super::super) const SLOWLY: Probe = Probe::shared("http-slow-body", slowly).on(ANY_HTTP);

/// How long a piece of a body is held back.
const HELD_BACK: Duration = Duration::from_millis(5);

/// A body that comes slowly, cut within each character of the request's id.
fn slowly(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        let id = format!("\u{e4}\u{2026}\u{1d11e}-{}", case.next_id());
        let text = case.request_text(&json!(id), harmless(case), json!({}));
        let start = text.find(&id).unwrap_or_default();
        let outgoing = Outgoing::message(text).in_pieces((start..start + id.len()).collect(), HELD_BACK);
        case.stimulus(Stimulus::RequestInPieces);
        case.ask(RequestId::from(id.as_str()), outgoing, case.patience()).await?;
        Ok(())
    })
}

pub(in super::super) const BROKEN: Probe = Probe::fresh("http-broken", broken).on(ANY_HTTP).safety().intrusive();

/// HTTP that is none: the server must go on.
fn broken(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        let patience = Duration::from_millis(400);
        let broken: [&[u8]; 3] = [
            b"\x16\x03\x01garbage\r\n\r\n",
            b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500\r\n\r\n{\"half",
            b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        ];
        for bytes in broken {
            crate::check::probes::base::survived(
                case.connection().http()?.raw(bytes, patience).await.map_err(Abort::from),
            )?;
            put(case, |o| o).await?;
        }
        Ok(())
    })
}
