//! Serialises changes that every client of a peer sees. Runs at several revisions share one server over HTTP: one run would
//! remove a tool that another has just added. Must not know what is changed.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Mutex, OwnedMutexGuard};
use wire::Transport;

/// How long to wait for the lock: a peer that takes longer cannot be told from a silent one.
const PATIENCE: Duration = Duration::from_mins(1);

/// The lock at one target. Clones are the same lock.
#[derive(Clone, Debug, Default)]
pub struct ChangeLock(Option<Arc<Mutex<()>>>);

/// Holds the lock until it is dropped.
pub struct ChangeGuard {
    _held: Option<OwnedMutexGuard<()>>,
}

impl ChangeLock {
    /// The lock of a target that is reached over `transport`. Child processes share nothing: there is nothing to
    /// wait for.
    pub fn over(transport: Transport) -> Self {
        Self((transport != Transport::Stdio).then(Arc::default))
    }

    /// Waits for the lock; `None` after a minute in vain.
    pub async fn take(&self) -> Option<ChangeGuard> {
        let Some(lock) = &self.0 else { return Some(ChangeGuard { _held: None }) };
        let held = tokio::time::timeout(PATIENCE, lock.clone().lock_owned()).await.ok()?;
        Some(ChangeGuard { _held: Some(held) })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;
    use wire::Transport;

    use super::ChangeLock;

    const SOON: Duration = Duration::from_millis(20);

    #[tokio::test]
    async fn one_holds_the_lock_at_a_time() {
        let lock = ChangeLock::over(Transport::StreamableHttp);
        let first = lock.take().await.expect("nobody else has it");
        assert!(timeout(SOON, lock.clone().take()).await.is_err(), "two at a time");
        drop(first);
        assert!(timeout(SOON, lock.take()).await.is_ok_and(|turn| turn.is_some()));
    }

    #[tokio::test]
    async fn children_do_not_wait() {
        let lock = ChangeLock::over(Transport::Stdio);
        let _first = lock.take().await.expect("a turn");
        assert!(timeout(SOON, lock.take()).await.is_ok_and(|turn| turn.is_some()));
    }
}
