//! Looks at a list before calls, which calls share: one is under way, and all who come meanwhile wait for the one after it, so
//! that nobody gets a list from before its call. Must not know what is looked for.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex};

use tokio::sync::OnceCell;

use super::lock;

/// Looks by what they are at, and by whose view it is.
pub(super) struct Looks<K, T>(Mutex<HashMap<K, Arc<Line<T>>>>);

/// Who waits for looks of one kind.
struct Line<T> {
    /// Held while one is under way.
    turn: tokio::sync::Mutex<()>,
    /// The one that has not begun.
    next: Mutex<Option<Arc<OnceCell<T>>>>,
}

/// A place in a line. The last one to leave closes it.
struct Place<'l, K: Eq + Hash, T> {
    looks: &'l Looks<K, T>,
    key: K,
    line: Arc<Line<T>>,
}

impl<K: Eq + Hash, T> Drop for Place<'_, K, T> {
    fn drop(&mut self) {
        let mut lines = lock(&self.looks.0);
        // The map's and this one.
        if Arc::strong_count(&self.line) <= 2 {
            lines.remove(&self.key);
        }
    }
}

impl<K, T> Default for Looks<K, T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Clone + Eq + Hash, T: Clone> Looks<K, T> {
    /// What a look finds that begins from now on: by `look`, or by somebody else's.
    pub(super) async fn share(&self, key: K, look: impl Future<Output = T>) -> T {
        let new = || Arc::new(Line { turn: tokio::sync::Mutex::new(()), next: Mutex::new(None) });
        let line = Arc::clone(lock(&self.0).entry(key.clone()).or_insert_with(new));
        let place = Place { looks: self, key, line };
        let cell = Arc::clone(lock(&place.line.next).get_or_insert_default());
        let begun = async {
            let _turn = place.line.turn.lock().await;
            // Who comes from now on waits for another one.
            lock(&place.line.next).take_if(|next| Arc::ptr_eq(next, &cell));
            look.await
        };
        cell.get_or_init(|| begun).await.clone()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use futures_util::future::join_all;
    use tokio::time::{sleep, timeout};

    use super::{Looks, lock};

    async fn look(looks: &Looks<u8, usize>, key: u8, count: &AtomicUsize) -> usize {
        let one = async {
            let number = count.fetch_add(1, Ordering::SeqCst) + 1;
            sleep(Duration::from_millis(50)).await;
            number
        };
        looks.share(key, one).await
    }

    #[tokio::test]
    async fn calls_share_a_look_that_begins_after_they_came() {
        let (looks, count) = (Looks::default(), AtomicUsize::new(0));
        let late = async {
            sleep(Duration::from_millis(10)).await;
            join_all((0..100).map(|_| look(&looks, 1, &count))).await
        };
        let (first, late, other) = tokio::join!(look(&looks, 1, &count), late, look(&looks, 2, &count));
        assert_eq!((first, other), (1, 2));
        assert!(late.iter().all(|number| *number == 3), "none got the look that had begun: {late:?}");
        assert_eq!(count.load(Ordering::SeqCst), 3);
        assert!(lock(&looks.0).is_empty());
    }

    #[tokio::test]
    async fn a_call_that_goes_away_keeps_nobody_waiting() {
        let (looks, count) = (Looks::default(), AtomicUsize::new(0));
        let gone = timeout(Duration::from_millis(10), look(&looks, 1, &count));
        let (gone, number) = tokio::join!(gone, look(&looks, 1, &count));
        assert!(gone.is_err() && number == 2);
        assert!(lock(&looks.0).is_empty());
    }
}
