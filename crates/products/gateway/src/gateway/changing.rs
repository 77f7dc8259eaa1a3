//! Changes: what upstreams announce outside requests, levels of log messages, and who follows which resource.

use std::sync::Arc;

use futures_util::future::join_all;
use net::service::{Answer, Call, Reply, RpcError, code};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use wire::meta::{SERVER_INFO, SUBSCRIPTION_ID};
use wire::translate::table::losses;
use wire::{Era, Message, RequestId, meta};

use super::following::{Follower, LISTEN, is_change};
use super::{Inner, identity, lock, unasked};
use crate::access::Action;
use crate::audit::Trail;
use crate::catalogue::List;
use crate::changes::{Filter, subscription_meta};
use crate::failure;
use crate::hub::Hub;
use crate::question_room::Asked;
use crate::relay::{error_text, result_text};
use crate::session::{ClientState, Following, LogLevel};
use crate::upstream::{Client, Conversation, Outside, Upstream};

/// The most subscriptions to lists, where each context has its own.
const MOST_FOLLOWERS: usize = 1024;

/// Takes what an upstream sent outside requests.
pub(crate) fn outside(hub: &Arc<Hub>, upstream: &Arc<Upstream>, client: Option<Client>, outside: Outside) {
    // Of a server that is withheld as a whole, no client hears anything.
    let is_withheld = hub.withholds(&upstream.name);
    let client = client.filter(|_| !is_withheld);
    match outside {
        Outside::Notification(message) => match (message.method(), &client) {
            (Some(method), _) if is_change(method) => hub.changed(upstream.index, &message),
            // Of a conversation that is one client's, everything is for this client.
            (Some("notifications/message" | "notifications/elicitation/complete"), Some(client)) => {
                if let Some(text) = client.shape.notification(message.text()) {
                    let _ = client.link.send(text.into_owned());
                }
            }
            (Some(method @ "notifications/message"), None) => {
                hub.losses.count(losses::LOG_MESSAGE, &upstream.name, method);
            }
            (method, _) => tracing::debug!(upstream = upstream.name, method, "dropped: it belongs to no request"),
        },
        Outside::Back => hub.announce_all(upstream.index),
        Outside::Again => hub.missed_changes(upstream.index),
        Outside::Question(core, message) => {
            if client.is_none() && message.method() != Some("ping") {
                let method = message.method().unwrap_or_default();
                hub.losses.count(losses::QUESTION_OUTSIDE, &upstream.name, method);
            }
            let asked =
                Asked { subject: client.as_ref().and_then(|one| one.subject.clone()), upstream: upstream.index };
            let room = &hub.stats.questions;
            let (question, space) = match room.take(asked.clone(), 0, message.text().len()) {
                Ok(space) => (Ok(message), Ok(space)),
                // The server may be slow to read that, too.
                Err(why) => (Err(why.answer(message.id())), room.take(asked, 0, 0)),
            };
            let Ok(space) = space else { return };
            tokio::spawn(async move {
                let text = match (&client, question) {
                    (_, Err(refusal)) => refusal,
                    (Some(client), Ok(question)) => ask_outside(client, question).await,
                    (None, Ok(question)) => unasked(&question),
                };
                let _ = core.post(&text).await;
                drop(space);
            });
        }
    }
}

impl Inner {
    /// Passes a change on, and forgets what it makes stale.
    pub(crate) fn changed(&self, message: &Message) {
        self.changed_quietly(message);
        self.changes.announce(message);
    }

    /// Forgets what a change makes stale.
    pub(crate) fn changed_quietly(&self, message: &Message) {
        self.make_stale(|list| match message.method() {
            Some("notifications/tools/list_changed") => list == List::Tools,
            Some("notifications/prompts/list_changed") => list == List::Prompts,
            Some("notifications/resources/list_changed") => matches!(list, List::Resources | List::Templates),
            _ => false,
        });
    }

    /// The same for every server that shows the upstream.
    pub(crate) fn changed_at(&self, index: usize, message: &Message) {
        if let Some(hub) = self.hub.upgrade() {
            hub.changed(index, message);
        }
    }

    /// These lists are fetched again. Until then they say what a name meant: an upstream may be gone by that time.
    pub(crate) fn make_stale(&self, which: impl Fn(List) -> bool) {
        lock(&self.lists).make_stale(which);
    }

    /// Says that every list may have changed, as far as clients were told that this can happen.
    pub(crate) fn announce_all(&self) {
        for list in [List::Tools, List::Prompts, List::Resources] {
            if self.changes.is_promised(list.capability()) {
                self.changes.announce_method(&format!("notifications/{}/list_changed", list.capability()));
            }
        }
    }

    /// Follows the lists of a modern upstream, once for each context. Says whether changes of the lists are heard.
    pub(super) fn follow_changes(
        self: &Arc<Self>,
        upstream: &Arc<Upstream>,
        conversation: &Arc<Conversation>,
        client: &Client,
    ) -> bool {
        let profile = &conversation.profile;
        if profile.revision.era() != Era::Modern {
            return true;
        }
        let filter = Filter {
            tools_list_changed: profile.declares(&["tools", "listChanged"]),
            prompts_list_changed: profile.declares(&["prompts", "listChanged"]),
            resources_list_changed: profile.declares(&["resources", "listChanged"]),
            ..Filter::default()
        };
        if !(filter.tools_list_changed || filter.prompts_list_changed || filter.resources_list_changed) {
            return true;
        }
        let Some(hub) = self.hub.upgrade() else { return false };
        let mut followers = lock(&hub.followers);
        let key = (upstream.index, conversation.core.context().cloned());
        if followers.get(&key).is_some_and(|following| !following.0.is_finished()) {
            return true;
        }
        followers.retain(|_, following| !following.0.is_finished());
        // Each holds a conversation open. Without one, lists are looked at again soon.
        if key.1.is_some() && followers.len() >= MOST_FOLLOWERS {
            return false;
        }
        followers.insert(key, self.follow(upstream, conversation, client, filter));
        true
    }

    /// Passes on what a modern upstream announces of `filter`, until the returned value is dropped or the conversation ends.
    fn follow(
        self: &Arc<Self>,
        upstream: &Arc<Upstream>,
        conversation: &Arc<Conversation>,
        client: &Client,
        filter: Filter,
    ) -> Following {
        let meta = json!({
            meta::PROTOCOL_VERSION: conversation.profile.revision.as_str(),
            meta::CLIENT_INFO: client.info(),
            meta::CLIENT_CAPABILITIES: {},
        });
        let params = json!({ "_meta": meta, "notifications": filter });
        let text = json!({ "jsonrpc": "2.0", "id": "proof-gateway-listen", "method": LISTEN, "params": params });
        let follower = Follower {
            hub: self.hub.clone(),
            index: upstream.index,
            core: Arc::clone(&conversation.core),
            text: text.to_string(),
            limit: self.limits.message_bytes,
        };
        Following(tokio::spawn(follower.run()).abort_handle())
    }

    pub(super) async fn set_client_level(self: &Arc<Self>, call: &Call, client: &Client) -> Result<Value, RpcError> {
        let level = call.message.params().and_then(|params| params.get("level")?.as_str()?.parse::<LogLevel>().ok());
        let level = level.ok_or_else(|| failure::PARAMS_INVALID.error("Invalid params: `level` is not a log level"))?;
        let Some(session) = &client.session else { return Err(failure::SESSION_NEEDED.error("A session is needed")) };
        ClientState::of(session).set_level(level);
        // Legacy upstreams learn it now: they may log outside of requests.
        for upstream in self.upstreams.iter().filter(|upstream| upstream.era() == Some(Era::Legacy)) {
            let lease = self.part(upstream, "level", self.limits.start, upstream.lease(client, false)).await;
            if let Ok(lease) = lease
                && lease.conversation().profile.declares(&["logging"])
            {
                self.set_level(lease.conversation(), Some(level)).await;
            }
        }
        Ok(json!({}))
    }

    pub(super) async fn subscribe(
        self: &Arc<Self>,
        call: &Call,
        (client, trail): (&Client, &Trail),
    ) -> Result<Value, RpcError> {
        let (uri, session) = uri_and_session(call, client)?;
        let (upstream, uri) = if let Some(upstream) = self.upstream_alone() {
            (Arc::clone(upstream), uri)
        } else {
            let action = Action::ResourcesSubscribe;
            let (upstream, route) = self.find_resource(action, Some(uri), (client, trail)).await?;
            (upstream, route.name)
        };
        let lease = upstream.lease(client, false).await.map_err(|trouble| trouble.error(&upstream.name))?;
        let conversation = lease.conversation();
        let following = self.follow_resource(&upstream, conversation, client, &uri).await?;
        if ClientState::of(session).watch(&uri, following) {
            Ok(json!({}))
        } else {
            Err(failure::TOO_MANY_SUBSCRIPTIONS.error("This session follows as many resources as it can"))
        }
    }

    /// Begins to follow a resource at its upstream.
    async fn follow_resource(
        self: &Arc<Self>,
        upstream: &Arc<Upstream>,
        conversation: &Arc<Conversation>,
        client: &Client,
        uri: &str,
    ) -> Result<Option<Following>, RpcError> {
        if !conversation.profile.declares(&["resources", "subscribe"]) {
            return Err(failure::method_unknown("resources/subscribe"));
        }
        if conversation.profile.revision.era() == Era::Modern {
            let filter = Filter { resource_subscriptions: vec![uri.to_owned()], ..Filter::default() };
            return Ok(Some(self.follow(upstream, conversation, client, filter)));
        }
        let answer = self.request(conversation, client, "resources/subscribe", json!({ "uri": uri })).await;
        let answer = answer.map_err(|trouble| trouble.error(&upstream.name))?;
        match answer.error() {
            None => Ok(None),
            Some(error) => {
                let message = error.get("message").and_then(Value::as_str).unwrap_or_default().to_owned();
                Err(RpcError::new(answer.error_code().unwrap_or(code::INTERNAL_ERROR), message))
            }
        }
    }

    pub(super) fn unsubscribe(call: &Call, client: &Client) -> Result<Value, RpcError> {
        let (uri, session) = uri_and_session(call, client)?;
        // The server goes on: others may follow the same resource in the same conversation.
        ClientState::of(session).unwatch(&uri);
        Ok(json!({}))
    }

    /// The upstreams of those resources that the client may follow. What cannot be decided is not followed.
    async fn followed(self: &Arc<Self>, uris: Vec<String>, client: &Client) -> Vec<(Arc<Upstream>, String)> {
        if let Some(upstream) = self.upstream_alone() {
            return uris.into_iter().map(|uri| (Arc::clone(upstream), uri)).collect();
        }
        let named: Vec<_> = uris.iter().map(|uri| (uri.as_str(), None)).collect();
        let may = self.may_each(Action::ResourcesSubscribe, &named, (client, &Trail::default())).await;
        let mut found = Vec::new();
        for (uri, may) in uris.iter().zip(may.unwrap_or_default()) {
            if may && let Ok(Some((upstream, route))) = self.locate_resource(uri, (client, &Trail::default())).await {
                found.push((upstream, route.name));
            }
        }
        found
    }

    /// `subscriptions/listen` of a modern client.
    pub(super) fn listen(self: Arc<Self>, call: Call) -> Reply {
        if let Some(audit) = &self.audit {
            audit.subscribed(self.stats.number(), self.view.name(), &call);
        }
        let id = call.id().clone();
        let filter = call.message.params().and_then(|params| params.get("notifications")).cloned();
        let filter = filter.filter(Value::is_object).and_then(|filter| serde_json::from_value::<Filter>(filter).ok());
        let Some(filter) = filter else {
            return Answer::error(Some(&id), &failure::PARAMS_INVALID.error("Invalid params: `notifications`")).into();
        };
        Reply::later(async move {
            let client = match self.client(&call, &Trail::default()) {
                Ok(client) => client,
                Err(error) => return Answer::error(Some(&id), &error),
            };
            if let Some(error) = client.expired() {
                return Answer::error(Some(&id), &error);
            }
            let too_many = || {
                let what = "The limit of subscriptions is reached, or this one names too much";
                Answer::error(Some(&id), &failure::TOO_MANY_SUBSCRIPTIONS.error(what))
            };
            // Before anything is asked about what it names.
            if filter.is_too_long() {
                return too_many();
            }
            let tasks = match &filter.task_ids {
                Some(ids) => self.follow_tasks(ids, &client).await,
                None => Ok(None),
            };
            let tasks = match tasks {
                Ok(tasks) => tasks,
                Err(error) => return Answer::error(Some(&id), &error),
            };
            let (mut filter, mut following) = self.honoured(filter, &client).await;
            filter.task_ids = tasks.as_ref().map(|tasks| tasks.ids.clone()).filter(|ids| !ids.is_empty());
            let Some(subscribed) = self.changes.subscribe(&id, filter, &call.link) else { return too_many() };
            // After the acknowledgement.
            following.extend(tasks.map(|tasks| tasks.pass_to(call.link.clone(), &id, client.shape.clone())));
            call.link.closing().await;
            drop((subscribed, following));
            end_of(&id, &call)
        })
    }

    /// What of a filter some upstream can announce, and what follows it there.
    async fn honoured(self: &Arc<Self>, mut filter: Filter, client: &Client) -> (Filter, Vec<Following>) {
        // Where there are several servers, lists change with who is there.
        let several = self.upstreams.len() > 1;
        let (mut tools, mut prompts, mut resources) = (several, several, several);
        let leases = self.upstreams.iter().map(|upstream| async move {
            let lease = upstream.lease(client, false);
            (upstream, self.part(upstream, "subscription", self.limits.start, lease).await)
        });
        for (upstream, lease) in join_all(leases).await {
            let Ok(lease) = lease else { continue };
            self.follow_changes(upstream, lease.conversation(), client);
            let profile = &lease.conversation().profile;
            tools |= profile.declares(&["tools", "listChanged"]);
            prompts |= profile.declares(&["prompts", "listChanged"]);
            resources |= profile.declares(&["resources", "listChanged"]);
        }
        filter.tools_list_changed &= tools;
        filter.prompts_list_changed &= prompts;
        filter.resources_list_changed &= resources;
        let (mut uris, mut following) = (Vec::new(), Vec::new());
        let asked = std::mem::take(&mut filter.resource_subscriptions);
        for (upstream, uri) in self.followed(asked, client).await {
            let Ok(lease) = upstream.lease(client, false).await else { continue };
            if let Ok(followed) = self.follow_resource(&upstream, lease.conversation(), client, &uri).await {
                following.extend(followed);
                uris.push(uri);
            }
        }
        filter.resource_subscriptions = uris;
        (filter, following)
    }
}

/// The id of a subscription, as messages carry it.
pub(super) fn subscription(id: &RequestId) -> Value {
    subscription_meta(id)[SUBSCRIPTION_ID].clone()
}

/// The end of a subscription: the notification that one page wants, and the result that another one wants.
fn end_of(id: &RequestId, call: &Call) -> Answer {
    let meta = subscription_meta(id);
    let request = meta[SUBSCRIPTION_ID].clone();
    let cancelled = json!({ "_meta": meta, "requestId": request, "reason": "The server is ending" });
    let _ = call.link.notify("notifications/cancelled", cancelled);
    let mut meta = meta;
    meta[SERVER_INFO] = identity();
    Answer::result(id, &json!({ "resultType": "complete", "_meta": meta }))
}

fn uri_and_session<'c>(
    call: &Call,
    client: &'c Client,
) -> Result<(String, &'c Arc<net::server::link::Session>), RpcError> {
    let uri = call.message.params().and_then(|params| params.get("uri")?.as_str()).map(str::to_owned);
    let uri = uri.ok_or_else(|| failure::PARAMS_INVALID.error("Invalid params: `uri` is not a string"))?;
    let session = client.session.as_ref().ok_or_else(|| failure::SESSION_NEEDED.error("A session is needed"))?;
    Ok((uri, session))
}

/// Asks a client outside its requests; what it cannot be asked is answered by what never harms.
async fn ask_outside(client: &Client, message: Message) -> String {
    let unanswered = unasked(&message);
    let Some(method) = message.method().filter(|method| *method != "ping").map(str::to_owned) else {
        return unanswered;
    };
    let params = message.params().cloned().unwrap_or_else(|| json!({}));
    let mut params = client.shape.question(&params).unwrap_or(params);
    if let Some(members) = params.as_object_mut() {
        // Row 60g, as for questions in the course of a request.
        members.remove("task");
    }
    let (id, params) = (message.id().cloned(), to_raw_value(&params).unwrap_or_else(|_| RawValue::NULL.to_owned()));
    // Read, it can take a hundred times the memory of its text.
    drop(message);
    match client.link.request(&method, params).await {
        Ok(answer) => match (answer.result(), answer.error()) {
            (Some(result), _) => result_text(id.as_ref(), result),
            (_, Some(error)) => {
                let code = answer.error_code().unwrap_or(code::INTERNAL_ERROR);
                let text = error.get("message").and_then(Value::as_str).unwrap_or_default().to_owned();
                error_text(id.as_ref(), &RpcError::new(code, text))
            }
            _ => unanswered,
        },
        Err(_) => unanswered,
    }
}
