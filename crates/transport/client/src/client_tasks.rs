//! Calls that run as tasks of the server: started, polled until they end or need input, and fetched. At 2025-11-25
//! (basic/utilities/tasks, the requestor's side) the client decides, and requests of a task are answered like others; in the
//! extension of 2026-07-28 the server decides, and answers are sent by `tasks/update`.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use wire::message::{Packet, parse};
use wire::{Era, Message};

use super::ask::rpc;
use super::pauses::Pauses;
use super::{Client, ClientError, Listed, Params};
use wire::meta::TASKS_EXTENSION;

/// How long the server is asked to keep a task, in milliseconds: longer than any pause between two polls.
const TTL: u64 = 900_000;
/// How often a task is polled.
const LOOKS: usize = 10_000;

impl Client {
    /// Calls a tool as a task, and returns its result.
    pub async fn call_as_task(&self, tool: &str, arguments: Map<String, Value>) -> Result<Message, ClientError> {
        let mut task = self.begin_task(tool, arguments).await?;
        let (id, mut pauses) = (named(&task)?, Pauses::new());
        for _ in 0..LOOKS {
            tokio::time::sleep(pauses.next(&task)).await;
            let shown = self.about_task("tasks/get", &id).await?;
            task = shown.result().cloned().unwrap_or_default();
            if task.get("status").and_then(Value::as_str) != Some("working") {
                break;
            }
        }
        self.about_task("tasks/result", &id).await
    }

    /// Starts a call as a task, and returns the task.
    pub async fn begin_task(&self, tool: &str, arguments: Map<String, Value>) -> Result<Value, ClientError> {
        let params = Params::new().with("name", tool).with("arguments", arguments);
        if self.revision().era() == Era::Modern {
            let made = self.once("tools/call", &params).await?;
            let task = made.result().filter(|result| result.get("resultType").is_some_and(|kind| kind == "task"));
            return task
                .cloned()
                .ok_or_else(|| ClientError::invalid("tools/call", "the server did not make it a task"));
        }
        let params = params.with("task", json!({ "ttl": TTL }));
        let made = self.request("tools/call", &params).await?;
        let task = made.result().and_then(|result| result.get("task")).cloned();
        task.ok_or_else(|| ClientError::invalid("tools/call", "the server did not make it a task"))
    }

    /// Stops a task.
    pub async fn cancel_task(&self, task: &Value) -> Result<Message, ClientError> {
        self.about_task("tasks/cancel", &named(task)?).await
    }

    /// The tasks that the server still keeps for this client.
    pub async fn tasks(&self) -> Result<Listed, ClientError> {
        self.list("tasks/list", "tasks").await
    }

    /// Whether a server may answer a call by a task: the extension is declared.
    pub(super) fn takes_tasks(&self) -> bool {
        self.0.options.respondent.abilities().extensions.contains(&TASKS_EXTENSION)
    }

    /// Polls the task that a call was answered with until it ends, and returns the result of the call.
    pub(super) async fn follow(&self, made: &Message) -> Result<Message, ClientError> {
        let mut task = made.result().cloned().unwrap_or_default();
        let (id, mut pauses) = (named(&task)?, Pauses::new());
        let mut answered = BTreeSet::new();
        for _ in 0..LOOKS {
            tokio::time::sleep(pauses.next(&task)).await;
            let shown = self.once("tasks/get", &Params::new().with("taskId", id.as_str())).await?;
            task = shown.result().cloned().unwrap_or_default();
            match task.get("status").and_then(Value::as_str) {
                Some("working") => {}
                Some("input_required") => {
                    self.give(&id, &task, &mut answered).await?;
                    // With the answers, the task goes on as if it had just begun.
                    pauses = Pauses::new();
                }
                Some("completed") => return called(&shown, "result", task.get("result")),
                Some("failed") => {
                    let failed = called(&shown, "error", task.get("error"))?;
                    return Err(rpc("tools/call", &failed));
                }
                _ => return Err(ClientError::invalid("tasks/get", "the task has ended without a result")),
            }
        }
        Err(ClientError::invalid("tasks/get", "the task does not end"))
    }

    /// Answers the input requests of a task, each once.
    async fn give(&self, id: &str, task: &Value, answered: &mut BTreeSet<String>) -> Result<(), ClientError> {
        let mut asked = task.get("inputRequests").and_then(Value::as_object).cloned().unwrap_or_default();
        asked.retain(|key, _| !answered.contains(key));
        if asked.is_empty() {
            return Ok(());
        }
        let given = self.inputs("tasks/get", &asked).await?;
        self.once("tasks/update", &Params::new().with("taskId", id).with("inputResponses", given)).await?;
        answered.extend(asked.into_iter().map(|(key, _)| key));
        Ok(())
    }

    async fn about_task(&self, method: &str, id: &str) -> Result<Message, ClientError> {
        self.request(method, &Params::new().with("taskId", id)).await
    }
}

/// A task's id.
fn named(task: &Value) -> Result<String, ClientError> {
    let id = task.get("taskId").and_then(Value::as_str);
    id.map(str::to_owned).ok_or_else(|| ClientError::invalid("tools/call", "the task has no id"))
}

/// The outcome of a task, as the answer to its call.
fn called(shown: &Message, member: &str, outcome: Option<&Value>) -> Result<Message, ClientError> {
    let id = shown.value().get("id");
    let text = json!({ "jsonrpc": "2.0", "id": id, member: outcome }).to_string();
    match parse(text.as_bytes()) {
        Ok(Packet::Message(answer)) => Ok(answer),
        _ => Err(ClientError::invalid("tasks/get", "the task has ended and shows no result")),
    }
}
