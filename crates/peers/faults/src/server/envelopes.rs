//! Malformed messages that the server sends in addition to its answers, and malformed requests to the client.

use net::service::{Link, Reply};
use serde_json::{Value, json};
use wire::revision::R2025_03_26;

use super::state::State;
use super::stdio::{Process, has};
use super::{Fault, Kind, ServiceRequest, fault};

const COMPLETE: &str = "completion/complete";

/// The id under which the answer to a batch of notifications is asked for.
const BATCH: &[u8] = b"\"batch-without-requests\"";

pub(super) const FAULTS: &[&Fault] = &[
    &fault(
        "array-in-array",
        "jsonrpc.object",
        "an array in an array precedes each completion",
        Kind::Handles(|asked, link, reply| {
            if asked.is(COMPLETE) {
                let _ = link.send("[[]]".to_owned());
            }
            reply
        }),
    )
    .breaks_too(&["jsonrpc.one-message", "stdio.no-batches", "stdio.only-messages-on-stdout"]),
    &fault(
        "result-with-method",
        "jsonrpc.one-kind",
        "each completion is preceded by a message that is a notification and a result at once",
        Kind::Handles(|asked, link, reply| {
            if asked.is(COMPLETE) {
                let both = json!({ "jsonrpc": "2.0", "method": "notifications/message", "result": {} });
                let _ = link.send(both.to_string());
            }
            reply
        }),
    )
    .breaks_too(&["stdio.only-messages-on-stdout"]),
    &fault(
        "params-null",
        "jsonrpc.call-members",
        "the parameters of progress are null",
        Kind::SideMessage("notifications/progress", |message| message["params"] = Value::Null),
    )
    .breaks_too(&["stdio.only-messages-on-stdout"]),
    &fault(
        "ping-id-null",
        "jsonrpc.request-id-not-null",
        "a tool call whose progress token is a number brings a ping whose id is null",
        Kind::Handles(|asked, link, reply| pinging(asked, link, reply, &[json!({ "id": null })])),
    )
    .breaks_too(&["stdio.only-messages-on-stdout"])
    .legacy(),
    &fault(
        "ping-token-fraction",
        "progress.tokens-plain",
        "a tool call whose progress token is a number brings a ping whose progress token is a fraction",
        Kind::Handles(|asked, link, reply| {
            let params = json!({ "_meta": { "progressToken": 0.5 } });
            pinging(asked, link, reply, &[json!({ "id": format!("ping-{}", asked.message["id"]), "params": params })])
        }),
    )
    // A check makes more than ten calls a second where the server is quick.
    .breaks_too(&["shape.requests", "ping.sparing", "progress.tokens-unique"])
    .legacy(),
    &fault(
        "ping-tokens-alike",
        "progress.tokens-unique",
        "a tool call whose progress token is a number brings several pings at a time that have one progress token",
        Kind::Handles(|asked, link, reply| {
            let params = json!({ "_meta": { "progressToken": "ping" } });
            let ping = |number| json!({ "id": format!("ping-{number}-{}", asked.message["id"]), "params": params });
            // So many that the client cannot have answered each before it reads the next.
            pinging(asked, link, reply, &(1..=8).map(ping).collect::<Vec<_>>())
        }),
    )
    .breaks_too(&["ping.sparing"])
    .legacy(),
    &fault(
        "batch-answered-empty",
        "batch.no-empty-answer",
        "a batch of notifications is answered with an empty array",
        Kind::Several(&[Kind::Stdio(Process::Reads(ask_after_batch)), Kind::Stdio(Process::Prints(answer_batch))]),
    )
    .breaks_too(&["jsonrpc.object", "stdio.only-messages-on-stdout"])
    .stdio()
    .since(R2025_03_26)
    .until(R2025_03_26),
];

/// Sends pings beside the result of a tool call whose progress token is a number (few are: it is not to be a flood), each
/// with these members.
fn pinging(asked: &ServiceRequest, link: &Link, reply: Reply, pings: &[Value]) -> Reply {
    let fits = asked.is("tools/call") && asked.param("_meta")["progressToken"].is_number();
    if fits && asked.context.session.as_ref().is_some_and(|session| session.is_ready()) {
        for ping in pings {
            let mut message = ping.clone();
            (message["jsonrpc"], message["method"]) = (json!("2.0"), json!("ping"));
            let _ = link.send(message.to_string());
        }
    }
    reply
}

/// After a batch without requests, a request that gets nothing but an error: its answer becomes the batch's.
fn ask_after_batch(mut line: Vec<u8>, _: &State) -> Vec<u8> {
    let batch: Value = serde_json::from_slice(&line).unwrap_or_default();
    let messages = batch.as_array().filter(|messages| !messages.is_empty());
    if messages.is_some_and(|messages| messages.iter().all(|message| message.get("id").is_none())) {
        line.extend_from_slice(
            &[b"{\"jsonrpc\":\"2.0\",\"id\":".as_slice(), BATCH, b",\"method\":\"batch\"}\n"].concat(),
        );
    }
    line
}

fn answer_batch(line: Vec<u8>) -> Vec<u8> {
    if has(&line, BATCH) { b"[]\n".to_vec() } else { line }
}
