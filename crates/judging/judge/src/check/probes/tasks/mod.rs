//! Calls that run as tasks: of 2025-11-25 (basic/utilities/tasks) in [`core`], of the extension after it in [`extension`].

pub(super) mod core;
pub(super) mod extension;
pub(super) mod times;

use std::time::Duration;

use net::client::{Address, Outgoing};
use serde_json::{Map, Value, json};
use wire::RequestId;

use crate::check::context::{Abort, ProbeContext, Reply};

/// How often a task is looked at before it is given up.
const LOOKS: usize = 16;

/// How many calls are played as tasks where no hint tells which.
const CALLS: usize = 3;

/// A task that nobody has.
const NOBODYS: &str = "proof-no-such-task";

/// A tool's name and what to call it with.
type ToolCall = (String, Map<String, Value>);

/// The hinted calls, else those that `else_of` gives; none twice.
fn calls(case: &ProbeContext, else_of: impl IntoIterator<Item = ToolCall>) -> Vec<ToolCall> {
    let listed = |name: &str| case.survey().tools.iter().any(|tool| tool.get("name").is_some_and(|n| n == name));
    let hints = &case.setting().hints;
    let hinted = hints.tasks.iter().chain(&hints.progress).map(|hint| (hint.tool.clone(), hint.arguments.clone()));
    let mut calls: Vec<ToolCall> = Vec::new();
    for call in hinted.filter(|(name, _)| listed(name)) {
        if !calls.contains(&call) {
            calls.push(call);
        }
    }
    if !calls.is_empty() {
        return calls;
    }
    else_of.into_iter().collect()
}

/// Waits for as long as a server suggests, within bounds.
async fn pause(task: &Value, member: &str) {
    let interval = task.get(member).and_then(Value::as_u64).unwrap_or(200).clamp(20, 1000);
    tokio::time::sleep(Duration::from_millis(interval)).await;
}

fn status(task: &Value) -> &str {
    task.get("status").and_then(Value::as_str).unwrap_or_default()
}

fn is_over(task: &Value) -> bool {
    matches!(status(task), "completed" | "failed" | "cancelled")
}

/// Puts a request and does not wait for its answer.
async fn put(case: &ProbeContext, method: &str, params: Value) -> Result<RequestId, Abort> {
    let id = case.next_id();
    case.say(&case.request_text(&json!(id), method, params)).await?;
    Ok(RequestId::from(id))
}

/// The same request as a stranger puts it, where the user gave us credentials to put it with.
async fn without_credentials(case: &ProbeContext, method: &str, params: Value) -> Result<Option<Reply>, Abort> {
    let Address::Http(address) = &case.setting().address else { return Ok(None) };
    if !address.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization")) {
        return Ok(None);
    }
    let id = case.next_id();
    let outgoing = Outgoing::message(case.request_text(&json!(id), method, params)).without("Authorization");
    case.ask(RequestId::from(id), outgoing, case.short()).await.map(Some)
}
