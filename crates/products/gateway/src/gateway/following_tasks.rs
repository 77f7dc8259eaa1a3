//! Subscriptions to tasks (2026-07-28, the tasks extension): the server says which it honours, and what it then announces
//! passes to the client under the client's own subscription. Knows nothing of other changes.

use std::sync::Arc;

use net::server::link::Link;
use net::service::{RpcError, code};
use serde_json::{Value, json};
use tokio::time::timeout;
use wire::meta::{self, SUBSCRIPTION_ID, TASKS_EXTENSION};
use wire::{Era, Message, RequestId};

use super::Inner;
use super::older_tasks::knows_tasks;
use crate::failure;
use crate::session::Following;
use crate::shaping::ClientShape;
use crate::upstream::{Client, Event, Flight, Sending};

/// Tasks that are followed at the server.
pub(super) struct FollowedTasks {
    /// Those that the server honours.
    pub(super) ids: Vec<String>,
    flight: Flight,
    limit: usize,
}

impl Inner {
    /// Begins to follow tasks at the server, which must be the only one: with several, nothing says whose a task is. `None`
    /// where the server knows no tasks of this era.
    pub(super) async fn follow_tasks(
        self: &Arc<Self>,
        ids: &[String],
        client: &Client,
    ) -> Result<Option<FollowedTasks>, RpcError> {
        if self.upstreams.iter().any(|upstream| upstream.makes_older_tasks()) {
            knows_tasks(client)?;
        }
        let Some(upstream) = self.upstream_alone() else { return Ok(None) };
        let lease = upstream.lease(client, false).await.map_err(|trouble| trouble.error(&upstream.name))?;
        let conversation = lease.conversation();
        let revision = conversation.profile.revision;
        if revision.era() != Era::Modern || !conversation.profile.declares(&["extensions", TASKS_EXTENSION]) {
            return Ok(None);
        }
        let meta = json!({
            meta::PROTOCOL_VERSION: revision.as_str(),
            meta::CLIENT_INFO: client.info(),
            meta::CLIENT_CAPABILITIES: client.capabilities(),
        });
        let params = json!({ "_meta": meta, "notifications": { "taskIds": ids } });
        let (method, limit) = ("subscriptions/listen", self.limits.message_bytes);
        let text = json!({ "jsonrpc": "2.0", "id": "proof-gateway-tasks", "method": method, "params": params });
        let opened = async {
            let mut flight =
                Flight::start(&conversation.core, method, &text.to_string(), Sending::default(), limit).await?;
            let first = flight.next(limit).await?;
            Ok((flight, first))
        };
        let opened = timeout(self.limits.request, opened).await;
        let opened =
            opened.map_err(|_| failure::NOT_ACKNOWLEDGED.error("The server does not acknowledge the subscription"))?;
        let (flight, first) = opened.map_err(|trouble: crate::upstream::Trouble| trouble.error(&upstream.name))?;
        match first {
            Event::Notification(message) => Ok(Some(FollowedTasks { ids: honoured(&message), flight, limit })),
            Event::Response(message) => Err(refusal(&message)),
            _ => Err(failure::NOT_ACKNOWLEDGED.error("The server does not acknowledge the subscription")),
        }
    }
}

fn honoured(acknowledged: &Message) -> Vec<String> {
    let ids = acknowledged.params().and_then(|params| params.get("notifications")?.get("taskIds")?.as_array());
    ids.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn refusal(response: &Message) -> RpcError {
    let error = response.error();
    let text = error.and_then(|error| error.get("message")?.as_str()).unwrap_or("The server ended the subscription");
    let refused = RpcError::new(response.error_code().unwrap_or(code::INTERNAL_ERROR), text.to_owned());
    match error.and_then(|error| error.get("data")) {
        Some(data) => refused.with_data(data.clone()),
        None => refused,
    }
}

impl FollowedTasks {
    /// Passes on what the server announces, until the returned value is dropped or the server ends it.
    pub(super) fn pass_to(mut self, link: Link, id: &RequestId, shape: ClientShape) -> Following {
        let subscription = super::changing::subscription(id);
        let task = tokio::spawn(async move {
            while let Ok(event) = self.flight.next(self.limit).await {
                let message = match event {
                    Event::Response(_) => return,
                    Event::Notification(message) if message.method() == Some("notifications/tasks") => message,
                    _ => continue,
                };
                let params = message.params().cloned().unwrap_or_else(|| json!({}));
                let Some(mut params) = shape.task(params) else { continue };
                params["_meta"][SUBSCRIPTION_ID] = subscription.clone();
                if link.notify("notifications/tasks", params).is_err() {
                    return;
                }
            }
        });
        Following(task.abort_handle())
    }
}
