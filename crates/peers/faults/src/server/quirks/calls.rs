//! Quirks of tool calls: what comes before their results, instead of them, or without end. No check of servers looks for
//! them; `proof check-client` plays them as scenarios.

use std::time::Duration;

use net::service::{Answer, Link, Reply};
use serde_json::{Value, json};

use super::quirk;
use crate::server::{Fault, Kind, ServiceRequest, drop_member};

/// How large an oversized message is.
const OVERSIZED: usize = 6 << 20;
/// How long a stream seems to have no end, and how often it says something meanwhile.
const ENDLESS: Duration = Duration::from_secs(5);
const BEAT: Duration = Duration::from_millis(50);
/// How long a result is held back for answers of the client's.
const HELD: Duration = Duration::from_secs(5);
/// How often a client is asked again before it is let go.
const ROUNDS: usize = 40;

pub(super) const CALLS: &[&Fault] = &[
    NO_RESULT_TYPE,
    UNKNOWN_RESULT_TYPE,
    FOREIGN_ANSWER_FIRST,
    ANSWERED_TWICE,
    GARBAGE_FIRST,
    OVERSIZED_FIRST,
    UNKNOWN_NOTIFICATION,
    UNKNOWN_REQUEST,
    UNDECLARED_REQUESTS,
    PINGED,
    ENDLESS_STREAM,
    ASKS_WITHOUT_END,
    ERROR_WITH_DATA,
    FIRST_CALL_UNANSWERED,
];

/// The quirk `no-result-type`.
pub const NO_RESULT_TYPE: &Fault = &quirk(
    "no-result-type",
    Kind::Answers(|asked, answer| {
        if asked.is("tools/call") && asked.param("name") == "test_mrtr_no_result_type" {
            drop_member(&mut answer["result"], "resultType");
        }
    }),
)
.modern();

/// The quirk `unknown-result-type`.
pub const UNKNOWN_RESULT_TYPE: &Fault = &quirk(
    "unknown-result-type",
    Kind::Results("tools/call", |answer| {
        answer["result"]["resultType"] = json!("mystery");
    }),
)
.modern();

/// The quirk `foreign-answer-first`.
pub const FOREIGN_ANSWER_FIRST: &Fault = &quirk(
    "foreign-answer-first",
    Kind::Handles(|asked, link, reply| {
        before_calls(asked, link, reply, || vec![text(&json!("nobody-asked-this"), "For somebody else")])
    }),
);

/// The quirk `answered-twice`.
pub const ANSWERED_TWICE: &Fault = &quirk(
    "answered-twice",
    Kind::Handles(|asked, link, reply| {
        let id = asked.message["id"].clone();
        before_calls(asked, link, reply, move || vec![text(&id, "The first of two answers")])
    }),
);

/// The quirk `garbage-first`.
pub const GARBAGE_FIRST: &Fault = &quirk(
    "garbage-first",
    Kind::Handles(|asked, link, reply| {
        before_calls(asked, link, reply, || {
            vec!["{\"jsonrpc\":\"2.0\",\"id\":".to_owned(), "[]".to_owned(), "7".to_owned()]
        })
    }),
);

/// The quirk `oversized-first`.
pub const OVERSIZED_FIRST: &Fault = &quirk(
    "oversized-first",
    Kind::Handles(|asked, link, reply| {
        before_calls(asked, link, reply, || {
            let once = (asked.calls == 0).then_some(OVERSIZED);
            once.map(|size| note("notifications/scenario", &json!({ "data": "x".repeat(size) }))).into_iter().collect()
        })
    }),
);

/// The quirk `unknown-notification`.
pub const UNKNOWN_NOTIFICATION: &Fault = &quirk(
    "unknown-notification",
    Kind::Handles(|asked, link, reply| {
        before_calls(asked, link, reply, || {
            vec![note("notifications/nobody_knows", &json!({ "odd": [1, { "two": null }] }))]
        })
    }),
);

/// The quirk `unknown-request`.
pub const UNKNOWN_REQUEST: &Fault = &quirk(
    "unknown-request",
    Kind::Handles(|asked, link, reply| questions_first(asked, link, reply, &[("no-such/method", json!({}))])),
)
.legacy();

/// The quirk `undeclared-requests`.
pub const UNDECLARED_REQUESTS: &Fault = &quirk(
    "undeclared-requests",
    Kind::Handles(|asked, link, reply| {
        before_calls(asked, link, reply, || {
            let request = |id: &str, method: &str, params: Value| {
                json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
            };
            let content = json!({ "type": "text", "text": "Hello" });
            vec![
                request(
                    "scenario-s",
                    "sampling/createMessage",
                    json!({ "messages": [{ "role": "user", "content": content }], "maxTokens": 1 }),
                ),
                request("scenario-r", "roots/list", json!({})),
                request(
                    "scenario-e",
                    "elicitation/create",
                    json!({ "message": "Who?", "requestedSchema": { "type": "object", "properties": {} } }),
                ),
            ]
        })
    }),
)
.legacy();

/// The quirk `pinged`.
pub const PINGED: &Fault = &quirk(
    "pinged",
    Kind::Handles(|asked, link, reply| {
        let ping = json!({ "jsonrpc": "2.0", "id": "scenario-ping", "method": "ping" }).to_string();
        let reply = before_calls(asked, link, reply, || vec![ping]);
        // A key that is reserved, and has no meaning yet.
        let reserved = json!({ "_meta": { "io.modelcontextprotocol.scenario/odd": [null, 1] } });
        questions_first(asked, link, reply, &[("ping", json!({})), ("ping", reserved)])
    }),
)
.legacy();

/// The quirk `endless-stream`.
pub const ENDLESS_STREAM: &Fault = &quirk("endless-stream", Kind::Handles(endless));

/// The quirk `asks-without-end`.
pub const ASKS_WITHOUT_END: &Fault = &quirk("asks-without-end", Kind::Handles(ask_without_end)).modern();

/// The quirk `error-with-data`.
pub const ERROR_WITH_DATA: &Fault = &quirk(
    "error-with-data",
    Kind::Handles(|asked, _, reply| {
        if !asked.is("tools/call") {
            return reply;
        }
        let failure =
            json!({ "code": -31999, "message": "A code of this server's own", "data": { "why": ["because"] } });
        answer(&json!({ "jsonrpc": "2.0", "id": asked.message["id"], "error": failure })).into()
    }),
);

/// The quirk `first-call-unanswered`.
pub const FIRST_CALL_UNANSWERED: &Fault = &quirk(
    "first-call-unanswered",
    Kind::Handles(|asked, _, reply| {
        let first = asked.is("tools/call") && asked.calls == 0;
        if first { Reply::later(std::future::pending()) } else { reply }
    }),
);

pub(super) fn answer(value: &Value) -> Answer {
    Answer::raw(value.to_string().into_bytes(), value.pointer("/error/code").and_then(Value::as_i64))
}

pub(super) fn note(method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string()
}

/// The result of a call, of whatever revision.
fn text(id: &Value, text: &str) -> String {
    let result = json!({ "resultType": "complete", "content": [{ "type": "text", "text": text }] });
    json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string()
}

/// Sends something before a tool's result.
pub(super) fn before_calls(
    asked: &ServiceRequest,
    link: &Link,
    reply: Reply,
    words: impl FnOnce() -> Vec<String>,
) -> Reply {
    if asked.is("tools/call") {
        for word in words() {
            let _ = link.send(word);
        }
    }
    reply
}

/// Asks something before the first tool's result, which is held back until the client has answered, or has had its time.
pub(super) fn questions_first(
    asked: &ServiceRequest,
    link: &Link,
    reply: Reply,
    questions: &[(&'static str, Value)],
) -> Reply {
    if !asked.is("tools/call") || asked.calls > 0 {
        return reply;
    }
    // Each in a task of its own: given up here, it would be cancelled, and who is cancelled owes no answer.
    let ask = |(method, params): &(&'static str, Value)| {
        let (link, method, params) = (link.clone(), *method, params.clone());
        tokio::spawn(async move { link.request(method, params).await })
    };
    let asking: Vec<_> = questions.iter().map(ask).collect();
    Reply::later(async move {
        let answered = async {
            for one in asking {
                let _ = one.await;
            }
        };
        let _ = tokio::time::timeout(HELD, answered).await;
        settled(reply).await
    })
}

pub(super) async fn settled(reply: Reply) -> Answer {
    match reply {
        Reply::Now(answer) => answer,
        Reply::Later(pending) => pending.await,
    }
}

/// The first call is under way for long, and its stream never falls silent.
fn endless(asked: &ServiceRequest, link: &Link, reply: Reply) -> Reply {
    if !asked.is("tools/call") || asked.calls > 0 {
        return reply;
    }
    let (link, token) = (link.clone(), asked.message.pointer("/params/_meta/progressToken").cloned());
    Reply::later(async move {
        let begun = tokio::time::Instant::now();
        let mut progress = 0;
        while begun.elapsed() < ENDLESS {
            tokio::time::sleep(BEAT).await;
            progress += 1;
            if let Some(token) = &token {
                let _ =
                    link.send(note("notifications/progress", &json!({ "progressToken": token, "progress": progress })));
            }
        }
        settled(reply).await
    })
}

/// Each answer of the client is followed by the same question.
fn ask_without_end(asked: &ServiceRequest, _: &Link, reply: Reply) -> Reply {
    if !asked.is("tools/call") || asked.calls > ROUNDS {
        return reply;
    }
    let schema = json!({ "type": "object", "properties": { "again": { "type": "boolean" } } });
    let request =
        json!({ "method": "elicitation/create", "params": { "message": "Again?", "requestedSchema": schema } });
    let asks = json!({ "resultType": "input_required", "inputRequests": { "again": request }, "requestState": format!("round-{}", asked.calls) });
    answer(&json!({ "jsonrpc": "2.0", "id": asked.message["id"], "result": asks })).into()
}
