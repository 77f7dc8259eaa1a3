//! Received messages, and the tasks that wait for them. Bounded in bytes: a full inbox stops the reader.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};
use wire::Message;

/// How waiting ended.
#[derive(Debug)]
pub(crate) enum Waited {
    /// The message.
    Received(Message),
    /// The timeout passed.
    TimedOut,
    /// No more messages can come.
    Ended,
}

#[derive(Debug)]
pub(crate) struct Inbox {
    limit: usize,
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    messages: Vec<(Message, bool)>,
    /// Everything before is taken.
    first: usize,
    bytes: usize,
    ended: bool,
    /// Whether taken messages are dropped.
    forgets: bool,
}

/// What a parsed message costs in addition to its text.
const MESSAGE_COST: usize = 512;

fn cost(message: &Message) -> usize {
    message.text().len() + MESSAGE_COST
}

impl Inbox {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, state: Mutex::default(), changed: Notify::new() }
    }

    /// Adds a message. Whether there is room for more.
    pub(crate) fn put(&self, message: Message) -> bool {
        let mut state = self.state();
        state.bytes += cost(&message);
        state.messages.push((message, false));
        let room = state.bytes < self.limit;
        drop(state);
        self.changed.notify_waiters();
        room
    }

    /// From now on taken messages are dropped and make room.
    pub(crate) fn forget_taken(&self) {
        let mut state = self.state();
        state.forgets = true;
        state.messages.retain(|(_, taken)| !taken);
        state.first = 0;
        state.bytes = state.messages.iter().map(|(message, _)| cost(message)).sum();
    }

    /// No more messages will come.
    pub(crate) fn end(&self) {
        self.state().ended = true;
        self.changed.notify_waiters();
    }

    /// Whether no more messages will come.
    pub(crate) fn is_over(&self) -> bool {
        self.state().ended
    }

    /// All messages.
    pub(crate) fn all(&self) -> Vec<Message> {
        self.state().messages.iter().map(|(message, _)| message.clone()).collect()
    }

    /// How many messages were received.
    pub(crate) fn count(&self) -> usize {
        self.state().messages.len()
    }

    /// Takes the first message that satisfies `wanted`, now or within `patience`.
    pub(crate) async fn wait(&self, wanted: impl Fn(&Message) -> bool, patience: Duration) -> Waited {
        let end = Instant::now() + patience;
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            match self.take(&wanted) {
                (Some(message), _) => return Waited::Received(message),
                (None, true) => return Waited::Ended,
                (None, false) => {}
            }
            if timeout_at(end, changed).await.is_err() {
                return self.take(&wanted).0.map_or(Waited::TimedOut, Waited::Received);
            }
        }
    }

    /// The first message that satisfies `wanted`, if it is there; and whether no more will come.
    pub(crate) fn take(&self, wanted: &impl Fn(&Message) -> bool) -> (Option<Message>, bool) {
        let mut state = self.state();
        let first = state.first;
        let found = state.messages[first..].iter().position(|(message, taken)| !taken && wanted(message));
        if let Some(offset) = found.filter(|_| state.forgets) {
            let (message, _) = state.messages.remove(first + offset);
            state.bytes = state.bytes.saturating_sub(cost(&message));
            return (Some(message), state.ended);
        }
        let message = found.map(|offset| {
            let (message, taken) = &mut state.messages[first + offset];
            *taken = true;
            message.clone()
        });
        if found == Some(0) {
            state.first += state.messages[first..].iter().take_while(|(_, taken)| *taken).count();
        }
        (message, state.ended)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
