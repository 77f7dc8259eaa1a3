//! How many cases are played at a time, and when one has the machine to itself. Shared by all runs of a check. Must not know
//! what is played.

use std::sync::{Arc, Weak};

use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore, SemaphorePermit};
use wire::Transport;

/// How many places a child counts for: it takes memory as a connection does not.
const CHILD: u32 = 3;

/// Leave to play a case.
pub type Place = Option<OwnedSemaphorePermit>;

/// The places of a check. Clones are the same.
#[derive(Clone)]
pub struct Places(Arc<Inner>);

struct Inner {
    places: Arc<Semaphore>,
    /// How many there are in all.
    all: u32,
    /// One for each processor that those who are almost alone may use, and how many those are.
    quiet: Semaphore,
    abreast: u32,
    /// All places, while somebody is alone.
    held: Mutex<Weak<OwnedSemaphorePermit>>,
}

/// Nothing is played but this, and as much as leaves it a processor.
pub struct Alone<'p> {
    _quiet: Option<SemaphorePermit<'p>>,
    _all: Option<Arc<OwnedSemaphorePermit>>,
}

impl Places {
    /// So many, on a machine with so many processors.
    pub fn new(all: u32, processors: usize) -> Self {
        let all = all.max(1);
        let abreast = if processors < 2 { 1 } else { ABREAST };
        let (places, quiet) = (Arc::new(Semaphore::new(all as usize)), Semaphore::new(abreast as usize));
        Self(Arc::new(Inner { places, all, quiet, abreast, held: Mutex::default() }))
    }

    /// Waits for a place for one case.
    pub async fn one(&self, transport: Transport) -> Place {
        self.0.places.clone().acquire_many_owned(self.weight(transport)).await.ok()
    }

    /// Whether two cases may be played at a time.
    pub fn allow_two(&self, transport: Transport) -> bool {
        self.0.all / self.weight(transport) > 1
    }

    fn weight(&self, transport: Transport) -> u32 {
        if transport == Transport::Stdio { CHILD.min(self.0.all) } else { 1 }
    }

    /// Waits until nothing is played that has a place.
    pub async fn alone(&self) -> Alone<'_> {
        self.hold(self.0.abreast).await
    }

    /// The same, but two may have that at a time, of different runs, where each has a processor: such a play mostly waits
    /// for what does not come, so that it disturbs another process as little as our own reading of its answers does.
    pub async fn almost_alone(&self) -> Alone<'_> {
        self.hold(1).await
    }

    async fn hold(&self, share: u32) -> Alone<'_> {
        let quiet = self.0.quiet.acquire_many(share).await.ok();
        let mut held = self.0.held.lock().await;
        let all = match held.upgrade() {
            Some(all) => Some(all),
            None => self.0.places.clone().acquire_many_owned(self.0.all).await.ok().map(Arc::new),
        };
        *held = all.as_ref().map(Arc::downgrade).unwrap_or_default();
        Alone { _quiet: quiet, _all: all }
    }
}

/// How many have the machine to themselves at most.
const ABREAST: u32 = 2;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;
    use wire::Transport;

    use super::Places;

    const SOON: Duration = Duration::from_millis(20);

    #[tokio::test]
    async fn who_is_alone_keeps_out_all_but_one_who_wants_the_same() {
        let places = Places::new(4, 2);
        let playing = places.one(Transport::StreamableHttp).await;
        assert!(timeout(SOON, places.almost_alone()).await.is_err(), "a case is played");
        drop(playing);
        let first = places.almost_alone().await;
        assert!(timeout(SOON, places.one(Transport::StreamableHttp)).await.is_err());
        assert!(timeout(SOON, places.alone()).await.is_err(), "it wants nobody beside it");
        let second = timeout(SOON, places.almost_alone()).await.expect("there is another processor");
        assert!(timeout(SOON, places.almost_alone()).await.is_err(), "and no third");
        drop(first);
        assert!(timeout(SOON, places.one(Transport::Stdio)).await.is_err(), "one is still alone");
        drop(second);
        assert!(timeout(SOON, places.one(Transport::Stdio)).await.is_ok());
        let _only = places.alone().await;
        assert!(timeout(SOON, places.almost_alone()).await.is_err(), "nobody is beside it");
    }

    #[tokio::test]
    async fn on_one_processor_one_is_alone() {
        let places = Places::new(1, 1);
        let _first = places.almost_alone().await;
        assert!(timeout(SOON, places.almost_alone()).await.is_err());
        assert!(!places.allow_two(Transport::Stdio) && Places::new(6, 1).allow_two(Transport::Stdio));
    }
}
