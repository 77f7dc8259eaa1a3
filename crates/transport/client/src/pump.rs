//! Handles messages other than expected responses: answers requests of the server (legacy era), passes notifications on, and
//! drops late responses.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::AbortHandle;
use wire::error_code::INTERNAL_ERROR;
use wire::meta::{RELATED_TASK, SUBSCRIPTION_ID};
use wire::{Kind, Message, RequestId, Revision};

use super::abilities::{Answer, Refused};
use super::link::{ClientEvent, Link};
use super::respond::respond;

/// How many requests of the server are answered at a time; more are refused.
const OPEN_QUESTIONS: usize = 32;

/// Listens until the connection is over or the handle aborted.
pub(super) fn start(link: Link) -> AbortHandle {
    let task = tokio::spawn(async move {
        let unawaited = {
            let link = link.clone();
            move |message: &Message| !message.kind().is_response() || message.id().is_none_or(|id| !link.awaits(id))
        };
        let hour = Duration::from_hours(1);
        loop {
            match link.connection().wait_for(&unawaited, hour).await {
                Some(message) => link.hear(&link.received(message)),
                None if link.connection().is_over() => break,
                None => {}
            }
        }
    });
    task.abort_handle()
}

impl Link {
    /// Handles one message that is not an expected response.
    pub(super) fn hear(&self, message: &Message) {
        match message.kind() {
            Kind::Request => self.asked(message),
            Kind::Notification => self.notified(message),
            Kind::Error if message.id().is_none() => self.complained(message),
            // The request was cancelled.
            Kind::Result | Kind::Error => {}
        }
    }

    /// An error without an id: the server could not read a message, and does not say which.
    fn complained(&self, message: &Message) {
        let what = message.error().and_then(|error| error.get("message")?.as_str()).unwrap_or_default();
        self.note(ClientEvent::Warning(format!(
            "the server complains of a message: {}",
            wire::escape::snippet(what, 200)
        )));
    }

    fn notified(&self, message: &Message) {
        let method = message.method().unwrap_or_default();
        let params = message.params().cloned().unwrap_or_default();
        match method {
            "notifications/progress" => self.last_activity(&params["progressToken"]),
            "notifications/cancelled" => {
                let id = RequestId::from_value(&params["requestId"]);
                if let Some(work) = id.and_then(|id| self.state().answering.remove(&id)) {
                    work.abort();
                }
            }
            _ => {}
        }
        if let Some(id) =
            params.pointer("/_meta").and_then(|meta| meta.get(SUBSCRIPTION_ID)).and_then(RequestId::from_value)
        {
            let state = self.state();
            let Some(subscription) = state.subscriptions.get(&id) else { return };
            if method == "notifications/subscriptions/acknowledged" {
                subscription.send_replace(Some(params["notifications"].clone()));
            }
        }
        self.note(ClientEvent::Notification { method: method.to_owned(), params });
    }

    /// Answers a request: by a task, about one, or by itself.
    async fn answer(&self, method: &str, params: &Value, meta: &Value) -> Answer {
        let respondent = &self.inner().respondent;
        let tasks = respondent.abilities().tasks && self.connection().revision() == Revision::R2025_11_25;
        if tasks && let Some(answer) = self.inner().tasks.answer(self, method, params).await {
            return answer;
        }
        let token = meta.get("progressToken");
        self.progress(token, 1).await;
        let answer = respond(respondent.as_ref(), method, params).await;
        self.progress(token, 2).await;
        answer.map(|mut result| {
            if let Some(task) = meta.get(RELATED_TASK) {
                result["_meta"] = json!({ RELATED_TASK: task });
            }
            result
        })
    }

    /// Reports the progress of an answer, in two steps, where the server requested it.
    pub(super) async fn progress(&self, token: Option<&Value>, progress: u64) {
        let Some(token) = token else { return };
        let params = json!({ "progressToken": token, "progress": progress, "total": 2 });
        // If it cannot be sent, the server is gone.
        let _ = self.notify("notifications/progress", Some(params)).await;
    }

    /// Answers a request of the server in the background.
    fn asked(&self, request: &Message) {
        let method = request.method().unwrap_or_default().to_owned();
        let Some(id) = request.id().cloned() else { return };
        if self.is_modern() {
            let what = format!("the server asks `{method}` by a request, which at 2026-07-28 none may; not answered");
            return self.note(ClientEvent::Warning(what));
        }
        let params = request.params().cloned().unwrap_or_default();
        let meta = request.meta().cloned().unwrap_or_default();
        let link = self.clone();
        let busy = self.state().answering.len() >= OPEN_QUESTIONS;
        let key = id.clone();
        let work = tokio::spawn(async move {
            let answer = if busy {
                Err(Refused { code: INTERNAL_ERROR, message: "Too many open questions".to_owned() })
            } else {
                link.answer(&method, &params, &meta).await
            };
            let id: Value = serde_json::from_str(&key.to_json()).unwrap_or_default();
            let text = match answer {
                Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
                Err(Refused { code, message }) => {
                    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
                }
            };
            link.state().answering.remove(&key);
            // If the answer cannot be sent, the server is gone.
            let _ = link.send_message(text.to_string()).await;
        });
        if !busy && !work.is_finished() {
            self.state().answering.insert(id, work.abort_handle());
        }
    }
}
