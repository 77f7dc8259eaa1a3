//! A queue that is bounded by number and by bytes: one that is not read holds up who sends, and does not grow.

use std::sync::Arc;

use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

/// Up to this size, in bytes, the number of messages alone bounds them.
const SMALL: usize = 4 << 10;

type Item<T> = (T, Option<OwnedSemaphorePermit>);

/// Where messages go in.
#[derive(Debug)]
pub struct QueueSender<T> {
    sender: mpsc::Sender<Item<T>>,
    room: Arc<Semaphore>,
    bytes: u32,
}

/// Where they come out.
#[derive(Debug)]
pub struct Queue<T>(mpsc::Receiver<Item<T>>);

/// The queue has ended, or has no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotQueued;

/// Does not keep the queue open.
#[derive(Debug)]
pub(super) struct WeakQueueSender<T>(mpsc::WeakSender<Item<T>>);

impl<T> Clone for QueueSender<T> {
    fn clone(&self) -> Self {
        Self { sender: self.sender.clone(), room: Arc::clone(&self.room), bytes: self.bytes }
    }
}

/// A queue for `messages`, of which large ones have `bytes` together; a larger one has the queue for itself.
pub fn queue<T>(messages: usize, bytes: u32) -> (QueueSender<T>, Queue<T>) {
    let (sender, receiver) = mpsc::channel(messages);
    let room = Arc::new(Semaphore::new(bytes as usize));
    (QueueSender { sender, room, bytes }, Queue(receiver))
}

impl<T> QueueSender<T> {
    fn share(&self, bytes: usize) -> u32 {
        u32::try_from(bytes).unwrap_or(u32::MAX).min(self.bytes)
    }

    /// Waits for room for a message of `bytes`.
    pub async fn send(&self, message: T, bytes: usize) -> Result<(), NotQueued> {
        // Where the reader is gone, what waits is dropped with its room: this does not wait for ever.
        let room = match bytes {
            0..=SMALL => None,
            _ => Some(Arc::clone(&self.room).acquire_many_owned(self.share(bytes)).await.map_err(|_| NotQueued)?),
        };
        self.sender.send((message, room)).await.map_err(|_| NotQueued)
    }

    /// The same without waiting.
    pub fn try_send(&self, message: T, bytes: usize) -> Result<(), NotQueued> {
        let room = match bytes {
            0..=SMALL => None,
            _ => Some(Arc::clone(&self.room).try_acquire_many_owned(self.share(bytes)).map_err(|_| NotQueued)?),
        };
        self.sender.try_send((message, room)).map_err(|_: TrySendError<_>| NotQueued)
    }

    pub(super) fn downgrade(&self) -> WeakQueueSender<T> {
        WeakQueueSender(self.sender.downgrade())
    }
}

impl<T> WeakQueueSender<T> {
    /// Passes a small message on if there is room.
    pub(super) fn try_send(&self, message: T) {
        if let Some(sender) = self.0.upgrade() {
            let _ = sender.try_send((message, None));
        }
    }
}

impl<T> Queue<T> {
    /// The next message; `None` once all senders are gone.
    pub async fn recv(&mut self) -> Option<T> {
        self.0.recv().await.map(|(message, _)| message)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::{NotQueued, SMALL, queue};

    const LARGE: usize = SMALL + 1;

    #[tokio::test]
    async fn large_messages_wait_for_room_and_small_ones_do_not() {
        let (sender, mut queue) = queue::<u8>(8, 2 * LARGE as u32);
        sender.try_send(1, LARGE).expect("room");
        sender.try_send(2, LARGE).expect("room");
        assert_eq!(sender.try_send(3, LARGE), Err(NotQueued));
        sender.try_send(4, SMALL).expect("a small one has room");
        let waiting = tokio::spawn({
            let sender = sender.clone();
            async move { sender.send(5, usize::MAX).await }
        });
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert!(!waiting.is_finished(), "one of any size waits until it is alone");
        for expected in [1, 2, 4, 5] {
            assert_eq!(timeout(Duration::from_secs(5), queue.recv()).await.expect("in time"), Some(expected));
        }
        assert_eq!(waiting.await.expect("no panic"), Ok(()));
        sender.try_send(6, LARGE).expect("all room is free again");
    }

    #[tokio::test]
    async fn a_sender_that_waits_learns_that_the_reader_is_gone() {
        let (sender, queue) = queue::<u8>(8, LARGE as u32);
        sender.try_send(1, LARGE).expect("room");
        let waiting = tokio::spawn(async move { sender.send(2, LARGE).await });
        tokio::task::yield_now().await;
        drop(queue);
        let ended = timeout(Duration::from_secs(5), waiting).await.expect("in time").expect("no panic");
        assert_eq!(ended, Err(NotQueued));
    }

    #[tokio::test]
    async fn the_number_bounds_small_ones() {
        let (sender, _queue) = queue::<u8>(1, LARGE as u32);
        sender.try_send(1, 0).expect("room");
        assert_eq!(sender.try_send(2, 0), Err(NotQueued));
    }
}
