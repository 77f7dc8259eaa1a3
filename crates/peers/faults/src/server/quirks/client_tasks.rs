//! What tries clients that run tasks for their server (2025-11-25 basic/utilities/tasks): it asks for some, looks at them in
//! every way there is, and comes back for what they ended in.

use net::service::{Link, Reply};
use serde_json::{Value, json};
use wire::revision::R2025_11_25;

use super::calls::settled;
use super::quirk;
use crate::server::{Fault, Kind, ServiceRequest};
use wire::meta::RELATED_TASK;

/// How long the tasks may be kept.
const TTL: u64 = 60_000;

pub(super) const CLIENT_TASKS: &[&Fault] = &[WANTS_TASKS];

/// The quirk `wants-tasks`.
pub const WANTS_TASKS: &Fault = &quirk("wants-tasks", Kind::Handles(request_tasks)).since(R2025_11_25).legacy();

/// The first call is answered when everything has been asked and seen.
fn request_tasks(asked: &ServiceRequest, link: &Link, reply: Reply) -> Reply {
    if !asked.is("tools/call") || asked.calls > 0 {
        return reply;
    }
    let client = TaskClient(link.clone());
    Reply::later(async move {
        // A client that makes no tasks has nothing more to show.
        let _ = client.tried().await;
        settled(reply).await
    })
}

/// A client that is asked for tasks.
struct TaskClient(Link);

impl TaskClient {
    async fn tried(&self) -> Option<()> {
        let text = json!({ "type": "text", "text": "Hello" });
        let sampling = json!({ "messages": [{ "role": "user", "content": text }], "maxTokens": 90 });
        let schema = json!({ "type": "object", "properties": { "name": { "type": "string" } } });
        let form = json!({ "message": "Who are you?", "requestedSchema": schema });
        let said = self.made("sampling/createMessage", &sampling).await?;
        let filled_in = self.made("elicitation/create", &form).await?;
        let given_up = self.made("elicitation/create", &form).await?;
        self.look(&said).await;
        let elsewhere = json!({ "taskId": said, "_meta": { RELATED_TASK: { "taskId": filled_in } } });
        self.ask("tasks/get", elsewhere).await;
        self.look(&said).await;
        self.about("tasks/cancel", &given_up).await;
        self.look(&given_up).await;
        for id in [&said, &filled_in] {
            self.about("tasks/result", id).await;
            self.look(id).await;
        }
        self.about("tasks/cancel", &said).await;
        for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
            self.about(method, "no-such-task").await;
        }
        self.ask("tasks/list", json!({})).await;
        self.ask("tasks/list", json!({ "cursor": "no-such-cursor" })).await;
        for id in [&said, &filled_in, &given_up] {
            self.look(id).await;
        }
        Some(())
    }

    /// Asks for a task, and gives its id.
    async fn made(&self, method: &str, params: &Value) -> Option<String> {
        let mut params = params.clone();
        params["task"] = json!({ "ttl": TTL });
        if method == "sampling/createMessage" {
            params["_meta"] = json!({ "progressToken": "scenario-commission" });
        }
        let result = self.ask(method, params).await?;
        Some(result.pointer("/task/taskId")?.as_str()?.to_owned())
    }

    async fn look(&self, id: &str) {
        self.about("tasks/get", id).await;
    }

    async fn about(&self, method: &str, id: &str) {
        self.ask(method, json!({ "taskId": id })).await;
    }

    async fn ask(&self, method: &str, params: Value) -> Option<Value> {
        self.0.request(method, params).await.ok()?.result().cloned()
    }
}
