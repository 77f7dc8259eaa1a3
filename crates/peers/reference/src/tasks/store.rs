//! All tasks that are kept, and whose they are. Knows nothing of what they do.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use net::server::http::HeaderValue;
use net::service::{RpcError, Session};
use serde_json::Value;
use wire::serf::{Category, Details};

use super::{Limits, Task};

/// When it is worth another try to begin a task, in milliseconds.
const RETRY_AFTER: u64 = 1000;

/// Whose a task is.
#[derive(Clone, Debug)]
pub(crate) enum Owner {
    /// Its session's (2025-11-25).
    Session(Weak<Session>),
    /// Whoever knows its id (2026-07-28).
    Anyone,
    /// Whoever has a token about the same subject (2026-07-28, where tokens are demanded).
    Subject(HeaderValue),
}

impl PartialEq for Owner {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Session(one), Self::Session(other)) => one.ptr_eq(other),
            (Self::Anyone, Self::Anyone) => true,
            (Self::Subject(one), Self::Subject(other)) => one == other,
            _ => false,
        }
    }
}

#[derive(Default)]
struct Kept {
    by_id: HashMap<String, Arc<Task>>,
    made: u64,
}

/// The tasks of a server.
pub(crate) struct Store {
    limits: Limits,
    kept: Mutex<Kept>,
}

impl Store {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, kept: Mutex::default() }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there is room for nobody's tasks.
    pub(crate) fn is_full(&self) -> bool {
        self.kept().by_id.len() >= self.limits.in_all
    }

    /// A new task, which can be found from now on; whoever makes it takes it out again.
    pub(super) fn create(&self, owner: Owner, ttl: Duration) -> Result<Arc<Task>, RpcError> {
        let mut bytes = [0; 18];
        getrandom::fill(&mut bytes)
            .map_err(|_| RpcError::internal("The system gives no randomness to name a task with"))?;
        let id = URL_SAFE_NO_PAD.encode(bytes);
        let mut kept = self.kept();
        let most = if owner == Owner::Anyone { self.limits.in_all } else { self.limits.per_session };
        let own = kept.by_id.values().filter(|task| *task.owner() == owner).count();
        if own >= most || kept.by_id.len() >= self.limits.in_all {
            return Err(full());
        }
        kept.made += 1;
        let task = Arc::new(Task::new(id.clone(), kept.made, owner, ttl, self.limits.poll_interval));
        kept.by_id.insert(id, Arc::clone(&task));
        Ok(task)
    }

    /// The task of this id, where it is this owner's.
    pub(crate) fn find(&self, owner: &Owner, id: &str) -> Option<Arc<Task>> {
        self.kept().by_id.get(id).filter(|task| task.owner() == owner).cloned()
    }

    /// This owner's tasks that were made after the one of that number, oldest first.
    pub(super) fn after(&self, owner: &Owner, number: u64) -> Vec<Arc<Task>> {
        let kept = self.kept();
        let own = kept.by_id.values().filter(|task| task.owner() == owner && task.number() > number);
        let mut own: Vec<_> = own.cloned().collect();
        drop(kept);
        own.sort_unstable_by_key(|task| task.number());
        own
    }

    pub(super) fn remove(&self, id: &str) {
        self.kept().by_id.remove(id);
    }
}

/// The refusal where no more tasks are kept.
fn full() -> RpcError {
    let category = Category::ResourceExhausted;
    let details = Details::new(category, category.advice()).retry(RETRY_AFTER);
    RpcError::internal("There are as many tasks as this server keeps; try again later")
        .with_data(Value::Object(details.members()))
}
