//! Our side of what a legacy server may ask of its client while a probe waits: pings, roots, sampling, elicitation.

use std::time::Duration;

use net::client::Connection;
use serde_json::{Value, json};
use tokio::task::AbortHandle;
use wire::{Kind, Message};

/// Answers a server's requests in the background until it is stopped or dropped.
pub struct Answering {
    task: AbortHandle,
}

impl Answering {
    /// Starts answering on a connection.
    pub fn start(connection: Connection) -> Self {
        let task = tokio::spawn(async move {
            let asked = |message: &Message| message.kind() == Kind::Request;
            // An hour outlives any case; a connection that ends, ends the wait.
            while let Some(request) = connection.wait_for(asked, Duration::from_hours(1)).await {
                if request.meta().and_then(|meta| meta.get(TASK)).is_some() {
                    // Time to look at the task while it waits.
                    tokio::time::sleep(PAUSE).await;
                }
                if connection.send(&answer(&request)).await.is_err() {
                    break;
                }
            }
        });
        Self { task: task.abort_handle() }
    }

    /// Stops answering.
    pub fn stop(&self) {
        self.task.abort();
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.stop();
    }
}

/// How long a task waits for its answer.
const PAUSE: Duration = Duration::from_millis(600);

/// What names the task that a message belongs to, answers included (2025-11-25, basic/utilities/tasks).
const TASK: &str = "io.modelcontextprotocol/related-task";

/// The answer to a server's request.
fn answer(request: &Message) -> String {
    let id = request.id().map_or(Value::Null, |id| serde_json::from_str(&id.to_json()).unwrap_or_default());
    let error = json!({ "code": -32601, "message": "Method not found" });
    let (member, mut body) = result(request.method().unwrap_or_default()).map_or(("error", error), |r| ("result", r));
    if let Some(task) = request.meta().and_then(|meta| meta.get(TASK)).filter(|_| member == "result") {
        body["_meta"] = json!({ TASK: task });
    }
    json!({ "jsonrpc": "2.0", "id": id, member: body }).to_string()
}

/// The least that a client with our capabilities may answer to `method`; `None` for what it does not know.
pub fn result(method: &str) -> Option<Value> {
    Some(match method {
        "ping" => json!({}),
        "roots/list" => json!({ "roots": [{ "uri": "file:///tmp", "name": "tmp" }] }),
        "sampling/createMessage" => json!({
            "role": "assistant",
            "content": { "type": "text", "text": "A canned answer." },
            "model": "proof-canned",
            "stopReason": "endTurn",
        }),
        "elicitation/create" => json!({ "action": "decline" }),
        _ => return None,
    })
}

/// The answers to the requests within an `input_required` result (modern era), by their keys.
pub fn inputs(result: &Value) -> serde_json::Map<String, Value> {
    let asked = result.get("inputRequests").and_then(Value::as_object).into_iter().flatten();
    let answered =
        asked.filter_map(|(key, request)| Some((key.clone(), self::result(request.get("method")?.as_str()?)?)));
    answered.collect()
}
