//! How many bytes of events the streams of all sessions keep together. Knows no event.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::events::EventStream;

/// How many streams are remembered before those that are gone are looked for.
const MANY: usize = 1024;

/// What the streams of one endpoint keep.
pub(super) struct Kept {
    most: usize,
    bytes: AtomicUsize,
    /// The streams of requests, the oldest first.
    streams: Mutex<Remembered>,
}

struct Remembered {
    streams: VecDeque<Weak<EventStream>>,
    look: usize,
}

impl Kept {
    pub(super) fn new(most: usize) -> Self {
        let streams = Mutex::new(Remembered { streams: VecDeque::new(), look: MANY });
        Self { most, bytes: AtomicUsize::new(0), streams }
    }

    /// Counts a stream that had `before` bytes and has `now`.
    pub(super) fn count(&self, before: usize, now: usize) {
        self.bytes.fetch_add(now, Ordering::Relaxed);
        self.bytes.fetch_sub(before, Ordering::Relaxed);
    }

    pub(super) fn is_full(&self) -> bool {
        self.bytes.load(Ordering::Relaxed) > self.most
    }

    /// Remembers a stream, which makes room after it has ended.
    pub(super) fn remember(&self, stream: &Arc<EventStream>) {
        let mut remembered = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        remembered.streams.push_back(Arc::downgrade(stream));
        if remembered.streams.len() > remembered.look {
            remembered.streams.retain(|stream| stream.strong_count() > 0);
            remembered.look = MANY.max(2 * remembered.streams.len());
        }
    }

    /// Drops what ended streams keep, the oldest first, until there is room. Call it with no stream locked.
    pub(super) fn make_room(&self) {
        let mut remembered = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        remembered
            .streams
            .retain(|stream| !self.is_full() || stream.upgrade().is_some_and(|stream| !drop_ended(&stream)));
    }
}

/// Drops the events of a stream that has ended and that only its session holds; whether it did.
fn drop_ended(stream: &Arc<EventStream>) -> bool {
    // The session's, and the one that was just made: nobody reads it or waits for its answer.
    const UNUSED: usize = 2;
    let unused = stream.has_ended() && Arc::strong_count(stream) <= UNUSED;
    if unused {
        stream.drop_all();
    }
    unused
}
