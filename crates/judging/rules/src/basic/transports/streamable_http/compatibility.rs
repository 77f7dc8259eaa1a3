//! What a server of the modern era alone does with the traffic of older clients.

use wire::revision::R2026_07_28;
use wire::{Party, Transport};

use super::foreign_origin;
use super::server_headers::{Posted, posted};
use crate::rule::{Anchor, Rule, at, server};
use crate::verdict::Verdict;
use crate::view::{Exchange, View};

const HTTP: &[Transport] = &[Transport::StreamableHttp];
const EARLIER: Anchor = at("basic/transports/streamable-http", "earlier-streamable-http-revisions");

/// The section's rules, in its own order.
pub(crate) const RULES: &[Rule] = &[
    server("http.get-405")
        .on(HTTP)
        .says(R2026_07_28, EARLIER, "A server of this revision alone SHOULD answer GET with 405.")
        .how("Sends GET to the endpoint of a server that says it serves modern revisions only.")
        .fix("Answer 405 Method Not Allowed to everything but POST.")
        .judge(get_405),
    server("http.delete-405")
        .on(HTTP)
        .says(R2026_07_28, EARLIER, "A server of this revision alone SHOULD answer DELETE with 405.")
        .how("Sends DELETE to the endpoint of a server that says it serves modern revisions only.")
        .fix("Answer 405 Method Not Allowed to everything but POST.")
        .judge(delete_405),
    server("http.session-header-ignored")
        .on(HTTP)
        .says(R2026_07_28, EARLIER, "A server of this revision alone SHOULD ignore the session header.")
        .how("Repeats a request that was served with a session id that the server never assigned.")
        .fix("Do not read `Mcp-Session-Id` in requests that carry modern `_meta`.")
        .judge(session_header_ignored),
    server("http.no-session-minted")
        .on(HTTP)
        .says(R2026_07_28, EARLIER, "A server of this revision alone SHOULD NOT send session ids.")
        .how("Looks for the session header in every response.")
        .fix("Leave `Mcp-Session-Id` out of responses.")
        .judge(no_session_minted),
    server("http.last-event-id-ignored")
        .on(HTTP)
        .says(R2026_07_28, EARLIER, "A server of this revision alone SHOULD ignore the `Last-Event-ID` header.")
        .how("Repeats a request that was served with a `Last-Event-ID`.")
        .fix("Do not read `Last-Event-ID`; streams of this revision cannot be resumed.")
        .judge(last_event_id_ignored),
];

/// Why the section does not bind the server, or is not known to.
fn unbound(view: &View<'_>) -> Option<Verdict> {
    match view.modern_only() {
        Some(true) => None,
        Some(false) => Some(Verdict::NotApplicable("the server serves legacy revisions as well".to_owned())),
        None => Some(Verdict::NotSeen("which revisions the server serves is not known here".to_owned())),
    }
}

/// All exchanges with the server at paths to which messages were posted.
fn refused(view: &View<'_>, method: &str) -> Verdict {
    if let Some(verdict) = unbound(view) {
        return verdict;
    }
    let tried = view
        .endpoint_exchanges()
        .into_iter()
        .filter(|x| x.is(method) && x.status().is_some() && !x.turned_away() && !foreign_origin(x));
    Verdict::every(tried, format!("no {method} was sent"), |x| match x.status() {
        Some(405) => Ok(()),
        other => Err(x.status_breach(format!("{method} was answered {}, not 405", other.unwrap_or_default()))),
    })
}

fn get_405(view: &View<'_>) -> Verdict {
    refused(view, "GET")
}

fn delete_405(view: &View<'_>) -> Verdict {
    refused(view, "DELETE")
}

/// Requests with `header` fare as they do without it.
fn ignored(view: &View<'_>, header: &str) -> Verdict {
    if let Some(verdict) = unbound(view) {
        return verdict;
    }
    let posted = posted(view);
    let with = |p: &Posted<'_, '_>| p.exchange.request_header(header).is_some();
    let tried = posted.iter().filter(|p| {
        with(p)
            && p.faults.is_empty()
            && (p.exchange.served() || p.twin.is_some_and(|t| t.request_header(header).is_none()))
    });
    Verdict::every(tried.cloned(), format!("no request that is otherwise served carried `{header}`"), |p| {
        if p.exchange.served() {
            return Ok(());
        }
        let status = p.exchange.status().unwrap_or_default();
        Err(p.exchange.status_breach(format!("refused with {status}; without `{header}` the request is served")))
    })
}

fn session_header_ignored(view: &View<'_>) -> Verdict {
    ignored(view, "mcp-session-id")
}

fn last_event_id_ignored(view: &View<'_>) -> Verdict {
    ignored(view, "last-event-id")
}

fn no_session_minted(view: &View<'_>) -> Verdict {
    if let Some(verdict) = unbound(view) {
        return verdict;
    }
    let answered = |x: &&Exchange<'_>| x.partner == Some(Party::Server) && x.response.is_some() && x.succeeded();
    let answered = view.endpoint_exchanges().into_iter().filter(answered);
    Verdict::every(answered, "nothing was answered", |x| match x.response_header("mcp-session-id") {
        None => Ok(()),
        Some(_) => Err(x.header_breach("Mcp-Session-Id", "a session id in a revision without sessions")),
    })
}
