//! What tries clients: servers that do wrong, or what only looks wrong, where any client comes by: at its first request, at
//! lists, at calls of tools. No check of servers looks for them; `proof check-client` plays them as scenarios.

use std::time::Duration;

use net::server::http::{HeaderValue, Method};
use net::service::{Answer, Link, Reply};
use serde_json::{Value, json};
use wire::revision::{R2025_11_25, R2026_07_28};

use super::quirk;
use crate::server::base::error;
use crate::server::sessions::SessionIds;
use crate::server::{Fault, HTTP, Http, Kind, ServiceRequest, drop_member};

/// How large an oversized message is.
const OVERSIZED: usize = 6 << 20;
/// How long a stream seems to have no end, and how often it says something meanwhile.
const ENDLESS: Duration = Duration::from_secs(5);
const BEAT: Duration = Duration::from_millis(50);
/// The tool on the page that does not say of which type it is.
const UNTYPED: &str = "untyped_100003";
/// How late a greeting is answered.
const LATE: Duration = Duration::from_millis(700);
/// What the endpoint must be offered.
const EVENT_STREAM: &str = "text/event-stream";
const EITHER: &str = "application/json, text/event-stream";
/// How long a result is held back for answers of the client's.
const HELD: Duration = Duration::from_secs(5);
/// How often a client is asked again before it is let go.
const ROUNDS: usize = 40;

pub(super) const CALLS: &[&Fault] = &[
    UNTYPED_LISTS,
    SESSION_FORGOTTEN,
    FIRST_REQUEST_REFUSED_FOR_VERSION,
    NO_RESULT_TYPE,
    UNKNOWN_VERSION,
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
    ICONS_OF_ALL_KINDS,
    UNKNOWN_MEMBERS,
    ERROR_WITH_DATA,
    GREETS_LATE,
    EMPTY_PAGE,
    EMPTY_CURSOR,
    UNTYPED_PAGE,
    UNKNOWN_LIST_TYPE,
    FIRST_CALL_UNANSWERED,
    ACCEPTS_ANYTHING,
];

/// The quirk `untyped-lists`.
pub const UNTYPED_LISTS: &Fault = &quirk(
    "untyped-lists",
    Kind::Answers(|asked, answer| {
        if asked.message["method"].as_str().is_some_and(|method| method.ends_with("/list")) {
            drop_member(&mut answer["result"], "resultType");
        }
    }),
)
.modern();

/// The quirk `first-request-refused-for-version`.
pub const FIRST_REQUEST_REFUSED_FOR_VERSION: &Fault =
    &quirk("first-request-refused-for-version", Kind::Handles(refuse_first)).modern();

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

/// The quirk `unknown-version`.
pub const UNKNOWN_VERSION: &Fault = &quirk(
    "unknown-version",
    Kind::Results("initialize", |answer| {
        answer["result"]["protocolVersion"] = json!("1999-12-31");
    }),
)
.legacy();

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

/// The quirk `icons-of-all-kinds`.
pub const ICONS_OF_ALL_KINDS: &Fault = &quirk(
    "icons-of-all-kinds",
    Kind::Results("tools/list", |answer| {
        let icons =
            ["javascript:alert(1)", "file:///etc/passwd", "data:text/html,<script>1</script>", "ftp://127.0.0.1/i.png"];
        for tool in answer["result"]["tools"].as_array_mut().into_iter().flatten() {
            tool["icons"] = icons.iter().map(|src| json!({ "src": src, "mimeType": "image/png" })).collect();
        }
    }),
)
.since(R2025_11_25);

/// The quirk `unknown-members`.
pub const UNKNOWN_MEMBERS: &Fault = &quirk(
    "unknown-members",
    Kind::Answers(|_, answer| {
        if let Some(result) = answer.get_mut("result").and_then(Value::as_object_mut) {
            result.insert("nobodyKnows".to_owned(), json!({ "odd": [null] }));
            result.entry("_meta").or_insert_with(|| json!({}))["drill.example/odd"] = json!(1);
        }
    }),
);

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

/// The quirk `greets-late`.
pub const GREETS_LATE: &Fault = &quirk(
    "greets-late",
    Kind::Handles(|asked, _, reply| {
        if !asked.is("initialize") {
            return reply;
        }
        Reply::later(async {
            tokio::time::sleep(LATE).await;
            settled(reply).await
        })
    }),
)
.legacy();

/// The quirk `empty-page`.
pub const EMPTY_PAGE: &Fault = &quirk(
    "empty-page",
    Kind::Handles(|asked, _, reply| match asked.param("cursor").as_str() {
        _ if !asked.is("tools/list") => reply,
        None => page(asked, &["alpha_100001"], Some("to-nothing")),
        Some("to-nothing") => page(asked, &[], Some("to-the-end")),
        Some(_) => page(asked, &["omega_100002"], None),
    }),
);

/// The quirk `empty-cursor`.
pub const EMPTY_CURSOR: &Fault = &quirk(
    "empty-cursor",
    Kind::Handles(|asked, _, reply| match asked.param("cursor").as_str() {
        _ if !asked.is("tools/list") => reply,
        None => page(asked, &["alpha_100001"], Some("to-the-second")),
        Some("") => page(asked, &["omega_100003"], None),
        Some(_) => page(asked, &["middle_100002"], Some("")),
    }),
)
.modern();

/// The quirk `untyped-page`.
pub const UNTYPED_PAGE: &Fault = &quirk(
    "untyped-page",
    Kind::Several(&[
        Kind::Handles(|asked, _, reply| match asked.param("cursor").as_str() {
            _ if !asked.is("tools/list") => reply,
            None => page(asked, &["alpha_100001"], Some("to-the-second")),
            Some("to-the-second") => page(asked, &["beta_100002"], Some("to-the-third")),
            Some("to-the-third") => page(asked, &[UNTYPED], Some("to-the-end")),
            Some(_) => page(asked, &["omega_100004"], None),
        }),
        Kind::Sends(|answer| {
            if answer.pointer("/result/tools/0/name") == Some(&json!(UNTYPED)) {
                drop_member(&mut answer["result"], "resultType");
            }
        }),
    ]),
)
.modern();

/// The quirk `unknown-list-type`.
pub const UNKNOWN_LIST_TYPE: &Fault = &quirk(
    "unknown-list-type",
    Kind::Handles(|asked, _, reply| match asked.param("cursor").as_str() {
        _ if !asked.is("tools/list") => reply,
        None => {
            let mut first = listed(asked, &["mystery_100001"], Some("to-a-mystery"));
            first["result"]["resultType"] = json!("mystery");
            answer(&first).into()
        }
        Some(_) => page(asked, &["omega_100002"], None),
    }),
)
.modern();

/// The quirk `first-call-unanswered`.
pub const FIRST_CALL_UNANSWERED: &Fault = &quirk(
    "first-call-unanswered",
    Kind::Handles(|asked, _, reply| {
        let first = asked.is("tools/call") && asked.calls == 0;
        if first { Reply::later(std::future::pending()) } else { reply }
    }),
);

/// The quirk `accepts-anything`.
pub const ACCEPTS_ANYTHING: &Fault = &quirk(
    "accepts-anything",
    Kind::Http(Http {
        head: |head, _| {
            let wanted = if head.method == Method::GET { EVENT_STREAM } else { EITHER };
            head.headers.insert("accept", HeaderValue::from_static(wanted));
        },
        ..HTTP
    }),
)
.http();

/// The quirk `session-forgotten`.
pub const SESSION_FORGOTTEN: &Fault = &quirk("session-forgotten", Kind::Sessions(SessionIds::Forgets)).legacy().http();

/// A list of tools under names that nobody knows from elsewhere.
fn listed(asked: &ServiceRequest, names: &[&str], next: Option<&str>) -> Value {
    let tool =
        |name: &&str| json!({ "name": name, "description": "Does nothing", "inputSchema": { "type": "object" } });
    let tools: Vec<Value> = names.iter().map(tool).collect();
    let mut result = json!({ "tools": tools });
    if let Some(next) = next {
        result["nextCursor"] = json!(next);
    }
    if asked.is_modern() {
        result["resultType"] = json!("complete");
        result["ttlMs"] = json!(0);
        result["cacheScope"] = json!("private");
    }
    json!({ "jsonrpc": "2.0", "id": asked.message["id"], "result": result })
}

pub(super) fn page(asked: &ServiceRequest, names: &[&str], next: Option<&str>) -> Reply {
    answer(&listed(asked, names, next)).into()
}

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

/// The first request of all is refused for its version, which is then said to be the one that is served.
fn refuse_first(asked: &ServiceRequest, _: &Link, reply: Reply) -> Reply {
    if asked.before > 0 {
        return reply;
    }
    let mut refusal = error(asked, -32022, "Unsupported protocol version");
    refusal["error"]["data"] =
        json!({ "supported": [R2026_07_28.as_str()], "requested": asked.meta("protocolVersion") });
    answer(&refusal).into()
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
