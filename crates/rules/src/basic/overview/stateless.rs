//! The page `basic`, section "Statelessness".

use serde_json::Value;
use wire::Kind;
use wire::revision::R2026_07_28;
use wire::trace::Content;

use super::errors::{is_beside, is_in_order};
use crate::rule::{Rule, at, server};
use crate::verdict::Verdict;
use crate::view::{Call, View};

/// The section's rules.
pub(crate) const RULES: &[Rule] = &[
    server("stateless.first-request-served")
        .says(R2026_07_28, at("basic/index", "statelessness"), "A server MUST NOT rely on earlier requests of a connection to establish context.")
        .how("Makes the same request as the first one of a connection and after others, and compares: one must not fail where the other succeeds.")
        .mend("Take version, identity and capabilities from each request's own `_meta`; demand no opening request.")
        .judge(first_request_served),
    server("stateless.connection-not-required")
        .says(R2026_07_28, at("basic/index", "statelessness"), "A server SHOULD NOT demand that a client stays on one connection for related work.")
        .how("Uses a cursor that one connection gave on another one, where it also works on its own.")
        .mend("Let cursors and handles be good on any connection, not only on the one that gave them.")
        .judge(connection_not_required),
    server("stateless.concurrent-served")
        .says(R2026_07_28, at("basic/index", "statelessness"), "A server SHOULD be prepared for requests of several conversations on one connection.")
        .how("Makes a request while another one is still open on the same connection, and the same request alone, and compares: one must not fail where the other succeeds.")
        .mend("Serve requests independently of one another; keep no state that a second one in flight would upset.")
        .judge(concurrent_served),
    server("stateless.state-by-identifier")
        .says(R2026_07_28, at("basic/index", "statelessness"), "State that spans requests MUST be named by an identifier in each of them.")
        .unobservable("whether a server keeps state that no request names cannot be told from a change of its world"),
];

/// What a request asks, its metadata aside.
fn essence(call: &Call<'_>) -> (String, Option<Value>) {
    let mut params = call.request.message.params().cloned();
    if let Some(Value::Object(members)) = &mut params {
        members.remove("_meta");
    }
    let empty = Value::Object(serde_json::Map::new());
    (call.request.message.method().unwrap_or_default().to_owned(), params.filter(|p| *p != empty))
}

/// Whether a request was the first message of a connection that was seen to open.
fn is_first(view: &View<'_>, call: &Call<'_>) -> bool {
    let request = call.request;
    let opened = view.frames().any(|(event, f)| {
        event < request.event && f.connection == request.connection && matches!(f.content, Content::Opened)
    });
    let earlier = view.by(request.from).any(|s| s.connection == request.connection && s.index < request.index);
    opened && !earlier && !view.our_garbled().any(|g| g.connection == request.connection && g.event < request.event)
}

fn first_request_served(view: &View<'_>) -> Verdict {
    let usual = |c: &Call<'_>| {
        let heard = c.response.is_some_and(|r| !is_beside(view, r));
        heard && is_in_order(view, c.request) && !c.request.is("server/discover")
    };
    let (first, later): (Vec<_>, Vec<_>) = view.all_calls().filter(usual).partition(|c| is_first(view, c));
    let pairs = first.into_iter().filter(|f| later.iter().any(|l| l.result().is_some() && essence(l) == essence(f)));
    Verdict::every(pairs, "no request succeeded that was also made as the first of a connection", |call| {
        match call.response {
            Some(r) if r.message.kind() == Kind::Error => {
                let method = call.request.message.method().unwrap_or_default();
                Err(r.breach(
                    "/error",
                    format!("`{method}` fails as the first request of a connection; after other requests it succeeds"),
                ))
            }
            _ => Ok(()),
        }
    })
}

/// Requests made while another one was open on their connection, that also succeeded when none was.
fn concurrent_served(view: &View<'_>) -> Verdict {
    let usual = |c: &Call<'_>| {
        let heard = c.response.is_some_and(|r| !is_beside(view, r));
        let brief = !c.request.is("subscriptions/listen") && !c.request.batched;
        heard && brief && is_in_order(view, c.request)
    };
    let calls: Vec<_> = view.all_calls().filter(usual).collect();
    let is_open =
        |other: &Call<'_>, event: usize| other.request.event < event && other.response.is_some_and(|r| r.event > event);
    let (together, alone): (Vec<_>, Vec<_>) = calls.iter().copied().partition(|c| {
        let here = |o: &&Call<'_>| o.request.connection == c.request.connection;
        calls.iter().filter(here).any(|o| is_open(o, c.request.event))
    });
    let pairs = together.into_iter().filter(|t| alone.iter().any(|a| a.result().is_some() && essence(a) == essence(t)));
    Verdict::every(pairs, "no request succeeded alone that was also made while another was open", |call| {
        match call.response {
            Some(r) if r.message.kind() == Kind::Error => {
                let method = call.request.message.method().unwrap_or_default();
                Err(r.breach("/error", format!("`{method}` fails while another request is open; alone it succeeds")))
            }
            _ => Ok(()),
        }
    })
}

fn connection_not_required(view: &View<'_>) -> Verdict {
    let calls: Vec<_> = view.all_calls().filter(|c| c.response.is_some() && is_in_order(view, c.request)).collect();
    let foreign = calls.iter().copied().filter(|used| {
        let Some(cursor) = cursor(used) else { return false };
        let given = calls.iter().find(|c| c.result().and_then(|r| r.get("nextCursor")) == Some(cursor));
        let at_home = |home: u32| {
            calls.iter().any(|c| {
                c.request.connection == home
                    && self::cursor(c) == Some(cursor)
                    && c.result().is_some()
                    && essence(c) == essence(used)
            })
        };
        given.is_some_and(|g| g.request.connection != used.request.connection && at_home(g.request.connection))
    });
    Verdict::every(foreign, "no cursor was used both on the connection that gave it and on another", |call| match call
        .response
    {
        Some(r) if r.message.kind() == Kind::Error => {
            Err(r.breach("/error", "the cursor is refused on another connection than the one that gave it"))
        }
        _ => Ok(()),
    })
}

fn cursor<'v>(call: &Call<'v>) -> Option<&'v Value> {
    call.request.message.params()?.get("cursor")
}
