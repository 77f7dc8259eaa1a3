//! Leave to start a child. A start is all work: on a busy machine, where many start at once, a slow start looks like silence.
//! Some servers only wait while they start. Those are found out by starting more of them: as long as none takes longer for
//! it, more may.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::Instant;
use wire::Transport;

/// How many children may be starting at a time, unless they are found to do nothing meanwhile.
const STARTING: usize = 3;
/// How many may then.
const MOST: usize = 24;
/// What takes no longer than this is not worth finding out about.
const LONG: Duration = Duration::from_secs(1);

static STARTS: Semaphore = Semaphore::const_new(STARTING);
/// How many may be starting now.
static ALLOWED: AtomicUsize = AtomicUsize::new(STARTING);

/// Leave to start one child; nothing to wait for over other transports. Clones are the same: it is given back when one of
/// them says so, or with the last.
#[derive(Clone)]
pub struct Start {
    permit: Arc<Mutex<Option<SemaphorePermit<'static>>>>,
    begun: Instant,
}

impl Start {
    /// Waits for leave.
    pub async fn leave(transport: Transport) -> Self {
        let permit = if transport == Transport::Stdio { STARTS.acquire().await.ok() } else { None };
        Self { permit: Arc::new(Mutex::new(permit)), begun: Instant::now() }
    }

    /// The child has ended, or is waited for no longer: another may start.
    pub fn over(&self) {
        self.taken();
    }

    /// The child has answered, as others did before within `usual`.
    pub fn heard(&self, usual: Duration) {
        let Some(permit) = self.taken() else { return };
        match pace(self.begun.elapsed(), usual) {
            Pace::Waiting if change(|allowed| (allowed < MOST).then_some(allowed + 1)) => STARTS.add_permits(1),
            Pace::Slowed if change(|allowed| (allowed > STARTING).then(|| allowed - 1)) => permit.forget(),
            Pace::Waiting | Pace::Slowed | Pace::Usual => {}
        }
    }

    /// Over in any case after `span`, for a child that may never answer what it is asked first.
    pub fn over_after(&self, span: Duration) {
        let start = self.clone();
        tokio::spawn(async move {
            tokio::time::sleep(span).await;
            start.over();
        });
    }

    fn taken(&self) -> Option<SemaphorePermit<'static>> {
        self.permit.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

fn change(to: impl Fn(usize) -> Option<usize>) -> bool {
    ALLOWED.fetch_update(Ordering::Relaxed, Ordering::Relaxed, to).is_ok()
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

    use super::{LONG, Pace, STARTING, Start, pace};

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
    async fn leave_is_given_back_once_the_child_has_started() {
        let all: Vec<Start> = leaves(STARTING).await;
        let soon = Duration::from_millis(30);
        assert!(timeout(soon, Start::leave(Transport::Stdio)).await.is_err(), "one too many");
        assert!(timeout(soon, Start::leave(Transport::StreamableHttp)).await.is_ok());
        all[0].over();
        let next = timeout(soon, Start::leave(Transport::Stdio)).await.expect("one is over");
        next.over_after(Duration::from_millis(10));
        assert!(timeout(Duration::from_secs(5), Start::leave(Transport::Stdio)).await.is_ok(), "its time is up");
    }

    async fn leaves(count: usize) -> Vec<Start> {
        let mut all = Vec::new();
        for _ in 0..count {
            all.push(Start::leave(Transport::Stdio).await);
        }
        all
    }
}
