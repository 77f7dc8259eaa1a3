//! What waits for one watcher, and its form: lines of JSON without secrets. Bounded in number and bytes; what does not fit is
//! counted in its place.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::json;
use tokio::sync::Notify;
use wire::trace::file::write_frame;
use wire::trace::{Content, Frame, Mark};
use wire::{Party, RequestId};

use super::Live;

/// How much may wait for one watcher.
const ITEMS: usize = 4096;
const BYTES: usize = 16 << 20;
/// From which size on a message is searched for secrets apart from the threads that carry requests, in bytes.
const LONG: usize = 32 << 10;

/// Something that happened on one side.
pub(super) struct Item {
    /// Microseconds since the gateway began.
    pub(super) at: u64,
    pub(super) names: Arc<str>,
    pub(super) connection: u32,
    /// The exchange; 0 for none.
    pub(super) exchange: u64,
    pub(super) within: u64,
    pub(super) from: Party,
    pub(super) part: Part,
}

/// What happened.
pub(super) enum Part {
    Message(String),
    /// The exchange of this request ended without an answer, after so many milliseconds.
    Unanswered(RequestId, u64),
}

impl Item {
    fn bytes(&self) -> usize {
        match &self.part {
            Part::Message(text) => text.len(),
            Part::Unanswered(..) => 0,
        }
    }

    fn frame(&self) -> Frame {
        let content = match &self.part {
            Part::Message(text) => Content::Line { bytes: text.clone().into_bytes(), terminated: true },
            Part::Unanswered(id, after_ms) => Content::Mark(Mark::Unanswered { id: id.clone(), after_ms: *after_ms }),
        };
        Frame { at: self.at, done: self.at, connection: self.connection, ..Frame::new(self.from, content) }
    }
}

enum Entry {
    Item(Arc<Item>),
    /// So many did not fit.
    Missed(u64),
}

#[derive(Default)]
struct Waiting {
    entries: VecDeque<Entry>,
    bytes: usize,
}

/// What waits for one watcher.
pub(super) struct Queue {
    /// The first exchange that it sees: of earlier ones it would see the end alone.
    since: u64,
    waiting: Mutex<Waiting>,
    more: Notify,
}

impl Queue {
    pub(super) fn since(since: u64) -> Self {
        Self { since, waiting: Mutex::default(), more: Notify::new() }
    }

    /// Takes an item in, or counts it where there is no room.
    pub(super) fn push(&self, item: &Arc<Item>) {
        if (1..self.since).contains(&item.exchange) {
            return;
        }
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = waiting.bytes + item.bytes();
        if bytes <= BYTES && waiting.entries.len() < ITEMS {
            waiting.bytes = bytes;
            waiting.entries.push_back(Entry::Item(Arc::clone(item)));
        } else if let Some(Entry::Missed(missed)) = waiting.entries.back_mut() {
            *missed += 1;
        } else {
            waiting.entries.push_back(Entry::Missed(1));
        }
        drop(waiting);
        self.more.notify_one();
    }

    async fn next(&self) -> Entry {
        loop {
            if let Some(entry) = self.pop() {
                return entry;
            }
            self.more.notified().await;
        }
    }

    #[cfg(test)]
    pub(super) fn has_some(&self) -> bool {
        !self.waiting.lock().unwrap_or_else(PoisonError::into_inner).entries.is_empty()
    }

    fn pop(&self) -> Option<Entry> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = waiting.entries.pop_front()?;
        if let Entry::Item(item) = &entry {
            waiting.bytes -= item.bytes();
        }
        Some(entry)
    }
}

/// Sees the traffic from the moment on when it was made. Dropped, it watches no longer.
pub struct Watcher {
    live: Arc<Live>,
    pub(super) queue: Arc<Queue>,
}

impl std::fmt::Debug for Watcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Watcher")
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.live.leave(&self.queue);
    }
}

impl Watcher {
    pub(super) const fn new(live: Arc<Live>, queue: Arc<Queue>) -> Self {
        Self { live, queue }
    }

    /// The time at the gateway, in microseconds since it began.
    pub fn now(&self) -> u64 {
        self.live.now()
    }

    /// The next line of JSON: `side`, `exchange`, `within` and `frame`, as in a trace and without secrets; or `missed`, how many
    /// came in this place that did not fit.
    pub async fn next(&self) -> String {
        let item = match self.queue.next().await {
            Entry::Item(item) => item,
            Entry::Missed(missed) => return json!({ "missed": missed }).to_string(),
        };
        let redactor = self.live.redactor();
        let is_long = item.bytes() > LONG;
        let written = move || {
            let frame = write_frame(&redactor.redact_frame(&item.frame()));
            let Item { names, exchange, within, .. } = &*item;
            format!(r#"{{"side":{names},"exchange":{exchange},"within":{within},"frame":{frame}}}"#)
        };
        if !is_long {
            return written();
        }
        tokio::task::spawn_blocking(written).await.unwrap_or_else(|_| json!({ "missed": 1 }).to_string())
    }
}
