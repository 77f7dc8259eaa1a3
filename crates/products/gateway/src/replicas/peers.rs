//! The other gateways: each writes its address into the store under a lease. An address counts only with a code that holders of
//! a key make: write access to the store alone leads no request elsewhere.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use net::HttpAddress;
use net::upstream::HttpUpstream;
use tokio::time::timeout;
use url::Url;

use super::clock::StoreClock;
use super::keys::Keys;
use super::{CONNECT, PATH};
use crate::shared::{LEASE, SharedStore};

const PURPOSE: &[u8] = b"proof-gateway.replica.1";
/// How often a gateway says that it is there.
const RENEW: Duration = Duration::from_secs(2);
/// For how long what the store said of another gateway holds.
const FRESH: Duration = Duration::from_secs(1);
/// The most gateways that are remembered.
const MOST: usize = 256;

/// Where another gateway is.
#[derive(Clone)]
pub(super) enum Place {
    Known(Arc<HttpUpstream>),
    /// Its lease is over: it does not exist any more.
    Gone,
    /// It may exist, and cannot be found at this moment.
    Away,
}

struct Known {
    record: String,
    upstream: Arc<HttpUpstream>,
    asked: Instant,
}

/// All of them.
pub(super) struct Peers {
    store: Arc<SharedStore>,
    keys: Arc<Keys>,
    pub(super) clock: StoreClock,
    known: Mutex<HashMap<String, Known>>,
    /// Until when the store may not know gateways that are there.
    recovers_until: Mutex<Option<Instant>>,
}

impl Peers {
    pub(super) fn new(store: Arc<SharedStore>, keys: Arc<Keys>) -> Self {
        Self { store, keys, clock: StoreClock::default(), known: Mutex::default(), recovers_until: Mutex::default() }
    }

    /// Says that this gateway is at `own`, for as long as it is.
    pub(super) async fn announce(&self, own: &str) {
        let record = self.record(self.store.id(), own);
        let mut epoch = self.store.epoch();
        let mut memory = None;
        loop {
            let now = epoch.borrow_and_update().clone();
            if let Some(now) = now.filter(|now| memory.as_ref() != Some(&now.id)) {
                *self.recovers_until.lock().unwrap_or_else(PoisonError::into_inner) = Some(now.recovers_until);
                memory = Some(now.id);
            }
            if memory.is_some()
                && let Ok(millis) = self.store.announce(&record).await
            {
                self.clock.set(millis);
            }
            // Another memory of the store does not know this gateway: it says so at once.
            let _ = timeout(RENEW, epoch.changed()).await;
        }
    }

    /// This gateway is about to end.
    pub(super) async fn leave(&self) {
        let _ = self.store.leave().await;
    }

    fn record(&self, id: &str, address: &str) -> String {
        format!("{address} {}", self.keys.code(&[PURPOSE, id.as_bytes(), address.as_bytes()]))
    }

    fn address_in(&self, id: &str, record: &str) -> Option<Url> {
        let (address, code) = record.split_once(' ')?;
        let is_ours = self.keys.verify(&[PURPOSE, id.as_bytes(), address.as_bytes()], code);
        if !is_ours {
            tracing::warn!("the store has an address of a gateway that no key of `replicas` signed");
        }
        Url::parse(address).ok().filter(|_| is_ours)
    }

    /// Where the gateway of this name is.
    pub(super) async fn find(&self, id: &str) -> Place {
        if let Some(upstream) = self.remembered(id, FRESH) {
            return Place::Known(upstream);
        }
        match self.store.find(id).await {
            Ok(Some(record)) => self.learn(id, record).map_or(Place::Away, Place::Known),
            Ok(None) if self.store_recovers() => self.remembered(id, Duration::MAX).map_or(Place::Away, Place::Known),
            Ok(None) => {
                self.forget(id);
                Place::Gone
            }
            Err(_) => self.remembered(id, Duration::MAX).map_or(Place::Away, Place::Known),
        }
    }

    fn store_recovers(&self) -> bool {
        let until = *self.recovers_until.lock().unwrap_or_else(PoisonError::into_inner);
        until.is_none_or(|until| Instant::now() < until)
    }

    fn remembered(&self, id: &str, age: Duration) -> Option<Arc<HttpUpstream>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(id).filter(|known| known.asked.elapsed() < age).map(|known| Arc::clone(&known.upstream))
    }

    fn learn(&self, id: &str, record: String) -> Option<Arc<HttpUpstream>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(same) = known.get_mut(id).filter(|known| known.record == record) {
            same.asked = Instant::now();
            return Some(Arc::clone(&same.upstream));
        }
        let address = HttpAddress::new(self.address_in(id, &record)?.join(PATH).ok()?);
        let upstream = Arc::new(HttpUpstream::new(&address, CONNECT).ok()?);
        if known.len() >= MOST {
            let oldest = known.iter().min_by_key(|(_, known)| known.asked).map(|(id, _)| id.clone());
            oldest.and_then(|oldest| known.remove(&oldest));
        }
        known.insert(id.to_owned(), Known { record, upstream: Arc::clone(&upstream), asked: Instant::now() });
        Some(upstream)
    }

    /// Another process answers at the address of this gateway.
    pub(super) fn forget(&self, id: &str) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
    }
}

// A gateway must say that it is there several times within its lease.
const _: () = assert!(RENEW.as_millis() * 2 < LEASE.as_millis());
