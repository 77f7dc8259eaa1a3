//! Calls that run as tasks of the server (2025-11-25 basic/utilities/tasks, the requestor's side): begun, looked at until
//! they are over or wait for input, and fetched. What a task asks meanwhile is answered like anything else.

use std::time::Duration;

use serde_json::{Map, Value, json};
use wire::Message;

use super::{Client, ClientError, Listed, Params};

/// How long the server is asked to keep a task.
const TTL: u64 = 60_000;
/// How long to wait between two looks where the server does not say.
const POLL: Duration = Duration::from_secs(1);
/// How often a task is looked at.
const LOOKS: usize = 10_000;

impl Client {
    /// Calls a tool as a task, and gives what that comes to.
    pub async fn call_as_task(&self, tool: &str, arguments: Map<String, Value>) -> Result<Message, ClientError> {
        let task = self.begin_task(tool, arguments).await?;
        let (id, mut poll) = named(&task)?;
        for _ in 0..LOOKS {
            tokio::time::sleep(poll).await;
            let shown = self.about_task("tasks/get", &id).await?;
            let shown = shown.result().cloned().unwrap_or_default();
            if shown.get("status").and_then(Value::as_str) != Some("working") {
                break;
            }
            poll = interval(&shown);
        }
        self.about_task("tasks/result", &id).await
    }

    /// Begins a call as a task, and gives the task.
    pub async fn begin_task(&self, tool: &str, arguments: Map<String, Value>) -> Result<Value, ClientError> {
        let params = Params::new().with("name", tool).with("arguments", arguments).with("task", json!({ "ttl": TTL }));
        let made = self.request("tools/call", &params).await?;
        let task = made.result().and_then(|result| result.get("task")).cloned();
        task.ok_or_else(|| ClientError::invalid("tools/call", "the server made no task of it"))
    }

    /// Stops a task.
    pub async fn cancel_task(&self, task: &Value) -> Result<Message, ClientError> {
        self.about_task("tasks/cancel", &named(task)?.0).await
    }

    /// Every task that the server still has of ours.
    pub async fn tasks(&self) -> Result<Listed, ClientError> {
        self.list("tasks/list", "tasks").await
    }

    async fn about_task(&self, method: &str, id: &str) -> Result<Message, ClientError> {
        self.request(method, &Params::new().with("taskId", id)).await
    }
}

/// A task's id, and how long to wait before it is looked at.
fn named(task: &Value) -> Result<(String, Duration), ClientError> {
    let id = task.get("taskId").and_then(Value::as_str);
    let id = id.ok_or_else(|| ClientError::invalid("tools/call", "the task has no id"))?;
    Ok((id.to_owned(), interval(task)))
}

fn interval(task: &Value) -> Duration {
    task.get("pollInterval").and_then(Value::as_u64).map_or(POLL, Duration::from_millis)
}
