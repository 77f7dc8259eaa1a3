//! Tasks of 2025-11-25 that only the gateway knows: calls whose server answered at once, and tasks whose client cancelled
//! them while their server may go on. Must not know how a task runs.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use net::server::http::HeaderValue;
use serde_json::{Map, Value, json};
use wire::timestamp::rfc3339;
use wire::translate::task::is_tool_error;

use crate::ids::Ids;

/// The most tasks, and the most bytes of their results.
const MOST: usize = 4096;
const MOST_BYTES: usize = 64 << 20;
/// How long a task is kept where its client does not say, and at most.
const TTL: Duration = Duration::from_mins(10);
const LONGEST_TTL: Duration = Duration::from_hours(1);

/// How the ids of tasks begin that are made here.
const OWN: &str = "proof-gateway.";

/// Whose task it is: the upstream and the subject of its token.
type Owner = (usize, Option<HeaderValue>);

/// A task.
#[derive(Clone)]
pub(crate) struct KeptTask {
    /// How it stands, as `tasks/get` says it.
    pub(crate) state: Map<String, Value>,
    /// The text of the result; none of a cancelled one.
    pub(crate) result: Option<Arc<str>>,
    until: Instant,
}

/// All of them, by owner and id.
#[derive(Default)]
pub(crate) struct KeptTasks(Mutex<HashMap<(Owner, String), KeptTask>>, Ids);

impl KeptTasks {
    pub(crate) fn new(ids: Ids) -> Self {
        Self(Mutex::default(), ids)
    }

    fn all(&self) -> MutexGuard<'_, HashMap<(Owner, String), KeptTask>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The task of this owner.
    pub(crate) fn find(&self, owner: Owner, id: &str) -> Option<KeptTask> {
        let all = self.all();
        all.get(&(owner, id.to_owned())).filter(|task| task.until > Instant::now()).cloned()
    }

    /// Whether the gateway made the task for another client.
    pub(crate) fn is_foreign(&self, owner: &Owner, id: &str) -> bool {
        let is_one = |(other, known): &(Owner, String)| known == id && other.1 != owner.1;
        id.starts_with(OWN) && self.all().keys().any(is_one)
    }

    /// Makes a task of a call that has ended, and says how it stood when it began. `None` where there is no room.
    pub(crate) fn make(&self, owner: Owner, result: &str, ttl: Option<u64>) -> Option<Map<String, Value>> {
        let id = self.1.unguessable(OWN)?;
        let ttl = ttl.map_or(TTL, Duration::from_millis).min(LONGEST_TTL);
        let status = if serde_json::from_str(result).is_ok_and(|result| is_tool_error(&result)) {
            "failed"
        } else {
            "completed"
        };
        let state = |status: &str| {
            let moment = now();
            let state = json!({ "taskId": id, "status": status, "createdAt": moment, "lastUpdatedAt": moment,
                "ttl": ttl.as_millis() as u64, "pollInterval": 50 });
            state.as_object().cloned().unwrap_or_default()
        };
        let task = KeptTask { state: state(status), result: Some(result.into()), until: Instant::now() + ttl };
        // A task begins as one that is worked on.
        let begun = state("working");
        let mut all = self.all();
        let bytes: usize = all.values().map(KeptTask::bytes).sum();
        if all.len() >= MOST || bytes + task.bytes() > MOST_BYTES {
            return None;
        }
        all.insert((owner, id), task);
        Some(begun)
    }

    /// A task that its client cancelled. Returns how it stands from now on.
    pub(crate) fn cancel(&self, owner: Owner, mut state: Map<String, Value>) -> Map<String, Value> {
        state.insert("status".to_owned(), json!("cancelled"));
        state.insert("lastUpdatedAt".to_owned(), json!(now()));
        let id = state.get("taskId").and_then(Value::as_str).unwrap_or_default().to_owned();
        let task = KeptTask { state: state.clone(), result: None, until: Instant::now() + LONGEST_TTL };
        let mut all = self.all();
        if all.len() >= MOST {
            let first = all.iter().min_by_key(|(_, task)| task.until).map(|(key, _)| key.clone());
            first.and_then(|first| all.remove(&first));
        }
        all.insert((owner, id), task);
        state
    }

    /// Forgets those whose time is over.
    pub(crate) fn sweep(&self) {
        self.all().retain(|_, task| task.until > Instant::now());
    }
}

impl KeptTask {
    fn bytes(&self) -> usize {
        self.result.as_ref().map_or(0, |result| result.len())
    }
}

fn now() -> String {
    rfc3339(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use net::server::http::HeaderValue;

    use super::{KeptTasks, MOST_BYTES};

    #[test]
    fn a_task_is_its_owners_and_the_results_are_bounded() {
        let all = KeptTasks::default();
        let (one, other) = ((1, Some(HeaderValue::from_static("a"))), (1, Some(HeaderValue::from_static("b"))));
        let task = all.make(one.clone(), r#"{"isError":true}"#, None).expect("room");
        assert_eq!(task["status"], "working");
        let id = task["taskId"].as_str().expect("an id");
        assert_eq!(all.find(one.clone(), id).expect("it is kept").state["status"], "failed");
        assert!(all.find(other.clone(), id).is_none());
        let large = "x".repeat(MOST_BYTES / 2);
        assert!(all.make(other.clone(), &large, None).is_some());
        assert!(all.make(other, &large, None).is_none());
        let brief = all.make(one.clone(), "{}", Some(0)).expect("room");
        assert!(all.find(one, brief["taskId"].as_str().expect("an id")).is_none());
    }
}
