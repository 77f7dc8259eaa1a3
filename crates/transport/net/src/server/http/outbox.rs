//! The queue of one modern response stream: filled through the link, emptied by the body. Not resumable.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use crate::server::link::{Gone, MessageSink, may_be_left_out};

#[derive(Default)]
struct Queue {
    texts: VecDeque<String>,
    bytes: usize,
    waker: Option<Waker>,
    overrun: bool,
}

/// A bounded queue of messages.
pub(super) struct Outbox {
    queue: Mutex<Queue>,
    most: usize,
    most_bytes: usize,
}

impl Outbox {
    pub(super) fn new(most: usize, most_bytes: usize) -> Self {
        Self { queue: Mutex::default(), most, most_bytes }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_empty(&self) -> bool {
        let queue = self.queue();
        queue.texts.is_empty() && !queue.overrun
    }

    /// Ready when the queue is not empty.
    pub(super) fn poll_filled(&self, context: &Context<'_>) -> Poll<()> {
        let mut queue = self.queue();
        if queue.texts.is_empty() && !queue.overrun {
            queue.waker = Some(context.waker().clone());
            return Poll::Pending;
        }
        Poll::Ready(())
    }

    /// The next message, if any; `Err` where the queue overflowed because the peer does not read.
    pub(super) fn pop(&self) -> Result<Option<String>, Gone> {
        let mut queue = self.queue();
        if queue.overrun {
            return Err(Gone);
        }
        let text = queue.texts.pop_front();
        queue.bytes -= text.as_ref().map_or(0, String::len);
        Ok(text)
    }
}

impl MessageSink for Outbox {
    fn send(&self, text: String) -> Result<(), Gone> {
        let mut queue = self.queue();
        let half = queue.texts.len() >= self.most / 2 || queue.bytes > self.most_bytes / 2;
        if half && !queue.overrun && may_be_left_out(&text) {
            return Ok(());
        }
        if queue.texts.len() >= self.most || queue.bytes > self.most_bytes {
            queue.overrun = true;
        } else if !queue.overrun {
            queue.bytes += text.len();
            queue.texts.push_back(text);
        }
        if let Some(waker) = queue.waker.take() {
            waker.wake();
        }
        if queue.overrun { Err(Gone) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRESS: &str =
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#;
    const CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;

    /// A peer that reads slowly still gets what matters after a flood of what does not.
    #[test]
    fn progress_is_left_out_before_the_stream_is_cut() {
        let outbox = Outbox::new(8, 1 << 20);
        for _ in 0..100 {
            assert!(outbox.send(PROGRESS.to_owned()).is_ok());
        }
        for _ in 0..4 {
            assert!(outbox.send(CHANGED.to_owned()).is_ok());
        }
        assert!(outbox.send(CHANGED.to_owned()).is_err(), "the limit holds for everything else");

        let outbox = Outbox::new(1000, 4 * PROGRESS.len());
        for _ in 0..100 {
            assert!(outbox.send(PROGRESS.to_owned()).is_ok());
        }
        let mut waiting = 0;
        while let Ok(Some(_)) = outbox.pop() {
            waiting += 1;
        }
        assert_eq!(waiting, 3, "half of the bytes, and one more");
    }
}
