//! Who wants to hear of changes: `subscriptions/listen` (modern era; basic/patterns/subscriptions), and the resources a
//! legacy session subscribed to.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use net::service::{Answer, Call, Context, Reply, RpcError};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use wire::RequestId;
use wire::meta::{SERVER_INFO, SUBSCRIPTION_ID};

use crate::answer::implementation;
use crate::catalogue::Kind;
use crate::hub::Change;
use crate::{Server, answer, params, resources, tasks};

/// How many resources one session or subscription may follow, and how many bytes their URIs may have together.
const MOST: usize = 16_384;
const MOST_BYTES: usize = 1 << 20;

/// The resources a legacy session subscribed to.
#[derive(Default)]
pub(crate) struct Watched(Mutex<HashSet<String>>);

impl Watched {
    fn uris(&self) -> MutexGuard<'_, HashSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn has(&self, uri: &str) -> bool {
        self.uris().contains(uri)
    }

    /// Follows a resource; `false` where there are too many.
    pub(crate) fn insert(&self, uri: String) -> bool {
        let mut uris = self.uris();
        let bytes: usize = uris.iter().map(String::len).sum();
        let room = uris.contains(&uri) || (uris.len() < MOST && bytes + uri.len() <= MOST_BYTES);
        if room {
            uris.insert(uri);
        }
        room
    }

    pub(crate) fn remove(&self, uri: &str) {
        self.uris().remove(uri);
    }
}

/// Which notifications a client wants.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Filter {
    #[serde(default, skip_serializing_if = "is_false")]
    tools_list_changed: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    prompts_list_changed: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    resources_list_changed: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    resource_subscriptions: Option<Vec<String>>,
    /// The tasks extension's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    task_ids: Option<Vec<String>>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

impl Filter {
    pub(crate) fn wants(&self, change: Change<'_>) -> bool {
        match change {
            Change::Tools => self.tools_list_changed,
            Change::Prompts => self.prompts_list_changed,
            Change::Resources => self.resources_list_changed,
            Change::Resource(uri) => {
                self.resource_subscriptions.as_ref().is_some_and(|uris| uris.iter().any(|wanted| wanted == uri))
            }
        }
    }

    pub(crate) fn wants_task(&self, id: &str) -> bool {
        self.task_ids().any(|wanted| wanted == id)
    }

    fn names(&self) -> impl Iterator<Item = &String> {
        self.resource_subscriptions.iter().flatten().chain(self.task_ids())
    }

    /// How many bytes its names have together.
    pub(crate) fn bytes(&self) -> usize {
        self.names().map(String::len).sum()
    }

    fn is_too_long(&self) -> bool {
        self.names().count() > MOST || self.bytes() > MOST_BYTES
    }

    fn task_ids(&self) -> impl Iterator<Item = &String> {
        self.task_ids.iter().flatten()
    }

    /// What of it we can honour: some lists, and what does not exist, never change.
    fn honoured(mut self, server: &Server, context: &Context) -> Self {
        let owner = tasks::owner(context);
        self.tools_list_changed &= server.changes(Kind::Tool);
        self.prompts_list_changed &= server.changes(Kind::Prompt);
        self.resources_list_changed &= server.changes(Kind::Resource);
        if let Some(uris) = &mut self.resource_subscriptions {
            let mut seen = HashSet::new();
            uris.retain(|uri| seen.insert(uri.clone()) && resources::exists(server, uri, Some(context)));
        }
        self.resource_subscriptions = self.resource_subscriptions.filter(|uris| !uris.is_empty());
        if let Some(ids) = &mut self.task_ids {
            let mut seen = HashSet::new();
            ids.retain(|id| seen.insert(id.clone()) && server.state().tasks.find(&owner, id).is_some());
        }
        self.task_ids = self.task_ids.filter(|ids| !ids.is_empty());
        self
    }
}

#[derive(Deserialize)]
struct Params {
    notifications: Filter,
}

/// `_meta` of what belongs to the subscription of this id.
pub(crate) fn subscription(id: &RequestId) -> Value {
    json!({ SUBSCRIPTION_ID: id_value(id) })
}

/// An id as a JSON value.
fn id_value(id: &RequestId) -> Value {
    serde_json::from_str(&id.to_json()).unwrap_or_default()
}

fn full() -> RpcError {
    RpcError::internal("The server has as many subscriptions as it can take, or this one names too much")
}

/// Takes the subscription out of the hub, however the request ends.
struct Listening {
    server: Server,
    key: u64,
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.server.state().hub.leave(self.key);
    }
}

/// Keeps the request open and tells of changes until the client cancels or the server ends.
pub(crate) fn listen(server: &Server, call: Call) -> Reply {
    let id = call.id().clone();
    let filter = match params::meta(&call).and_then(|_| params::read::<Params>(&call)) {
        Ok(params) if params.notifications.task_ids.is_some() && !tasks::declared(&call) => {
            return answer::error(&id, &tasks::undeclared()).into();
        }
        Ok(params) if params.notifications.is_too_long() => return answer::error(&id, &full()).into(),
        Ok(params) => params.notifications.honoured(server, &call.context),
        Err(error) => return answer::error(&id, &error).into(),
    };
    let subscription = subscription(&id);
    let owner = tasks::owner(&call.context);
    let followed: Vec<_> = filter.task_ids().filter_map(|id| server.state().tasks.find(&owner, id)).collect();
    let acknowledged = json!({ "_meta": subscription, "notifications": filter });
    let key =
        server.state().hub.listen((id.clone(), filter), call.link.clone(), call.context.subject.clone(), |link| {
            let _ = link.notify("notifications/subscriptions/acknowledged", acknowledged);
        });
    let Some(key) = key else { return answer::error(&id, &full()).into() };
    // What they went through before they were followed shows in how they stand now.
    for task in followed {
        task.tell(&call.link, &subscription);
    }
    let server = server.clone();
    let listening = Listening { server: server.clone(), key };
    Reply::later(async move {
        call.link.closing().await;
        drop(listening);
        // The cancellation page wants the notification, the subscriptions page the result: both, the result last.
        let cancelled = json!({ "_meta": subscription, "requestId": id_value(&id), "reason": "The server is ending" });
        let _ = call.link.notify("notifications/cancelled", cancelled);
        let mut meta = subscription;
        meta[SERVER_INFO] = json!(implementation(&server, call.context.revision));
        Answer::result(&id, &json!({ "resultType": "complete", "_meta": meta }))
    })
}
