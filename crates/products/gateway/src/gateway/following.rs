//! Listens to what a modern upstream announces. While nothing can be heard, nothing that depends on it is used again.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use tokio::time::sleep;

use crate::hub::Hub;
use crate::upstream::{Core, Event, Flight, Sending};

/// The method of a stream of announcements.
pub(super) const LISTEN: &str = "subscriptions/listen";

/// After how long a stream that ended is asked for again, at first and at most.
const BACKOFF: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(30));

/// A stream that ends earlier than this counts as refused.
const SHORT_LIFE: Duration = Duration::from_secs(10);

/// Follows one upstream.
pub(super) struct Follower {
    pub(super) hub: Weak<Hub>,
    pub(super) index: usize,
    pub(super) core: Arc<Core>,
    /// The request for the stream.
    pub(super) text: String,
    /// How large a message may be.
    pub(super) limit: usize,
}

impl Follower {
    /// Listens, again where the stream ends, until its conversation is over: the next one is followed again.
    pub(super) async fn run(self) {
        let (mut wait, mut is_first) = (BACKOFF.0, true);
        loop {
            let begun = Instant::now();
            self.listen(is_first).await;
            is_first = false;
            let Some(hub) = self.hub.upgrade() else { return };
            hub.missed_changes(self.index);
            drop(hub);
            if self.core.is_ended() {
                return;
            }
            if begun.elapsed() > SHORT_LIFE {
                wait = BACKOFF.0;
            }
            tracing::debug!("a stream of announcements has ended; the next try is in {wait:?}");
            sleep(wait).await;
            wait = (wait * 2).min(BACKOFF.1);
        }
    }

    /// Passes on what is announced, until the stream ends.
    async fn listen(&self, is_first: bool) {
        let started = Flight::start(&self.core, LISTEN, &self.text, Sending::default(), self.limit).await;
        let Ok(mut flight) = started else { return };
        let mut is_heard = is_first;
        while let Ok(event) = flight.next(self.limit).await {
            let message = match event {
                Event::Response(_) => return,
                Event::Notification(message) => message,
                Event::Question(_) | Event::Passed(_) | Event::PassedStream(_) => continue,
            };
            let Some(hub) = self.hub.upgrade() else { return };
            // From its first message on, the stream says what changes; before that, nobody did.
            if !std::mem::replace(&mut is_heard, true) {
                hub.missed_changes(self.index);
            }
            if message.method().is_some_and(is_change) {
                hub.changed(self.index, &message);
            }
        }
    }
}

/// Whether a notification says that something has changed.
pub(super) fn is_change(method: &str) -> bool {
    method.ends_with("/list_changed") || method == "notifications/resources/updated"
}
