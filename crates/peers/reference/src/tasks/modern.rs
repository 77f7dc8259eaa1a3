//! The methods of the extension `io.modelcontextprotocol/tasks` (2026-07-28). Who does not declare it gets none of them.

use std::sync::Arc;

use net::service::{Call, RpcError};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::task::{Ending, Task};
use crate::answer::Handled;
use crate::{Server, params};

fn named(server: &Server, call: &Call) -> Result<Arc<Task>, RpcError> {
    if super::declared(call) { super::named(server, call) } else { Err(super::undeclared()) }
}

/// `CreateTaskResult`, but for its `resultType`
pub(crate) fn created(task: &Task) -> Value {
    task.modern()
}

/// `tasks/get`
pub(crate) fn get(server: &Server, call: &Call) -> Handled {
    Ok(named(server, call)?.detailed())
}

#[derive(Deserialize)]
struct Params {
    #[serde(rename = "inputResponses")]
    answers: Map<String, Value>,
}

/// `tasks/update`
pub(crate) fn update(server: &Server, call: &Call) -> Handled {
    let task = named(server, call)?;
    let Params { answers } = params::read(call)?;
    task.update(server, &answers)?;
    Ok(json!({}))
}

/// `tasks/cancel`, which is no more than a wish: a task that is over stays as it is.
pub(crate) fn cancel(server: &Server, call: &Call) -> Handled {
    named(server, call)?.end(server, Ending::Cancelled);
    Ok(json!({}))
}
