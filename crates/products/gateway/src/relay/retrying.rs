//! Sends a request again where that is harmless: what the server never got, and what may run twice as long as the client has
//! got nothing of it.

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::Value;
use tokio::time::{sleep, timeout};

use super::{Relay, Step};
use crate::traffic::Passage;
use crate::upstream::{Event, Trouble};

/// How long is waited to learn whether a tool may run twice.
const PATIENCE: Duration = Duration::from_secs(2);

/// What the next round of a request says in addition.
pub(super) type Round = (Option<Value>, Option<String>);

impl Relay {
    /// Sends the request and follows it, to its answer or to the next round.
    pub(super) async fn step(&self, asks: bool, round: Option<Round>, number: u32) -> Result<Step, Trouble> {
        let Some(passage) = &self.passage else { return self.step_once(asks, round, number).await };
        let is_first = round.is_none();
        passage.enter()?;
        // The last attempt that the server may have run decides what is known of the request.
        let (mut open, mut is_again) = (None, false);
        loop {
            // On the heap: few requests are sent twice.
            let looked = if is_again { Box::pin(self.look_again()).await } else { Ok(()) };
            let ended = match looked {
                Ok(()) => self.step_once(asks, round.clone(), number).await,
                Err(trouble) => Err(trouble),
            };
            passage.leave(ended.as_ref().err());
            let trouble = match ended {
                Ok(step) => return Ok(step),
                Err(trouble) if !passage.has_retries() => return Err(trouble),
                Err(trouble) => trouble,
            };
            if trouble.may_have_run() {
                open = Some(trouble.clone());
            }
            if !self.waits_for_another(passage, &trouble, is_first).await {
                return Err(open.unwrap_or(trouble));
            }
            passage.note_again(self.request, &trouble);
            is_again = true;
        }
    }

    /// Waits until the request may be sent again; false if it may not.
    async fn waits_for_another(&self, passage: &Passage, trouble: &Trouble, is_first: bool) -> bool {
        let Some(least) = self.pause_before_another(trouble, is_first).await else { return false };
        let left = self.time_left().min(self.gateway.limits.request.saturating_sub(passage.age()));
        let Some(pause) = passage.again(least, left) else { return false };
        sleep(pause).await;
        passage.enter().is_ok()
    }

    /// Whether the server still says of what is asked for what a lock has: it may have been started again since.
    pub(super) async fn look_again(&self) -> Result<(), Trouble> {
        let named = if self.method() == "resources/read" { "uri" } else { "name" };
        let shown = self.call.message.string_member(named).unwrap_or_default();
        let there = self.edits.name.as_ref().map_or(&*shown, |(_, name)| name);
        self.gateway.look_again(&self.upstream, (self.method(), there), (&self.client, &self.trail)).await
    }

    async fn step_once(&self, asks: bool, round: Option<Round>, number: u32) -> Result<Step, Trouble> {
        let (lease, flight) = self.start(asks, round).await?;
        self.follow(lease, flight, Vec::new(), number).await
    }

    /// The least pause before the request may be sent again; nothing where it may not.
    async fn pause_before_another(&self, trouble: &Trouble, is_first: bool) -> Option<Duration> {
        let asked_for = match trouble {
            Trouble::NotSent(_) => return Some(self.upstream.left_alone()),
            Trouble::Unknown(_) => Duration::ZERO,
            Trouble::Status { status: 429 | 502 | 503 | 504, retry_after } => match retry_after {
                Some(after) => Duration::from_millis(wire::http::retry_after(after, oauth::now())?),
                None => Duration::ZERO,
            },
            _ => return None,
        };
        (is_first && self.may_run_twice().await).then(|| asked_for.max(self.upstream.left_alone()))
    }

    /// Whether it does no harm if the server gets the request a second time.
    async fn may_run_twice(&self) -> bool {
        let is_silent = self.passage.as_ref().is_some_and(|passage| passage.is_silent());
        let is_special =
            ["inputResponses", "requestState", "task"].iter().any(|name| self.call.message.body_member(name).is_some());
        if !is_silent || is_special || self.is_task.load(Ordering::Relaxed) {
            return false;
        }
        match self.method() {
            "tools/list"
            | "prompts/list"
            | "resources/list"
            | "resources/templates/list"
            | "resources/read"
            | "prompts/get"
            | "completion/complete" => true,
            "tools/call" => timeout(PATIENCE, self.gateway.may_run_twice(&self.call, &self.client)).await == Ok(true),
            _ => false,
        }
    }

    /// Takes note of what the client gets before the answer.
    pub(super) fn note_event(&self, event: &Event) {
        if let (Some(passage), Event::Notification(_) | Event::Question(_)) = (&self.passage, event) {
            passage.note_crossed();
        }
    }
}
