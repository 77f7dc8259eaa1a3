//! Several endpoints at one address, each with a service, options and sessions of its own. They come and go while the listener
//! stays. Knows no request but its path.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use hyper::StatusCode;

use super::entry::{self, Endpoint};
use super::layer::Next;
use super::response::{Response, status};
use super::routing::Routed;
use super::{Options, Shared};
use crate::server::link::Closing;
use crate::service::Service;

/// The further endpoints of a listener.
#[derive(Clone)]
pub struct Endpoints {
    table: Arc<RwLock<Vec<Arc<Shared>>>>,
    closing: Closing,
}

impl fmt::Debug for Endpoints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        f.debug_list().entries(table.iter().map(|endpoint| &endpoint.options.path)).finish()
    }
}

impl Endpoints {
    pub(super) fn new(closing: Closing) -> Self {
        Self { table: Arc::default(), closing }
    }

    /// Serves exactly these from now on. An endpoint whose path is served already stays as it is, with its sessions, its
    /// service and its options; the sessions of one that goes end.
    pub fn set(&self, endpoints: Vec<(Arc<dyn Service>, Options)>) {
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        let mut before = std::mem::take(&mut *table);
        for (service, options) in endpoints {
            let known = before.iter().position(|endpoint| endpoint.options.path == options.path);
            table.push(match known {
                Some(index) => before.swap_remove(index),
                None => Arc::new(Shared::new(service, options, self.closing.clone())),
            });
        }
        drop(table);
        for gone in before {
            gone.sessions.end_all();
        }
    }

    /// Answers a request that another server sent here, on the connection of `next`. Its sender must have been verified.
    pub async fn answer(&self, routed: Routed, next: Next<'_>) -> Response {
        let Some(shared) = self.find(routed.uri.path()) else { return status(StatusCode::NOT_FOUND) };
        let (request, peer) = routed.arrived(next);
        entry::answer(&shared, &peer, request).await
    }

    /// The endpoint that answers at `path`.
    pub(super) fn find(&self, path: &str) -> Option<Arc<Shared>> {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        table.iter().find(|endpoint| Endpoint::of(path, &endpoint.options).is_some()).cloned()
    }

    pub(super) fn each(&self, act: impl Fn(&Shared)) {
        for endpoint in self.table.read().unwrap_or_else(PoisonError::into_inner).iter() {
            act(endpoint);
        }
    }
}
