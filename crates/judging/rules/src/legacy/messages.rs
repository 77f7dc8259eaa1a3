//! Sentences of the base protocol that only the legacy era has: ids for a whole session, and the batches of 2025-03-26.

use std::collections::BTreeMap;

use wire::message::Fault;
use wire::revision::{R2024_11_05, R2025_03_26, R2025_06_18, R2026_07_28};
use wire::{Kind, Party, RequestId};

use crate::rule::{Rule, at, both};
use crate::verdict::{Breach, Verdict};
use crate::view::{Call, MessageAt, View};

/// The rules, in the page's order.
pub(crate) const RULES: &[Rule] = &[
    both("jsonrpc.request-ids-unique")
        .says(R2024_11_05, at("basic/messages", "requests"), "A request MUST NOT have an id that its sender has used before in the session.")
        .says(R2025_03_26, at("basic/index", "requests"), "A request MUST NOT have an id that its sender has used before in the session.")
        .gone(R2026_07_28)
        .how("Compares the ids of all requests that the judged party makes on one connection. What a resumed stream delivers again does not count.")
        .fix("Count up, or use random ids; never start over within a session.")
        .judge(ids_unique),
    both("batch.received")
        .says(R2025_03_26, at("basic/index", "batching"), "Batches MUST be received.")
        .gone(R2025_06_18)
        .timed()
        .how("Sends two requests in one array, after the handshake, and looks for both answers. Silence counts where a request made later on the same connection is answered.")
        .fix("Take an array of messages wherever a message is taken at 2025-03-26, and answer every request in it.")
        .judge(batch_received),
    both("batch.no-empty-answer")
        .says(R2025_03_26, at("basic/index", "messages"), "A batch of notifications MUST NOT be answered with an empty array.")
        .gone(R2025_06_18)
        .how("Sends a batch of notifications and looks for an empty array.")
        .fix("Send nothing at all where a batch holds no request.")
        .judge(no_empty_answer),
];

fn ids_unique(view: &View<'_>) -> Verdict {
    let mut used: BTreeMap<(u32, RequestId), MessageAt<'_>> = BTreeMap::new();
    let mut witnesses = Vec::new();
    for sent in view.by_subject().filter(|s| s.message.kind() == Kind::Request) {
        let Some(id) = sent.message.id() else { continue };
        let before = used.keys().any(|(connection, _)| *connection == sent.connection);
        match used.insert((sent.connection, id.clone()), sent) {
            Some(first) if !is_redelivery(first, sent) => {
                let why = format!("the id {} was used before, in event {}", id.to_json(), first.event);
                return Verdict::Broken(sent.breach("/id", why));
            }
            _ if before => witnesses.push(sent.event),
            _ => {}
        }
    }
    Verdict::witnessed(witnesses, "the judged party made no two requests on one connection")
}

/// The same message on another stream: a resumed one delivers it again.
fn is_redelivery(first: MessageAt<'_>, again: MessageAt<'_>) -> bool {
    again.exchange != first.exchange && first.message.text() == again.message.text()
}

/// Calls in batches that were sent after the handshake of their connection.
fn batched<'v>(view: &View<'v>) -> Vec<Call<'v>> {
    let after = |c: &Call<'v>| {
        let handshake = view.handshake(c.request.connection);
        let agreed = handshake.and_then(|h| h.result()?.get("protocolVersion")?.as_str());
        agreed == Some(R2025_03_26.as_str()) && handshake.is_some_and(|h| h.request.index < c.request.index)
    };
    view.calls_by(view.subject().peer()).filter(|c| c.request.batched && after(c)).collect()
}

fn batch_received(view: &View<'_>) -> Verdict {
    let calls = batched(view);
    let refused = calls.iter().filter(|c| c.response.is_none()).find_map(|c| refusal(view, c.request));
    let answered = calls.iter().filter_map(|c| c.response).map(|r| r.event);
    Verdict::never(refused, answered, "no batch was sent after a handshake, or it was not answered")
}

/// How a batch was turned away: by HTTP, by an error without id, or by silence while the connection continued.
fn refusal(view: &View<'_>, request: MessageAt<'_>) -> Option<Breach> {
    let exchange = view.exchange(request.exchange);
    if let Some(exchange) = exchange {
        if let Some(status) = exchange.status().filter(|s| matches!(s, 400 | 405 | 415 | 422 | 500 | 501)) {
            return Some(exchange.status_breach(format!("the batch was refused with status {status}")));
        }
        // Beside an answer to one request of the batch, the error may be the other's, whose id was lost.
        let mut answers = exchange.responses().filter(|_| exchange.succeeded());
        let whole = answers.next().filter(|s| s.message.kind() == Kind::Error && s.message.id().is_none());
        return whole.filter(|_| answers.next().is_none()).map(|s| s.breach("", "the batch was refused as a whole"));
    }
    let here = |s: &MessageAt<'_>| s.connection == request.connection && s.event > request.event;
    let error = view.by_subject().filter(here).find(|s| s.message.kind() == Kind::Error && s.message.id().is_none());
    // An error without an id may answer anything unreadable that was sent before it.
    let invalid = |error: &MessageAt<'_>| {
        view.invalid_by_peer().any(|g| g.connection == request.connection && g.event < error.event)
    };
    if let Some(error) = error.filter(|error| !invalid(error)) {
        return Some(error.breach("", "the batch was refused as a whole"));
    }
    dropped(view, request).then(|| request.breach("", "never answered, though a request that was made later was"))
}

/// Whether we gave up on a request of a batch, and a request made after that was answered on the same connection: the
/// peer was there and read on. That the connection ended later, as every one does, says nothing.
fn dropped(view: &View<'_>, request: MessageAt<'_>) -> bool {
    let given_up = view.timeout_of(request);
    given_up.is_some_and(|timeout| matches!(view.aftermath(timeout.event, request.connection), Some(Ok(_))))
}

fn no_empty_answer(view: &View<'_>) -> Verdict {
    let peer: Party = view.subject().peer();
    let mut batches: Vec<usize> =
        view.by(peer).filter(|s| s.batched && s.message.kind() == Kind::Notification).map(|s| s.event).collect();
    batches.dedup();
    batches.retain(|event| !view.by(peer).any(|s| s.event == *event && s.message.kind() == Kind::Request));
    let empty = view
        .invalid_by_subject()
        .filter(|g| g.malformed.fault == Fault::EmptyBatch)
        .filter(|g| batches.iter().any(|event| *event < g.event && view.frame(*event).connection == g.connection));
    let breaches = empty.map(|g| Breach::at(g.event, "", "an empty array, in answer to a batch of notifications"));
    let settled = batches.iter().filter_map(|event| view.settled(*event));
    Verdict::never(breaches, settled, "no batch of notifications was sent after which an answer would have shown")
}
