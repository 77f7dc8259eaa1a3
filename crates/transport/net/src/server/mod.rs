//! The server ends of the transports, each written once against [`crate::service::Service`]. They know the envelope, the
//! era, sessions and streams; they know nothing of tools, resources or prompts.

mod batch;
mod conversation;
mod era_check;
pub mod http;
pub mod link;
pub mod stdio;
pub mod recorder;
mod websocket;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::task::AbortHandle;
use wire::RequestId;

use self::link::Outlet;

/// The requests being answered by tasks, by id. Whoever takes an entry out decides: the task that is done may answer, the
/// cancellation that was first prevents it.
#[derive(Clone, Default)]
pub(crate) struct Flights(Arc<Mutex<HashMap<RequestId, Flight>>>);

/// A request being answered by a task, and where it sends.
struct Flight {
    task: AbortHandle,
    outlet: Arc<dyn Outlet>,
}

impl Flight {
    /// Stops the task. What it tries to send until it notices goes nowhere.
    fn stop(&self) {
        self.outlet.close();
        self.task.abort();
    }
}

impl Flights {
    fn flights(&self) -> MutexGuard<'_, HashMap<RequestId, Flight>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Spawns with the table locked, so that a task which is done at once finds its entry.
    pub(crate) fn launch(&self, id: &RequestId, outlet: Arc<dyn Outlet>, spawn: impl FnOnce() -> AbortHandle) {
        let mut flights = self.flights();
        let task = spawn();
        flights.insert(id.clone(), Flight { task, outlet });
    }

    /// Whether a request of this id is being answered.
    pub(crate) fn has(&self, id: &RequestId) -> bool {
        self.flights().contains_key(id)
    }

    /// Takes the entry out; `true` where the caller was first.
    pub(crate) fn land(&self, id: &RequestId) -> bool {
        self.flights().remove(id).is_some()
    }

    /// Stops the task of `id`; `true` where there was one.
    pub(crate) fn cancel(&self, id: &RequestId) -> bool {
        let flight = self.flights().remove(id);
        flight.map(|flight| flight.stop()).is_some()
    }

    /// Stops every task.
    pub(crate) fn cancel_all(&self) {
        for (_, flight) in self.flights().drain() {
            flight.stop();
        }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.flights().len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.flights().is_empty()
    }
}
