//! What a trace shows about tasks, both in the core of 2025-11-25 and in the later extension: which calls became tasks,
//! and what later messages say about each. Must not know rules.

use std::collections::BTreeMap;

use serde_json::Value;
use wire::meta;
use wire::{Era, Kind, Party};

use crate::reading::content::canonical;
use crate::verdict::{Breach, Located};
use crate::view::{Call, MessageAt, View};

/// A call that became a task.
#[derive(Clone, Copy)]
pub(crate) struct Creation<'v> {
    /// The call.
    pub call: Call<'v>,
    /// Its answer.
    pub sent: MessageAt<'v>,
    /// The task's id.
    pub id: &'v str,
    /// What the answer says of the task.
    pub task: &'v Value,
}

impl Located for Creation<'_> {
    fn event(&self) -> usize {
        self.sent.event
    }
}

/// How a task showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// In answer to the call that became it.
    Created,
    /// In answer to `tasks/get`.
    Got,
    /// In answer to `tasks/cancel` (2025-11-25).
    Cancelled,
    /// In answer to `tasks/list`, among others (2025-11-25).
    Listed,
    /// In a notification.
    Notified,
}

/// A task as some message shows it.
#[derive(Clone)]
pub(crate) struct TaskState<'v> {
    /// The message.
    pub sent: MessageAt<'v>,
    /// The event that asked for it; that of the message itself where it was not requested.
    pub requested: usize,
    /// Why it showed.
    pub how: How,
    /// The task's id.
    pub id: &'v str,
    /// The task.
    pub task: &'v Value,
    /// Where in the message it stands.
    pub pointer: String,
}

impl Located for TaskState<'_> {
    fn event(&self) -> usize {
        self.sent.event
    }
}

impl<'v> TaskState<'v> {
    /// The task's status.
    pub(crate) fn status(&self) -> Option<&'v str> {
        status(self.task)
    }

    /// Whether it says that the task is over.
    pub(crate) fn is_over(&self) -> bool {
        self.status().is_some_and(is_over)
    }

    /// A breach at `below` within the task.
    pub(crate) fn breach(&self, below: &str, why: impl Into<String>) -> Breach {
        self.sent.breach(format!("{}{below}", self.pointer), why)
    }
}

/// A task's status.
pub(crate) fn status(task: &Value) -> Option<&str> {
    task.get("status")?.as_str()
}

/// Whether a status is one that stays.
pub(crate) fn is_over(status: &str) -> bool {
    matches!(status, "completed" | "failed" | "cancelled")
}

fn id(task: &Value) -> Option<&str> {
    task.get("taskId")?.as_str()
}

/// The parameter of a request that names a task.
pub(crate) fn named<'v>(request: &MessageAt<'v>) -> Option<&'v str> {
    id(request.message.params()?)
}

/// The id of the task that a message says it belongs to.
pub(crate) fn related<'v>(sent: &MessageAt<'v>) -> Option<&'v Value> {
    let body = sent.message.params().or_else(|| sent.message.result())?;
    body.get("_meta")?.get(meta::RELATED_TASK)
}

/// What `call`'s result says of the task that it became, if it did.
pub(crate) fn created<'v>(era: Era, call: &Call<'v>) -> Option<&'v Value> {
    let result = call.result()?;
    match era {
        Era::Legacy => result.get("task").filter(|task| task.is_object()),
        Era::Modern => (result.get("resultType")? == "task").then_some(result),
    }
}

/// The requests that a party may run as tasks.
const fn run_by(receiver: Party) -> &'static [&'static str] {
    match receiver {
        Party::Client => &["sampling/createMessage", "elicitation/create"],
        _ => &["tools/call"],
    }
}

/// Requests to the judged party that became tasks: in the legacy era those that asked for it.
pub(crate) fn creations<'v>(view: &View<'v>) -> Vec<Creation<'v>> {
    creations_of(view, view.subject())
}

/// Requests to `receiver` that became tasks.
pub(crate) fn creations_of<'v>(view: &View<'v>, receiver: Party) -> Vec<Creation<'v>> {
    let asks = |call: &Call<'_>| view.era() == Era::Modern || task_params(call).is_some();
    let calls = view.calls_by(receiver.peer()).filter(|call| {
        let known = run_by(receiver).iter().any(|method| call.request.is(method));
        known && view.is_current(call.request) && asks(call)
    });
    let creation = |call: Call<'v>| {
        let task = created(view.era(), &call)?;
        Some(Creation { call, sent: call.response?, id: id(task)?, task })
    };
    calls.filter_map(creation).collect()
}

/// The `task` parameter of a call that is to become a task (2025-11-25).
pub(crate) fn task_params<'v>(call: &Call<'v>) -> Option<&'v Value> {
    call.request.message.params()?.get("task").filter(|task_params| task_params.is_object())
}

/// Everything that the judged party said of tasks, in the order of the trace.
pub(crate) fn task_states<'v>(view: &View<'v>) -> Vec<TaskState<'v>> {
    task_states_of(view, view.subject())
}

/// Everything that `receiver` said of tasks, in the order of the trace.
pub(crate) fn task_states_of<'v>(view: &View<'v>, receiver: Party) -> Vec<TaskState<'v>> {
    let mut task_states: Vec<TaskState<'v>> = Vec::new();
    for creation in creations_of(view, receiver) {
        let pointer = if view.era() == Era::Legacy { "/result/task" } else { "/result" };
        let Creation { sent, id, task, call } = creation;
        task_states.push(TaskState {
            sent,
            requested: call.request.event,
            how: How::Created,
            id,
            task,
            pointer: pointer.to_owned(),
        });
    }
    for call in view.calls_by(receiver.peer()).filter(|call| view.is_current(call.request)) {
        task_states.extend(answered(view.era(), &call));
    }
    let method = if view.era() == Era::Legacy { "notifications/tasks/status" } else { "notifications/tasks" };
    for sent in view.by(receiver).filter(|sent| sent.message.kind() == Kind::Notification && sent.is(method)) {
        let Some((task, id)) = sent.message.params().and_then(|task| Some((task, id(task)?))) else { continue };
        task_states.push(TaskState {
            sent,
            requested: sent.event,
            how: How::Notified,
            id,
            task,
            pointer: "/params".to_owned(),
        });
    }
    task_states.sort_by_key(|state| state.sent.event);
    task_states
}

/// The tasks in the answer to a request about tasks.
fn answered<'v>(era: Era, call: &Call<'v>) -> Vec<TaskState<'v>> {
    let (Some(sent), Some(result)) = (call.response, call.result()) else { return Vec::new() };
    let state = |how, task: &'v Value, pointer: String| {
        Some(TaskState { sent, requested: call.request.event, how, id: id(task)?, task, pointer })
    };
    let one = |how| state(how, result, "/result".to_owned()).into_iter().collect();
    match (era, call.request.message.method().unwrap_or_default()) {
        (_, "tasks/get") => one(How::Got),
        (Era::Legacy, "tasks/cancel") => one(How::Cancelled),
        (Era::Legacy, "tasks/list") => {
            let tasks = result.get("tasks").and_then(Value::as_array).into_iter().flatten().enumerate();
            tasks.filter_map(|(index, task)| state(How::Listed, task, format!("/result/tasks/{index}"))).collect()
        }
        _ => Vec::new(),
    }
}

/// Where each task was first said to be over: the sight, by the task's id.
pub(crate) fn endings<'s, 'v>(task_states: &'s [TaskState<'v>]) -> BTreeMap<&'v str, &'s TaskState<'v>> {
    let mut endings = BTreeMap::new();
    for state in task_states.iter().filter(|state| state.is_over()) {
        endings.entry(state.id).or_insert(state);
    }
    endings
}

/// What a call asks of a tool, whether as a task or not: the same for calls that ask the same.
pub(crate) fn tool_call_key(call: &Call<'_>) -> String {
    let params = call.request.message.params();
    let part = |name: &str| params.and_then(|params| params.get(name)).map(canonical).unwrap_or_default();
    format!("{}\n{}", part("name"), part("arguments"))
}

/// Calls that were answered, by what they ask.
pub(crate) fn by_tool_call<'v>(calls: impl IntoIterator<Item = Call<'v>>) -> BTreeMap<String, Vec<Call<'v>>> {
    let mut by_tool_call: BTreeMap<String, Vec<Call<'v>>> = BTreeMap::new();
    for call in calls.into_iter().filter(|call| call.response.is_some()) {
        by_tool_call.entry(tool_call_key(&call)).or_default().push(call);
    }
    by_tool_call
}

/// Whether a made-up name says itself that there is nothing of that name. Any other may be real, though the trace does
/// not show where it came from.
pub(crate) fn is_made_up_name(name: &str) -> bool {
    ["no-such", "no_such", "nonexistent", "non-existent", "does-not-exist"].into_iter().any(|sign| name.contains(sign))
}

/// Whether a date and a time of day are in `text` in one of the forms of ISO 8601: with or without separators, a
/// fraction, an offset from UTC.
pub(crate) fn is_timestamp(text: &str) -> bool {
    let Some((date, rest)) = text.split_once(['T', 't', ' ']) else { return false };
    let end = rest.find(['Z', 'z', '+', '-']).unwrap_or(rest.len());
    let (time, offset) = rest.split_at(end);
    let whole = time.split(['.', ',']).next().unwrap_or_default();
    let fraction = time.split_once(['.', ',']).is_none_or(|(_, digits)| is_digits(digits, 1, 12));
    let plain = |part: &str, sign: char| part.replace(sign, "");
    is_digits(&plain(date, '-'), 8, 8)
        && is_digits(&plain(whole, ':'), 4, 6)
        && fraction
        && (offset.is_empty()
            || offset.eq_ignore_ascii_case("z")
            || is_digits(&plain(offset.trim_start_matches(['+', '-']), ':'), 2, 6))
}

fn is_digits(text: &str, least: usize, most: usize) -> bool {
    (least..=most).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::is_timestamp;

    #[test]
    fn timestamps_are_read_leniently_and_no_further() {
        for good in [
            "2025-11-25T10:30:00Z",
            "2025-11-25T10:30:00.123456+02:00",
            "2025-11-25 10:30:00",
            "20251125T103000Z",
            "2025-11-25t10:30z",
        ] {
            assert!(is_timestamp(good), "{good}");
        }
        for bad in
            ["", "1764066600", "yesterday", "2025-11-25", "Tue, 25 Nov 2025 10:30:00 GMT", "2025-11-25T10:30:00."]
        {
            assert!(!is_timestamp(bad), "{bad}");
        }
    }
}
