//! The page `basic/utilities/tasks` of 2025-11-25, the only revision whose core has tasks, a file per group of sections.
//! Requestor and receiver may be either party; here the server is the receiver, and what binds clients is declared in
//! [`clients`].

pub(crate) mod associating;
pub(crate) mod clients;
pub(crate) mod creating;
pub(crate) mod errors;
pub(crate) mod lifecycle;
pub(crate) mod managing;
pub(crate) mod negotiation;
mod receiving;
mod requesting;
pub(crate) mod results;

use serde_json::Value;

use crate::reading::tasks::{by_tool_call, creations, task_params, tool_call_key};
use crate::rule::{Anchor, at};
use crate::view::{Call, View};

/// The capability of servers that run calls of tools as tasks.
const CALLS: &str = "tasks.requests.tools.call";

const fn here(section: &'static str) -> Anchor {
    at("basic/utilities/tasks", section)
}

/// Calls of tools that are valid and whose answer is about their content.
fn judgeable_calls<'v>(view: &View<'v>) -> Vec<Call<'v>> {
    view.calls("tools/call").filter(|call| view.is_current(call.request) && view.judges_content(call)).collect()
}

/// What plain calls of the same substance were answered, by calls that asked to run as a task.
struct Twins<'v>(std::collections::BTreeMap<String, Vec<Call<'v>>>);

impl<'v> Twins<'v> {
    /// The calls that asked for no task.
    fn plain(view: &View<'v>) -> Self {
        Self(by_tool_call(judgeable_calls(view).into_iter().filter(|call| task_params(call).is_none())))
    }

    /// The calls that became tasks.
    fn tasks(view: &View<'v>) -> Self {
        Self(by_tool_call(creations(view).into_iter().map(|creation| creation.call)))
    }

    fn of(&self, call: &Call<'_>) -> &[Call<'v>] {
        self.0.get(&tool_call_key(call)).map_or(&[], Vec::as_slice)
    }

    /// Whether such a call was served: with a result that is not a tool's error.
    fn served(&self, call: &Call<'_>) -> bool {
        self.of(call).iter().any(|twin| twin.result().is_some_and(|result| !is_failure(result)))
    }
}

/// Whether a result is a tool's error.
fn is_failure(result: &Value) -> bool {
    result.get("isError").is_some_and(|failed| failed == true)
}
