//! Tasks of the extension `io.modelcontextprotocol/tasks` (2026-07-28), which the server makes where the client can deal
//! with them.

use std::time::Duration;

use net::client::Exchange;
use serde_json::{Value, json};
use wire::meta::{CLIENT_CAPABILITIES, TASKS_CAPABILITY, TASKS_EXTENSION};
use wire::{Era, Message, RequestId, Transport};

use super::{CALLS, LOOKS, NOBODYS, ToolCall, calls, is_over, pause, put, status, without_credentials};
use crate::check::answers;
use crate::check::context::{Abort, ProbeContext, Reply, client_capabilities};
use crate::check::probe::{Probe, Script};
use crate::check::probes::tools;
use crate::check::survey::PAGES;

/// How many rounds of input a call is given before it becomes a task.
const ROUNDS: usize = 3;

/// How many calls are tried where no hint tells which become tasks: that is the server's own choice.
const TRIED: usize = 12;

pub(in super::super) const TASKS: Probe =
    Probe::fresh("tasks-extension", tasks).era(Era::Modern).needs(TASKS_CAPABILITY).when(|setting, survey| {
        survey.tools.iter().any(|tool| setting.calls.allow(tool)) || !setting.hints.tasks.is_empty()
    });

/// Plays each call without and with the extension, then what belongs to no call.
fn tasks(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        case.list("tools/list", "tools", PAGES).await?;
        let candidates = calls(case, tools::callable(case).into_iter().take(TRIED));
        let mut became = Vec::new();
        for (number, call) in candidates.iter().enumerate() {
            if one(case, call, number).await? {
                became.push(call);
            }
            if became.len() == CALLS && case.setting().hints.tasks.is_empty() {
                break;
            }
        }
        if let Some(call) = became.first().copied().or(candidates.first()) {
            cancelled(case, call.clone()).await?;
        }
        for method in ["tasks/get", "tasks/cancel"] {
            case.request(method, with(case, json!({ "taskId": NOBODYS }))).await?;
        }
        update(case, &json!(NOBODYS), json!({ "proof-no-such-key": { "action": "decline" } })).await?;
        case.quiet("after a task", Duration::from_millis(200)).await;
        Ok(())
    })
}

/// Parameters of a request that declares the extension.
fn with(case: &ProbeContext, mut params: Value) -> Value {
    let mut capabilities = client_capabilities(case.revision());
    capabilities["extensions"] = json!({ TASKS_EXTENSION: {} });
    params["_meta"][CLIENT_CAPABILITIES] = capabilities;
    params
}

/// Makes a call that declares the extension, and gives what it is asked for first.
async fn begin(case: &ProbeContext, (name, arguments): &ToolCall, token: &str) -> Result<Option<Value>, Abort> {
    let mut call = json!({ "name": name, "arguments": arguments, "_meta": { "progressToken": case.setting().tokens.text(token) } });
    for _ in 0..=ROUNDS {
        let begun = case.request("tools/call", with(case, call.clone())).await?;
        let Some(result) = begun.result() else { return Ok(None) };
        match result.get("resultType").and_then(Value::as_str) {
            Some("input_required") => {
                call["inputResponses"] = Value::Object(answers::inputs(result, case.manner()));
                if let Some(state) = result.get("requestState") {
                    call["requestState"] = state.clone();
                }
            }
            Some("task") => return Ok(Some(result.clone())),
            // As a task it may be, though it does not say so: what becomes of it is looked at all the same.
            _ => return Ok(result.get("taskId").map(|_| result.clone())),
        }
    }
    Ok(None)
}

/// A call without and with the extension, from its beginning to whatever may be said of it after its end; whether it became
/// a task. Where that is only tried, the call without comes after the task.
async fn one(case: &ProbeContext, call: &ToolCall, number: usize) -> Result<bool, Abort> {
    let (name, arguments) = call;
    let is_tried = number >= CALLS && case.setting().hints.tasks.is_empty();
    if !is_tried {
        case.request("tools/call", json!({ "name": name, "arguments": arguments })).await?;
    }
    let Some(task) = begin(case, call, &format!("task-{number}")).await? else { return Ok(false) };
    let Some(id) = task.get("taskId").cloned() else { return Ok(false) };
    if is_tried {
        case.request("tools/call", json!({ "name": name, "arguments": arguments })).await?;
    }
    let which = json!({ "taskId": id });
    case.request("tasks/get", with(case, which.clone())).await?;
    let subscription = subscribe(case, &id).await?;
    let over = watched(case, &which).await?;
    case.request("tasks/get", with(case, which.clone())).await?;
    for method in ["tasks/get", "tasks/cancel"] {
        case.request(method, which.clone()).await?;
    }
    case.request("tasks/update", json!({ "taskId": id, "inputResponses": {} })).await?;
    without_credentials(case, "tasks/get", with(case, which.clone())).await?;
    case.request("tasks/cancel", with(case, which.clone())).await?;
    if over {
        case.request("tasks/get", with(case, which)).await?;
    }
    unsubscribe(case, subscription).await?;
    Ok(true)
}

/// Looks at a task as often as its server suggests, and gives what it asks for; whether it is over.
async fn watched(case: &ProbeContext, which: &Value) -> Result<bool, Abort> {
    for _ in 0..LOOKS {
        let looked = case.request("tasks/get", with(case, which.clone())).await?;
        let Some(task) = looked.result() else { return Ok(false) };
        if is_over(task) {
            return Ok(true);
        }
        if status(task) == "input_required" {
            answered(case, which, task).await?;
        }
        pause(task, "pollIntervalMs").await;
    }
    Ok(false)
}

/// Looks again, answers what was not asked, and then what was.
async fn answered(case: &ProbeContext, which: &Value, task: &Value) -> Result<(), Abort> {
    for _ in 0..2 {
        case.request("tasks/get", with(case, which.clone())).await?;
    }
    update(case, &which["taskId"], json!({ "proof-no-such-key": { "action": "decline" } })).await?;
    update(case, &which["taskId"], Value::Object(answers::inputs(task, case.manner()))).await?;
    Ok(())
}

async fn update(case: &ProbeContext, id: &Value, answers: Value) -> Result<Reply, Abort> {
    case.request("tasks/update", with(case, json!({ "taskId": id, "inputResponses": answers }))).await
}

/// Subscribes to a task without the extension, and then with it: the subscription.
async fn subscribe(case: &ProbeContext, id: &Value) -> Result<(RequestId, Exchange), Abort> {
    let wanted = json!({ "notifications": { "taskIds": [id] } });
    let refused = put(case, "subscriptions/listen", wanted.clone()).await?;
    begun(case, refused).await;
    let id = case.next_id();
    let exchange = case.say(&case.request_text(&json!(id), "subscriptions/listen", with(case, wanted))).await?;
    begun(case, RequestId::from(id)).await;
    Ok((RequestId::from(id), exchange))
}

/// Waits until a subscription is acknowledged or refused.
async fn begun(case: &ProbeContext, id: RequestId) {
    let begun = |m: &Message| m.method() == Some("notifications/subscriptions/acknowledged") || m.id() == Some(&id);
    case.connection().wait_for(begun, case.short()).await;
}

async fn unsubscribe(case: &ProbeContext, (id, exchange): (RequestId, Exchange)) -> Result<(), Abort> {
    if case.transport() == Transport::StreamableHttp {
        exchange.abort();
    } else {
        let id: Value = serde_json::from_str(&id.to_json()).unwrap_or_default();
        case.notify("notifications/cancelled", json!({ "requestId": id })).await?;
    }
    Ok(())
}

/// A task that is cancelled while it is under way.
async fn cancelled(case: &ProbeContext, call: ToolCall) -> Result<(), Abort> {
    let hint = case.setting().hints.slow.as_ref().map(|hint| (hint.tool.clone(), hint.arguments.clone()));
    let call = hint.unwrap_or(call);
    let Some(task) = begin(case, &call, "taken-back").await? else { return Ok(()) };
    let which = json!({ "taskId": task.get("taskId").cloned().unwrap_or_default() });
    case.request("tasks/cancel", with(case, which.clone())).await?;
    for _ in 0..2 {
        case.request("tasks/get", with(case, which.clone())).await?;
    }
    Ok(())
}
