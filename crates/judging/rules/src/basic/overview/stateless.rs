//! The page `basic`, section "Statelessness".

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use wire::Kind;
use wire::revision::R2026_07_28;

use crate::reading::content::canonical;
use crate::rule::{Rule, at, server};
use crate::server::listing::OFFERS;
use crate::verdict::Verdict;
use crate::view::{Call, MessageAt, View};

/// The section's rules.
pub(crate) const RULES: &[Rule] = &[
    server("stateless.first-request-served")
        .says(R2026_07_28, at("basic/index", "statelessness"), "A server MUST NOT rely on earlier requests of a connection to establish context.")
        .how("Makes the same request as the first one of a connection and after others, and compares: one must not fail where the other succeeds.")
        .fix("Take version, identity and capabilities from each request's own `_meta`; demand no opening request.")
        .judge(first_request_served),
    server("stateless.connection-not-required")
        .says(R2026_07_28, at("basic/index", "statelessness"), "A server SHOULD NOT demand that a client stays on one connection for related work.")
        .about(OFFERS)
        .how("Uses a cursor that one connection gave on another one, where it also works on its own.")
        .fix("Let cursors and handles be good on any connection, not only on the one that gave them.")
        .judge(connection_not_required),
    server("stateless.concurrent-served")
        .says(R2026_07_28, at("basic/index", "statelessness"), "A server SHOULD be prepared for requests of several conversations on one connection.")
        .how("Makes a request while another one is still open on the same connection, and the same request alone, and compares: one must not fail where the other succeeds.")
        .fix("Serve requests independently of one another; keep no state that a second one in flight would upset.")
        .judge(concurrent_served),
    server("stateless.state-by-identifier")
        .says(R2026_07_28, at("basic/index", "statelessness"), "State that spans requests MUST be named by an identifier in each of them.")
        .unobservable("whether a server keeps state that no request names cannot be distinguished from a change of its data"),
];

/// What a request asks for, and as whom: a client without a capability, or one that wants another log level, may well be refused
/// what another is granted.
fn asked(request: MessageAt<'_>) -> String {
    let mut meta = request.message.meta().cloned().unwrap_or_default();
    if let Some(members) = meta.as_object_mut() {
        members.remove("progressToken");
    }
    format!("{}\n{}", request.message.content_key(&["_meta"]), canonical(&meta))
}

/// What was asked with success.
fn granted<'c, 'v: 'c>(calls: impl IntoIterator<Item = &'c Call<'v>>) -> BTreeSet<String> {
    calls.into_iter().filter(|call| call.result().is_some()).map(|call| asked(call.request)).collect()
}

/// Whether a request was the first message of a connection that was seen to open.
fn is_first(view: &View<'_>, call: &Call<'_>) -> bool {
    let MessageAt { connection, event, from, .. } = call.request;
    let opened = view.opened(connection).is_some_and(|opened| opened < event);
    opened && view.is_first(call.request) && !view.invalid_before(event, from, connection)
}

fn first_request_served(view: &View<'_>) -> Verdict {
    let usual = |c: &Call<'_>| {
        let answered = c.response.is_some_and(|r| !view.is_envelope_refusal(r));
        answered && view.is_valid_request(c.request) && !c.request.is("server/discover")
    };
    let (first, later): (Vec<_>, Vec<_>) = view.all_calls().filter(usual).partition(|c| is_first(view, c));
    let granted = granted(&later);
    let pairs = first.into_iter().filter(|call| granted.contains(&asked(call.request)));
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
        let answered = c.response.is_some_and(|r| !view.is_envelope_refusal(r));
        let brief = !c.request.is("subscriptions/listen") && !c.request.batched;
        answered && brief && view.is_valid_request(c.request)
    };
    let calls: Vec<_> = view.all_calls().filter(usual).collect();
    // By connection, until when one of the requests so far is under way.
    let mut open: BTreeMap<u32, usize> = BTreeMap::new();
    let (together, alone): (Vec<_>, Vec<_>) = calls.iter().copied().partition(|call| {
        let until = open.entry(call.request.connection).or_default();
        let concurrent = *until > call.request.event;
        *until = call.response.map_or(0, |response| response.event).max(*until);
        concurrent
    });
    let granted = granted(&alone);
    let pairs = together.into_iter().filter(|call| granted.contains(&asked(call.request)));
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
    let calls: Vec<_> = view.all_calls().filter(|c| c.response.is_some() && view.is_valid_request(c.request)).collect();
    let mut given: BTreeMap<String, u32> = BTreeMap::new();
    let mut served: BTreeSet<(u32, String)> = BTreeSet::new();
    for call in calls.iter().filter(|call| call.result().is_some()) {
        if let Some(next) = call.result().and_then(|result| result.get("nextCursor")) {
            given.entry(canonical(next)).or_insert(call.request.connection);
        }
        if cursor(call).is_some() {
            served.insert((call.request.connection, call.request.message.content_key(&["_meta"])));
        }
    }
    let foreign = calls.iter().copied().filter(|used| {
        let home = cursor(used).and_then(|cursor| given.get(&canonical(cursor)));
        home.is_some_and(|&home| {
            home != used.request.connection && served.contains(&(home, used.request.message.content_key(&["_meta"])))
        })
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
