//! What a call needs to know of its tool, from the list as somebody last saw it.

use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;

use super::{Inner, lock};
use crate::catalogue::{List, Merged, TaskSupport};
use crate::upstream::{Client, Upstream};

impl Inner {
    /// The input schema of a tool of `upstream` whose arguments stand in headers, too.
    pub(crate) async fn mirrored_schema(
        self: &Arc<Self>,
        upstream: &Arc<Upstream>,
        client: &Client,
        tool: &str,
    ) -> Option<Arc<Value>> {
        let merged = self.known_tools(client).await;
        if merged.mirrored.is_empty() {
            return None;
        }
        merged.mirrored.get(&(upstream.index, tool.to_owned())).cloned()
    }

    /// Whether the tools of `upstream` are known.
    pub(crate) async fn knows_tools_of(self: &Arc<Self>, upstream: &Upstream, client: &Client) -> bool {
        self.known_tools(client).await.missing.iter().all(|missing| !missing.is(&upstream.name))
    }

    /// Whether a tool of `upstream` may run as a task.
    pub(crate) async fn task_support(
        self: &Arc<Self>,
        upstream: &Arc<Upstream>,
        client: &Client,
        tool: &str,
    ) -> Option<TaskSupport> {
        let merged = self.known_tools(client).await;
        if merged.tasks.is_empty() {
            return None;
        }
        merged.tasks.get(&(upstream.index, tool.to_owned())).copied()
    }

    /// The tools as they were when somebody last looked. A complete list that has just become old by itself is used once
    /// more: one call looks again in the background, and no call waits for it.
    pub(super) async fn known_tools(self: &Arc<Self>, client: &Client) -> Arc<Merged> {
        let now = Instant::now();
        let key = (List::Tools, self.owner(client), client.shape.context.clone());
        let known = lock(&self.lists).get_mut(&key).filter(|cached| cached.serves_calls(now)).map(|cached| {
            let renews = cached.until <= now && !std::mem::replace(&mut cached.renewing, true);
            (Arc::clone(&cached.merged), renews)
        });
        let Some((merged, renews)) = known else { return self.merged(List::Tools, client).await };
        if renews {
            let (inner, client) = (Arc::clone(self), client.clone());
            tokio::spawn(async move { inner.merged(List::Tools, &client).await });
        }
        merged
    }
}
