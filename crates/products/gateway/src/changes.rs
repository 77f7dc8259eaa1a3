//! Changes that servers announce, and the clients that want to hear of them: legacy sessions, and the subscriptions of
//! modern clients (2026-07-28, basic/patterns/subscriptions).

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use net::server::link::{Link, Session};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use wire::meta::SUBSCRIPTION_ID;
use wire::{Message, RequestId};

use crate::session::ClientState;

/// The most subscriptions of modern clients, and how many bytes of names one may have.
const MOST: usize = 16_384;
const MOST_BYTES: usize = 1 << 20;
/// How many names one subscription may have: each may be a question about access.
const MOST_NAMES: usize = 4096;

/// What a modern client wants to hear of.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Filter {
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) tools_list_changed: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) prompts_list_changed: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) resources_list_changed: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) resource_subscriptions: Vec<String>,
    /// The tasks extension's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) task_ids: Option<Vec<String>>,
}

impl Filter {
    fn wants(&self, method: &str, uri: Option<&str>) -> bool {
        match method {
            "notifications/tools/list_changed" => self.tools_list_changed,
            "notifications/prompts/list_changed" => self.prompts_list_changed,
            "notifications/resources/list_changed" => self.resources_list_changed,
            "notifications/resources/updated" => {
                uri.is_some_and(|uri| self.resource_subscriptions.iter().any(|wanted| wanted == uri))
            }
            _ => false,
        }
    }

    /// Whether it names more than one subscription may.
    pub(crate) fn is_too_long(&self) -> bool {
        let names = || self.resource_subscriptions.iter().chain(self.task_ids.iter().flatten());
        names().count() > MOST_NAMES || names().map(String::len).sum::<usize>() > MOST_BYTES
    }
}

struct Subscription {
    id: RequestId,
    filter: Filter,
    link: Link,
}

#[derive(Default)]
struct State {
    sessions: Vec<Weak<Session>>,
    subscriptions: HashMap<u64, Subscription>,
    next: u64,
    /// The lists whose changes some client was promised to hear of, by capability.
    promised: HashSet<&'static str>,
}

/// Who hears of changes.
#[derive(Default)]
pub(crate) struct Changes(Mutex<State>);

/// A subscription of a modern client; dropped, it is over.
pub(crate) struct Subscribed {
    changes: Arc<Changes>,
    key: u64,
}

impl Drop for Subscribed {
    fn drop(&mut self) {
        self.changes.state().subscriptions.remove(&self.key);
    }
}

/// `_meta` of what belongs to a subscription.
pub(crate) fn subscription_meta(id: &RequestId) -> Value {
    json!({ SUBSCRIPTION_ID: serde_json::from_str::<Value>(&id.to_json()).unwrap_or_default() })
}

impl Changes {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on, a legacy session hears of changes.
    pub(crate) fn join(&self, session: &Arc<Session>) {
        let mut state = self.state();
        state.sessions.retain(|session| session.strong_count() > 0);
        state.sessions.push(Arc::downgrade(session));
    }

    /// From now on, a modern client hears of what `filter` names. The acknowledgement comes first. `None` where there are too
    /// many.
    pub(crate) fn subscribe(self: &Arc<Self>, id: &RequestId, filter: Filter, link: &Link) -> Option<Subscribed> {
        let mut state = self.state();
        if state.subscriptions.len() >= MOST {
            return None;
        }
        let acknowledged = json!({ "_meta": subscription_meta(id), "notifications": filter });
        link.notify("notifications/subscriptions/acknowledged", acknowledged).ok()?;
        let key = state.next;
        state.next += 1;
        state.subscriptions.insert(key, Subscription { id: id.clone(), filter, link: link.clone() });
        drop(state);
        Some(Subscribed { changes: Arc::clone(self), key })
    }

    /// How many legacy sessions and how many subscriptions hear of changes.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let state = self.state();
        let alive = state.sessions.iter().filter(|session| session.strong_count() > 0).count();
        (alive, state.subscriptions.len())
    }

    /// Notes what clients are promised, by the capabilities in their greeting.
    pub(crate) fn promise(&self, capabilities: &Value) {
        let declared = |name: &&str| capabilities.get(*name).is_some_and(|one| one["listChanged"] == true);
        self.state().promised.extend(["tools", "prompts", "resources"].into_iter().filter(declared));
    }

    /// Whether clients were promised to hear of changes of this list.
    pub(crate) fn is_promised(&self, capability: &str) -> bool {
        self.state().promised.contains(capability)
    }

    /// Announces a change that no upstream sent.
    pub(crate) fn announce_method(&self, method: &str) {
        let text = json!({ "jsonrpc": "2.0", "method": method }).to_string();
        if let Ok(wire::message::Packet::Message(message)) = wire::message::parse(text.as_bytes()) {
            self.announce(&message);
        }
    }

    /// Passes a change on.
    pub(crate) fn announce(&self, message: &Message) {
        let Some(method) = message.method() else { return };
        let mut params = message.params().cloned().unwrap_or_else(|| json!({}));
        if let Some(members) = params.as_object_mut() {
            members.remove("_meta");
        }
        let uri = params.get("uri").and_then(Value::as_str).map(str::to_owned);
        let state = self.state();
        for session in state.sessions.iter().filter_map(Weak::upgrade) {
            let wanted = uri.as_deref().is_none_or(|uri| ClientState::of(&session).watches(uri));
            if wanted {
                let empty = params.as_object().is_some_and(serde_json::Map::is_empty);
                let _ = session.notify(method, Some(params.clone()).filter(|_| !empty));
            }
        }
        for subscription in state.subscriptions.values() {
            if subscription.filter.wants(method, uri.as_deref()) {
                let mut params = params.clone();
                params["_meta"] = subscription_meta(&subscription.id);
                let _ = subscription.link.notify(method, params);
            }
        }
    }
}
