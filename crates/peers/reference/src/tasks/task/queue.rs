//! The requests for a task's result that wait for it, and which of them asks the client meanwhile (2025-11-25).

use net::service::RpcError;
use serde_json::{Value, json};
use tokio::sync::watch;
use wire::revision::R2025_11_25;

use super::{Phase, Task};

/// What a request for the result has to do next (2025-11-25).
pub(in crate::tasks) enum Next {
    /// Give this result.
    Result(Value),
    /// Give this error.
    Error(RpcError),
    /// Ask this: the key, the method and the parameters.
    Ask(String, &'static str, Value),
    /// Wait for a change.
    Wait,
}

/// A request for the result, in the queue of those that wait. The newest puts the questions: the client may not read the
/// streams of the older ones any more.
pub(in crate::tasks) struct Ticket<'a> {
    task: &'a Task,
    number: u64,
}

impl Task {
    /// Queues a request for the result.
    pub(in crate::tasks) fn queue(&self) -> Ticket<'_> {
        let mut state = self.state();
        state.waited += 1;
        let number = state.waited;
        state.waiting.push(number);
        drop(state);
        self.changed.send_replace(());
        Ticket { task: self, number }
    }

    /// Tells of every change from now on.
    pub(in crate::tasks) fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }
}

impl Ticket<'_> {
    /// What to do next.
    pub(in crate::tasks) fn next(&self) -> Next {
        let state = self.task.state();
        match &state.phase {
            Phase::Over(ending) => self.task.payload(ending),
            Phase::InputRequired(open) if state.waiting.last() == Some(&self.number) => {
                let Some(open) = open.iter().find(|question| question.answer.is_none()) else { return Next::Wait };
                let mut params = open.question.params(R2025_11_25).unwrap_or_else(|| json!({}));
                params["_meta"] = self.task.related();
                Next::Ask(open.key.clone(), open.question.method(), params)
            }
            Phase::InputRequired(_) | Phase::Working => Next::Wait,
        }
    }

    /// Whether this question is still for this request to ask.
    pub(in crate::tasks) fn may_ask(&self, key: &str) -> bool {
        matches!(self.next(), Next::Ask(next, ..) if next == key)
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        self.task.state().waiting.retain(|number| *number != self.number);
        self.task.changed.send_replace(());
    }
}
