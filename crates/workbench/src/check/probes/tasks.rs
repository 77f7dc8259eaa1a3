//! Calls that run as tasks (2025-11-25, basic/utilities/tasks).

use std::time::Duration;

use serde_json::{Map, Value, json};
use wire::{Era, Revision, Transport};

use super::http::streams::open;
use super::tools;
use crate::check::case::{Case, Halt, Setting};
use crate::check::probe::{Probe, Script};

/// How often a task is looked at before it is given up.
const LOOKS: usize = 12;

pub(super) const TASKS: Probe = Probe::fresh("tasks", tasks)
    .since(Revision::R2025_11_25)
    .era(Era::Legacy)
    .needs("tasks.requests.tools.call")
    .when(|setting, survey| survey.tools.iter().any(|tool| is_one(setting, tool)));

/// Whether calls of a tool may be made and may run as tasks.
fn is_one(setting: &Setting, tool: &Value) -> bool {
    setting.calls.allow(tool) && matches!(tools::task_support(tool), Some("optional" | "required"))
}

/// Runs a call as a task and looks at it until it is done; then its result and the list.
fn tasks(case: &Case) -> Script<'_> {
    Box::pin(async move {
        // What a task says while nobody asks it comes on the server's own stream.
        let ear = if case.transport() == Transport::StreamableHttp { Some(open(case, None).await?) } else { None };
        let (name, arguments) = task_call(case).ok_or(Halt::Lacks("a tool that may run as a task"))?;
        let call = json!({
            "name": name, "arguments": arguments, "task": { "ttl": 60_000 }, "_meta": { "progressToken": "as-a-task" },
        });
        let begun = case.request("tools/call", call).await?;
        let id = begun.result().and_then(|result| result.pointer("/task/taskId"));
        let which = json!({ "taskId": id.ok_or(Halt::Lacks("a call that ran as a task"))? });
        if watched(case, &which).await? {
            case.request("tasks/result", which).await?;
        } else if case.survey().has("tasks.cancel") {
            case.request("tasks/cancel", which).await?;
        }
        if case.survey().has("tasks.list") {
            case.request("tasks/list", json!({})).await?;
        }
        case.request("tasks/get", json!({ "taskId": "proof-no-such-task" })).await?;
        case.quiet("after a task", Duration::from_millis(200)).await;
        if let Some(ear) = ear {
            ear.abort();
        }
        Ok(())
    })
}

/// A call that may run as a task, best the one that was hinted for its progress.
fn task_call(case: &Case) -> Option<(String, Map<String, Value>)> {
    let mut calls = tools::calls_of(case, |tool| is_one(case.setting(), tool));
    if let Some(hint) = &case.setting().hints.progress
        && calls.iter().any(|(name, _)| *name == hint.tool)
    {
        return Some((hint.tool.clone(), hint.arguments.clone()));
    }
    if calls.is_empty() { None } else { Some(calls.swap_remove(0)) }
}

/// Looks at a task as often as its server suggests; whether it is over, or waits for us.
async fn watched(case: &Case, which: &Value) -> Result<bool, Halt> {
    for _ in 0..LOOKS {
        let looked = case.request("tasks/get", which.clone()).await?;
        let Some(task) = looked.result() else { return Ok(false) };
        if task.get("status").and_then(Value::as_str) != Some("working") {
            return Ok(true);
        }
        let interval = task.get("pollInterval").and_then(Value::as_u64).unwrap_or(200).clamp(20, 1000);
        tokio::time::sleep(Duration::from_millis(interval)).await;
    }
    Ok(false)
}
