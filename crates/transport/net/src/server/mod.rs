//! The server ends of the transports, each written once against [`crate::service::Service`]. They know the envelope, the
//! era, sessions and streams; they know nothing of tools, resources or prompts.

mod batch;
mod conversation;
mod era_check;
pub mod http;
pub mod link;
pub mod recorder;
pub mod stdio;
mod websocket;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::task::AbortHandle;
use wire::RequestId;

use self::link::MessageSink;

/// The requests being answered by tasks, by id. Whoever takes an entry out decides: the task that is done may answer, the
/// cancellation that was first prevents it.
#[derive(Clone, Default)]
pub(crate) struct InFlight(Arc<Mutex<HashMap<RequestId, Running>>>);

/// A request being answered by a task, and where it sends.
struct Running {
    task: AbortHandle,
    sink: Arc<dyn MessageSink>,
}

impl Running {
    /// Stops the task. What it tries to send until it notices goes nowhere.
    fn stop(&self) {
        self.sink.close();
        self.task.abort();
    }
}

impl InFlight {
    fn in_flight(&self) -> MutexGuard<'_, HashMap<RequestId, Running>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Spawns with the table locked, so that a task which is done at once finds its entry.
    pub(crate) fn start(&self, id: &RequestId, sink: Arc<dyn MessageSink>, spawn: impl FnOnce() -> AbortHandle) {
        let mut in_flight = self.in_flight();
        let task = spawn();
        in_flight.insert(id.clone(), Running { task, sink });
    }

    /// Whether a request of this id is being answered.
    pub(crate) fn has(&self, id: &RequestId) -> bool {
        self.in_flight().contains_key(id)
    }

    /// Takes the entry out; `true` where the caller was first.
    pub(crate) fn finish(&self, id: &RequestId) -> bool {
        self.in_flight().remove(id).is_some()
    }

    /// Stops the task of `id`; `true` where there was one.
    pub(crate) fn cancel(&self, id: &RequestId) -> bool {
        let running = self.in_flight().remove(id);
        running.map(|running| running.stop()).is_some()
    }

    /// Stops every task.
    pub(crate) fn cancel_all(&self) {
        for (_, running) in self.in_flight().drain() {
            running.stop();
        }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.in_flight().len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.in_flight().is_empty()
    }
}
