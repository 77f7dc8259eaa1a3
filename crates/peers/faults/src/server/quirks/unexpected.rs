//! What tries clients beside their answers: words out of season that a client lets pass, or refuses, and goes on.

use std::time::Duration;

use net::service::{Link, Reply};
use serde_json::{Value, json};
use wire::error_code::{INVALID_PARAMS, RESOURCE_NOT_FOUND};
use wire::revision::{R2025_03_26, R2025_11_25};

use super::calls::{answer, before_calls, note, questions_first, settled};
use super::lists::page;
use super::quirk;
use crate::server::{Fault, Kind, ServiceRequest};

/// The id of a request that was answered long before it is cancelled.
const EARLY: &str = "scenario-early";
/// How long a question is open before it is taken back.
const MOMENT: Duration = Duration::from_millis(400);
/// How long is listened for what must not come any more.
const LISTENING: Duration = Duration::from_millis(1500);

pub(super) const UNEXPECTED: &[&Fault] = &[
    UNKNOWN_COMPLETIONS,
    CANCELS_ODDLY,
    BATCHED,
    SAMPLES_NONSENSE,
    SAMPLES_AS_TASK,
    SAMPLES_UNBALANCED,
    SAMPLES_WITH_PROGRESS,
    SAMPLES_WITH_TOOLS,
    CANCELS_ITS_QUESTION,
    ASKS_IN_ANOTHER_MODE,
    ASKS_BY_REQUEST,
    DISCOVER_REFUSED,
    TASK_ELSEWHERE,
    PAGES_OF_ONE_SESSION,
    OLD_NOT_FOUND_CODE,
    CURSOR_REFUSED,
];

/// The quirk `unknown-completions`.
pub const UNKNOWN_COMPLETIONS: &Fault = &quirk(
    "unknown-completions",
    Kind::Handles(|asked, link, reply| {
        let over = json!({ "elicitationId": "scenario-of-nobody" });
        before_calls(asked, link, reply, || vec![note("notifications/elicitation/complete", &over)])
    }),
)
.since(R2025_11_25);

/// The quirk `cancels-oddly`.
pub const CANCELS_ODDLY: &Fault = &quirk("cancels-oddly", Kind::Handles(cancel_oddly));

/// The quirk `batched`.
pub const BATCHED: &Fault = &quirk(
    "batched",
    Kind::Handles(|asked, link, reply| {
        let ping = |id: &str| json!({ "jsonrpc": "2.0", "id": id, "method": "ping" });
        let pings = json!([ping("scenario-b1"), ping("scenario-b2")]);
        let note = json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" });
        let once = asked.calls == 0;
        let words = || if once { vec![pings.to_string(), json!([note, note]).to_string()] } else { Vec::new() };
        before_calls(asked, link, reply, words)
    }),
)
.since(R2025_03_26)
.until(R2025_03_26);

/// The quirk `samples-nonsense`.
pub const SAMPLES_NONSENSE: &Fault = &quirk(
    "samples-nonsense",
    Kind::Handles(|asked, link, reply| {
        let text = json!({ "type": "text", "text": "Hello" });
        let asks = |message: Value| ("sampling/createMessage", json!({ "messages": [message], "maxTokens": 9 }));
        let nonsense = [asks(json!({ "role": "user" })), asks(json!({ "role": "nobody", "content": text }))];
        questions_first(asked, link, reply, &nonsense)
    }),
)
.legacy();

/// The quirk `samples-as-task`.
pub const SAMPLES_AS_TASK: &Fault = &quirk(
    "samples-as-task",
    Kind::Handles(|asked, link, reply| {
        let content = json!({ "type": "text", "text": "Hello" });
        let messages = json!([{ "role": "user", "content": content }]);
        let params = json!({ "messages": messages, "maxTokens": 9, "task": { "ttl": 1000 } });
        questions_first(asked, link, reply, &[("sampling/createMessage", params)])
    }),
)
.since(R2025_11_25)
.legacy();

/// The quirk `samples-unbalanced`.
pub const SAMPLES_UNBALANCED: &Fault = &quirk(
    "samples-unbalanced",
    Kind::Handles(|asked, link, reply| {
        let text = json!({ "type": "text", "text": "What is 17 plus 25?" });
        let used = json!({ "type": "tool_use", "id": "scenario-use", "name": "add", "input": { "a": 17, "b": 25 } });
        let result =
            json!({ "type": "tool_result", "toolUseId": "scenario-use", "content": [{ "type": "text", "text": "42" }] });
        let asks = |last: Value| {
            let turns = [("user", json!([text])), ("assistant", json!([used])), ("user", last)];
            let messages: Vec<_> =
                turns.into_iter().map(|(role, content)| json!({ "role": role, "content": content })).collect();
            ("sampling/createMessage", json!({ "messages": messages, "maxTokens": 90 }))
        };
        questions_first(asked, link, reply, &[asks(json!([text])), asks(json!([result, text]))])
    }),
)
.since(R2025_11_25)
.legacy();

/// The quirk `samples-with-progress`.
pub const SAMPLES_WITH_PROGRESS: &Fault = &quirk(
    "samples-with-progress",
    Kind::Handles(|asked, link, reply| {
        let question = sampling(&json!({ "_meta": { "progressToken": "scenario-progress" } }));
        questions_first(asked, link, reply, &[question])
    }),
)
.legacy();

/// The quirk `samples-with-tools`.
pub const SAMPLES_WITH_TOOLS: &Fault = &quirk(
    "samples-with-tools",
    Kind::Handles(|asked, link, reply| {
        if !asked.is_modern() {
            return questions_first(asked, link, reply, &[sampling(&with_tool())]);
        }
        if !asked.is("tools/call") || asked.calls > 0 || !asked.meta("clientCapabilities")["sampling"].is_object() {
            return reply;
        }
        let (method, params) = sampling(&with_tool());
        let result = json!({
            "resultType": "input_required", "requestState": "scenario-with-tools",
            "inputRequests": { "model": { "method": method, "params": params } },
        });
        answer(&json!({ "jsonrpc": "2.0", "id": asked.message["id"], "result": result })).into()
    }),
)
.since(R2025_11_25);

fn with_tool() -> Value {
    let schema = json!({ "type": "object", "properties": {} });
    json!({ "tools": [{ "name": "scenario_tool", "inputSchema": schema }], "toolChoice": { "mode": "auto" } })
}

/// The quirk `cancels-its-question`.
pub const CANCELS_ITS_QUESTION: &Fault = &quirk("cancels-its-question", Kind::Handles(cancel_question)).legacy();

/// The quirk `asks-in-another-mode`.
pub const ASKS_IN_ANOTHER_MODE: &Fault = &quirk(
    "asks-in-another-mode",
    Kind::Handles(|asked, link, reply| {
        let params = json!({
            "mode": "url", "message": "Please visit this page", "url": "https://scenario.example/page",
            "elicitationId": "scenario-mode",
        });
        // A form that does not say that it is one may come, all the same.
        let form = json!({ "message": "Who?", "requestedSchema": { "type": "object", "properties": {} } });
        questions_first(asked, link, reply, &[("elicitation/create", params), ("elicitation/create", form)])
    }),
)
.since(R2025_11_25)
.legacy();

/// The quirk `asks-by-request`.
pub const ASKS_BY_REQUEST: &Fault = &quirk(
    "asks-by-request",
    Kind::Handles(|asked, link, reply| {
        before_calls(asked, link, reply, || {
            let request =
                |id: &str, method: &str| json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": {} });
            vec![request("scenario-m1", "ping").to_string(), request("scenario-m2", "roots/list").to_string()]
        })
    }),
)
.modern();

/// The quirk `discover-refused`.
pub const DISCOVER_REFUSED: &Fault = &quirk(
    "discover-refused",
    Kind::Handles(|asked, _, reply| {
        if !asked.is("server/discover") {
            return reply;
        }
        let error = json!({ "code": -32000, "message": "Say hello first" });
        answer(&json!({ "jsonrpc": "2.0", "id": asked.message["id"], "error": error })).into()
    }),
)
.modern();

/// The quirk `task-elsewhere`.
pub const TASK_ELSEWHERE: &Fault = &quirk(
    "task-elsewhere",
    Kind::Handles(|asked, _, reply| {
        if !asked.is("prompts/list") {
            return reply;
        }
        let made = "2026-07-28T00:00:00Z";
        let task = json!({
            "resultType": "task", "taskId": "scenario-task-elsewhere", "status": "working", "createdAt": made,
            "lastUpdatedAt": made, "ttlMs": 60_000, "pollIntervalMs": 100,
        });
        answer(&json!({ "jsonrpc": "2.0", "id": asked.message["id"], "result": task })).into()
    }),
)
.modern();

/// The quirk `pages-of-one-session`.
pub const PAGES_OF_ONE_SESSION: &Fault = &quirk(
    "pages-of-one-session",
    Kind::Handles(|asked, _, reply| match asked.param("cursor").as_str() {
        _ if !asked.is("tools/list") => reply,
        None => page(asked, &["alpha_100001"], Some(&format!("after-{}", asked.before))),
        Some(_) => page(asked, &["omega_100002"], None),
    }),
)
.legacy();

/// The quirk `old-not-found-code`.
pub const OLD_NOT_FOUND_CODE: &Fault = &quirk(
    "old-not-found-code",
    Kind::Handles(|asked, _, reply| {
        if !asked.is("resources/read") {
            return reply;
        }
        let error = json!({ "code": RESOURCE_NOT_FOUND, "message": "Resource not found", "data": { "uri": asked.param("uri") } });
        answer(&json!({ "jsonrpc": "2.0", "id": asked.message["id"], "error": error })).into()
    }),
)
.modern();

/// The quirk `cursor-refused`.
pub const CURSOR_REFUSED: &Fault = &quirk(
    "cursor-refused",
    Kind::Handles(|asked, _, reply| match asked.param("cursor").as_str() {
        _ if !asked.is("tools/list") => reply,
        None => page(asked, &["alpha_100001"], Some("gone-by-then")),
        Some(_) => {
            let error = json!({ "code": INVALID_PARAMS, "message": "This cursor is no longer good" });
            answer(&json!({ "jsonrpc": "2.0", "id": asked.message["id"], "error": error })).into()
        }
    }),
);

/// A request for a word of the client's model, with these parameters besides.
fn sampling(more: &Value) -> (&'static str, Value) {
    let text = json!({ "type": "text", "text": "Hello" });
    let mut params = json!({ "messages": [{ "role": "user", "content": text }], "maxTokens": 9 });
    for (name, value) in more.as_object().into_iter().flatten() {
        params[name] = value.clone();
    }
    ("sampling/createMessage", params)
}

/// Asks something before the first tool's result, and soon no longer wants to know; listens for a while then.
fn cancel_question(asked: &ServiceRequest, link: &Link, reply: Reply) -> Reply {
    if !asked.is("tools/call") || asked.calls > 0 {
        return reply;
    }
    let link = link.clone();
    Reply::later(async move {
        let (method, params) = sampling(&json!({ "_meta": { "progressToken": "scenario-cancelled" } }));
        // Dropped, it is cancelled.
        let _ = tokio::time::timeout(MOMENT, link.request(method, params)).await;
        tokio::time::sleep(LISTENING).await;
        settled(reply).await
    })
}

/// Cancels what it never asked, what nobody can tell, and what was answered before.
fn cancel_oddly(asked: &ServiceRequest, link: &Link, reply: Reply) -> Reply {
    let cancelled = |params: Value| note("notifications/cancelled", &params);
    let early = json!({ "jsonrpc": "2.0", "id": EARLY, "method": "ping" }).to_string();
    let legacy = !asked.is_modern();
    let words = match asked.calls {
        0 if legacy => vec![cancelled(json!({ "requestId": "scenario-never" })), cancelled(json!({})), early],
        0 => vec![cancelled(json!({ "requestId": "scenario-never" })), cancelled(json!({}))],
        1 if legacy => vec![cancelled(json!({ "requestId": EARLY }))],
        _ => Vec::new(),
    };
    before_calls(asked, link, reply, || words)
}
