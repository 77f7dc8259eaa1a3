//! How many bytes a recorder holds at once: bodies, blocks and messages whose end has not come. Knows none of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The longest body, block or message that is recorded.
pub(crate) const LONGEST: usize = 16 << 20;
/// How many bytes all unfinished ones may have together.
const TOGETHER: usize = 64 << 20;

/// The room of one recorder.
#[derive(Clone, Debug, Default)]
pub(crate) struct Room(Arc<AtomicUsize>);

/// What one body, block or message takes of it.
#[derive(Debug)]
pub(crate) struct Held {
    room: Room,
    bytes: usize,
}

impl Room {
    pub(crate) const fn hold(self) -> Held {
        Held { room: self, bytes: 0 }
    }
}

impl Held {
    /// Takes room for `more` bytes; `false` where there is none, and nothing is taken.
    pub(crate) fn grow(&mut self, more: usize) -> bool {
        if self.bytes + more > LONGEST {
            return false;
        }
        let before = self.room.0.fetch_add(more, Ordering::Relaxed);
        if before + more > TOGETHER {
            self.room.0.fetch_sub(more, Ordering::Relaxed);
            return false;
        }
        self.bytes += more;
        true
    }

    /// Gives everything back.
    pub(crate) fn release(&mut self) {
        self.room.0.fetch_sub(std::mem::take(&mut self.bytes), Ordering::Relaxed);
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.release();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_bounded_and_so_are_all_together() {
        let room = Room::default();
        let mut held: Vec<_> = (0..5).map(|_| room.clone().hold()).collect();
        let taken: Vec<_> = held.iter_mut().map(|one| one.grow(LONGEST)).collect();
        assert_eq!(taken, [true, true, true, true, false]);
        assert!(!held[0].grow(1));
        held[0].release();
        assert!(held[4].grow(LONGEST));
        drop(held);
        assert_eq!(room.0.load(Ordering::Relaxed), 0);
    }
}
