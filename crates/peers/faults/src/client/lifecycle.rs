//! Greetings and ends (basic/lifecycle).

use serde_json::{Value, json};
use wire::Transport;

use super::{Fault, Kind, fault, is};

pub(super) const FAULTS: &[Fault] = &[
    fault(
        "asks-for-an-old-version",
        "lifecycle.client-version-latest",
        "asks for the oldest version that it knows",
        Kind::Sends(|message| {
            let found = is(message, "initialize");
            if found {
                message["params"]["protocolVersion"] = json!("2024-11-05");
            }
            found
        }),
    )
    .legacy(),
    fault(
        "initialized-missing",
        "lifecycle.client-initialized-sent",
        "never sends `notifications/initialized`",
        Kind::Instead(|message| is(message, "notifications/initialized").then(Vec::new)),
    )
    .legacy(),
    fault(
        "asks-before-greeting",
        "lifecycle.client-greets-first",
        "lists the tools before `initialize`",
        Kind::Instead(|message| is(message, "initialize").then(|| vec![tools_list(), message.to_string()])),
    )
    .legacy()
    .breaks_too(&["http.session-id-sent"]),
    fault(
        "asks-while-greeting",
        "lifecycle.client-waits-for-greeting",
        "lists the tools before `initialize` is answered",
        Kind::Instead(|message| is(message, "initialize").then(|| vec![message.to_string(), tools_list()])),
    )
    .legacy()
    .seen_in("slow-greeting")
    .seen_over(Transport::Stdio),
    fault(
        "version-not-latest",
        "lifecycle.client-version-latest",
        "asks for the oldest version that it speaks",
        Kind::Sends(|message| greeting(message, "protocolVersion", json!("2024-11-05"))),
    )
    .legacy(),
    fault(
        "version-unknown",
        "lifecycle.client-version-supported",
        "asks for a version that does not exist",
        Kind::Sends(|message| greeting(message, "protocolVersion", json!("2023-02-29"))),
    )
    .legacy(),
    fault(
        "timeouts-not-cancelled",
        "cancellation.client-notifies",
        "does not cancel requests that time out",
        Kind::Instead(|message| is(message, "notifications/cancelled").then(Vec::new)),
    )
    .modern()
    .stdio()
    .seen_in("hostile.silence")
    .breaks_too(&["stdio.cancels-by-notification"]),
    fault(
        "answers-cancelled-request",
        "cancellation.client-not-answered",
        "answers a request that the server cancelled",
        Kind::AnswersCancelled(|question| {
            let content = json!({ "type": "text", "text": "Too late" });
            let said = json!({ "role": "assistant", "model": "none", "content": content });
            json!({ "jsonrpc": "2.0", "id": question, "result": said }).to_string()
        }),
    )
    .legacy()
    .seen_in("request-cancelled"),
    fault(
        "fails-on-late-response",
        "cancellation.client-late-answers-ignored",
        "stops at the response to a call that it cancelled",
        Kind::Chokes,
    )
    .legacy()
    .stdio()
    .seen_in("late-answer"),
    fault(
        "cursor-kept",
        "pagination.cursors-not-persisted",
        "uses the first cursor of one session in another",
        Kind::KeepsCursor,
    )
    .legacy()
    .seen_in("two-sessions"),
    fault(
        "kills-its-server",
        "stdio.shutdown-in-order",
        "kills its server instead of closing its input",
        Kind::Vanishes,
    )
    .stdio(),
    fault("leaves-its-session", "http.session-ended-by-delete", "exits without ending its session", Kind::Vanishes)
        .legacy()
        .http(),
];

fn tools_list() -> String {
    json!({ "jsonrpc": "2.0", "id": 900_001, "method": "tools/list" }).to_string()
}

fn greeting(message: &mut Value, name: &str, value: Value) -> bool {
    let found = is(message, "initialize");
    if found {
        message["params"][name] = value;
    }
    found
}
