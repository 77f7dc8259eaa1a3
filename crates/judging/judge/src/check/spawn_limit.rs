//! How many children of one check may be starting at a time. A start is all work: on a busy machine, where many start at
//! once, a slow start looks like silence. Some servers only wait while they start. Those are found out by starting more of
//! them: as long as none takes longer for it, more may.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use wire::Transport;

/// How many children may be starting at a time, unless they are found to do nothing meanwhile.
const STARTING: usize = 3;
/// How many may then.
const MOST: usize = 24;
/// What takes no longer than this is not worth finding out about.
const LONG: Duration = Duration::from_secs(1);

/// The limit of one check. Clones are the same.
#[derive(Clone, Debug)]
pub struct SpawnLimit {
    permits: Arc<Semaphore>,
    /// One more for a case that has begun: it need not wait behind all that have not.
    further: Arc<Semaphore>,
    /// How many may be starting now.
    allowed: Arc<AtomicUsize>,
    /// How long the slowest child took to its first answer, in milliseconds.
    slowest_ms: Arc<AtomicU64>,
}

impl Default for SpawnLimit {
    fn default() -> Self {
        let [permits, further] = [STARTING, 1].map(|starting| Arc::new(Semaphore::new(starting)));
        Self { permits, further, allowed: Arc::new(AtomicUsize::new(STARTING)), slowest_ms: Arc::default() }
    }
}

impl SpawnLimit {
    /// Waits for leave to start one child; there is nothing to wait for over other transports than stdio.
    pub async fn acquire(&self, transport: Transport) -> SpawnPermit {
        let wait = async || self.permits.clone().acquire_owned().await.ok();
        let permit = if transport == Transport::Stdio { wait().await } else { None };
        self.permit(permit)
    }

    /// The same for another child of a case that has one.
    pub async fn acquire_further(&self, transport: Transport) -> SpawnPermit {
        tokio::select! {
            biased;
            permit = self.acquire(transport) => permit,
            permit = self.further.clone().acquire_owned() => self.permit(permit.ok()),
        }
    }

    /// What a child has that started before: nothing to give back.
    pub fn none(&self) -> SpawnPermit {
        self.permit(None)
    }

    /// How long a child may take to start by what is known: `usual`, or as long as the slowest so far. On a busy machine the
    /// first that was started says little of those that are started side by side.
    pub fn longest(&self, usual: Duration) -> Duration {
        usual.max(Duration::from_millis(self.slowest_ms.load(Ordering::Relaxed)))
    }

    fn permit(&self, permit: Option<OwnedSemaphorePermit>) -> SpawnPermit {
        SpawnPermit { limit: self.clone(), permit: Arc::new(Mutex::new(permit)), begun: Instant::now() }
    }

    fn change(&self, to: impl Fn(usize) -> Option<usize>) -> bool {
        self.allowed.fetch_update(Ordering::Relaxed, Ordering::Relaxed, to).is_ok()
    }
}

/// Leave to start one child. Clones are the same: it is given back when one of them says so, or with the last.
#[derive(Clone)]
pub struct SpawnPermit {
    limit: SpawnLimit,
    permit: Arc<Mutex<Option<OwnedSemaphorePermit>>>,
    begun: Instant,
}

impl SpawnPermit {
    /// How long ago the child was started.
    pub fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    /// The child has ended, or is waited for no longer: another may start.
    pub fn release(&self) {
        self.taken();
    }

    /// The child has answered, as others did before within `usual`.
    pub fn answered(&self, usual: Duration) {
        let Some(permit) = self.taken() else { return };
        let limit = &self.limit;
        let took = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        limit.slowest_ms.fetch_max(took, Ordering::Relaxed);
        if !Arc::ptr_eq(permit.semaphore(), &limit.permits) {
            return;
        }
        match pace(self.begun.elapsed(), usual) {
            Pace::Waiting if limit.change(|allowed| (allowed < MOST).then_some(allowed + 1)) => {
                limit.permits.add_permits(1);
            }
            Pace::Slowed if limit.change(|allowed| (allowed > STARTING).then(|| allowed - 1)) => permit.forget(),
            Pace::Waiting | Pace::Slowed | Pace::Usual => {}
        }
    }

    /// Released in any case after `span`, for a child that may never answer what it is asked first.
    pub fn release_after(&self, span: Duration) {
        let permit = self.clone();
        tokio::spawn(async move {
            tokio::time::sleep(span).await;
            permit.release();
        });
    }

    fn taken(&self) -> Option<OwnedSemaphorePermit> {
        self.permit.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// What a start among others tells.
#[derive(Debug, PartialEq, Eq)]
enum Pace {
    /// Others did not slow it down.
    Waiting,
    /// Nothing.
    Usual,
    /// Others slowed it down.
    Slowed,
}

fn pace(took: Duration, usual: Duration) -> Pace {
    if usual < LONG {
        Pace::Usual
    } else if took <= usual + usual / 8 {
        Pace::Waiting
    } else if took >= usual + usual / 2 {
        Pace::Slowed
    } else {
        Pace::Usual
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;
    use wire::Transport;

    use super::{LONG, Pace, STARTING, SpawnLimit, pace};

    #[test]
    fn only_long_starts_that_nothing_slows_down_make_room_for_more() {
        let long = 4 * LONG;
        assert_eq!(pace(long, long), Pace::Waiting);
        assert_eq!(pace(long + LONG, long), Pace::Usual);
        assert_eq!(pace(2 * long, long), Pace::Slowed);
        assert_eq!(pace(LONG / 3, LONG / 2), Pace::Usual, "short");
        assert_eq!(pace(3 * LONG, LONG / 2), Pace::Usual, "short");
        assert_eq!(pace(long, Duration::ZERO), Pace::Usual, "not known");
    }

    #[tokio::test]
    async fn the_slowest_start_tells_how_long_others_may_take() {
        let (limit, usual) = (SpawnLimit::default(), Duration::from_millis(10));
        let slow = limit.acquire(Transport::Stdio).await;
        assert_eq!(limit.longest(usual), usual);
        tokio::time::sleep(Duration::from_millis(40)).await;
        slow.answered(usual);
        assert!(limit.longest(usual) >= Duration::from_millis(40));
        limit.acquire(Transport::Stdio).await.answered(usual);
        assert!(limit.longest(usual) >= Duration::from_millis(40), "it is remembered");
        assert_eq!(limit.longest(LONG), LONG);
    }

    #[tokio::test]
    async fn a_permit_is_given_back_once_the_child_has_started() {
        let limit = SpawnLimit::default();
        let mut all = Vec::new();
        for _ in 0..STARTING {
            all.push(limit.acquire(Transport::Stdio).await);
        }
        let soon = Duration::from_millis(30);
        assert!(timeout(soon, limit.acquire(Transport::Stdio)).await.is_err(), "one too many");
        assert!(timeout(soon, limit.acquire(Transport::StreamableHttp)).await.is_ok());
        assert!(timeout(soon, SpawnLimit::default().acquire(Transport::Stdio)).await.is_ok(), "another check");
        all[0].release();
        let next = timeout(soon, limit.acquire(Transport::Stdio)).await.expect("one is over");
        assert!(timeout(soon, limit.acquire(Transport::Stdio)).await.is_err(), "one too many again");
        let further = timeout(soon, limit.acquire_further(Transport::Stdio)).await.expect("a case that has begun");
        assert!(timeout(soon, limit.acquire_further(Transport::Stdio)).await.is_err(), "one too many for that");
        further.answered(Duration::ZERO);
        assert!(timeout(soon, limit.acquire_further(Transport::Stdio)).await.is_ok(), "given back");
        next.release_after(Duration::from_millis(10));
        assert!(timeout(Duration::from_secs(5), limit.acquire(Transport::Stdio)).await.is_ok(), "its time is up");
    }
}
