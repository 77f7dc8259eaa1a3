//! The server ends of the transports, each written once against [`crate::service::Service`]. They know the envelope, the
//! era, sessions and streams; they know nothing of tools, resources or prompts.

mod batch;
mod conversation;
mod era_check;
pub mod http;
pub mod link;
pub mod recorder;
pub mod stdio;
pub mod tls;
mod websocket;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::task::AbortHandle;
use wire::RequestId;

pub use self::batch::BatchBounds;
use self::link::MessageSink;

/// The requests that tasks are answering, by id. Whoever removes an entry decides: a finished task may answer, an earlier
/// cancellation prevents it.
#[derive(Clone, Default)]
pub(crate) struct InFlight(Arc<Mutex<HashMap<RequestId, Running>>>);

/// A request that a task is answering, and where it sends.
struct Running {
    task: AbortHandle,
    sink: Arc<dyn MessageSink>,
}

impl Running {
    /// Stops the task. Messages that it sends before it notices are dropped.
    fn stop(&self) {
        self.sink.close();
        self.task.abort();
    }
}

impl InFlight {
    fn in_flight(&self) -> MutexGuard<'_, HashMap<RequestId, Running>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Spawns with the table locked, so that a task that finishes at once finds its entry.
    pub(crate) fn start(&self, id: &RequestId, sink: Arc<dyn MessageSink>, spawn: impl FnOnce() -> AbortHandle) {
        let mut in_flight = self.in_flight();
        let task = spawn();
        in_flight.insert(id.clone(), Running { task, sink });
    }

    /// Whether a request of this id is being answered.
    pub(crate) fn has(&self, id: &RequestId) -> bool {
        self.in_flight().contains_key(id)
    }

    /// Removes the entry; `true` where the caller was first.
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

    /// How many requests are being answered.
    pub(crate) fn count(&self) -> usize {
        self.in_flight().len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.in_flight().is_empty()
    }
}
