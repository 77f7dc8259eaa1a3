//! Tasks of 2025-11-25, which the client asks for.

use std::time::Duration;

use net::client::Outgoing;
use serde_json::{Value, json};
use wire::meta::RELATED_TASK;
use wire::{Era, RequestId, Revision, Transport};

use super::{CALLS, LOOKS, NOBODYS, ToolCall, calls, is_over, pause, put, status, without_credentials};
use crate::check::context::{Abort, ProbeContext, Setting};
use crate::check::probe::{Probe, Script};
use crate::check::probes::http::streams::open;
use crate::check::probes::tools;
use crate::check::survey::{PAGES, Survey};

/// How many tasks are made beside the two that are looked at.
const MORE: usize = 4;

const DECLARED: &str = "tasks.requests.tools.call";

pub(in super::super) const TASKS: Probe =
    Probe::fresh("tasks", tasks).since(Revision::R2025_11_25).era(Era::Legacy).needs(DECLARED).when(worth);

/// Whether a call is known that may be made and may run as a task.
pub(super) fn worth(setting: &Setting, survey: &Survey) -> bool {
    let hinted = |tool: &Value| {
        setting.hints.tasks.iter().any(|hint| tool.get("name").is_some_and(|name| *name == json!(hint.tool)))
    };
    survey.tools.iter().any(|tool| runs_as_task(tool) && (setting.calls.allow(tool) || hinted(tool)))
}

/// Whether a tool says that it runs as a task.
fn runs_as_task(tool: &Value) -> bool {
    matches!(tools::task_support(tool), Some("optional" | "required"))
}

/// The calls that may run as tasks.
pub(super) fn task_calls(case: &ProbeContext) -> Vec<ToolCall> {
    let mut calls = calls(case, tools::calls_of(case, runs_as_task).into_iter().take(CALLS));
    calls.retain(|call| is_of(case, call, runs_as_task));
    calls
}

/// Whether a call is one of such a tool.
fn is_of(case: &ProbeContext, call: &ToolCall, such: impl Fn(&Value) -> bool) -> bool {
    let named = |tool: &&Value| tool.get("name").is_some_and(|name| *name == json!(call.0));
    case.survey().tools.iter().find(named).is_some_and(such)
}

/// `_meta` that says that a message belongs to this task.
fn related(id: &Value) -> Value {
    json!({ RELATED_TASK: { "taskId": id } })
}

/// Plays each call plainly and as a task.
fn tasks(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        // What a task says while nobody asks it comes on the server's own stream.
        let ear = if case.transport() == Transport::StreamableHttp { Some(open(case, None).await?) } else { None };
        case.list("tools/list", "tools", PAGES).await?;
        for (number, call) in task_calls(case).iter().enumerate() {
            one(case, call, number).await?;
        }
        one_that_fails(case).await?;
        case.quiet("after a task", Duration::from_millis(200)).await;
        if let Some(ear) = ear {
            ear.abort();
        }
        Ok(())
    })
}

pub(in super::super) const SEVERAL: Probe = Probe { name: "several-tasks", script: several_tasks, ..TASKS };

/// Two tasks at a time, then what belongs to no task.
fn several_tasks(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        let ear = if case.transport() == Transport::StreamableHttp { Some(open(case, None).await?) } else { None };
        case.list("tools/list", "tools", PAGES).await?;
        several(case).await?;
        forbidden(case).await?;
        wrong(case).await?;
        case.quiet("after several tasks", Duration::from_millis(200)).await;
        if let Some(ear) = ear {
            ear.abort();
        }
        Ok(())
    })
}

/// Begins a task; its id, if it became one.
pub(super) async fn begin(
    case: &ProbeContext,
    (name, arguments): &ToolCall,
    wish: Value,
    token: &str,
) -> Result<Option<Value>, Abort> {
    let meta = json!({ "progressToken": case.setting().tokens.text(token) });
    let call = json!({ "name": name, "arguments": arguments, "task": wish, "_meta": meta });
    let begun = case.request("tools/call", call).await?;
    Ok(begun.result().and_then(|result| result.pointer("/task/taskId")).cloned())
}

/// A call without and with a task, from its beginning to whatever may be said of it after its end.
async fn one(case: &ProbeContext, call: &ToolCall, number: usize) -> Result<(), Abort> {
    let (name, arguments) = call;
    case.request("tools/call", json!({ "name": name, "arguments": arguments })).await?;
    // By lock with all, and with nothing of what may be wished.
    let wish = if number.is_multiple_of(2) { json!({ "ttl": 60_000, "taskId": "proof-own-id" }) } else { json!({}) };
    let Some(id) = begin(case, call, wish, &format!("task-{number}")).await? else { return Ok(()) };
    let which = json!({ "taskId": id });
    let result = put(case, "tasks/result", which.clone()).await?;
    let over = watched(case, &which).await?;
    if !over && case.survey().has("tasks.cancel") {
        case.request("tasks/cancel", which.clone()).await?;
    }
    case.connection().response(&result, case.short()).await;
    case.request("tasks/get", which.clone()).await?;
    if case.survey().has("tasks.cancel") {
        case.request("tasks/cancel", which.clone()).await?;
    }
    without_credentials(case, "tasks/get", which.clone()).await?;
    case.request("tasks/get", which).await?;
    Ok(())
}

/// A call of which the tools that were called meanwhile have shown that it fails in the tool, plainly and as a task.
async fn one_that_fails(case: &ProbeContext) -> Result<(), Abort> {
    let Some(call) = task_calls(case).into_iter().next() else { return Ok(()) };
    case.setting().learnt.settled().await;
    match case.setting().learnt.failure(&call.0) {
        Some(arguments) => one(case, &(call.0, arguments), 0).await,
        None => Ok(()),
    }
}

/// Looks at a task as often as its server suggests; whether it is over.
async fn watched(case: &ProbeContext, which: &Value) -> Result<bool, Abort> {
    for _ in 0..LOOKS {
        let looked = case.request("tasks/get", which.clone()).await?;
        let Some(task) = looked.result() else { return Ok(false) };
        if is_over(task) {
            return Ok(true);
        }
        pause(task, "pollInterval").await;
    }
    Ok(false)
}

/// Two tasks at a time: each is looked at with the other in the metadata, both are listed, here and elsewhere, and one is
/// cancelled.
async fn several(case: &ProbeContext) -> Result<(), Abort> {
    let slow = case.setting().hints.slow.as_ref().map(|hint| (hint.tool.clone(), hint.arguments.clone()));
    let Some(call) =
        slow.filter(|call| is_of(case, call, runs_as_task)).or_else(|| task_calls(case).into_iter().next())
    else {
        return Ok(());
    };
    let one = begin(case, &call, json!({}), "one-of-two").await?;
    let other = begin(case, &call, json!({}), "two-of-two").await?;
    let (Some(one), Some(other)) = (one, other) else { return Ok(()) };
    let which = json!({ "taskId": one });
    case.request("tasks/get", which.clone()).await?;
    misled(case, &one, &other).await?;
    if case.survey().has("tasks.list") {
        case.list("tasks/list", "tasks", PAGES).await?;
        if case.transport() != Transport::Stdio {
            case.on_another_connection(elsewhere).await?;
        }
    }
    let looked = case.request("tasks/get", which.clone()).await?;
    let open = looked.result().is_some_and(|task| matches!(status(task), "working" | "input_required"));
    if open && case.survey().has("tasks.cancel") {
        case.request("tasks/cancel", which.clone()).await?;
        case.request("tasks/get", which.clone()).await?;
        case.request("tasks/cancel", which.clone()).await?;
    }
    let cancelled = which;
    let which = json!({ "taskId": other });
    watched(case, &which).await?;
    // By now it would be over, had it not been cancelled.
    case.request("tasks/get", cancelled).await?;
    if case.survey().has("tasks.list") {
        // Enough for a list that has pages at all.
        let mut last = None;
        for _ in 0..MORE {
            last = begin(case, &call, json!({}), "one-of-several").await?.or(last);
        }
        case.list("tasks/list", "tasks", PAGES).await?;
        if let Some(last) = last {
            case.request("tasks/get", json!({ "taskId": last })).await?;
        }
    }
    case.request("tasks/get", which).await?;
    Ok(())
}

/// Looks at a task with another one, or none that there is, in the metadata. Some servers take the answer for a message of
/// that other task and keep it.
async fn misled(case: &ProbeContext, id: &Value, other: &Value) -> Result<(), Abort> {
    for other in [other, &json!(NOBODYS)] {
        let number = case.next_id();
        let look = json!({ "taskId": id, "_meta": related(other) });
        let text = case.request_text(&json!(number), "tasks/get", look);
        let looked = case.ask(RequestId::from(number), Outgoing::message(text), case.short()).await?;
        if looked.0.is_none() {
            break;
        }
    }
    case.request("tasks/get", json!({ "taskId": id })).await?;
    Ok(())
}

/// The tasks that another client sees.
async fn elsewhere(other: &ProbeContext) -> Result<(), Abort> {
    other.handshake().await?;
    other.list("tasks/list", "tasks", PAGES).await?;
    Ok(())
}

/// A tool that does not run as a task, plainly and as one.
async fn forbidden(case: &ProbeContext) -> Result<(), Abort> {
    let plain = |tool: &Value| !runs_as_task(tool);
    if let Some((name, arguments)) = tools::calls_of(case, plain).into_iter().next() {
        let call = json!({ "name": name, "arguments": arguments });
        case.request("tools/call", call.clone()).await?;
        let mut as_task = call;
        as_task["task"] = json!({ "ttl": 60_000 });
        case.request("tools/call", as_task).await?;
    }
    Ok(())
}

/// Requests about what does not exist.
async fn wrong(case: &ProbeContext) -> Result<(), Abort> {
    for method in ["tasks/get", "tasks/result"] {
        case.request(method, json!({ "taskId": NOBODYS })).await?;
    }
    if case.survey().has("tasks.cancel") {
        case.request("tasks/cancel", json!({ "taskId": NOBODYS })).await?;
    }
    if case.survey().has("tasks.list") {
        case.request("tasks/list", json!({ "cursor": "proof-no-such-cursor" })).await?;
    }
    Ok(())
}

pub(in super::super) const UNSUPPORTED: Probe =
    Probe::shared("tasks-unsupported", unsupported).since(Revision::R2025_11_25).era(Era::Legacy);

/// Requests of types that do not run as tasks, with the wish that they should.
fn unsupported(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        let wish = json!({ "ttl": 60_000 });
        case.request("ping", json!({})).await?;
        case.request("ping", json!({ "task": wish })).await?;
        // Best a tool that says it would, though its server does not.
        let willing = tools::calls_of(case, |tool| matches!(tools::task_support(tool), Some("optional")));
        if !case.survey().has(DECLARED)
            && let Some((name, arguments)) = willing.into_iter().chain(tools::callable(case)).next()
        {
            case.request("tools/call", json!({ "name": name, "arguments": arguments })).await?;
            case.request("tools/call", json!({ "name": name, "arguments": arguments, "task": wish })).await?;
        }
        Ok(())
    })
}
