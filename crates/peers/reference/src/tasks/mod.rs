//! Tasks: calls that go on after they were answered. 2025-11-25 has them in its core (basic/utilities/tasks), where the
//! client asks for one; afterwards they are the extension `io.modelcontextprotocol/tasks`, where the server decides. Both
//! see one store of tasks. Knows no tool, but what a tool says of itself.
//!
//! A task belongs to the legacy session that made it and ends with it. Modern clients are nobody in particular: there,
//! whoever knows the id of a task may use it, and nobody can guess one.

pub(crate) mod legacy;
pub(crate) mod modern;
mod run;
mod store;
mod task;

use std::sync::Arc;
use std::time::Duration;

use net::service::{Call, Context, RpcError, code};
use serde::Deserialize;
use serde_json::{Value, json};
use wire::meta::TASKS_EXTENSION;
use wire::revision::R2025_11_25;
use wire::{Era, Revision};

pub(crate) use self::run::begin;
pub(crate) use self::store::Store;
pub(crate) use self::task::Task;
use crate::catalogue::{TaskSupport, Tool};
use crate::{Server, params};

/// Bounds of the tasks that are kept, under way or done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How many one legacy session may have.
    pub per_session: usize,
    /// How many there may be at all.
    pub in_all: usize,
    /// How long a task is kept, from its beginning, where the client asks for nothing else.
    pub ttl: Duration,
    /// The longest a client may ask for.
    pub longest_ttl: Duration,
    /// How long a client should wait between two looks at a task.
    pub poll_interval: Duration,
    /// How many tasks one page of `tasks/list` has.
    pub per_page: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            per_session: 64,
            in_all: 1024,
            ttl: Duration::from_mins(5),
            longest_ttl: Duration::from_hours(1),
            poll_interval: Duration::from_millis(100),
            per_page: 10,
        }
    }
}

/// Whether a server with these tools has anything to do with tasks in `revision`.
pub(crate) fn offered(server: &Server, revision: Revision) -> bool {
    revision.at_least(R2025_11_25) && server.catalogue().tools.iter().any(|tool| tool.tasks != TaskSupport::Forbidden)
}

/// Adds what the server declares about tasks in `revision`.
pub(crate) fn declare(server: &Server, revision: Revision, capabilities: &mut Value) {
    if !offered(server, revision) {
        return;
    }
    match revision.era() {
        Era::Legacy => {
            capabilities["tasks"] = json!({ "list": {}, "cancel": {}, "requests": { "tools": { "call": {} } } });
        }
        Era::Modern => capabilities["extensions"] = json!({ TASKS_EXTENSION: {} }),
    }
}

/// Whether a modern request declares the extension.
pub(crate) fn declared(call: &Call) -> bool {
    let extensions = call.client_capabilities().and_then(|declared| declared.get("extensions"));
    extensions.and_then(|extensions| extensions.get(TASKS_EXTENSION)).is_some_and(Value::is_object)
}

/// The error for a modern request that would have had to declare the extension.
pub(crate) fn undeclared() -> RpcError {
    RpcError::new(code::MISSING_CLIENT_CAPABILITY, "Missing required client capability")
        .with_data(json!({ "requiredCapabilities": { "extensions": { TASKS_EXTENSION: {} } } }))
}

/// How a call of a tool is to run.
pub(crate) enum Plan {
    /// Until its answer.
    Call,
    /// As a task, kept for so long.
    Task(Duration),
}

/// `task` of `tools/call` (2025-11-25).
#[derive(Deserialize)]
struct Wish {
    #[serde(default)]
    ttl: Option<u64>,
}

/// Whether a call is to run as a task: the client says so at 2025-11-25, and we in the modern era. `wish` is the call's
/// `task`, which means nothing in other revisions.
pub(crate) fn plan(server: &Server, tool: &Tool, call: &Call, wish: Option<&Value>) -> Result<Plan, RpcError> {
    let limits = &server.state().options.tasks;
    let revision = call.context.revision;
    if revision.era() == Era::Modern {
        return match tool.tasks {
            // Before the declaration is looked at: that reads the whole message, which most calls can do without.
            TaskSupport::Forbidden => Ok(Plan::Call),
            TaskSupport::Required if !declared(call) => Err(undeclared()),
            TaskSupport::Optional if !declared(call) || server.state().tasks.is_full() => Ok(Plan::Call),
            TaskSupport::Required | TaskSupport::Optional => Ok(Plan::Task(limits.ttl)),
        };
    }
    if revision != R2025_11_25 || !offered(server, revision) {
        return Ok(Plan::Call);
    }
    let not_found = |why: &str| RpcError::new(code::METHOD_NOT_FOUND, format!("`{}` {why}", tool.name));
    match (tool.tasks, wish) {
        (TaskSupport::Forbidden, Some(_)) => Err(not_found("does not run as a task: leave out `task`")),
        (TaskSupport::Required, None) => Err(not_found("only runs as a task: add `task` to the parameters")),
        (_, None) => Ok(Plan::Call),
        (_, Some(wish)) => {
            let wish = read_wish(wish)?;
            Ok(Plan::Task(wish.ttl.map_or(limits.ttl, Duration::from_millis).min(limits.longest_ttl)))
        }
    }
}

fn read_wish(wish: &Value) -> Result<Wish, RpcError> {
    // An array would do for a struct.
    if !wish.is_object() {
        return Err(RpcError::invalid_params("Invalid params: `task` is not an object"));
    }
    serde_json::from_value(wish.clone())
        .map_err(|error| RpcError::invalid_params(format!("Invalid params: `task`: {error}")))
}

#[derive(Deserialize)]
struct Named {
    #[serde(rename = "taskId")]
    id: String,
}

/// The task that a request names, where it is the client's own.
fn named(server: &Server, call: &Call) -> Result<Arc<Task>, RpcError> {
    params::meta(call)?;
    let Named { id } = params::read(call)?;
    server.state().tasks.find(&owner(&call.context), &id).ok_or_else(|| {
        let id: String = id.escape_debug().take(80).collect();
        RpcError::invalid_params(format!("Unknown task: {id} – it may have expired"))
    })
}

/// Who a client is.
pub(crate) fn owner(context: &Context) -> store::Owner {
    if let Some(session) = &context.session {
        return store::Owner::Session(Arc::downgrade(session));
    }
    context.subject.clone().map_or(store::Owner::Anyone, store::Owner::Subject)
}
