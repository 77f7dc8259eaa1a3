//! What is seen of a task from outside, in the words of each era.

use std::time::Duration;

use net::service::{Link, RpcError};
use serde_json::{Value, json};
use wire::revision::R2026_07_28;

use super::{Ending, Next, Phase, State, Task};
use crate::catalogue::{Content, Finished as _};
use crate::tasks::store::Owner;
use wire::meta::{ERROR, RELATED_TASK};

impl Task {
    pub(super) fn status(&self, state: &State) -> &'static str {
        match &state.phase {
            Phase::Working => "working",
            Phase::InputRequired(_) => "input_required",
            // The extension keeps `failed` for JSON-RPC errors.
            Phase::Over(Ending::Done(output)) if output.is_error && self.is_legacy() => "failed",
            Phase::Over(Ending::Done(_)) => "completed",
            Phase::Over(Ending::Error(_)) => "failed",
            Phase::Over(Ending::Cancelled) => "cancelled",
        }
    }

    const fn is_legacy(&self) -> bool {
        matches!(self.owner, Owner::Session(_))
    }

    /// How it stands.
    pub(in crate::tasks) fn current_status(&self) -> &'static str {
        self.status(&self.state())
    }

    /// `_meta` of what belongs to it (2025-11-25).
    pub(in crate::tasks) fn related(&self) -> Value {
        json!({ RELATED_TASK: { "taskId": self.id } })
    }

    /// `Task` of 2025-11-25.
    pub(in crate::tasks) fn legacy(&self) -> Value {
        self.legacy_view(&self.state())
    }

    pub(super) fn legacy_view(&self, state: &State) -> Value {
        let mut view = self.view(state);
        view["ttl"] = json!(millis(self.ttl));
        view["pollInterval"] = json!(millis(self.poll_interval));
        view
    }

    /// `Task` of the extension.
    pub(in crate::tasks) fn modern(&self) -> Value {
        self.modern_view(&self.state())
    }

    fn modern_view(&self, state: &State) -> Value {
        let mut view = self.view(state);
        view["ttlMs"] = json!(millis(self.ttl));
        view["pollIntervalMs"] = json!(millis(self.poll_interval));
        view
    }

    /// `DetailedTask` of the extension.
    pub(in crate::tasks) fn detailed(&self) -> Value {
        self.detailed_view(&self.state())
    }

    pub(super) fn detailed_view(&self, state: &State) -> Value {
        let mut view = self.modern_view(state);
        match &state.phase {
            Phase::InputRequired(open) => {
                let open = open.iter().filter(|question| question.answer.is_none());
                let requests = open.map(|open| (open.key.clone(), open.question.input_request(R2026_07_28)));
                view["inputRequests"] = Value::Object(requests.collect());
            }
            Phase::Over(Ending::Done(output)) => {
                view["result"] = json!(output);
                view["result"]["resultType"] = json!("complete");
                if let Some(failure) = output.failure() {
                    view["result"]["_meta"] = json!({ ERROR: failure });
                }
            }
            Phase::Over(Ending::Error(error)) => view["error"] = json!(error),
            Phase::Working | Phase::Over(Ending::Cancelled) => {}
        }
        view
    }

    fn view(&self, state: &State) -> Value {
        let mut view = json!({
            "taskId": self.id,
            "status": self.status(state),
            "createdAt": self.created,
            "lastUpdatedAt": state.updated,
        });
        if let Some(message) = message(&state.phase) {
            view["statusMessage"] = json!(message);
        }
        view
    }

    /// What `tasks/result` gives in the end (2025-11-25).
    pub(super) fn payload(&self, ending: &Ending) -> Next {
        match ending {
            Ending::Done(output) => {
                let mut result = json!(output);
                result["_meta"] = self.related();
                if let Some(failure) = output.failure() {
                    result["_meta"][ERROR] = Value::Object(failure);
                }
                Next::Result(result)
            }
            Ending::Error(error) => Next::Error(error.clone()),
            Ending::Cancelled => Next::Error(RpcError::invalid_params("The task was cancelled: it has no result")),
        }
    }

    /// Tells a subscriber how it stands, in the order of all that is said of it.
    pub(crate) fn tell(&self, link: &Link, meta: &Value) {
        let state = self.state();
        let mut params = self.detailed_view(&state);
        params["_meta"] = meta.clone();
        let _ = link.notify("notifications/tasks", params);
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// A word for people.
fn message(phase: &Phase) -> Option<String> {
    match phase {
        Phase::InputRequired(_) => Some("Waiting for an answer of the client".to_owned()),
        Phase::Over(Ending::Done(output)) if output.is_error => output.content.iter().find_map(|block| match block {
            Content::Text { text } => Some(text.clone()),
            _ => None,
        }),
        Phase::Working | Phase::Over(Ending::Done(_)) => None,
        Phase::Over(Ending::Error(error)) => Some(error.message.to_string()),
        Phase::Over(Ending::Cancelled) => Some("Cancelled by the client".to_owned()),
    }
}
