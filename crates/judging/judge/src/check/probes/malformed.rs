//! Messages that are none, and batches: what a server says to them, and whether it goes on. Knows nothing of bytes that no
//! framing lets through; those are the transports' own probes.

use std::time::Duration;

use net::client::Outgoing;
use serde_json::{Value, json};
use wire::revision::R2025_03_26;
use wire::{Kind, Message, RequestId, Transport};

use super::base::harmless;
use crate::check::context::{Abort, ProbeContext};
use crate::check::probe::{Probe, Script};

pub(super) const MALFORMED: Probe = Probe::disruptive("malformed", malformed);

/// One text of each fault, each followed by a request that shows whether the server goes on. Where all messages share a
/// stream, the first two faults get a connection each: an error without an id can be laid to one fault only.
fn malformed(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        let (unreadable, unfit) = (unreadable(), unfit(case));
        if case.transport() == Transport::StreamableHttp {
            say_all(case, &unreadable).await?;
            return say_all(case, &unfit).await;
        }
        let second = case.on_another_connection(async |other| {
            other.handshake().await?;
            say_all(other, &unfit).await
        });
        let (first, second) = tokio::join!(say_all(case, &unreadable), second);
        first.and(second)
    })
}

/// How long an answer to the first fault of a connection is waited for at least, and to each other one.
const FIRST: Duration = Duration::from_millis(500);
const NEXT: Duration = Duration::from_millis(100);

async fn say_all(case: &ProbeContext, faults: &[Fault]) -> Result<(), Abort> {
    for (number, fault) in faults.iter().enumerate() {
        // What answers the first of a connection is beyond doubt, so that answer is worth waiting for on a busy machine.
        let (least, most) = if number == 0 { (FIRST, case.short()) } else { (NEXT, case.short() / 4) };
        let patience = case.glance(least, most);
        say(case, fault, patience).await?;
    }
    Ok(())
}

/// A text, and the id that an answer to it may carry.
type Fault = (String, Value);

/// Texts that are no JSON.
fn unreadable() -> Vec<Fault> {
    vec![
        ("{\"jsonrpc\":\"2.0\",\"id\":\"cut\",\"method\":".to_owned(), Value::Null),
        ("this is no JSON".to_owned(), Value::Null),
    ]
}

/// JSON that is no message.
fn unfit(case: &ProbeContext) -> Vec<Fault> {
    let whole = |id: &str| -> Value {
        serde_json::from_str(&case.request_text(&json!(id), harmless(case), json!({}))).unwrap_or_default()
    };
    let without = |id: &str, member: &str| {
        let mut message = whole(id);
        if let Some(members) = message.as_object_mut() {
            members.remove(member);
        }
        (message.to_string(), json!(id))
    };
    let with = |id: &str, member: &str, value: Value| {
        let mut message = whole(id);
        message[member] = value;
        (message.to_string(), json!(id))
    };
    vec![
        without("no-jsonrpc", "jsonrpc"),
        with("wrong-jsonrpc", "jsonrpc", json!("1.0")),
        without("no-method", "method"),
        with("method-number", "method", json!(5)),
        with("params-string", "params", json!("text")),
        with("params-array", "params", json!(["text"])),
        with("params-array-empty", "params", json!([])),
        with("id-object", "id", json!({ "a": 1 })),
        with("id-null", "id", Value::Null),
        ("42".to_owned(), Value::Null),
        ("\"a string\"".to_owned(), Value::Null),
    ]
}

/// Says something faulty, waits for what is said to that, and asks something sound. A connection that was ended over it is
/// no use for the next.
async fn say(case: &ProbeContext, (text, id): &Fault, patience: Duration) -> Result<(), Abort> {
    let exchange = case.say(text).await?;
    if case.transport() == Transport::StreamableHttp {
        exchange.finished(case.short()).await;
    } else {
        let id = RequestId::from_value(id);
        let answers = |m: &Message| m.kind().is_response() && (m.id().is_none() || m.id() == id.as_ref());
        case.connection().wait_for(answers, patience).await;
    }
    case.request(harmless(case), json!({})).await?;
    Ok(())
}

pub(super) const BATCH: Probe = Probe::disruptive("batch", batch);

/// Two requests and a notification in one array: legal at 2025-03-26 only, where an array of mere notifications follows.
fn batch(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        let (first, second) = (case.next_id(), case.next_id());
        let request = |id: i64| -> Value {
            serde_json::from_str(&case.request_text(&json!(id), harmless(case), json!({}))).unwrap_or_default()
        };
        let note = json!({ "jsonrpc": "2.0", "method": "notifications/proofhouse/no-such-notification" });
        let text = json!([request(first), note, request(second)]).to_string();
        let exchange = case.connection().send_with(Outgoing::message(text)).await?;
        if case.revision() != R2025_03_26 {
            // Refused as a whole, as a rule.
            let refused = |m: &Message| m.kind() == Kind::Error || m.id() == Some(&RequestId::from(second));
            case.connection().wait_for(refused, case.glance(NEXT, case.short() / 4)).await;
            case.request(harmless(case), json!({})).await?;
            return Ok(());
        }
        exchange.finished(case.short()).await;
        if exchange.status().is_some_and(|status| status >= 400) {
            return Err(Abort::Lacks("batches"));
        }
        for id in [first, second] {
            if case.connection().response(&RequestId::from(id), case.short()).await.is_none() {
                break;
            }
        }
        let cancelled =
            |id: &str| json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
        case.say(&json!([cancelled("proof-never-asked"), cancelled("proof-nor-this")]).to_string()).await?;
        case.request(harmless(case), json!({})).await?;
        Ok(())
    })
}
