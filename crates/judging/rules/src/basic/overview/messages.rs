//! The page `basic`, section "Messages": what any JSON-RPC message is.

use std::collections::BTreeSet;

use wire::message::Fault;
use wire::revision::{R2024_11_05, R2025_03_26, R2025_06_18, R2026_07_28};
use wire::trace::Content;
use wire::{Party, Transport};

use super::invalid_messages::{self, free_of};
use crate::reading::batches::{Batches, arrays};
use crate::rule::{Anchor, Rule, at, both, safety};
use crate::verdict::{Breach, Verdict};
use crate::view::{MessageAt, View};

const FIRST: Anchor = at("basic/messages", "");
const SINCE: Anchor = at("basic/index", "messages");

const UNSEEN: &str = "the judged party sent no message";

/// The section's rules.
pub(crate) const RULES: &[Rule] = &[
    both("jsonrpc.json")
        .says(R2024_11_05, FIRST, "A message MUST be JSON, as JSON-RPC 2.0 demands.")
        .says(R2025_03_26, SINCE, "A message MUST be JSON, as JSON-RPC 2.0 demands.")
        .how("Reads everything that stands where a message belongs. On stdio only lines that set out as JSON count here; other output is the transport's business.")
        .fix("Write messages with a JSON serializer, whole, and nothing else in their place.")
        .judge(json),
    both("jsonrpc.utf8")
        .says(R2025_03_26, at("basic/transports", ""), "Messages MUST be encoded in UTF-8.")
        .says(R2026_07_28, at("basic/transports/index", "messages"), "Messages MUST be encoded in UTF-8.")
        .how("Decodes the bytes of every message strictly. Of a server, only messages beyond ASCII show how it encodes.")
        .fix("Encode messages in UTF-8 whatever the platform's locale says (in Python: PYTHONUTF8 or reconfigure stdout).")
        .judge(utf8),
    both("jsonrpc.version-member")
        .says(R2024_11_05, FIRST, "A message MUST have the member `jsonrpc` with the value \"2.0\".")
        .says(R2025_03_26, SINCE, "A message MUST have the member `jsonrpc` with the value \"2.0\".")
        .how("Looks at the `jsonrpc` member of every message.")
        .fix("Put `\"jsonrpc\": \"2.0\"` into every message.")
        .judge(version_member),
    both("jsonrpc.object")
        .says(R2024_11_05, FIRST, "A message MUST be a JSON object.")
        .says(R2025_03_26, SINCE, "A message MUST be a JSON object, or where batches exist an array that holds at least one.")
        .how("Looks at the type of every JSON text that stands where a message belongs, and into batches.")
        .fix("Send a JSON object; never an empty array, an array in a batch or a bare value.")
        .judge(object),
    both("jsonrpc.one-kind")
        .says(R2024_11_05, FIRST, "A message MUST be either a call (with `method`) or a response, not both.")
        .says(R2025_03_26, SINCE, "A message MUST be either a call (with `method`) or a response, not both.")
        .how("Looks for messages that have `method` as well as `result` or `error`.")
        .fix("Leave `method` out of responses, and `result` and `error` out of requests and notifications.")
        .judge(one_kind),
    both("jsonrpc.call-members")
        .says(R2024_11_05, FIRST, "In a call, `method` MUST be a string, and `params` an object where it is present.")
        .says(R2025_03_26, SINCE, "In a call, `method` MUST be a string, and `params` an object where it is present.")
        .how("Looks at the types of `method` and `params` in every request and notification.")
        .fix("Name the method in a string; send `params` as an object or leave it out, never as null.")
        .judge(call_members),
    both("jsonrpc.one-message")
        .says(R2025_06_18, at("basic/index", "messages"), "A message MUST stand alone: this revision has no batches.")
        .how("Looks for JSON arrays in the place of a message.")
        .fix("Send each message on its own; use batches only where 2025-03-26 was negotiated.")
        .judge(one_message),
    safety("jsonrpc.members-unique")
        .asks(R2024_11_05, FIRST, "A message names each member of its envelope once.")
        .asks(R2025_03_26, SINCE, "A message names each member of its envelope once.")
        .how("Looks for `id`, `method`, `params`, `result`, `error` or `jsonrpc` repeated in one message.")
        .fix("Write each member once: readers disagree on which of two they take.")
        .judge(members_unique),
];

fn json(view: &View<'_>) -> Verdict {
    let strict = view.transport() != Transport::Stdio;
    free_of(view, |f| matches!(f.fault(), Fault::NotJson(_)) && (strict || f.looks_like_json), |_| true, UNSEEN)
}

fn utf8(view: &View<'_>) -> Verdict {
    let strict = view.transport() != Transport::Stdio;
    if let Some(breach) = view.by_subject().find_map(|sent| invalid_event(view, sent)) {
        return Verdict::Broken(breach);
    }
    // A client decides itself what it sends, and few have a reason to go beyond ASCII.
    let shows = |s: &MessageAt<'_>| view.subject() == Party::Client || is_beyond_ascii(s.message.text());
    let unseen = "the judged party sent no message with a character beyond ASCII";
    free_of(view, |f| *f.fault() == Fault::NotUtf8 && (strict || f.looks_like_json), shows, unseen)
}

fn is_beyond_ascii(text: &str) -> bool {
    !text.is_ascii() || text.contains("\\u")
}

/// A message in an event whose data is not UTF-8: a reader of the stream puts U+FFFD in the place of the invalid bytes, and
/// has a message anyway.
fn invalid_event(view: &View<'_>, sent: MessageAt<'_>) -> Option<Breach> {
    let Content::Sse(block) = &view.frame(sent.event).content else { return None };
    let mut lines = block.split(|b| matches!(b, b'\n' | b'\r'));
    let invalid = lines.any(|line| line.starts_with(b"data:") && std::str::from_utf8(line).is_err());
    invalid.then(|| Breach::at(sent.event, "", "the data of the event is not UTF-8"))
}

fn version_member(view: &View<'_>) -> Verdict {
    let binds =
        |f: &invalid_messages::InvalidText<'_>| matches!(f.fault(), Fault::JsonrpcMissing | Fault::JsonrpcWrong);
    free_of(view, |f| binds(f) && is_meant(f), |_| true, UNSEEN)
}

/// A JSON object on stdout may be a log record: without the members that make a call or a response it was not a message.
fn is_meant(f: &invalid_messages::InvalidText<'_>) -> bool {
    f.has("jsonrpc") || f.has("method") || (f.has("id") && (f.has("result") || f.has("error")))
}

fn object(view: &View<'_>) -> Verdict {
    let strict = view.transport() != Transport::Stdio;
    let binds = |f: &invalid_messages::InvalidText<'_>| match f.fault() {
        Fault::EmptyBatch | Fault::NestedBatch => true,
        Fault::NotObject => strict || f.looks_like_json,
        _ => false,
    };
    free_of(view, binds, |_| true, UNSEEN)
}

fn one_kind(view: &View<'_>) -> Verdict {
    free_of(view, |f| *f.fault() == Fault::RequestAndResponse, |_| true, UNSEEN)
}

fn call_members(view: &View<'_>) -> Verdict {
    free_of(
        view,
        |f| matches!(f.fault(), Fault::MethodNotString | Fault::ParamsType),
        |s| s.message.method().is_some(),
        "the judged party sent no request and no notification",
    )
}

fn one_message(view: &View<'_>) -> Verdict {
    let batches = Batches::of(view);
    // On a connection that negotiated 2025-03-26 a batch is legal, whatever the trace is judged at.
    let bound = |event: usize| {
        let connection = view.frame(event).connection;
        let agreed = view.handshake(connection).and_then(|c| c.result()?.get("protocolVersion")?.as_str());
        agreed != Some("2025-03-26") && agreed != Some("2024-11-05") && !batches.provoked(view, event)
    };
    let unprovoked = arrays(view).filter(|event| bound(*event));
    let breaches = unprovoked.map(|event| Breach::at(event, "", "a JSON array, where each message must stand alone"));
    let place = |event: usize| (view.frame(event).connection, view.frame(event).exchange);
    let in_kind: BTreeSet<_> = arrays(view).filter(|event| batches.provoked(view, *event)).map(place).collect();
    let alone = view.by_subject().filter(|s| !s.batched && bound(s.event) && !in_kind.contains(&place(s.event)));
    let alone = alone.map(|s| s.event);
    Verdict::never(breaches, alone, UNSEEN)
}

fn members_unique(view: &View<'_>) -> Verdict {
    free_of(view, |f| matches!(f.fault(), Fault::DuplicateMember(_)), |_| true, UNSEEN)
}
