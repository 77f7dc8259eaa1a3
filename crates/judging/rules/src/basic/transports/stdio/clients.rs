//! What the stdio transport demands of clients.

use std::collections::{BTreeMap, BTreeSet};

use wire::error_code::{METHOD_NOT_FOUND, MODERN_ONLY};
use wire::meta;
use wire::revision::{R2024_11_05, R2025_11_25, R2026_07_28};
use wire::trace::Content;
use wire::{Kind, Party, Transport};

use super::{no_embedded_newlines, only_messages};
use crate::legacy::lifecycle::client_operation::shutdown_in_order;
use crate::reading::liveness::client_continues;
use crate::reading::timeouts::{Signs, cancelled};
use crate::rule::{Anchor, Rule, at, client};
use crate::verdict::{Breach, Kept, Verdict};
use crate::view::{Call, MessageAt, View};

const STDIO: &[Transport] = &[Transport::Stdio];
const OLD: Anchor = at("basic/transports", "stdio");

const fn new(section: &'static str) -> Anchor {
    at("basic/transports/stdio", section)
}

/// The rules, in the page's own order.
pub(crate) const RULES: &[Rule] = &[
    client("stdio.stdin-no-embedded-newlines")
        .on(STDIO)
        .says(R2024_11_05, OLD, "A message on stdin MUST NOT contain a newline.")
        .says(R2026_07_28, new(""), "A message on stdin MUST NOT contain a newline.")
        .how("Looks for lines on stdin that are not messages one by one, but are one message when joined. Works with any server.")
        .fix("Serialize each message on one line: no pretty-printing, and line feeds within strings escaped.")
        .judge(no_embedded_newlines),
    client("stdio.stderr-is-no-error")
        .on(STDIO)
        .says(R2024_11_05, OLD, "A server MAY write to stderr; its client continues anyway.")
        .says(R2025_11_25, OLD, "What a server writes to stderr SHOULD NOT pass for an error by itself.")
        .says(R2026_07_28, new(""), "What a server writes to stderr SHOULD NOT pass for an error by itself.")
        .how("Needs a server that writes lines to stderr, and checks whether its client continues.")
        .fix("Read stderr and log or drop it; take nothing on it for a failure.")
        .judge(stderr_is_no_error),
    client("stdio.only-messages-on-stdin")
        .on(STDIO)
        .says(R2024_11_05, OLD, "A client MUST NOT write anything but MCP messages to stdin.")
        .says(R2026_07_28, new(""), "A client MUST NOT write anything but MCP messages to stdin.")
        .how("Reads every line that the client writes as a JSON-RPC message. Works with any server.")
        .fix("Let only the serializer of messages write to the server's stdin.")
        .judge(only_messages),
    client("jsonrpc.no-client-responses")
        .says(R2026_07_28, new("sending-messages"), "A client MUST NOT send JSON-RPC responses.")
        .how("Looks for responses by the client on connections without a handshake. Needs a server that makes requests, against the rules, to show that none come.")
        .fix("Drop requests of a server: in this revision it asks by `input_required` results.")
        .judge(no_responses),
    client("stdio.notifications-correlated")
        .on(STDIO)
        .says(
            R2026_07_28,
            new("receiving-messages"),
            "A client MUST tell by the subscription id in `_meta` which of its subscriptions a notification is for.",
        )
        .unobservable("how a client assigns a notification to a subscription does not show in its messages"),
    client("stdio.cancels-by-notification")
        .on(STDIO)
        .says(
            R2026_07_28,
            new("cancellation"),
            "A client that gives a request up MUST say so in `notifications/cancelled`, with the request's id.",
        )
        .timed()
        .how("Needs a server that leaves a request unanswered, and looks for its cancellation. Only a repetition of the same request shows that the client has given up.")
        .fix("When you stop waiting for a request, send `notifications/cancelled` with its id.")
        .judge(|view| cancelled(view, Signs::Repeats)),
    client("stdio.shutdown-in-order")
        .on(STDIO)
        .says(
            R2026_07_28,
            new("shutdown"),
            "A client SHOULD end its server by closing stdin, wait for it to exit, and use force only if it does not.",
        )
        .timed()
        .how("Checks whether the server, seen from within, saw the end of its input before a signal ended it.")
        .fix("Close the child's stdin and wait for it to exit before you send any signal.")
        .judge(shutdown_in_order),
    client("stdio.server-restarted")
        .on(STDIO)
        .says(
            R2026_07_28,
            new("unexpected-termination"),
            "A client SHOULD restart a server that ended unexpectedly.",
        )
        .how("Needs a server that ends while a request is under way, and checks whether the client starts another process before it leaves.")
        .fix("When the child exits unasked, start it again, and repeat what was under way.")
        .judge(restarted),
    client("stdio.probes-first")
        .on(STDIO)
        .says(
            R2026_07_28,
            new("backward-compatibility"),
            "A client SHOULD begin with `server/discover`, in the version that it likes best.",
        )
        .how("Looks at the first request that the client makes of the first process. One that begins with `initialize` may \
              know no other era.")
        .fix("Send `server/discover` before anything else, with your preferred version in `_meta`.")
        .judge(probes_first),
    client("stdio.falls-back-on-any-error")
        .on(STDIO)
        .says(
            R2026_07_28,
            new("backward-compatibility"),
            "Whether a client falls back to `initialize` MUST NOT hang on one error code.",
        )
        .how("Needs a server that refuses `server/discover` with another code than -32601, and not one of the modern era's, and \
              looks for `initialize`. It is broken by a client that falls back after one code and leaves after another.")
        .fix("Fall back after any error that the modern era does not define, and after silence.")
        .judge(falls_back),
];

fn stderr_is_no_error(view: &View<'_>) -> Verdict {
    let written =
        view.frames().filter(|(_, frame)| matches!(frame.content, Content::Stderr(_)) && frame.from == Party::Server);
    let events: Vec<_> = written.map(|(event, _)| event).collect();
    client_continues(view, events, "what the server wrote to stderr", "the server wrote nothing to stderr")
}

fn no_responses(view: &View<'_>) -> Verdict {
    let modern = |sent: &MessageAt<'_>| view.handshake(sent.connection).is_none();
    let answers = view.by(Party::Client).filter(|sent| sent.message.kind().is_response() && modern(sent));
    let breaches =
        answers.map(|sent| sent.breach("", "a response by the client; in this revision only servers respond"));
    let requested = view.by(Party::Server).filter(|sent| sent.message.kind() == Kind::Request && modern(sent));
    let ignored = requested.filter_map(|sent| {
        view.next_message_after(sent.event).or_else(|| view.watched_after(sent.event, sent.connection))
    });
    let witnesses: Vec<_> = ignored.collect();
    Verdict::never(breaches, witnesses, "the server made no request that could be responded to")
}

fn restarted(view: &View<'_>) -> Verdict {
    let ends = view.frames().filter_map(|(event, frame)| match frame.content {
        // A signal that ends a server comes from its client, or from outside.
        Content::Exit { signal: None, .. } if frame.from == Party::Server => Some((event, frame.connection)),
        _ => None,
    });
    let judged = ends.filter_map(|(event, connection)| {
        let explained = |(at, frame): (usize, &wire::trace::Frame)| {
            at < event
                && frame.connection == connection
                && frame.from == Party::Client
                && matches!(frame.content, Content::Closed(_))
        };
        let here = |call: &Call<'_>| call.request.connection == connection && call.request.event < event;
        let waiting = view.calls_by(Party::Client).any(|call| here(&call) && call.response.is_none());
        if view.frames().any(explained) || !waiting {
            return None;
        }
        let again = view.by(Party::Client).find(|sent| sent.event > event && sent.connection != connection);
        if let Some(sent) = again {
            return Some((sent.event, Ok(())));
        }
        let (left, _) = view.departure().filter(|(left, _)| *left > event)?;
        let why = format!(
            "the server ended in the middle of a request, and the client left (event {left}) without starting it again"
        );
        Some((event, Err(Breach::at(event, "", why))))
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no server ended while the client was waiting for it")
}

/// Whether a request carries a version of the modern era.
fn is_modern(sent: MessageAt<'_>) -> bool {
    sent.message.meta().is_some_and(|meta| meta.get(meta::PROTOCOL_VERSION).is_some())
}

fn probes_first(view: &View<'_>) -> Verdict {
    let first = view.calls_by(Party::Client).map(|call| call.request).next();
    let judged = first.filter(|sent| !sent.is("initialize") && (sent.is("server/discover") || is_modern(*sent)));
    Verdict::every(judged, "the client made no request of the modern era first", |sent| {
        let name = sent.message.method().unwrap_or_default().escape_debug();
        let breach = || sent.breach("/method", format!("the client begins with `{name}`"));
        if sent.is("server/discover") { Ok(()) } else { Err(breach()) }
    })
}

fn falls_back(view: &View<'_>) -> Verdict {
    let refused: Vec<_> = view
        .client_calls("server/discover")
        .filter_map(|call| Some((call, call.response?, call.error_code().filter(|code| !MODERN_ONLY.contains(code))?)))
        .collect();
    let mut greeted: BTreeMap<u32, Vec<MessageAt<'_>>> = BTreeMap::new();
    for call in view.client_calls("initialize") {
        greeted.entry(call.request.connection).or_default().push(call.request);
    }
    let after =
        |connection: u32, event: usize| greeted.get(&connection)?.iter().find(|sent| sent.event > event).copied();
    let fell = |(call, response, _): &(Call<'_>, MessageAt<'_>, i64)| after(call.request.connection, response.event);
    let codes: BTreeSet<i64> = refused.iter().filter(|one| fell(one).is_some()).map(|(.., code)| *code).collect();
    let judged = refused.iter().filter_map(|one| {
        let (call, response, code) = one;
        if let Some(sent) = fell(one) {
            return (*code != METHOD_NOT_FOUND).then_some((sent.event, Ok(())));
        }
        let left = view.left_after(response.event, call.request.connection)?;
        let other = codes.iter().find(|other| *other != code)?;
        let why = format!("refused with {code} the client leaves (event {left}); refused with {other} it falls back");
        Some((response.event, Err(response.breach("/error/code", why))))
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no client that falls back was refused with an unusual code")
}
