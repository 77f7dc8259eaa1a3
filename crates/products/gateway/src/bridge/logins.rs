//! Which logins came back from the provider: each counts once. Bounded, and so are the requests to the provider. Must not know who
//! signs in.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use oauth::now;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

/// The most logins that are remembered: so many in ten minutes.
const MOST: usize = 100_000;
/// The most users for whom the provider is asked at once, and how long one waits.
const AT_ONCE: usize = 32;
const PATIENCE: Duration = Duration::from_secs(5);

/// The logins of one gateway.
pub(super) struct Logins {
    /// Digests of `state`, and when nobody can come with it any more; and when that was last looked through.
    taken: Mutex<(HashMap<String, u64>, u64)>,
    asking: Semaphore,
}

impl Default for Logins {
    fn default() -> Self {
        Self { taken: Mutex::default(), asking: Semaphore::new(AT_ONCE) }
    }
}

impl Logins {
    /// Takes a login, whose cookie counts until then; whether it is the first time. No new one counts where too many are
    /// remembered.
    pub(super) fn take(&self, digest: &str, ends: u64) -> bool {
        let (now, mut held) = (now(), self.taken.lock().unwrap_or_else(PoisonError::into_inner));
        let (taken, swept) = &mut *held;
        if taken.len() >= MOST && *swept < now {
            taken.retain(|_, until| *until > now);
            *swept = now;
        }
        taken.len() < MOST && taken.insert(digest.to_owned(), ends).is_none()
    }

    /// A place for a request to the provider; `None` if all stay taken.
    pub(super) async fn room(&self) -> Option<SemaphorePermit<'_>> {
        timeout(PATIENCE, self.asking.acquire()).await.ok()?.ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_counts_once_and_a_flood_takes_no_memory() {
        let logins = Logins::default();
        assert!(logins.take("a", now() + 600) && !logins.take("a", now() + 600) && logins.take("b", now() + 600));
        for number in 0..MOST + 1000 {
            logins.take(&number.to_string(), now() + 600);
        }
        assert!(
            !logins.take("new", now() + 600) && !logins.take("a", now() + 600),
            "none counts twice because of others"
        );
        assert_eq!(logins.taken.lock().expect("it works").0.len(), MOST);
    }

    #[tokio::test]
    async fn so_many_ask_the_provider_at_once() {
        let logins = Logins::default();
        let mut held = Vec::new();
        for _ in 0..AT_ONCE {
            held.push(logins.room().await.expect("room"));
        }
        assert!(timeout(Duration::from_millis(50), logins.room()).await.is_err(), "it waits");
        held.pop();
        assert!(logins.room().await.is_some());
    }
}
