//! Leave to start a child. A start is all work: on a busy machine, where many start at once, a slow start looks like silence.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use wire::Transport;

/// How many children may be starting at a time.
const STARTING: usize = 3;
static STARTS: Semaphore = Semaphore::const_new(STARTING);

/// Leave to start one child; nothing to wait for over other transports. Clones are the same: it is given back when one of
/// them says so, or with the last.
#[derive(Clone, Default)]
pub struct Start(Arc<Mutex<Option<SemaphorePermit<'static>>>>);

impl Start {
    /// Waits for leave.
    pub async fn leave(transport: Transport) -> Self {
        let permit = if transport == Transport::Stdio { STARTS.acquire().await.ok() } else { None };
        Self(Arc::new(Mutex::new(permit)))
    }

    /// The child has started, or has ended: another may.
    pub fn over(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// Over in any case after `span`, for a child that may never answer what it is asked first.
    pub fn over_after(&self, span: Duration) {
        let start = self.clone();
        tokio::spawn(async move {
            tokio::time::sleep(span).await;
            start.over();
        });
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;
    use wire::Transport;

    use super::{STARTING, Start};

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
