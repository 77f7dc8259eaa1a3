//! Calls that a server of 2025-11-25 runs as tasks: a client of 2026-07-28 that knows tasks gets the task, and for every other
//! one the gateway waits for the end. Must not know what is asked about a task later.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use net::service::Answer;
use serde_json::{Map, Value, json};
use wire::translate::task::status;
use wire::{Message, Revision, meta};

use super::Relay;
use super::texts::with_params;
use crate::catalogue::TaskSupport;
use crate::gateway::unknown_status;
use crate::older_tasks::{Owner, Place, asks_of, bounded};
use crate::upstream::{Conversation, Flight, Profile, Sending, Trouble};

impl Relay {
    /// A call of a tool that runs as a task (2025-11-25), for a client that cannot ask for one.
    pub(super) async fn as_task<'t>(&self, profile: &Profile, text: &'t str) -> Cow<'t, str> {
        let asks_itself = self.to() == Revision::R2025_11_25;
        if profile.revision != Revision::R2025_11_25 || asks_itself || self.method() != "tools/call" {
            return Cow::Borrowed(text);
        }
        let support = match &self.tool() {
            Some(tool) => self.gateway.task_support(&self.upstream, &self.client, tool).await,
            None => None,
        };
        let may_show = support.is_some() && self.may_show_task(profile);
        let becomes_task = match support {
            Some(TaskSupport::Required) => true,
            Some(TaskSupport::Optional) => may_show && self.takes_long(),
            None => false,
        };
        if !becomes_task {
            return Cow::Borrowed(text);
        }
        self.is_task.store(true, Ordering::Relaxed);
        self.shows_task.store(may_show, Ordering::Relaxed);
        Cow::Owned(with_params(text, &["task"], &[("task", "{}".to_owned())]))
    }

    /// Whether the client takes a task for its result, and nobody but the client needs to see that at once.
    fn may_show_task(&self, profile: &Profile) -> bool {
        let declared = self.client.capabilities().get("extensions").and_then(|all| all.get(meta::TASKS_EXTENSION));
        let is_intercepted = self.client.shape.intercepted.as_ref().is_some_and(|one| one.reads_answer);
        declared.is_some_and(Value::is_object)
            && profile.makes_older_tasks()
            && !is_intercepted
            && self.edits.watch.is_none()
            && self.gateway.older_tasks.has_room(&self.owner_of_task())
    }

    fn owner_of_task(&self) -> Owner {
        self.gateway.owner_of_task(&self.client, &self.upstream)
    }

    /// Whether the tool takes so long that a task is better, as far as that is known.
    fn takes_long(&self) -> bool {
        self.call.message.string_member("name").is_some_and(|tool| self.gateway.expects_long(&tool))
    }

    /// The task that a call has become, where the client did not ask for one.
    pub(super) fn task_of(&self, message: &Message) -> Option<String> {
        if !self.is_task.load(Ordering::Relaxed) {
            return None;
        }
        Some(message.result()?.get("task")?.get("taskId")?.as_str()?.to_owned())
    }

    /// Asks for the result of a task that only the gateway knows of. It comes when the task has ended.
    pub(super) async fn result_of_task(&self, conversation: &Conversation, task: &str) -> Result<Flight, Trouble> {
        let params = json!({ "taskId": task });
        let text = json!({ "jsonrpc": "2.0", "id": 0, "method": "tasks/result", "params": params }).to_string();
        let sending = Sending { write: self.edits.write.as_ref(), ..Sending::default() };
        let limit = self.gateway.limits.message_bytes;
        let started = Flight::start(&conversation.core, "tasks/result", &text, sending, limit).await;
        // The task runs, whether its result can be fetched or not.
        started.map_err(Trouble::after_request)
    }

    /// The task as the client gets it. `None` where it waits for the result.
    pub(super) fn show_task(&self, conversation: &Arc<Conversation>, message: &Message, id: &str) -> Option<Answer> {
        if !self.shows_task.load(Ordering::Relaxed) {
            return None;
        }
        let result = message.result()?;
        let task = result.get("task")?.as_object()?;
        let state = bounded(task);
        if !matches!(status(&state), "working" | "input_required" | "completed" | "failed" | "cancelled") {
            return Some(self.refuse(&unknown_status(status(&state))));
        }
        let place =
            Place { upstream: Arc::clone(&self.upstream), conversation: Arc::clone(conversation), id: id.to_owned() };
        let ttl = task.get("ttl").and_then(Value::as_u64);
        let whose = (self.owner_of_task(), asks_of(self.client.capabilities()));
        let (shown, kept) = self.gateway.older_tasks.keep(whose, place, self.edits.output.clone(), ttl)?;
        self.learn_from(message);
        let mut state = kept.shown(&shown, state);
        state.insert("resultType".to_owned(), json!("task"));
        let mut meta = result.get("_meta").and_then(Value::as_object).cloned().unwrap_or_else(Map::new);
        // It names the task as its server does.
        meta.remove(meta::RELATED_TASK);
        if !meta.is_empty() {
            state.insert("_meta".to_owned(), Value::Object(meta));
        }
        Some(self.own_result(&Value::Object(state), &conversation.profile.server))
    }
}
